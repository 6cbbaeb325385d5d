/** The tools of Ask: each reads as the caller, or plans a proposal; nothing of it writes. */

import { ArgumentFault, taken } from '../../../schemas/argument-forms.ts'
import { namedEntity } from '../../../schemas/entity-word.ts'
import { ownField } from '../../../schemas/fields-of.ts'
import { check } from '../../../schemas/index.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import { askToolSchema } from '../../../schemas/tools.ts'
import type { AskProposal, Source } from '../../../schemas/types.ts'
import { fail, SvcError } from '../../errors.ts'
import { cursorOf, placeOf } from '../../log/timeline/inspect-pages.ts'
import type { EngineCalls } from '../../roles/calls.ts'
import type { ToolCall, ToolSpec } from '../models/types.ts'
import { stats as countBy, isLookTool, look, read as readWithin, unreadArguments } from '../runs/own-tools.ts'
import { fence } from '../runs/prompt.ts'
import type { AskCaller, AskMode, AskPort, BuildStep, ProposalDraft } from './calls.ts'

/** Reads of the engine that tools make. */
export type AskReads = Pick<
  EngineCalls,
  | 'listSources'
  | 'listTriggers'
  | 'listAgents'
  | 'listMcpServers'
  | 'listSkills'
  | 'listProjects'
  | 'listTemplates'
  | 'listConnectors'
  | 'getSource'
  | 'getTrigger'
  | 'getAgent'
  | 'getMcpServer'
  | 'getProject'
  | 'projectOutline'
  | 'projectId'
  | 'allFindings'
  | 'detectTemplate'
  | 'sourceFields'
  | 'sourceEvents'
  | 'entities'
  | 'entityValues'
  | 'readFor'
  | 'statsFor'
  | 'inspectFor'
  | 'listFirings'
  | 'getFiring'
  | 'listRuns'
  | 'getRun'
  | 'why'
>

export interface ToolWorld {
  reads: AskReads
  port: Pick<AskPort, 'planProposal'>
  caller: AskCaller
  /** Fences what was recorded. */
  marker: string
  /** As of when it reads, epoch ms: the clock, but never before what is stored. */
  now(): number
}

/** `told` is the whole answer, fenced already; `found` is made into text and fenced. */
export type ToolAnswer = { told: string; isError?: boolean; proposal?: AskProposal } | { found: unknown }

/** @param args hold the schema of the tool */
// biome-ignore lint/suspicious/noExplicitAny: the schema says what they are
export type ToolCallOf = (args: any, world: ToolWorld) => Promise<ToolAnswer>

export interface AskTool {
  spec: ToolSpec
  call: ToolCallOf
  /** A scope more than asking needs. */
  scope?: 'admin'
}

/** Of an answer the fields that a model is shown. */
const only = <T, K extends keyof T>(answer: T, ...fields: readonly K[]): Pick<T, K> =>
  Object.fromEntries(fields.map((field) => [field, answer[field]])) as Pick<T, K>

/* Tools that say what is declared on the instance. */

/** Without the address events are sent to: who knows it can send. */
const told = ({ ingest_key: _key, accepts: _accepts, ...source }: Source) => source

const listSources: ToolCallOf = async (_args, { reads }) => ({
  found: (await reads.listSources()).map((source) => {
    const { name, connector, mode, state, config, projects, health } = told(source)
    return { name, connector, mode, state, labels: config.labels ?? [], projects, health }
  }),
})

const listConnectors: ToolCallOf = async ({ connector }: { connector?: string }, { reads }) => {
  const all = await reads.listConnectors()
  if (connector !== undefined)
    return {
      found:
        ownField(all, connector) ??
        fail('not_found', `no connector is named ${connector}; there are ${Object.keys(all).join(', ')}`),
    }
  return {
    found: Object.entries(all).map(([kind, { mode, discover, fields }]) => ({
      ...{ connector: kind, mode, discover },
      fields: fields.map((field) => only(field, 'name', 'required', 'secret')),
    })),
  }
}

