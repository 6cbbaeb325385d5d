/**
 * What happened in a project between two instants, folded from the rows that say it: there is no second
 * record. An answer ends between two instants, so that the next one, from `next_from` on, neither loses
 * nor repeats a moment, also where many came at once.
 */
import type { GraphPosition, ProjectGraph, Replay, ReplayMoment, ReplayVersion } from '../../schemas/types.ts'
import { type HandoffRow, runQueries } from '../agents/runs/queries.ts'
import type { Asked } from '../calls.ts'
import type { Clock } from '../clock.ts'
import { digestOf } from '../declared/projects/project-spec.ts'
import { fail } from '../errors.ts'
import type { Steps } from '../log/steps.ts'
import type { ReadContext } from '../log/timeline/context.ts'
import { parseInstant } from '../log/timeline/plan.ts'
import { type PartKind, partKinds } from '../model/documents.ts'
import {
  destinationOf,
  edgeIds,
  type GraphDestination,
  type GraphWorld,
  nodeId,
  positionsKey,
  type SubscriptionRow,
  structureOf,
} from '../model/graph.ts'
import { HANDOFF_COOLDOWN, type ProjectDoc, wiringOf } from '../model/project.ts'
import { DAY_MS, iso, parseDuration } from '../model/units.ts'
import {
  BURSTS,
  collectChanges,
  collectDeliveries,
  collectEvents,
  collectFirings,
  type Fired,
  OPEN_MS,
  sourceLabels,
} from './replay-firings.ts'
import { collectEvaluations, gapsOf, recompute } from './replay-gaps.ts'
import { collectRuns, handoffWait, inRange, runIdFrom } from './replay-runs.ts'
import {
  type Chain,
  type Collected,
  type Configuration,
  compareDrafts,
  cooldownMsOf,
  countWith,
  type Draft,
  idsWith,
  joinCollected,
  presentMoment,
  readChain,
  readConfigurations,
  type Scope,
  triggersNamed,
} from './replay-scope.ts'

/** Rows of one kind at one instant: of a body with more items the rest is said to be left out. */
const INSTANT_MAX = 20_000

/** @param limit moments. @returns step by step, so that other reads come between */
function* foldInSteps(scope: Scope, limit: number): Steps<Replay> {
  const { project, from, to, chain } = scope
  const all = yield* collect(scope)
  const whole = Math.min(all.cutAt ?? to + 1, to + 1)
  const told = all.drafts.filter((draft) => draft.at < whole && isOfThen(scope, draft))
  const page = pageOf(told.sort(compareDrafts), limit, whole)
  const recomputed = yield* recompute(scope, page.drafts, page.next)
  const both = [...page.drafts, ...recomputed.drafts].sort(compareDrafts)
  const { drafts, next } = pageOf(both, limit, page.next)
  const nextFrom = next <= to ? next : null
  const versions = yield* versionsOf(scope)
  const start = startOf(scope, versions[0]!.graph)
  yield
  return {
    project: { id: project.id, name: project.name },
    from: iso(from),
    to: iso(to),
    result: chain?.root ?? null,
    versions,
    start,
    moments: drafts.map((draft, i) => presentMoment(draft, i + 1)),
    gaps: gapsOf(scope, {
      drafts,
      recomputed,
      isOverfull: all.overfullAt !== null,
      until: Math.min(next - 1, to),
    }),
    next_from: nextFrom === null ? null : iso(nextFrom),
  }
}

/** Every moment that a row tells, of all kinds. */
function* collect(scope: Scope): Steps<Collected> {
  const events = yield* collectEvents(scope)
  const depths = new Map(
    events.drafts.flatMap(({ event_id, depth }) => (depth ? [[event_id!, depth] as const] : [])),
  )
  const depthOf = (id: number | null) => (id === null ? 0 : (depths.get(`evt_${id}`) ?? 0))
  const evaluations = yield* collectEvaluations(scope)
  for (const one of evaluations.drafts) if (one.event_id) one.depth = depths.get(one.event_id) ?? 0
  const firings = collectFirings(scope, depthOf)
  yield
  const deliveries = collectDeliveries(scope)
  yield
  const runs = yield* collectRuns(scope)
  const all = joinCollected([events, evaluations, firings, deliveries, runs, collectChanges(scope)])
  yield
  if (all.overfullAt === null || scope.most >= INSTANT_MAX) return all
  // An instant that has more than an answer should hold is left to the next one, and read whole there.
  const cutAt = Math.min(all.overfullAt, all.cutAt ?? all.overfullAt)
  const before = all.drafts.filter(({ at }) => at < cutAt)
  if (before.length) return { drafts: before, cutAt, overfullAt: null }
  return yield* collect({ ...scope, most: INSTANT_MAX })
}

