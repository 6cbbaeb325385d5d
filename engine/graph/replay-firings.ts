/** Moments of events, firings, deliveries and changes. */

import { countWords } from '../../schemas/plain-words.ts'
import type { TriggerSpec } from '../../schemas/types.ts'
import { pagesOf, type Steps } from '../log/steps.ts'
import { SOURCE_LABEL } from '../log/store/labels.ts'
import type { StoredRow } from '../log/store/scan.ts'
import type { ReadContext } from '../log/timeline/context.ts'
import { presentRow } from '../log/timeline/present.ts'
import { type ChangeKind, isPart, partKinds } from '../model/documents.ts'
import { edgeIds, nodeId } from '../model/graph.ts'
import { iso } from '../model/units.ts'
import type { RecipientKind } from '../outbox/rows.ts'
import type { FiringRow } from '../triggers/queries.ts'
import {
  type Collected,
  type Configuration,
  cooldownMsOf,
  type Draft,
  draft,
  entityOf,
  idsWith,
  isWithin,
  joinCollected,
  type Scope,
  setsBetween,
  type TriggerRow,
  wholeInstants,
  windowOfMoment,
} from './replay-scope.ts'

/** Longest that a burst is open: a limit may hold one back this long. */
export const OPEN_MS = 31 * 86_400_000

export type Fired = Pick<
  FiringRow,
  | 'id'
  | 'dispatch_id'
  | 'trigger_id'
  | 'trigger_name'
  | 'key'
  | 'label'
  | 'value_text'
  | 'spec'
  | 'opened_at'
  | 'last_at'
  | 'fired_at'
  | 'held_at'
  | 'dropped_at'
  | 'value'
  | 'reason'
  | 'event_id'
  | 'events'
  | 'key_count'
  | 'late_by'
  | 'resolves'
  | 'practice'
  | 'state'
>

const COLUMNS = `id, dispatch_id, trigger_id, trigger_name, key, label, value_text, spec, opened_at, last_at, fired_at,
  held_at, dropped_at, value, reason, event_id, events, key_count, late_by, resolves, practice, state`

export const FIRED = `SELECT ${COLUMNS} FROM firings WHERE trigger_id = ? AND fired_at >= ? AND fired_at <= ?
  ORDER BY fired_at, id LIMIT ?`
/** What was open for a while: what of it lies in a range is told of it. */
export const BURSTS = `SELECT ${COLUMNS} FROM firings WHERE trigger_id = ? AND opened_at >= ? AND opened_at <= ?
  AND (fired_at IS NULL OR fired_at > opened_at) ORDER BY opened_at, id LIMIT ?`

export function collectFirings(scope: Scope, depthOf: (eventId: number | null) => number): Collected {
  return joinCollected(
    scope.triggers
      .filter(({ id }) => !scope.chain || scope.chain.triggers.has(id))
      .map((trigger) => ofTrigger(scope, trigger, depthOf)),
  )
}

function ofTrigger(scope: Scope, { id }: TriggerRow, depthOf: (eventId: number | null) => number): Collected {
  const { ctx, from, to, most, chain } = scope
  const fired = wholeInstants(
    ctx.db.prepare<[number, number, number, number], Fired>(FIRED).all(id, from, to, most + 1),
    most,
    ({ fired_at }) => fired_at!,
  )
  const bursts = wholeInstants(
    ctx.db.prepare<[number, number, number, number], Fired>(BURSTS).all(id, from - OPEN_MS, to, most + 1),
    most,
    ({ opened_at }) => opened_at,
  )
  const isMeant = (row: Fired) => !chain || chain.firings.includes(row.id)
  const drafts = [
    ...fired.rows.filter(isMeant).map((row) => firedDraft(row, depthOf(row.event_id))),
    ...bursts.rows.filter(isMeant).flatMap((row) => burstDrafts(row, depthOf(row.event_id))),
  ].filter(({ at }) => isWithin(scope, at))
  return joinCollected([
    { drafts, cutAt: fired.cutAt, overfullAt: fired.overfullAt },
    {
      drafts: [],
      cutAt: bursts.cutAt === null ? null : Math.max(bursts.cutAt, from + 1),
      overfullAt: bursts.overfullAt,
    },
  ])
}