const catalog: ToolCallOf = async (_args, { reads }) => {
  const [sources, triggers, agents, servers, skills, projects] = await Promise.all([
    reads.listSources(),
    reads.listTriggers(),
    reads.listAgents(),
    reads.listMcpServers(),
    reads.listSkills(),
    reads.listProjects(),
  ])
  return {
    found: {
      sources: sources.map((source) => only(source, 'name', 'connector', 'state')),
      triggers: triggers.map((trigger) => only(trigger, 'name', 'sentence', 'state', 'sources')),
      agents: agents.agents.map((agent) => only(agent, 'name', 'last_run')),
      mcp_servers: servers.servers.map(({ name }) => name),
      skills: skills.map((skill) => only(skill, 'name', 'description')),
      projects: projects.map((project) => only(project, 'id', 'name', 'template', 'status')),
    },
  }
}

const KINDS: Record<string, (reads: ToolWorld['reads'], name: string) => Promise<unknown>> = {
  source: async (reads, name) => told(await reads.getSource(name)),
  trigger: (reads, name) => reads.getTrigger(name),
  agent: (reads, name) => reads.getAgent(name),
  mcp_server: (reads, name) => reads.getMcpServer(name),
  project: async (reads, name) => ({
    ...(await reads.getProject(name)),
    outline: await reads.projectOutline(name),
  }),
  firing: (reads, name) => reads.getFiring(name),
  run: async (reads, name) => {
    // What it was told and did is long; what came of it is what is asked for.
    const { steps, chain: _chain, definition: _definition, ...run } = await reads.getRun(name)
    const tools = steps.flatMap(({ kind, data }) =>
      kind === 'tool' || kind === 'refused' ? [(data.call as { name?: string } | undefined)?.name] : [],
    )
    return { ...run, tools }
  },
}

const describe: ToolCallOf = async ({ handle }: { handle: string }, { reads }) => {
  const at = handle.indexOf(':')
  const kind = handle.slice(0, Math.max(0, at))
  const look =
    ownField(KINDS, kind) ??
    fail('invalid', `handle must be kind:name, its kind one of ${Object.keys(KINDS).join(', ')}`)
  return { found: await look(reads, handle.slice(at + 1)) }
}

const listProjects: ToolCallOf = async (_args, { reads }) => ({ found: await reads.listProjects() })

const listTemplates: ToolCallOf = async (_args, { reads }) => ({
  found: (await reads.listTemplates()).templates.map((template) => ({
    ...only(template, 'key', 'title', 'description', 'params'),
    objects: template.objects.map(({ kind, key }) => `${kind} ${key}`),
  })),
})

const detectTemplate: ToolCallOf = async ({ key }: { key: string }, { reads }) => ({
  found: await reads.detectTemplate(key),
})

/* Tools that read what was recorded: events, what fired, what agents did and found. */

const LIMIT = 20
const NOTE_MAX = 600
const SAMPLED = 500
const EVENT_MAX = 2_000

type Args = Record<string, unknown>

async function within({ reads, marker, now }: ToolWorld, project: unknown) {
  const projects = typeof project === 'string' && project ? [await reads.projectId(project)] : []
  return { projects, asOf: now(), marker }
}

const read: ToolCallOf = async (args: Args, world) => {
  const { text, isError } = await readWithin(await within(world, args.project), world.reads, args)
  return { told: text, isError }
}

/** One of the tools that look, as runs have them. */
export const lookTool =
  (name: string): ToolCallOf =>
  async (args: Args, world) => {
    if (!isLookTool(name)) throw new Error(`no tool that looks is named ${name}`)
    const { text, isError } = await look(await within(world, args.project), world.reads, name, args)
    return { told: text, isError }
  }

/** @returns those ids that no event has which the caller may read */
export async function unknownEvents(ids: readonly string[], world: ToolWorld): Promise<string[]> {
  const { projects, asOf } = await within(world, undefined)
  const question = { tool: 'event', as_of: new Date(asOf).toISOString(), max_tokens: LEAST_TOKENS } as const
  const looked = await Promise.all(
    ids.map((id) =>
      world.reads.inspectFor(projects, { ...question, id }, asOf).then(
        () => [],
        (error: unknown) => {
          if (error instanceof SvcError && error.code === 'not_found') return [id]
          throw error
        },
      ),
    ),
  )
  return looked.flat()
}

