/**
 * An incident as svc has it: an engine in memory whose clock is the incident's, its events sent to sources in
 * the order in which they came, and a trigger that fires for its entity. Truth stays outside.
 */
import type { AgentWrite, SourceWrite } from '../../schemas/types.ts'
import type { Caller } from '../calls.ts'
import { fail } from '../errors.ts'
import type { LocalEngine } from '../operations/network.ts'
import type { EngineOptions } from '../roles/calls.ts'
import type { Loaded } from './ways.ts'

/** Items of one body. */
const BODY_ITEMS = 1_000
/** Runs of one agent in its day: as many as are asked for. */
const RUNS_MAX = 10_000
const TRIGGER = 'paged'
/** The same in every world: what an agent is told of a scenario is the same to the byte, cursors and markers with it. */
const SECRET = '0'.repeat(64)
export const EVALS: Caller = { id: 'evals', name: 'evals' }
const BY = { caller: EVALS, origin: 'api' as const }

/** Opens an engine in the caller's own thread. */
export type OpenEngine = (options: EngineOptions) => LocalEngine

export interface EvalWorld {
  engine: LocalEngine
  clock: { now(): number }
  /** Ids that the events have in the store, by those of what was loaded. */
  ids: ReadonlyMap<string, string>
  /** Id of the run that the firing made of each agent: it waits. */
  runs: ReadonlyMap<string, string>
  close(): Promise<void>
}

/**
 * @param agents made before the events come, each woken by the firing
 * @throws SvcError where an event is refused, or nothing fires
 */
export async function openEvalWorld(
  open: OpenEngine,
  loaded: Loaded,
  agents: readonly Omit<AgentWrite, 'project' | 'trigger'>[],
): Promise<EvalWorld> {
  const began = loaded.now + Math.min(0, ...loaded.events.map(({ t }) => t)) * 1000
  let now = began
  const clock = { now: () => now }
  const engine = open({ dataFile: null, clock, fixedSecret: SECRET })
  try {
    const { id: project } = await engine.createProject({ template: 'custom', name: 'Evals', objects: [] }, BY)
    const keys = await makeSources(engine, loaded, project)
    await engine.createTrigger(
      {
        name: TRIGGER,
        sources: ['alerts'],
        condition: { event: 'any' },
        filters: [{ field: 'event_type', op: 'eq', value: 'page' }],
        project,
      } as never,
      BY,
    )
    for (const agent of agents) {
      await engine.createAgent(
        { ...agent, project, trigger: TRIGGER, daily_cap: RUNS_MAX, concludes: true } as AgentWrite,
        BY,
      )
      await engine.switchAgent(agent.name, true, project, BY)
    }
    const ids = await send(engine, loaded, keys, (at) => {
      now = Math.max(now, at)
      engine.tick()
    })
    engine.tick()
    const { runs } = await engine.listRuns({ limit: RUNS_MAX, offset: 0 })
    const made = new Map(runs.map(({ agent, id }) => [agent, id]))
    for (const { name } of agents)
      if (!made.has(name)) fail('internal', `evals: nothing woke ${name} for ${loaded.entity}`)
    return { engine, clock, ids, runs: made, close: () => engine.close() }
  } catch (error) {
    await engine.close()
    throw error
  }
}

/** @returns the ingest key of each */
async function makeSources(
  engine: LocalEngine,
  { events }: Loaded,
  project: string,
): Promise<Map<string, string>> {
  const labels = new Map<string, Set<string>>()
  const measured = new Set<string>()
  for (const { source, labels: of, value } of events) {
    const names = labels.get(source) ?? new Set(['service'])
    labels.set(source, names)
    for (const name of Object.keys(of)) names.add(name)
    if (value !== undefined) measured.add(source)
  }
  const keys = new Map<string, string>()
  for (const [name, names] of labels) {
    const write = {
      ...{ name, connector: 'webhook', project },
      config: {
        event_type_field: 'type',
        event_time_field: 'at',
        text_template: '{text}',
        labels: [
          { name: 'service', field: 'labels.service', primary: true },
          ...[...names]
            .filter((label) => label !== 'service')
            .map((label) => ({ name: label, field: `labels.${label}` })),
          ...(measured.has(name) ? [{ name: 'value', field: 'value', type: 'number' }] : []),
        ],
      },
    }
    const { ingest_key } = await engine.createSource(write as SourceWrite, BY, false)
    keys.set(name, ingest_key!)
  }
  return keys
}

/** @param reached told the time at which what follows came, epoch ms */
async function send(
  engine: LocalEngine,
  { events, now }: Loaded,
  keys: ReadonlyMap<string, string>,
  reached: (at: number) => void,
): Promise<Map<string, string>> {
  const cameAt = ({ t, arrives = t }: Loaded['events'][number]) => Math.max(t, arrives)
  const inOrder = [...events].sort((a, b) => cameAt(a) - cameAt(b))
  const ids = new Map<string, string>()
  for (let from = 0; from < inOrder.length; ) {
    const { source } = inOrder[from]!
    let to = from + 1
    while (to < inOrder.length && to - from < BODY_ITEMS && inOrder[to]!.source === source) to++
    const some = inOrder.slice(from, to)
    reached(now + cameAt(some.at(-1)!) * 1000)
    const items = some.map(({ type, t, text, labels, value }) => ({
      ...{ type, text, labels, value },
      at: new Date(now + t * 1000).toISOString(),
    }))
    const answer = await engine.ingest({
      ingestKey: keys.get(source)!,
      body: Buffer.from(JSON.stringify(items)),
      bypassCooldown: false,
      caller: EVALS.id,
    })
    if (answer.ingested !== items.length)
      fail('internal', `evals: ${items.length - answer.ingested} events of ${source} were refused`)
    const first = Number(answer.ids![0]!.slice(4))
    for (const [i, { id }] of some.entries()) ids.set(id, `evt_${first + i}`)
    from = to
  }
  return ids
}