function firedDraft(row: Fired, depth: number): Draft {
  const spec = JSON.parse(row.spec) as TriggerSpec
  const { trigger_name: name, key, resolves } = row
  const wait = resolves === null ? cooldownMsOf(spec) : 0
  const node = nodeId('trigger', name)
  const of = row.key_count > 1 ? `${key} and ${countWords(row.key_count - 1, 'more key')}` : key
  const evidence = row.events ? ` (${countWords(row.events, 'event')})` : ''
  const late = row.late_by === null ? '' : `, ${Math.round(row.late_by / 1000)} s late: the service was down`
  return {
    ...base(row, depth, spec),
    at: row.fired_at!,
    rank: 'fired',
    phase: 'fired',
    title: `${name} ${resolves === null ? 'fired' : 'is over'} for ${of}: ${row.reason}${evidence}${late}`,
    cooldown: wait > 0 ? { node, key, until: iso(row.fired_at! + wait) } : null,
  }
}

/** Before a burst fires, or is let pass. */
function burstDrafts(row: Fired, depth: number): Draft[] {
  const spec = JSON.parse(row.spec) as TriggerSpec
  const { trigger_name: name, key, dropped_at } = row
  // What does not gather was held back at once; older rows do not say when.
  const gathers = spec.storm?.quiet !== undefined || spec.storm?.max_wait !== undefined
  const held_at = row.held_at ?? (gathers ? null : row.opened_at)
  const moment = (at: number, phase: string, title: string): Draft => ({
    ...base(row, depth, spec),
    at,
    rank: 'opened',
    id: `${row.dispatch_id}/${phase}`,
    phase,
    title,
  })
  const isHeldFromStart = held_at === row.opened_at
  const opened = isHeldFromStart
    ? []
    : [moment(row.opened_at, 'gathering', `${name} tripped for ${key} and gathers a burst: ${row.reason}`)]
  const held =
    held_at === null
      ? []
      : [moment(held_at, 'held', `${name} for ${key} is held back by a limit: ${row.reason}`)]
  const dropped =
    dropped_at === null
      ? []
      : [
          moment(
            dropped_at,
            'dropped',
            `${name} let a burst pass: ${countWords(row.events, 'event')}, fewer than it takes`,
          ),
        ]
  return [...opened, ...held, ...dropped]
}

function base(row: Fired, depth: number, { condition }: TriggerSpec): Draft {
  return draft({
    at: row.opened_at,
    depth,
    rank: 'opened',
    id: row.dispatch_id,
    kind: 'firing',
    phase: 'tripped',
    title: '',
    nodes: [nodeId('trigger', row.trigger_name)],
    entity: entityOf(row.label, row.value_text),
    practice: row.practice === 1,
    event_id: row.event_id === null ? null : `evt_${row.event_id}`,
    dispatch_id: row.dispatch_id,
    window: windowOfMoment(
      row.trigger_name,
      row.key,
      row.value,
      'predicate' in condition ? condition.predicate : null,
      'window' in condition ? condition.window : null,
    ),
  })
}

/* Events that came in: of sources that a trigger of the project watched, and what chains were woken by. */

/** Rows read, and told, in one step. */
const PAGE = 1_000

