/**
 * Whether a project works, and what to do where it does not (SPEC.md, Project: the health line). What
 * counts: its sources, what its plan misses, what is wired, a model provider, the variables it refers
 * to, how the last runs of its agents ended, and whether what it sends arrives. docs/health.md lists it.
 */
import type { ProjectHealth } from '../../schemas/types.ts'
import { kindWord, type PartKind } from '../changes/declared.ts'
import { SCRIPTED_PROVIDER } from '../models/scripted.ts'
import { openVariable, variableFault } from '../secret-variables.ts'
import { type ProjectDoc, partsOf } from '../wiring/project-doc.ts'
import { wiringOf } from '../wiring/wires.ts'
import type { Declared } from './declared.ts'
import { driftsOf } from './label-drift.ts'
import { watchesOf, wokenAgents } from './outline.ts'
import { parkedRunsOf, parkedSentence } from './parked-runs.ts'
import { failingDeliveries, lastRuns } from './recent-failures.ts'
import { requireProject } from './skill-writes.ts'

type Issue = ProjectHealth['issues'][number]

/** @param hasProvider whether a model provider is there to run agents on. @throws SvcError not_found */
export function projectHealth(declared: Declared, word: string, hasProvider: boolean): ProjectHealth {
  const id = requireProject(declared, word)
  const doc = declared.kinds.project.find(id)!.doc
  if (doc.draft) return { state: 'setting_up', message: 'A draft: its plan is not applied yet', issues: [] }
  if (doc.paused) return { state: 'paused', message: 'Paused: nothing in it wakes an agent', issues: [] }
  const issues = [
    ...providerIssues(declared, doc, hasProvider),
    ...sourceIssues(declared, doc),
    ...missingIssues(declared, id),
    ...variableIssues(declared, doc),
    ...parkedIssues(declared, id),
    ...runIssues(declared, id, doc),
    ...deliveryIssues(declared, id, doc),
    ...driftIssues(declared, doc),
    ...wiringIssues(id, doc),
  ]
  const [first] = issues
  if (!first) return { state: 'working', message: wellOf(doc), issues }
  const errors = issues.filter(({ severity }) => severity === 'error').length
  const many = `${issues.length} things need attention${errors ? `, ${errors} of them now` : ''}`
  return { state: 'attention', message: issues.length === 1 ? first.message : many, issues }
}

const wellOf = (doc: ProjectDoc): string =>
  partsOf(doc).length === 0 ? 'Nothing is in it yet' : 'Everything it needs is in place'

function providerIssues(declared: Declared, doc: ProjectDoc, hasProvider: boolean): Issue[] {
  const needing = [...wokenAgents(declared, doc).keys()].filter(
    (name) => declared.kinds.agent.find(name)?.doc.provider !== SCRIPTED_PROVIDER,
  )
  if (hasProvider || needing.length === 0) return []
  return [
    {
      severity: 'error',
      message: 'No model provider is set, so its agents cannot run',
      fix: 'Add a model provider',
      view: '/settings?tab=providers',
    },
  ]
}

function parkedIssues({ store }: Declared, id: string): Issue[] {
  const parked = parkedRunsOf(store.db, id)
  if (parked === null) return []
  return [
    {
      severity: 'warning',
      message: parkedSentence(parked),
      fix: 'They go on by themselves; look at the model provider, or set a fallback under Settings, Agents',
      view: '/runs?status=parked',
    },
  ]
}

function sourceIssues(declared: Declared, doc: ProjectDoc): Issue[] {
  return watchesOf(declared, doc).flatMap(({ source, state, detail }): Issue[] => {
    const view = `/sources/${encodeURIComponent(source)}`
    if (state === 'error')
      return [
        {
          severity: 'error',
          message: `Source ${source}: ${detail}`,
          fix: 'Open the source and correct its settings',
          view,
        },
      ]
    if (state === 'paused')
      return [
        {
          severity: 'warning',
          message: `Source ${source} is paused`,
          fix: 'Resume it to take events again',
          view,
        },
      ]
    const { rejected, events } = declared.sources.requireByName(source).counters
    // One bad item is its sender's fault; where more is refused than taken, it is about the source.
    if (rejected === 0 || rejected < events) return []
    return [
      {
        severity: 'warning',
        message: `Source ${source} refused ${rejected} of ${rejected + events} items since the start`,
        fix: 'Compare what is sent with its settings',
        view,
      },
    ]
  })
}

function missingIssues({ projects }: Declared, id: string): Issue[] {
  return projects
    .plannedOf(id)
    .filter(({ state }) => state === 'missing')
    .map(({ kind, name }) => ({
      severity: 'error',
      message: `${capital(kindWord(kind as PartKind))} ${name} is missing`,
      fix: 'Repair makes it again from the plan',
      view: `/projects/${id}?tab=parts`,
    }))
}

const REFERRING = { mcp_server: ['MCP server', 'mcp-servers'], agent: ['Agent', 'agents'] } as const