/** Least that a look may answer with. */
const LEAST_TOKENS = 500

const stats: ToolCallOf = async (args: Args, world) => {
  const { text, isError } = await countBy(await within(world, undefined), world.reads, args)
  return { told: text, isError }
}

const entities: ToolCallOf = async (
  { label, prefix, limit = 50 }: { label?: string; prefix?: string; limit?: number },
  { reads },
) => ({ found: label ? await reads.entityValues(label, limit, prefix) : await reads.entities(LIMIT) })

const sourceFields: ToolCallOf = async ({ name }: { name: string }, { reads }) => ({
  found: await reads.sourceFields(name, SAMPLED),
})

const recentEvents: ToolCallOf = async (
  { name, limit = LIMIT }: { name: string; limit?: number },
  { reads },
) => ({
  found: (await reads.sourceEvents(name, limit)).map((event) => ({
    ...only(event, 'id', 'event_time', 'event_type', 'labels', 'text'),
    ...(event.raw === undefined ? {} : { item: shortened(event.raw, EVENT_MAX) }),
  })),
})

/** Ask writes an entity as service=pay; these reads go by its value. */
const entityValue = (entity: string | undefined): string | undefined => namedEntity({ entity }).entity

const findings: ToolCallOf = async (
  {
    project,
    entity,
    agent,
    limit = LIMIT,
  }: { project?: string; entity?: string; agent?: string; limit?: number },
  { reads },
) => {
  const { findings } = await reads.allFindings({
    ...{ project: project || undefined, entity: entityValue(entity), agent, limit },
    by: 'run',
  })
  return {
    found: findings.map(({ result, agent, note }) => ({
      ...{ run_id: result.id, agent, entity: result.entity, verdict: result.verdict },
      ...{ headline: result.headline, next_step: result.next_step },
      ...{ finding: shortened(note, NOTE_MAX), at: result.at },
      claims: result.claims,
      handled: result.handled !== null,
      mark: result.mark?.mark ?? null,
    })),
  }
}

const firings: ToolCallOf = async (
  {
    trigger,
    entity,
    state,
    limit = LIMIT,
  }: { trigger?: string; entity?: string; state?: string; limit?: number },
  { reads },
) => ({
  found: (await reads.listFirings({ trigger, key: entityValue(entity), state, limit })).firings.map(
    (firing) => ({
      id: firing.dispatch_id,
      ...only(firing, 'trigger', 'key', 'entity', 'state', 'reason'),
      at: firing.fired_at ?? firing.opened_at,
      events: firing.events,
    }),
  ),
})

const runs: ToolCallOf = async (
  {
    agent,
    entity,
    status,
    limit = LIMIT,
  }: { agent?: string; entity?: string; status?: string; limit?: number },
  { reads },
) => {
  const { runs: found, total } = await reads.listRuns({
    agent,
    entity: entityValue(entity),
    status,
    limit,
    offset: 0,
  })
  return {
    found: {
      total,
      runs: found.map((run) => ({
        ...only(run, 'id', 'agent', 'status', 'key', 'label', 'woken_by', 'trigger'),
        firing: run.dispatch_id,
        ...only(run, 'started_at', 'finished_at', 'outcome', 'verdict', 'headline', 'error', 'rounds'),
        cost_usd: run.cost_usd,
      })),
    },
  }
}

const why: ToolCallOf = async ({ event, trigger }: { event: string; trigger?: string }, { reads }) => ({
  found: await reads.why(event, trigger),
})

/* Which ones a turn is offered, and how one is called. */

/** Characters of one answer. */
const RESULT_MAX = 20_000

function tool(name: string, call: ToolCallOf, scope?: 'admin'): AskTool {
  const { description, ...input } = askToolSchema(name)
  return { spec: { name, description, input }, call, ...(scope ? { scope } : {}) }
}