export function* collectEvents(scope: Scope): Steps<Collected> {
  const { ctx, from, to, most } = scope
  const [first, last] = [ctx.ceilingAt(from - 1), ctx.ceilingAt(to)]
  const ids = scope.chain ? ofChain(scope, first, last) : watchedIds(scope, first, last)
  const masked = new Set(ctx.names.masked())
  const stored: StoredRow[] = []
  for (const page of pagesOf(ids.slice(0, most + 1), PAGE)) {
    yield
    for (const row of ctx.rows.read(page, false)) if (!masked.has(row.source_id)) stored.push(row)
  }
  const { rows, cutAt, overfullAt } = wholeInstants(stored, most, ({ ingested_at }) => ingested_at)
  const drafts: Draft[] = []
  for (const page of pagesOf(rows, PAGE)) {
    yield
    for (const row of page) drafts.push(momentOf(scope, row))
  }
  return { drafts, cutAt, overfullAt }
}

/** Of findings only those recorded in the project. */
function watchedIds(
  { ctx, project, configurations, most }: Scope,
  afterId: number,
  ceiling: number,
): number[] {
  const { own, findings } = sourceLabels(ctx, configurations.names('source'))
  const inProject = ctx.dictionary.find('project', project.id)
  const recorded = inProject === undefined ? [] : [[findings, [inProject]]]
  return idsWith(ctx, [[own], ...recorded], afterId, ceiling, most + 1)
}

/** Evidence, and the events of the entities that the chain is about. */
function ofChain(scope: Scope, afterId: number, ceiling: number): number[] {
  const { ctx, chain, most, configurations } = scope
  const { own } = sourceLabels(ctx, configurations.names('source'))
  const entities = chain!.entities.flatMap(({ label, value }) => ctx.dictionary.find(label, value) ?? [])
  const evidence = chain!.evidence.filter((id) => id > afterId && id <= ceiling)
  const found = new Set([...evidence, ...idsWith(ctx, [[own, entities]], afterId, ceiling, most + 1)])
  return [...found].sort((a, b) => a - b)
}

export function sourceLabels(
  ctx: ReadContext,
  names: readonly string[],
): { own: number[]; findings: number[] } {
  const labels = { own: [] as number[], findings: [] as number[] }
  for (const id of names.flatMap((name) => ctx.names.idsOf(name))) {
    const label = ctx.dictionary.find(SOURCE_LABEL, String(id))
    if (label === undefined) continue
    labels[ctx.names.get(id)?.sourceType === 'finding' ? 'findings' : 'own'].push(label)
  }
  return labels
}

function momentOf({ ctx, configurations }: Scope, row: StoredRow): Draft {
  const shown = presentRow(row, ctx.dictionary, ctx.names, row.ingested_at)
  const { source, entity, text, id } = shown
  return draft({
    at: row.ingested_at,
    rank: 'event',
    depth: depthOfEvent(ctx, row.id, shown.source_type),
    id: String(row.id).padStart(16, '0'),
    kind: 'event',
    phase: shown.event_type || 'event',
    title: `${source}: ${text}`,
    nodes: [nodeId('source', source)],
    edges: feedsOf(configurations.around(row.ingested_at), source),
    entity,
    event_id: id,
  })
}

/** Triggers that watched the source. */
function feedsOf(configurations: readonly Configuration[], source: string): string[] {
  const triggers = configurations.flatMap(({ doc, part }) =>
    Object.keys(doc.uses.trigger ?? {}).filter((trigger) =>
      ((part('trigger', trigger)?.sources ?? []) as string[]).includes(source),
    ),
  )
  return [...new Set(triggers)].map((trigger) => edgeIds.feeds(source, trigger))
}

/** A finding on the timeline comes behind the run that found it. */
function depthOfEvent({ db }: ReadContext, id: number, sourceType: string): number {
  if (sourceType !== 'finding') return 0
  const depth = db
    .prepare<[string], number>('SELECT depth FROM runs WHERE event_id = ? LIMIT 1')
    .pluck()
    .get(`evt_${id}`)
  return (depth ?? 0) + 1
}

/* Changes of what is declared, and parts that were paused or resumed. */

export function collectChanges(scope: Scope): Collected {
  return joinCollected([changeSets(scope), states(scope)])
}

