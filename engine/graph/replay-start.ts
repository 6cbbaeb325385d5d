/** How things stood when a replay begins: worked out of rows as of then. */
import type { ProjectGraph, Replay } from '../../schemas/types.ts'
import type { HandoffRow } from '../agents/runs/queries.ts'
import { edgeIds, nodeId } from '../model/graph.ts'
import { HANDOFF_COOLDOWN, wiringOf } from '../model/project.ts'
import { parseDuration } from '../model/units.ts'
import { BURSTS, type Fired, OPEN_MS, sourceLabels } from './replay-firings.ts'

import { handoffWait, inRange, runIdFrom } from './replay-runs.ts'

import { cooldownMsOf, countWith, idsWith, iso, type Scope } from './replay-scope.ts'

type Start = Replay['start']

const DAY_MS = 86_400_000
/** Of each list. */
const LISTED = 500

export const RUNS_SINCE = `SELECT r.agent, r.trigger_name, r.woken_by IN ('trigger', 'schedule') AS is_woken, count(*) AS n
       FROM run_projects p JOIN runs r ON r.id = p.run_id
       WHERE p.project = ? AND p.run_id >= ? AND p.run_id < ? AND r.practice = 0 AND r.woken_by <> 'external'
       GROUP BY 1, 2, 3`
export const HANDOFFS_SINCE = `SELECT h.* FROM runs r JOIN handoffs h ON h.from_run = r.id
       WHERE r.finished_at >= ? AND r.finished_at < ? AND r.practice = 0 AND h.state IN ('started', 'done')
         AND EXISTS (SELECT 1 FROM json_each(h.projects) WHERE value = ?)`
export const DELIVERED_SINCE = `SELECT f.trigger_name, d.recipient, count(*) AS n FROM delivery_tries t
       JOIN deliveries d ON d.id = t.delivery_id JOIN firings f ON f.id = d.firing_id
       JOIN subscriptions s ON s.id = d.recipient
       WHERE t.at >= ? AND t.at < ? AND t.error IS NULL AND f.practice = 0
         AND +f.trigger_id IN (SELECT value FROM json_each(?)) AND (s.project IS NULL OR s.project = ?)
       GROUP BY 1, 2`
export const WRITTEN_BACK_SINCE = `SELECT r.agent, count(*) AS n FROM delivery_tries t CROSS JOIN deliveries d CROSS JOIN runs r
       WHERE t.at >= ? AND t.at < ? AND t.error IS NULL AND d.id = t.delivery_id AND d.recipient_kind = 'write_back'
         AND r.id = d.finding_of
         AND EXISTS (SELECT 1 FROM run_projects p WHERE p.project = ? AND p.run_id = r.id) GROUP BY 1`
export const KEYS_FIRED = `SELECT k.key, max(f.fired_at) AS fired_at FROM firings f JOIN firing_keys k ON k.firing_id = f.id
     WHERE f.trigger_id = ? AND f.fired_at > ? AND f.fired_at < ? AND f.resolves IS NULL AND f.practice = 0
     GROUP BY k.key ORDER BY 2 DESC LIMIT ?`

/** @param graph of the start: what it counts begins at 0 */
export function startOf(scope: Scope, graph: ProjectGraph): Start {
  return {
    counts: countsOf(scope, graph),
    running: [...inRange({ ...scope, to: scope.from, most: LISTED }).runs]
      .filter(({ started_at, practice }) => !practice && started_at !== null && started_at < scope.from)
      .map(({ id, agent }) => ({ run_id: id, node: nodeId('agent', agent) })),
    held: heldAt(scope),
    cooldowns: [...triggerCooldowns(scope), ...handoffCooldowns(scope)].slice(0, LISTED),
  }
}

type Counts = Map<string, number>

const COUNTED: ReadonlySet<string> = new Set(['source', 'trigger', 'agent', 'destination'])

/** Since midnight UTC, before the start, practice left out. */
function countsOf(scope: Scope, { nodes, edges }: ProjectGraph): Start['counts'] {
  const counts: Counts = new Map([
    ...nodes.flatMap(({ id, kind }) => (COUNTED.has(kind) ? [[id, 0] as const] : [])),
    ...edges.flatMap(({ id, kind }) => (kind === 'uses' ? [] : [[id, 0] as const])),
  ])
  const midnight = Math.floor(scope.from / DAY_MS) * DAY_MS
  countEvents(scope, midnight, counts)
  countFirings(scope, midnight, counts)
  countRuns(scope, midnight, counts)
  countDeliveries(scope, midnight, counts)
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
}

const add = (counts: Counts, id: string, n: number): void => void counts.set(id, (counts.get(id) ?? 0) + n)

function countEvents({ ctx, configurations, project, from }: Scope, midnight: number, counts: Counts): void {
  const { doc, part } = configurations.at(from)
  const [first, last] = [ctx.ceilingAt(midnight - 1), ctx.ceilingAt(from - 1)]
  const inProject = ctx.dictionary.find('project', project.id)
  const feeds = Object.keys(doc.uses.trigger ?? {}).flatMap((trigger) =>
    ((part('trigger', trigger)?.sources ?? []) as string[]).map((source) => ({ trigger, source })),
  )
  for (const source of new Set([...Object.keys(doc.uses.source ?? {}), ...feeds.map((one) => one.source)])) {
    const { own, findings } = sourceLabels(ctx, [source])
    let n = own.reduce((sum, label) => sum + countWith(ctx, label, first, last), 0)
    if (findings.length && inProject !== undefined)
      n += idsWith(ctx, [[findings, [inProject]]], first, last, Number.POSITIVE_INFINITY).length
    add(counts, nodeId('source', source), n)
    for (const one of feeds) if (one.source === source) add(counts, edgeIds.feeds(source, one.trigger), n)
  }
}