/** A part that the project did not have then is none of its business: it may have been another's. */
function isOfThen({ configurations, chain }: Scope, { kind, phase, nodes, edges, at }: Draft): boolean {
  if (kind === 'event') return chain !== null || edges.length > 0
  if ((kind !== 'evaluation' && kind !== 'firing') || phase === 'dropped') return true
  const trigger = nodes[0]!.slice('trigger:'.length)
  return configurations.around(at).some(({ doc }) => doc.uses.trigger?.[trigger] !== undefined)
}

/** @param whole epoch ms: every moment before it is there. @returns whole instants, and where the next answer begins */
function pageOf(sorted: Draft[], limit: number, whole: number): { drafts: Draft[]; next: number } {
  const over = sorted[limit]?.at
  if (over === undefined) return { drafts: sorted, next: whole }
  const drafts = sorted.filter(({ at }) => at < over)
  // One instant that holds more than an answer should is told whole all the same.
  if (drafts.length === 0) return { drafts: sorted.filter(({ at }) => at === over), next: over + 1 }
  return { drafts, next: over }
}

/* The graphs of a range: as it was at the start, and after each change. */

function* versionsOf(scope: Scope): Steps<ReplayVersion[]> {
  const put = positionsOf(scope)
  const versions: ReplayVersion[] = []
  for (const one of scope.configurations.all) {
    yield
    versions.push({
      change_set: one.set?.id ?? 0,
      at: iso(one.at),
      by: one.set?.actor ?? null,
      summary: one.set?.summary ?? '',
      graph: graphOf(scope, one, put),
    })
  }
  return versions
}

function graphOf(scope: Scope, one: Configuration, put: GraphPosition[]): ReplayVersion['graph'] {
  const { doc } = one
  const { nodes, edges } = structureOf(worldOf(scope, one))
  return {
    project: {
      id: scope.project.id,
      name: doc.name,
      status: doc.paused ? 'paused' : doc.draft ? 'draft' : 'active',
      version: one.set?.id ?? 0,
    },
    version: one.changeSet,
    at: iso(one.at),
    nodes,
    edges,
    positions: put.filter(({ node }) => nodes.some(({ id }) => id === node)),
    source_of_truth: 'instance',
  }
}

/** Where people put nodes, as it is now: no change-set has it, and what stays in its place is found again. */
function positionsOf({ ctx, project }: Scope): GraphPosition[] {
  const text = ctx.db
    .prepare<[string], string>('SELECT value FROM settings WHERE key = ?')
    .pluck()
    .get(positionsKey(project.id))
  return text === undefined ? [] : (JSON.parse(text) as GraphPosition[])
}

function worldOf(scope: Scope, one: Configuration): GraphWorld {
  const { doc, part } = one
  const others = otherProjects(scope, one)
  return {
    id: scope.project.id,
    doc,
    part,
    sharedWith: (kind, name) =>
      others
        .filter((other) => other.doc.uses[kind]?.[name])
        .map(({ id, doc: { name: called } }) => ({ id, name: called })),
    ownership: ownershipOf(one),
    destinations: destinationsAt(scope, one),
  }
}

function otherProjects(
  { ctx, project, configurations }: Scope,
  { changeSet }: Configuration,
): { id: string; doc: ProjectDoc }[] {
  const ids = ctx.db
    .prepare<[string], string>('SELECT id FROM projects WHERE id <> ? ORDER BY id')
    .pluck()
    .all(project.id)
  return ids.flatMap((id) => {
    const doc = configurations.documentAt('project', id, changeSet)
    return doc ? [{ id, doc }] : []
  })
}