function changeSets({ ctx, project, configurations, from, to, most }: Scope): Collected {
  const { rows, ...whole } = wholeInstants(
    setsBetween(ctx.db, project.id, from, to, most + 1),
    most,
    ({ at }) => at,
  )
  const known = new Set(
    partKinds.flatMap((kind) => configurations.names(kind).map((name) => `${kind}:${name}`)),
  )
  const objects = ctx.db.prepare<[number], { kind: ChangeKind; name: string }>(
    'SELECT kind, name FROM changes WHERE change_set = ? ORDER BY seq LIMIT 500',
  )
  const drafts = rows.map((set) =>
    draft({
      at: set.at,
      rank: 'change',
      id: String(set.id).padStart(12, '0'),
      kind: 'change',
      phase: set.origin,
      // An open instance knows nobody's name.
      title: set.actor_id === 'open' ? set.summary : `${set.actor}: ${set.summary}`,
      // One change-set may touch several projects.
      nodes: objects
        .all(set.id)
        .flatMap(({ kind, name }) =>
          isPart(kind) && known.has(`${kind}:${name}`) ? nodeId(kind, name) : [],
        ),
      change_set: set.id,
    }),
  )
  return { drafts, ...whole }
}

interface StateRow {
  id: number
  at: number
  kind: string
  object: string
  event: string
  actor: string
}

/** The states of each part are few, and found by its name. */
export const STATES = `SELECT id, at, kind, object, event, actor FROM history
  WHERE kind = ? AND object = ? AND event IN ('pause', 'resume') AND at >= ? AND at <= ? ORDER BY id LIMIT ?`

function states({ ctx, configurations, project, from, to, most }: Scope): Collected {
  const statement = ctx.db.prepare<[string, string, number, number, number], StateRow>(STATES)
  const names = [...new Set([project.name, ...configurations.all.map(({ doc }) => doc.name)])]
  const objects = [
    ...partKinds.flatMap((kind) => configurations.names(kind).map((name) => [kind, name] as const)),
    ...names.map((name) => ['project', name] as const),
  ]
  return joinCollected(
    objects.map(([kind, name]) => {
      const found = statement.all(kind, name, from, to, most + 1)
      const { rows, ...whole } = wholeInstants(found, most, ({ at }) => at)
      return { drafts: rows.map(stateDraft), ...whole }
    }),
  )
}

function stateDraft({ id, at, kind, object, event, actor }: StateRow): Draft {
  const done = event === 'pause' ? 'paused' : 'resumed'
  // The id of a credential goes before its name.
  const by = actor.slice(actor.indexOf(' ') + 1)
  return draft({
    at,
    rank: 'state',
    id: String(id).padStart(12, '0'),
    kind: 'state',
    phase: done,
    title: `${kind.replace('_', ' ')} ${object} ${done} by ${by}`,
    nodes: kind === 'project' ? [] : [nodeId(kind as 'trigger', object)],
  })
}

/* Deliveries of firings: to whom one was told, each try, and how it ended. */

/** Longest that tries of a delivery go on (machines/delivery.ts), and a little more. */
const TRIES_MS = 2 * 86_400_000
/** Longest that a try takes. */
const TRY_MS = 120_000

interface DeliveryFacts {
  id: string
  /** Order of making. */
  seq: number
  firing_id: number
  recipient_kind: RecipientKind
  recipient: string
  projects: string
  made_at: number
  delivered_at: number | null
  reason: string | null
  run_id: string | null
  state: 'pending' | 'running' | 'delivered' | 'failed'
  dispatch_id: string
  trigger_id: number
  trigger_name: string
  label: string | null
  value_text: string | null
  event_id: number | null
  practice: number
  /** Of the subscription. */
  project: string | null
  name: string | null
  masked: string | null
  gone_at: number | null
  /** Of its run. */
  finished_at: number | null
  depth: number | null
}

interface TryFacts extends DeliveryFacts {
  n: number
  at: number
  ms: number
  status: number | null
  error: string | null
  is_last: number
}

