/** What a replay cannot show, named: what is gone, what was not kept, what there was no record of. */

import { countWords } from '../../schemas/plain-words.ts'
import type { Label, ReplayGap } from '../../schemas/types.ts'
import { pagesOf, type Steps } from '../log/steps.ts'
import { SOURCE_LABEL } from '../log/store/labels.ts'
import { documentOf } from '../model/documents.ts'
import { nodeId } from '../model/graph.ts'
import { unpackIds } from '../model/ids.ts'
import { iso } from '../model/units.ts'
import { Recorder, reachOf } from '../triggers/core/index.ts'
import { KEPT, PER_MINUTE } from '../triggers/history.ts'
import { type EvaluationRow, pastDefinition, seenOf } from '../triggers/queries.ts'
import type { TriggerDefinition, Verdict } from '../triggers/types.ts'
import {
  type Collected,
  type Configuration,
  type Draft,
  draft,
  idsWith,
  joinCollected,
  type Scope,
  type TriggerRow,
  wholeInstants,
  windowOfMoment,
} from './replay-scope.ts'

const MINUTE_MS = 60_000
/** Of the firings of an answer, and of the events of each, those whose events are looked for. */
const FIRINGS_LOOKED_AT = 200
const EVENTS_LOOKED_AT = 1_000

interface Shown {
  /** Moments of the answer. */
  drafts: readonly Draft[]
  recomputed: Recomputed
  /** Something of one instant was left out. */
  isOverfull: boolean
  /** End of what the answer is of, epoch ms. */
  until: number
}

export function gapsOf(scope: Scope, shown: Shown): ReplayGap[] {
  const { from } = scope
  const { until } = shown
  const gap = (
    kind: ReplayGap['kind'],
    message: string,
    span: { from?: number; to?: number } = {},
  ): ReplayGap => ({
    kind,
    from: iso(Math.max(from, span.from ?? from)),
    to: iso(Math.min(until, span.to ?? until)),
    message,
  })
  return [
    ...beforeMade(scope, until).map(([message, to]) => gap('unrecorded', message, { to })),
    ...purged(scope, until).map(([message, to]) => gap('purged', message, { to })),
    ...evidenceGone(scope, shown.drafts).map(([message, at]) => gap('purged', message, { to: at })),
    ...sampled(scope, shown).map(([message, span]) => gap('sampled', message, span)),
    ...unrecordedTimes(scope, shown.drafts).map((message) => gap('unrecorded', message)),
    ...shown.recomputed.unrecorded.map(({ trigger, n }) =>
      gap(
        'unrecorded',
        `by the stored events ${trigger} would have fired ${countWords(n, 'more time')}, and no firing is recorded: it may be gone, or its events came in another way then`,
      ),
    ),
    ...shown.recomputed.left.map((trigger) =>
      gap(
        'truncated',
        `how the window of ${trigger} filled is shown only where it was recorded: it took too many events to work out; choose a shorter range`,
      ),
    ),
    ...(scope.configurations.cutAt === null
      ? []
      : [
          gap(
            'truncated',
            'there were more changes than graphs are shown of: from here on it stays as it was',
            {
              from: scope.configurations.cutAt,
            },
          ),
        ]),
    ...(shown.isOverfull ? [gap('truncated', 'more happened at one instant than one answer holds')] : []),
  ]
}

type Message<T> = [message: string, at: T]

function beforeMade({ project, from }: Scope, until: number): Message<number>[] {
  if (project.createdAt <= from) return []
  return [['nothing is recorded from before the project was made', Math.min(until, project.createdAt)]]
}

/** By retention, or with their source: of what is left out no row says when, so that it is told by what remains. */
function purged({ ctx, configurations, from }: Scope, until: number): Message<number>[] {
  const { db } = ctx
  const found: Message<number>[] = []
  const oldest = db.prepare<[], number>('SELECT ingested_at FROM events ORDER BY id LIMIT 1').pluck().get()
  const wasRemoved = db.prepare("SELECT 1 FROM meta WHERE key = 'high_id'").get() !== undefined
  if (wasRemoved && (oldest === undefined || oldest > from))
    found.push([
      oldest === undefined
        ? 'the events are no longer kept'
        : 'events from then are no longer kept, nor all of what they led to',
      oldest ?? until,
    ])
  const masked = new Set(ctx.names.masked())
  const empty = db.prepare<[number], { events: number; last_ingest: number | null }>(
    'SELECT events, last_ingest FROM sources WHERE id = ?',
  )
  for (const name of configurations.names('source'))
    for (const id of ctx.names.idsOf(name)) {
      const { events, last_ingest } = empty.get(id)!
      const isGone = masked.has(id) || (events === 0 && last_ingest !== null && last_ingest >= from)
      if (isGone) found.push([`events of source ${name} were purged`, Math.min(until, last_ingest ?? until)])
    }
  return found
}