/** Planned objects that a hand had edited or deleted by then. */
function ownershipOf({ doc, part }: Configuration): GraphWorld['ownership'] {
  return partKinds.flatMap((kind: PartKind) =>
    Object.values(doc.plan?.[kind] ?? {}).flatMap(({ name, digest, adopted }) => {
      const found = part(kind, name)
      const state = !found ? 'missing' : adopted || digestOf(found) === digest ? null : 'customized'
      return state ? [{ kind, name, state } as const] : []
    }),
  )
}

function destinationsAt({ ctx, project }: Scope, { at, doc }: Configuration): GraphDestination[] {
  return ctx.db
    .prepare<[number, number, string, string], SubscriptionRow>(
      `SELECT id, trigger_name, masked, disabled_at FROM subscriptions
       WHERE created_at <= ? AND (removed_at IS NULL OR removed_at > ?)
         AND (project = ? OR (project IS NULL AND trigger_name IN (SELECT value FROM json_each(?))))
       ORDER BY created_at, id`,
    )
    .all(at, at, project.id, JSON.stringify(Object.keys(doc.uses.trigger ?? {})))
    .map((row) => destinationOf(row, at))
}

/* How things stood when a replay begins: worked out of rows as of then. */

type Start = Replay['start']

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
export const WRITTEN_BACK_SINCE = `SELECT r.agent, d.recipient_kind, count(*) AS n FROM delivery_tries t CROSS JOIN deliveries d CROSS JOIN runs r
       WHERE t.at >= ? AND t.at < ? AND t.error IS NULL AND d.id = t.delivery_id
         AND d.recipient_kind IN ('write_back', 'github') AND r.id = d.finding_of
         AND EXISTS (SELECT 1 FROM run_projects p WHERE p.project = ? AND p.run_id = r.id) GROUP BY 1, 2`
export const KEYS_FIRED = `SELECT k.key, max(f.fired_at) AS fired_at FROM firings f JOIN firing_keys k ON k.firing_id = f.id
     WHERE f.trigger_id = ? AND f.fired_at > ? AND f.fired_at < ? AND f.resolves IS NULL AND f.practice = 0
     GROUP BY k.key ORDER BY 2 DESC LIMIT ?`