const FACTS = `d.id, d.seq, d.firing_id, d.recipient_kind, d.recipient, d.projects, d.made_at, d.delivered_at, d.reason,
  d.run_id, d.state, f.dispatch_id, f.trigger_id, f.trigger_name, f.label, f.value_text, f.event_id, f.practice,
  s.project, s.name, s.masked, coalesce(s.removed_at, s.disabled_at) AS gone_at, r.finished_at, r.depth`
const JOINS = `JOIN firings f ON f.id = d.firing_id LEFT JOIN subscriptions s ON s.id = d.recipient
  LEFT JOIN runs r ON r.id = d.run_id`

export const MADE = `SELECT ${FACTS} FROM firings f JOIN deliveries d ON d.firing_id = f.id
  LEFT JOIN subscriptions s ON s.id = d.recipient LEFT JOIN runs r ON r.id = d.run_id
  WHERE f.trigger_id = ? AND f.fired_at >= ? AND f.fired_at <= ? ORDER BY f.fired_at, d.seq LIMIT ?`
export const TRIES = `SELECT ${FACTS}, t.n, t.at, t.ms, t.status, t.error,
  t.n = (SELECT max(n) FROM delivery_tries l WHERE l.delivery_id = d.id) AS is_last
  FROM delivery_tries t JOIN deliveries d ON d.id = t.delivery_id ${JOINS}
  WHERE t.at >= ? AND t.at <= ? AND +f.trigger_id IN (SELECT value FROM json_each(?)) ORDER BY t.at, d.seq LIMIT ?`
/** To agents: over when the run is. (`+`: found by the time, not by the trigger, which has many more.) */
export const RUNS_ENDED = `SELECT ${FACTS} FROM runs r JOIN deliveries d ON d.run_id = r.id
  JOIN firings f ON f.id = d.firing_id LEFT JOIN subscriptions s ON s.id = d.recipient
  WHERE r.finished_at >= ? AND r.finished_at <= ? AND +f.trigger_id IN (SELECT value FROM json_each(?))
  ORDER BY r.finished_at, d.seq LIMIT ?`

export function collectDeliveries(scope: Scope): Collected {
  const { ctx, from, to, most, triggers } = scope
  const ids = JSON.stringify(triggers.map(({ id }) => id))
  const isMeant = (row: DeliveryFacts) => isOfProject(scope, row) && isOfChain(scope, row)
  const tries = ctx.db
    .prepare<[number, number, string, number], TryFacts>(TRIES)
    .all(from - TRY_MS, to, ids, most + 1)
  const whole = wholeInstants(tries, most, ({ at }) => at)
  const ended = wholeInstants(
    ctx.db.prepare<[number, number, string, number], DeliveryFacts>(RUNS_ENDED).all(from, to, ids, most + 1),
    most,
    ({ finished_at }) => finished_at!,
  )
  return joinCollected([
    ...triggers.map(({ id }) => toldBy(scope, id, isMeant)),
    { ...whole, drafts: within(scope, whole.rows.filter(isMeant).map(tryDraft)) },
    {
      ...ended,
      drafts: within(
        scope,
        ended.rows.filter(isMeant).map((row) => endDraft(row, row.finished_at!)),
      ),
    },
  ])
}

/** To whom the firings of a trigger were told, and what ended without a try or a run. */
function toldBy(scope: Scope, trigger: number, isMeant: (row: DeliveryFacts) => boolean): Collected {
  const { ctx, from, to, most } = scope
  const { rows, ...whole } = wholeInstants(
    ctx.db.prepare<[number, number, number, number], DeliveryFacts>(MADE).all(trigger, from, to, most + 1),
    most,
    ({ made_at }) => made_at,
  )
  const earlier = ctx.db
    .prepare<[number, number, number, number], DeliveryFacts>(
      MADE.replace('ORDER BY', "AND d.state = 'failed' AND d.run_id IS NULL ORDER BY"),
    )
    .all(trigger, from - TRIES_MS, from - 1, most)
  const untried = ctx.db
    .prepare<[string], number>('SELECT count(*) FROM delivery_tries WHERE delivery_id = ?')
    .pluck()
  const withdrawn = [...earlier, ...rows]
    .filter(
      (row) => isMeant(row) && row.state === 'failed' && row.run_id === null && untried.get(row.id) === 0,
    )
    .map((row) => endDraft(row, row.recipient_kind === 'agent' ? row.made_at : (row.gone_at ?? row.made_at)))
  return { ...whole, drafts: within(scope, [...rows.filter(isMeant).map(toldDraft), ...withdrawn]) }
}