/** Of what fired some events are still counted, and no longer there. */
function evidenceGone({ ctx }: Scope, drafts: readonly Draft[]): Message<number>[] {
  const { db } = ctx
  const chunks = db
    .prepare<[string], Uint8Array>(
      'SELECT e.ids FROM firings f JOIN firing_events e ON e.firing_id = f.id WHERE f.dispatch_id = ? ORDER BY e.seq LIMIT 1',
    )
    .pluck()
  const there = db
    .prepare<[string], number>('SELECT count(*) FROM json_each(?) j JOIN events e ON e.id = j.value')
    .pluck()
  const fired = new Map(
    drafts.flatMap((one) =>
      one.kind === 'firing' && one.dispatch_id ? [[one.dispatch_id, one] as const] : [],
    ),
  )
  return [...fired.values()]
    .slice(0, FIRINGS_LOOKED_AT)
    .flatMap(({ dispatch_id, at, nodes }): Message<number>[] => {
      const ids = chunks.all(dispatch_id!).flatMap(unpackIds).slice(0, EVENTS_LOOKED_AT)
      const missing = ids.length - there.get(JSON.stringify(ids))!
      if (missing === 0) return []
      const trigger = nodes[0]!.slice('trigger:'.length)
      return [
        [
          `${missing} of the ${countWords(ids.length, 'event')} of a firing of ${trigger} are no longer kept`,
          at,
        ],
      ]
    })
}

/** Of evaluations that did not fire not all are kept (triggers/history.ts). */
function sampled(scope: Scope, { drafts, until }: Shown): Message<{ from?: number; to?: number }>[] {
  const { ctx, triggers, from } = scope
  const found: Message<{ from?: number; to?: number }>[] = []
  const kept = ctx.db.prepare<[number], { n: number; oldest: number | null }>(
    `SELECT count(*) AS n, min(at) AS oldest FROM evaluations
     WHERE trigger_id = ? AND reason NOT IN ('fired', 'no_subscriber', 'error')`,
  )
  for (const { id, name } of triggers) {
    const { n, oldest } = kept.get(id)!
    if (n >= KEPT && oldest !== null && oldest > from && oldest <= until)
      found.push([
        `of ${name} only the newest ${KEPT.toLocaleString('en')} evaluations that fired nothing are kept`,
        { to: oldest },
      ])
  }
  const perMinute = new Map<string, { n: number; at: number; name: string }>()
  for (const { kind, recomputed, nodes, phase, at } of drafts) {
    if (kind !== 'evaluation' || recomputed) continue
    const minute = Math.floor(at / MINUTE_MS)
    const known = perMinute.get(`${nodes[0]} ${phase} ${minute}`)
    if (known) known.n++
    else
      perMinute.set(`${nodes[0]} ${phase} ${minute}`, { n: 1, at, name: nodes[0]!.slice('trigger:'.length) })
  }
  const full = new Map<string, number>()
  for (const { n, at, name } of perMinute.values())
    if (n >= PER_MINUTE) full.set(name, Math.min(at, full.get(name) ?? at))
  for (const [name, at] of full)
    found.push([
      `of each reason at most ${PER_MINUTE} evaluations of ${name} a minute that fired nothing are recorded`,
      { from: at },
    ])
  return found
}

interface Untimed {
  agent: string
  resumed: number
  told: number
  back: number
}

/** What older versions did without writing down when. */
function unrecordedTimes({ ctx }: Scope, drafts: readonly Draft[]): string[] {
  const ended = drafts
    .filter(({ kind, rank }) => kind === 'run' && rank === 'ended')
    .map(({ run_id }) => run_id)
  const rows = ctx.db
    .prepare<[string], Untimed>(
      `SELECT r.agent, coalesce(json_extract(r.snapshot, '$.context.resumes'), 0) AS resumed,
         (SELECT count(*) FROM run_steps s WHERE s.run_id = r.id AND s.kind = 'note' AND json_extract(s.data, '$.resumed')) AS told,
         EXISTS (SELECT 1 FROM deliveries d WHERE d.finding_of = r.id AND d.recipient_kind IN ('write_back', 'github')
           AND d.state IN ('delivered', 'failed')
           AND NOT EXISTS (SELECT 1 FROM delivery_tries t WHERE t.delivery_id = d.id)) AS back
       FROM json_each(?) j JOIN runs r ON r.id = j.value`,
    )
    .all(JSON.stringify(ended))
  return [
    ...rows.flatMap(({ agent, resumed, told }) =>
      resumed > told
        ? [
            `a run of ${agent} was interrupted ${countWords(resumed - told, 'time')} more; when is not recorded`,
          ]
        : [],
    ),
    ...rows.flatMap(({ agent, back }) =>
      back ? [`when a finding of ${agent} was written back is not recorded`] : [],
    ),
  ]
}