/** @param graph of the start: what it counts begins at 0 */
function startOf(scope: Scope, graph: ProjectGraph): Start {
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
    .prepare<[number, number, string], { agent: string; recipient_kind: string; n: number }>(
      WRITTEN_BACK_SINCE,
    )
    .all(midnight, from, project.id)
  for (const { agent, recipient_kind: kind, n } of written) {
    add(counts, nodeId('destination', `${kind}:${agent}`), n)
    add(counts, edgeIds.tells('agent', agent, `${kind}:${agent}`), n)
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

/* Replays as callers ask for them. They are wide reads, in steps that give way to others, beside ingest. */

const RANGE_MS = 31 * 86_400_000
/** Moments of one answer. */
const LIMIT_MAX = 5_000

/** @param wide goes through the steps, each on a snapshot of the connection of `ctx`. */
export function createReplayReads(
  ctx: ReadContext,
  clock: Clock,
  wide: <T>(steps: Steps<T>) => Promise<T>,
): ReplayReads {
  return { replay: (project, asked) => wide(replayInSteps(ctx, project, asked, clock.now())) }
}

/** @param now epoch ms: what comes after it is of none of the steps. */
function* replayInSteps(ctx: ReadContext, project: string, asked: ReplayAsked, now: number): Steps<Replay> {
  const limit = Math.min(LIMIT_MAX, Math.max(1, Math.trunc(asked.limit)))
  const replay = yield* foldInSteps(scopeOf(ctx, project, asked, limit, now), limit)
  return asked.isAlone ? narrowedReplay(replay) : replay
}

function scopeOf(ctx: ReadContext, word: string, asked: ReplayAsked, limit: number, now: number): Scope {
  const project = requireProject(ctx, word)
  const chain = asked.result === undefined ? null : chainOf(ctx, project.id, asked.result, now)
  const { from, to } = rangeOf(asked, chain, now)
  const configurations = readConfigurations(ctx.db, project, { from, to })
  const triggers = triggersNamed(ctx, configurations.names('trigger'))
  return { ctx, project, from, to, most: limit, configurations, triggers, chain }
}

function requireProject({ db }: ReadContext, word: string): Scope['project'] {
  return (
    db
      .prepare<[string, string], Scope['project']>(
        "SELECT id, name, created_at AS createdAt FROM projects WHERE (id = ? OR name = ?) AND state <> 'deleted' LIMIT 1",
      )
      .get(word, word) ?? fail('not_found', `no project has the id or name ${word}`)
  )
}

function chainOf(ctx: ReadContext, project: string, id: string, now: number): Chain {
  const queries = runQueries(ctx.db)
  const run = queries.byId.get(id)
  if (!run || !queries.projectsOf.all(id).includes(project))
    fail('not_found', `no run of the project has the id ${id}`, { field: 'result' })
  return readChain(ctx, run, now)
}

/** What has not happened yet is not waited for: the end is now at the latest. */
function rangeOf(asked: ReplayAsked, chain: Chain | null, now: number): { from: number; to: number } {
  const instant = (field: 'from' | 'to', standard: number | undefined): number => {
    const given = asked[field]
    if (given !== undefined) return parseInstant(given, field)
    return standard ?? fail('invalid', `${field} is required, unless result says what to replay`, { field })
  }
  const to = Math.min(now, instant('to', chain?.to))
  const from = instant('from', (chain && Math.max(chain.from, to - RANGE_MS)) || undefined)
  if (from > to) fail('invalid', 'from must not be after to, nor in the future', { field: 'from' })
  if (to - from > RANGE_MS) fail('invalid', 'to must be at most 31 days after from', { field: 'to' })
  return { from, to }
}

interface ReplayAsked {
  from?: string | undefined
  to?: string | undefined
  /** Id of a run: the replay is of its chain, and from and to only narrow it. */
  result?: string | undefined
  /** Moments. */
  limit: number
  /** For a key of the project: what it may see of it. */
  isAlone?: boolean
}

export interface ReplayReads {
  /**
   * @param project id or name.
   * @throws SvcError not_found for an unknown project or run; invalid, naming the field
   */
  replay(project: string, asked: ReplayAsked, by?: Asked): Promise<Replay>
}

/*
 * A replay as a key of its own project may see it: without addresses and what they were told, without
 * other projects, without who changed what and what tools were asked.
 */

function narrowedReplay(replay: Replay): Replay {
  const { versions, start, moments } = replay
  return {
    ...replay,
    versions: versions.map((version) => ({
      ...version,
      by: null,
      summary: '',
      graph: narrowedGraph(version.graph),
    })),
    start: {
      ...start,
      counts: Object.fromEntries(Object.entries(start.counts).filter(([id]) => !isOfDestination(id))),
    },
    moments: moments
      .filter(({ nodes }) => !nodes.some(isOfDestination))
      .map((moment, i) => ({ ...moment, n: i + 1, title: titleOf(moment) })),
  }
}

const isOfDestination = (id: string): boolean => /^(destination|tells):/.test(id)

function titleOf({ kind, phase, title }: ReplayMoment): string {
  if (kind === 'change') return 'what is declared was changed'
  if (kind === 'state') return title.replace(/ by .*$/, '')
  // What a tool was asked stands behind its name, in parentheses.
  return kind === 'step' && phase === 'tool' ? title.replace(/\(\{.*$/, '') : title
}

/**
 * Without addresses, whose they are and what they are told, and without the names of other projects:
 * a key of a project learns nothing of them elsewhere either.
 */
export function narrowedGraph(graph: ProjectGraph): ProjectGraph {
  return {
    ...graph,
    nodes: graph.nodes
      .filter(({ kind }) => kind !== 'destination')
      .map((node) => ({
        ...node,
        shared_with: [],
        detail: node.kind === 'mcp_server' ? '' : node.detail,
      })),
    edges: graph.edges.filter(({ kind }) => kind !== 'tells'),
    positions: graph.positions.filter(({ node }) => !node.startsWith('destination:')),
  }
}
