/** What a project does, in sentences, and whether it works (SPEC.md, Project: the project page). */
import type { ProjectHealth, ProjectOutline, SkillSpec, TriggerSpec } from '../../schemas/types.ts'
import { cooldownSentence, sentenceOf } from '../../schemas/words.ts'
import { fail } from '../errors.ts'
import type { ProjectDoc } from '../wiring/project-doc.ts'
import { wiringOf } from '../wiring/wires.ts'
import { belongings } from './belonging.ts'
import type { Declared } from './declared.ts'
import { driftsOf } from './label-drift.ts'
import { requireProject } from './skill-writes.ts'

/** @throws SvcError not_found */
export function outlineOf(declared: Declared, word: string): ProjectOutline {
  const doc = docOf(declared, word)
  const { wakes, handoffs } = wiringOf(doc)
  const watches = watchesOf(declared, doc)
  const triggers = names(doc, 'trigger').map((name) => ({
    name,
    spec: specOf<TriggerSpec>(declared, 'trigger', name),
  }))
  const agents = names(doc, 'agent').map((name) => {
    const mine = wakes.filter((wake) => wake.agent === name)
    const to = handoffs.filter((row) => row.to === name)
    const runs_on = mine.length ? 'trigger' : to.length ? 'handoff' : 'nothing'
    return {
      name,
      sentence: agentSentence(
        mine.map((wake) => wake.trigger),
        to,
      ),
      enabled: mine.some((wake) => wake.enabled) || (mine.length === 0 && to.length > 0),
      runs_on,
      handoffs: handoffs
        .filter((row) => row.agent === name)
        .map(({ verdict, to: agent, cooldown }) => ({ verdict, agent, ...(cooldown ? { cooldown } : {}) })),
    }
  })
  return {
    sentence: projectSentence(
      doc,
      watches.length,
      triggers.map(({ spec }) => spec),
      agents.map(({ name }) => name),
    ),
    watches,
    wakes: triggers.map(({ name, spec }) => ({
      trigger: name,
      sentence: sentenceOf(spec),
      cooldown_sentence: cooldownSentence(spec),
      paused: spec.paused ?? false,
    })),
    agents,
    skills: names(doc, 'skill').map((name) => ({
      name,
      description: specOf<SkillSpec>(declared, 'skill', name).description,
      loaded_by: [],
    })),
  }
}

/** @throws SvcError not_found */
export function projectHealth(declared: Declared, word: string): ProjectHealth {
  const doc = docOf(declared, word)
  if (doc.draft) return { state: 'setting_up', message: 'A draft: its plan is not applied yet', issues: [] }
  if (doc.paused) return { state: 'paused', message: 'Paused: nothing in it wakes an agent', issues: [] }
  const issues = issuesOf(declared, word, doc)
  const errors = issues.filter(({ severity }) => severity === 'error').length
  if (issues.length)
    return {
      state: 'attention',
      message:
        issues.length === 1
          ? issues[0]!.message
          : `${issues.length} things need attention${errors ? `, ${errors} of them now` : ''}`,
      issues,
    }
  return { state: 'working', message: 'Everything it needs is in place', issues: [] }
}

type Issue = ProjectHealth['issues'][number]

function issuesOf(declared: Declared, word: string, doc: ProjectDoc): Issue[] {
  const id = requireProject(declared, word)
  const issues: Issue[] = []
  for (const watch of watchesOf(declared, doc)) {
    if (watch.state === 'error')
      issues.push({
        severity: 'error',
        message: `Source ${watch.source}: ${watch.detail}`,
        fix: 'Open the source and correct its settings',
        view: `/sources/${encodeURIComponent(watch.source)}`,
      })
    if (watch.state === 'paused')
      issues.push({
        severity: 'warning',
        message: `Source ${watch.source} is paused`,
        fix: 'Resume it to take events again',
        view: `/sources/${encodeURIComponent(watch.source)}`,
      })
  }
  for (const row of declared.projects.plannedOf(id))
    if (row.state === 'missing')
      issues.push({
        severity: 'error',
        message: `${row.kind === 'mcp_server' ? 'MCP server' : row.kind} ${row.name} is missing`,
        fix: 'Repair makes it again from the plan',
        view: `/projects/${id}`,
      })
  issues.push(...driftIssues(declared, doc))
  const { wakes, handoffs } = wiringOf(doc)
  for (const agent of names(doc, 'agent'))
    if (!wakes.some((wake) => wake.agent === agent) && !handoffs.some((row) => row.to === agent))
      issues.push({
        severity: 'warning',
        message: `Nothing wakes agent ${agent}`,
        fix: 'Wire a trigger to it, or a handoff from another agent',
        view: `/projects/${id}?tab=graph`,
      })
  for (const trigger of names(doc, 'trigger'))
    if (!wakes.some((wake) => wake.trigger === trigger))
      issues.push({
        severity: 'warning',
        message: `Trigger ${trigger} wakes no agent`,
        fix: 'Wire an agent to it',
        view: `/projects/${id}?tab=graph`,
      })
  return issues
}