/*
 * The windows of triggers as they filled, where it was not recorded: the one evaluator judges the stored
 * events again by the definition of then. It tells only values that no row tells, and invents no firing.
 */

/** Events judged again for one answer. */
const JUDGED_MAX = 20_000
/** Of these in one step. */
const PAGE = 1_000

interface Recomputed {
  drafts: Draft[]
  /** Triggers whose windows would take more events than are judged. */
  left: string[]
  /** How often a trigger would have fired by what is stored, and no firing is there. */
  unrecorded: { trigger: string; n: number }[]
}

/** @param told moments of rows: of these events nothing is worked out. @param until epoch ms, exclusive */
export function* recompute(scope: Scope, told: readonly Draft[], until: number): Steps<Recomputed> {
  const known = new Set(
    told.flatMap(({ kind, event_id, nodes }) =>
      (kind === 'evaluation' || kind === 'firing') && event_id ? `${nodes[0]} ${event_id}` : [],
    ),
  )
  const result: Recomputed = { drafts: [], left: [], unrecorded: [] }
  let budget = JUDGED_MAX
  for (const span of spansOf(scope, until)) {
    yield
    const ids = eventsOf(scope, span, budget + 1)
    if (ids.length > budget) {
      result.left.push(span.definition.name)
      continue
    }
    budget -= ids.length
    yield* judge(scope, span, ids, known, result)
  }
  return result
}

interface Span {
  definition: TriggerDefinition
  /** Epoch ms; the end is exclusive. */
  from: number
  until: number
}

/** Spans over which a trigger that fills a window was one and the same. */
function spansOf(scope: Scope, until: number): Span[] {
  const { configurations, triggers, chain, from } = scope
  const newest = new Map(triggers.map((row) => [row.name, row]))
  return [...newest.values()].flatMap((row) => {
    if (chain && !chain.triggers.has(row.id)) return []
    const spans: (Span & { text: string })[] = []
    for (const [i, one] of configurations.all.entries()) {
      const begins = Math.max(from, i === 0 ? from : one.at)
      const ends = Math.min(until, configurations.all[i + 1]?.at ?? until)
      for (const [starts, stops] of stretchesOf(scope, begins, ends)) {
        const definition = definitionOf(scope, one, row, starts)
        if (!definition) continue
        const text = JSON.stringify(definition)
        const last = spans.at(-1)
        if (last?.text === text && last.until === starts) last.until = stops
        else spans.push({ definition, from: starts, until: stops, text })
      }
    }
    return spans
  })
}

/** Between changes of joined entities, which are of the instance and not of a configuration. */
function stretchesOf({ ctx }: Scope, from: number, until: number): [from: number, until: number][] {
  if (from >= until) return []
  const starts = [from, ...ctx.entities.changesBetween(from, until)]
  return starts.map((at, i) => [at, starts[i + 1] ?? until])
}

/** Of a trigger with a window of values that is not paused; null of any other. @param at epoch ms, for the entities of then */
function definitionOf(
  { ctx }: Scope,
  { doc, part }: Configuration,
  { id, name }: TriggerRow,
  at: number,
): TriggerDefinition | null {
  const found = doc.uses.trigger?.[name] ? part('trigger', name) : undefined
  if (!found || found.paused === true || !('aggregate' in (found.condition as object))) return null
  const source = (name: string) => ({
    ids: ctx.names.idsOf(name),
    labels: ((part('source', name)?.config ?? {}) as { labels?: Label[] }).labels ?? [],
  })
  const spec = documentOf('trigger', found)
  const entities = spec.joined ? ctx.entities.recorded(ctx.entities.versionAsOf(at)) : []
  return pastDefinition({ id, name, spec }, source, entities)
}