const within = (scope: Scope, drafts: Draft[]): Draft[] => drafts.filter(({ at }) => isWithin(scope, at))

/** What another project told somebody of a trigger they share is no business of this one. */
function isOfProject({ project }: Scope, row: DeliveryFacts): boolean {
  if (row.recipient_kind === 'agent') return (JSON.parse(row.projects) as string[]).includes(project.id)
  return row.project === null || row.project === project.id
}

const isOfChain = ({ chain }: Scope, row: DeliveryFacts): boolean =>
  !chain || (row.run_id !== null ? chain.runs.has(row.run_id) : chain.firings.includes(row.firing_id))

function toldDraft(row: DeliveryFacts): Draft {
  const isAgent = row.recipient_kind === 'agent'
  return {
    ...deliveryBase(row),
    at: row.made_at,
    rank: 'told',
    phase: isAgent ? 'running' : 'pending',
    title: `${row.trigger_name} tells ${recipientOf(row)}`,
  }
}

function tryDraft(row: TryFacts): Draft {
  const { n, at, ms, status, error, state } = row
  const phase = error === null ? 'delivered' : row.is_last && state === 'failed' ? 'failed' : 'retry'
  const answer = status === null ? '' : ` (HTTP ${status})`
  const said =
    phase === 'delivered'
      ? `took it${answer}`
      : `did not take it: ${error}${phase === 'retry' ? '; it is tried again' : ''}`
  return {
    ...deliveryBase(row),
    at: at + ms,
    rank: 'delivered',
    id: `${orderOf(row)}/${n}`,
    phase,
    title: `${recipientOf(row)} ${said}, try ${n}`,
    ms,
  }
}

function endDraft(row: DeliveryFacts, at: number): Draft {
  const isDone = row.state === 'delivered'
  return {
    ...deliveryBase(row),
    at,
    rank: 'delivered',
    phase: isDone ? 'delivered' : 'failed',
    title: isDone
      ? `what was told to ${recipientOf(row)} is done`
      : `what was told to ${recipientOf(row)} failed: ${row.reason ?? 'no reason is recorded'}`,
  }
}

const recipientOf = ({ recipient_kind, recipient, name, masked }: DeliveryFacts): string =>
  recipient_kind === 'agent' ? `agent ${recipient}` : (masked ?? name ?? recipient)

const orderOf = ({ seq }: DeliveryFacts): string => String(seq).padStart(12, '0')

function deliveryBase(row: DeliveryFacts): Draft {
  const { trigger_name: trigger, recipient } = row
  const isAgent = row.recipient_kind === 'agent'
  const destination = `webhook:${recipient}`
  return draft({
    at: row.made_at,
    depth: row.depth ?? 0,
    rank: 'told',
    id: orderOf(row),
    kind: 'delivery',
    phase: '',
    title: '',
    nodes: [
      nodeId('trigger', trigger),
      isAgent ? nodeId('agent', recipient) : nodeId('destination', destination),
    ],
    edges: [isAgent ? edgeIds.wakes(trigger, recipient) : edgeIds.tells('trigger', trigger, destination)],
    entity: entityOf(row.label, row.value_text),
    practice: row.practice === 1,
    dispatch_id: row.dispatch_id,
    delivery_id: row.id,
    run_id: row.run_id,
  })
}
