/** What a replay cannot show, named: what is gone, what was not kept, what there was no record of. */
import type { ReplayGap } from '../../../schemas/types.ts'
import { unpackIds } from '../../triggers/ids.ts'
import { KEPT, PER_MINUTE } from '../../triggers/notes.ts'
import { counted, type Draft } from './moment.ts'
import type { Recomputed } from './recompute.ts'
import { iso, type Scope } from './scope.ts'

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
        `by the stored events ${trigger} would have fired ${counted(n, 'more time')}, and no firing is recorded: it may be gone, or its events came in another way then`,
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
  return [
    [
      `the project was made at ${iso(project.createdAt)}: nothing is recorded of it before`,
      Math.min(until, project.createdAt),
    ],
  ]
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
        : `events that came before ${iso(oldest)} are no longer kept, nor all of what they led to`,
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
          `${missing} of the ${counted(ids.length, 'event')} that ${trigger} fired for at ${iso(at)} are no longer kept`,
          at,
        ],
      ]
    })
}

/** Of evaluations that did not fire not all are kept (triggers/notes.ts). */
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
         EXISTS (SELECT 1 FROM deliveries d WHERE d.finding_of = r.id AND d.recipient_kind = 'write_back'
           AND d.state IN ('delivered', 'failed')
           AND NOT EXISTS (SELECT 1 FROM delivery_tries t WHERE t.delivery_id = d.id)) AS back
       FROM json_each(?) j JOIN runs r ON r.id = j.value`,
    )
    .all(JSON.stringify(ended))
  return [
    ...rows.flatMap(({ agent, resumed, told }) =>
      resumed > told
        ? [`a run of ${agent} was interrupted ${counted(resumed - told, 'time')} more; when is not recorded`]
        : [],
    ),
    ...rows.flatMap(({ agent, back }) =>
      back ? [`when a finding of ${agent} was written back is not recorded`] : [],
    ),
  ]
}