const DRIFTING = { source: 'sources', trigger: 'triggers', agent: 'agents' } as const

/** Labels that its parts depend on and that do not come. */
function driftIssues(declared: Declared, doc: ProjectDoc): Issue[] {
  return (['source', 'trigger', 'agent'] as const).flatMap((kind) =>
    names(doc, kind).flatMap((name) =>
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

function watchesOf({ sources, ...declared }: Declared, doc: ProjectDoc): ProjectOutline['watches'] {
  const belongs = belongings({ sources, ...declared })
  const mine = new Set(names(doc, 'source'))
  return sources
    .list((name) => belongs('source', name))
    .filter(({ name }) => mine.has(name))
    .map(({ name, connector, mode, health }) => ({
      source: name,
      title: name,
      connector,
      description: `${connector}, ${mode}`,
      state: stateOf(health.status, health.last_ingest, mode),
      last_event_at: health.last_ingest,
      detail: health.reason,
    }))
}

function stateOf(status: string, lastIngest: string | null, mode: string): string {
  if (status === 'paused') return 'paused'
  if (status === 'error' || status === 'refused') return 'error'
  return lastIngest === null && mode !== 'reference' ? 'waiting' : 'receiving'
}

function projectSentence(
  doc: ProjectDoc,
  sources: number,
  triggers: readonly TriggerSpec[],
  agents: readonly string[],
): string {
  if (sources + triggers.length + agents.length === 0) return 'Nothing is in this project yet.'
  const watches = sources ? `Watches ${count(sources, 'source')}` : 'Watches no source yet'
  if (triggers.length === 0) return `${watches}; nothing wakes an agent yet.`
  const first = sentenceOf(triggers[0]!).replace(/^[WE]/, (letter) => letter.toLowerCase())
  const more = triggers.length > 1 ? ` (and ${triggers.length - 1} more)` : ''
  const woken = agents.length ? `wakes ${list(agents)}` : 'wakes no agent yet'
  const taking = Object.keys(doc.handoffs ?? {}).length ? ', handing over on their verdicts' : ''
  return `${watches}; ${first}${more}, ${woken}${taking}.`
}

function agentSentence(
  triggers: readonly string[],
  to: readonly { agent: string; verdict: string; cooldown?: string }[],
): string {
  const parts: string[] = []
  if (triggers.length) parts.push(`looks first when ${list(triggers)} fires`)
  for (const { agent, verdict, cooldown } of to)
    parts.push(
      `digs in when ${agent} concludes ${verdict}${cooldown ? `, at most once every ${cooldown}` : ''}`,
    )
  return parts.length ? parts.join('; ') : 'is woken by nothing yet'
}

const count = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`
const list = (words: readonly string[]): string =>
  words.length < 3 ? words.join(' and ') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
const names = (doc: ProjectDoc, kind: keyof ProjectDoc['uses']): string[] =>
  Object.keys(doc.uses[kind] ?? {}).sort()

function docOf(declared: Declared, word: string): ProjectDoc {
  return declared.kinds.project.find(requireProject(declared, word))!.doc as unknown as ProjectDoc
}

function specOf<T>({ kinds }: Declared, kind: 'trigger' | 'skill', name: string): T {
  const stored = kinds[kind].find(name) ?? fail('not_found', `no ${kind} is named ${name}`)
  return stored.doc as unknown as T
}