function countFirings({ ctx, triggers, from }: Scope, midnight: number, counts: Counts): void {
  const fired = ctx.db
    .prepare<[number, number, number], number>(
      'SELECT count(*) FROM firings WHERE trigger_id = ? AND fired_at >= ? AND fired_at < ? AND practice = 0',
    )
    .pluck()
  for (const { id, name } of triggers) add(counts, nodeId('trigger', name), fired.get(id, midnight, from)!)
}

interface RunCount {
  agent: string
  trigger_name: string | null
  is_woken: number
  n: number
}

function countRuns({ ctx, project, from }: Scope, midnight: number, counts: Counts): void {
  const runs = ctx.db
    .prepare<[string, string, string], RunCount>(RUNS_SINCE)
    .all(project.id, runIdFrom(midnight), runIdFrom(from))
  for (const { agent, trigger_name, is_woken, n } of runs) {
    add(counts, nodeId('agent', agent), n)
    if (is_woken && trigger_name !== null) add(counts, edgeIds.wakes(trigger_name, agent), n)
  }
  for (const row of handoffsSince({ ctx, project }, midnight, from))
    add(counts, edgeIds.handsOff(row.from_agent, row.verdict, row.to_agent), 1)
}

/** Those that were taken over, practice left out. */
function handoffsSince(
  { ctx, project }: Pick<Scope, 'ctx' | 'project'>,
  from: number,
  before: number,
): HandoffRow[] {
  return ctx.db.prepare<[number, number, string], HandoffRow>(HANDOFFS_SINCE).all(from, before, project.id)
}

interface Delivered {
  trigger_name: string
  recipient: string
  n: number
}

function countDeliveries({ ctx, project, triggers, from }: Scope, midnight: number, counts: Counts): void {
  const delivered = ctx.db
    .prepare<[number, number, string, string], Delivered>(DELIVERED_SINCE)
    .all(midnight, from, JSON.stringify(triggers.map(({ id }) => id)), project.id)
  for (const { trigger_name, recipient, n } of delivered) {
    const destination = `webhook:${recipient}`
    add(counts, nodeId('destination', destination), n)
    add(counts, edgeIds.tells('trigger', trigger_name, destination), n)
  }
  const written = ctx.db
    .prepare<[number, number, string], { agent: string; n: number }>(WRITTEN_BACK_SINCE)
    .all(midnight, from, project.id)
  for (const { agent, n } of written) {
    add(counts, nodeId('destination', `write_back:${agent}`), n)
    add(counts, edgeIds.tells('agent', agent, `write_back:${agent}`), n)
  }
}

/** Bursts that gathered, or were held back. */
function heldAt({ ctx, triggers, from }: Scope): Start['held'] {
  const bursts = ctx.db.prepare<[number, number, number, number], Fired>(BURSTS)
  return triggers.flatMap(({ id, name }) =>
    bursts
      .all(id, from - OPEN_MS, from - 1, LISTED)
      .flatMap(({ fired_at, dropped_at, held_at, state, dispatch_id }) => {
        const isOver =
          (fired_at !== null && fired_at < from) ||
          // When a burst was let pass is not recorded of those of older versions.
          (state === 'dropped' && (dropped_at === null || dropped_at < from))
        if (isOver) return []
        const phase = held_at !== null && held_at < from ? 'held' : 'gathering'
        return { dispatch_id, node: nodeId('trigger', name), phase }
      }),
  )
}

interface KeyFired {
  key: string
  fired_at: number
}

function triggerCooldowns({ ctx, triggers, configurations, from }: Scope): Start['cooldowns'] {
  const { part } = configurations.at(from)
  const fired = ctx.db.prepare<[number, number, number, number], KeyFired>(KEYS_FIRED)
  return triggers.flatMap(({ id, name }) => {
    const spec = part('trigger', name)
    const wait = spec ? cooldownMsOf(spec) : 0
    if (wait === 0) return []
    return fired
      .all(id, from - wait, from, LISTED)
      .map(({ key, fired_at }) => ({ node: nodeId('trigger', name), key, until: iso(fired_at + wait) }))
  })
}

function handoffCooldowns(scope: Scope): Start['cooldowns'] {
  const { configurations, from } = scope
  const configuration = configurations.at(from)
  const waits = wiringOf(configuration.doc).handoffs.map(({ cooldown }) =>
    parseDuration(cooldown ?? HANDOFF_COOLDOWN, 'cooldown'),
  )
  if (waits.length === 0) return []
  return handoffsSince(scope, from - Math.max(...waits), from).flatMap((row) => {
    const until = row.at + (handoffWait(configuration, row) ?? 0)
    if (until <= from) return []
    return {
      node: edgeIds.handsOff(row.from_agent, row.verdict, row.to_agent),
      key: row.entity,
      until: iso(until),
    }
  })
}