function eventsOf({ ctx }: Scope, { definition, from, until }: Span, most: number): number[] {
  const labels = definition.sourceIds.flatMap((id) => ctx.dictionary.find(SOURCE_LABEL, String(id)) ?? [])
  if (labels.length === 0) return []
  const first = ctx.ceilingAt(from - reachOf(definition) - 1)
  return idsWith(ctx, [[labels]], first, ctx.ceilingAt(until - 1), most)
}

function* judge(
  { ctx, chain }: Scope,
  span: Span,
  ids: number[],
  known: ReadonlySet<string>,
  into: Recomputed,
): Steps<void> {
  const { definition, from, until } = span
  let unrecorded = 0
  const record = (verdict: Verdict) => {
    const { at, eventId, value, reason, key } = verdict
    if (eventId === null || value === null || at < from || at >= until) return
    if (known.has(`trigger:${definition.name} evt_${eventId}`)) return
    if (chain && !(key !== null && chain.keys.has(key))) return
    if (reason === 'fired') {
      unrecorded++
      return
    }
    const id = `${String(eventId).padStart(16, '0')}/${definition.name}`
    into.drafts.push(evaluationDraft(definition.name, { ...verdict, id, dispatchId: null, recomputed: true }))
  }
  const recorder = new Recorder({
    definition,
    labels: ctx.dictionary,
    sourceName: (id) => ctx.names.get(id)?.name ?? '',
    record,
  })
  const withPayload = JSON.stringify(definition.spec).includes('payload.')
  for (const page of pagesOf(ids, PAGE)) {
    yield
    for (const row of ctx.rows.read(page, withPayload)) recorder.feed(seenOf(row))
  }
  if (unrecorded) into.unrecorded.push({ trigger: definition.name, n: unrecorded })
}

/* What triggers made of events that did not fire them, as it was recorded. */

type Detail = Omit<Verdict, 'triggerId' | 'eventId' | 'at' | 'reason'>

export function* collectEvaluations(scope: Scope): Steps<Collected> {
  const all: Collected[] = []
  for (const trigger of scope.triggers) {
    yield
    all.push(ofTrigger(scope, trigger))
  }
  return joinCollected(all)
}

function ofTrigger({ ctx, from, to, most, chain }: Scope, trigger: TriggerRow): Collected {
  if (chain && !chain.triggers.has(trigger.id)) return joinCollected([])
  const found = ctx.db
    .prepare<[number, number, number, number], EvaluationRow>(EVALUATIONS)
    .all(trigger.id, from, to, most + 1)
  const { rows, ...whole } = wholeInstants(found, most, ({ at }) => at)
  const drafts = rows.flatMap((row) => {
    const detail = JSON.parse(row.detail) as Detail
    if (
      chain &&
      !(detail.key !== null && chain.keys.has(detail.key)) &&
      !isEvidence(chain.evidence, row.event_id)
    )
      return []
    return [
      evaluationDraft(trigger.name, {
        ...detail,
        id: String(row.id).padStart(16, '0'),
        at: row.at,
        reason: row.reason,
        eventId: row.event_id,
        dispatchId: row.dispatch_id,
        recomputed: false,
      }),
    ]
  })
  return { drafts, ...whole }
}

/** Firings tell themselves. */
export const EVALUATIONS = `SELECT id, trigger_id, trigger_name, event_id, at, reason, dispatch_id, detail
  FROM evaluations WHERE trigger_id = ? AND at >= ? AND at <= ? AND reason NOT IN ('fired', 'no_subscriber')
  ORDER BY at, id LIMIT ?`

const isEvidence = (evidence: readonly number[], id: number | null): boolean =>
  id !== null && evidence.includes(id)

function evaluationDraft(
  trigger: string,
  given: Pick<
    Verdict,
    'at' | 'reason' | 'eventId' | 'key' | 'text' | 'value' | 'predicate' | 'window' | 'until'
  > & {
    id: string
    dispatchId: string | null
    recomputed: boolean
  },
): Draft {
  const { at, reason, eventId, key, value, until } = given
  const node = nodeId('trigger', trigger)
  return draft({
    at,
    rank: 'evaluation',
    id: given.id,
    kind: 'evaluation',
    phase: reason,
    title: `${trigger}: ${given.text}`,
    nodes: [node],
    event_id: eventId === null ? null : `evt_${eventId}`,
    dispatch_id: given.dispatchId,
    window: windowOfMoment(trigger, key, value, given.predicate, given.window),
    cooldown: reason === 'cooldown' && until !== null ? { node, key: key ?? '', until: iso(until) } : null,
    recomputed: given.recomputed,
  })
}