const READING: readonly AskTool[] = [
  tool('list_sources', listSources),
  tool('list_connectors', listConnectors),
  tool('catalog', catalog),
  tool('describe', describe),
  tool('source_fields', sourceFields),
  tool('entities', entities),
  tool('recent_events', recentEvents),
  tool('list_templates', listTemplates),
  tool('list_projects', listProjects),
  tool('detect_template', detectTemplate, 'admin'),
  tool('read', read),
  tool('stats', stats),
  ...['changed', 'series', 'trace', 'event', 'document', 'labels'].map((name) => tool(name, lookTool(name))),
  tool('findings', findings),
  tool('firings', firings),
  tool('runs', runs),
  tool('why', why),
]

const proposing = (kind: ProposalDraft['kind']): AskTool =>
  tool(`propose_${kind}`, async (args, { port, caller }) => {
    const proposal = await port.planProposal({ kind, args }, { id: caller.id, name: caller.name })
    const open = proposal.needs.length ? `, once ${proposal.needs.join(', ')} is typed` : ''
    return {
      told: `The card is shown${open}; nothing has changed yet. Do not repeat in your text what is on it.`,
      proposal,
    }
  })

const PROPOSING: Record<BuildStep | 'ask', readonly AskTool[]> = {
  ask: [proposing('labels'), proposing('trigger')],
  sources: [proposing('source'), proposing('project')],
  watch: [proposing('labels'), proposing('trigger')],
  agent: [proposing('agent')],
}

/** @param step null in mode ask */
export const toolsOf = (mode: AskMode, step: BuildStep | null): readonly AskTool[] => [
  ...READING,
  ...PROPOSING[mode === 'build' && step ? step : 'ask'],
]

interface Called {
  text: string
  isError: boolean
  proposal?: AskProposal
}

/** Calls a tool as the caller of the turn. Faults of arguments and refusals are answers to the model. */
export async function callTool(
  { spec, call, scope }: AskTool,
  { name, arguments: given }: ToolCall,
  world: ToolWorld,
): Promise<Called> {
  const unread = unreadArguments({ name, arguments: given })
  if (unread) return failed(unread)
  if (scope && !world.caller.scopes.includes(scope))
    return failed(`this credential lacks the '${scope}' scope`)
  try {
    const args = taken({ ...spec.input }, given)
    const fault = check(`ask-call-${spec.name.replaceAll('_', '-')}.json`, args)
    if (fault) return failed(fault)
    const answer = await call(args, world)
    if ('found' in answer) {
      const isPaged = Object.hasOwn((spec.input as { properties: object }).properties, 'cursor')
      return { text: fence(world.marker, pageOfFound(answer.found, isPaged ? args : null)), isError: false }
    }
    const { told, isError = false, proposal } = answer
    return { text: told, isError, ...(proposal ? { proposal } : {}) }
  } catch (error) {
    if (error instanceof ArgumentFault) return failed(error.message)
    if (!(error instanceof SvcError) || error.code === 'internal' || error.code === 'unavailable') throw error
    // Names of fields and labels are in it, which others chose.
    return failed(fence(world.marker, error.message))
  }
}

const failed = (text: string): Called => ({ text: `tool error: ${text}`, isError: true })

const shortened = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max)}…` : text)

/**
 * A page of what was found; one that is too long for a page has a line for each entry, and is cut between two.
 * @param args null: the tool takes no cursor, and is to be asked for less
 */
function pageOfFound(found: unknown, args: { cursor?: string } | null): string {
  const whole = JSON.stringify(found)
  const from = placeOf(args ?? {})
  if (from === 0 && whole.length <= RESULT_MAX) return whole
  const text = linesOfJson(found)
  const end = from + RESULT_MAX
  if (end >= text.length) return text.slice(from)
  const between = text.lastIndexOf('\n', end) + 1
  const next = between > from + RESULT_MAX / 2 ? between : end
  const how = args ? `call again with cursor ${cursorOf(next)}` : 'ask for less at a time'
  return `${text.slice(from, next).trimEnd()}\n… ${countWords(text.length - next, 'more character')}: ${how}`
}

function linesOfJson(value: unknown): string {
  if (Array.isArray(value)) return `[\n${value.map((one) => JSON.stringify(one)).join(',\n')}\n]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const fields = Object.entries(value).map(
    ([name, one]) => `${JSON.stringify(name)}:${Array.isArray(one) ? linesOfJson(one) : JSON.stringify(one)}`,
  )
  return `{\n${fields.join(',\n')}\n}`
}