/** Variables that MCP servers and agents refer to; those of sources are a fault of the source. */
function variableIssues({ kinds, env }: Declared, doc: ProjectDoc): Issue[] {
  return (['mcp_server', 'agent'] as const).flatMap((kind) =>
    Object.keys(doc.uses[kind] ?? {})
      .sort()
      .flatMap((name) => {
        const found = kinds[kind].find(name)
        const uses = (found && kinds[kind].variables?.(found.doc)) || []
        const [word, path] = REFERRING[kind]
        return uses
          .filter(({ variable }) => typeof openVariable(variable, env) === 'string')
          .map(
            ({ variable }): Issue => ({
              severity: 'error',
              message: `${word} ${name} refers to the variable ${variable}, which ${variableFault(variable, env) === null ? 'is not set' : 'may not be opened'}`,
              fix: 'Set the variable and start again, or enter the secret itself',
              view: `/${path}/${encodeURIComponent(name)}`,
            }),
          )
      }),
  )
}

function runIssues({ store, clock }: Declared, id: string, doc: ProjectDoc): Issue[] {
  return lastRuns(store.db, id, clock.now())
    .filter(({ agent }) => doc.uses.agent?.[agent])
    .flatMap((last) => {
      const { agent, run, state, error, failed, told } = last
      const { delivery, delivery_error, slack, slack_error } = told
      const view = `/runs/${run}`
      const issues: Issue[] = []
      if (state === 'capped')
        issues.push({
          severity: 'error',
          message: `Agent ${agent} was not run: ${error ?? 'a budget is reached'}`,
          fix: 'Raise the budget or the daily cap',
          view,
        })
      else if (state !== 'succeeded' && state !== 'exhausted')
        issues.push({
          severity: 'error',
          message: `${failed === 1 ? `The last run of agent ${agent}` : `The last ${failed} runs of agent ${agent}`} failed: ${error ?? 'it said nothing'}`,
          fix: 'Open the run to see what went wrong',
          view,
        })
      if (delivery !== null && delivery !== 'ok' && delivery !== 'pending')
        issues.push({
          severity: 'error',
          message: `The last finding of agent ${agent} did not reach its webhook: ${delivery_error ?? delivery}`,
          fix: 'Check the address and its token',
          view: `/agents/${encodeURIComponent(agent)}`,
        })
      if (slack === 'failed')
        issues.push({
          severity: 'error',
          message: `The last finding of agent ${agent} was not posted to Slack: ${slack_error ?? 'no reason is recorded'}`,
          fix: 'Check the channel of the agent, and Slack in the settings',
          view: `/agents/${encodeURIComponent(agent)}`,
        })
      return issues
    })
}

function deliveryIssues({ store, clock }: Declared, id: string, doc: ProjectDoc): Issue[] {
  const triggers = Object.keys(doc.uses.trigger ?? {})
  return failingDeliveries(store.db, id, triggers, clock.now()).map(({ masked, reason, disabled }) => ({
    severity: 'error',
    message: disabled
      ? `Deliveries to ${masked} are switched off, because they kept failing`
      : `The last delivery to ${masked} failed: ${reason ?? 'no reason is recorded'}`,
    fix: 'Check the address, then deliver again',
    view: '/deliveries',
  }))
}

function wiringIssues(id: string, doc: ProjectDoc): Issue[] {
  const { wakes, handoffs } = wiringOf(doc)
  const view = `/projects/${id}?tab=graph`
  const idle = Object.keys(doc.uses.agent ?? {}).filter(
    (agent) => !wakes.some((wake) => wake.agent === agent) && !handoffs.some((row) => row.to === agent),
  )
  const unheard = Object.keys(doc.uses.trigger ?? {}).filter(
    (trigger) => !wakes.some((wake) => wake.trigger === trigger),
  )
  return [
    ...idle.sort().map((agent) => ({
      severity: 'warning' as const,
      message: `Nothing wakes agent ${agent}`,
      fix: 'Wire a trigger to it, or a handoff from another agent',
      view,
    })),
    ...unheard.sort().map((trigger) => ({
      severity: 'warning' as const,
      message: `Trigger ${trigger} wakes no agent`,
      fix: 'Wire an agent to it',
      view,
    })),
  ]
}

const DRIFTING = { source: 'sources', trigger: 'triggers', agent: 'agents' } as const

/** Labels that its parts depend on and that do not come. */
function driftIssues(declared: Declared, doc: ProjectDoc): Issue[] {
  return (['source', 'trigger', 'agent'] as const).flatMap((kind) =>
    Object.keys(doc.uses[kind] ?? {})
      .sort()
      .flatMap((name) =>
        driftsOf(declared, kind, name).map(
          (drift): Issue => ({
            severity: 'warning',
            message: `${kind[0]!.toUpperCase()}${kind.slice(1)} ${name}: ${drift}`,
            fix: 'Name a label that its events carry, or have the source give them this one',
            view: `/${DRIFTING[kind]}/${encodeURIComponent(name)}`,
          }),
        ),
      ),
  )
}

const capital = (word: string): string => `${word[0]!.toUpperCase()}${word.slice(1)}`
