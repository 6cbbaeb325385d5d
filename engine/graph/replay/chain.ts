/** A chain of runs: what woke the first of them, all that followed, and when it began and ended. */
import type { TriggerSpec } from '../../../schemas/types.ts'
import type { RunRow } from '../../runs/queries.ts'
import type { ReadContext } from '../../timeline/context.ts'
import { windowOf } from '../../triggers/core/index.ts'
import { unpackIds } from '../../triggers/ids.ts'
import { windowOfSlot } from '../../triggers/slots.ts'

/** Of the events of a firing. */
const EVIDENCE_MAX = 10_000

export interface Chain {
  /** First run. */
  root: string
  runs: ReadonlySet<string>
  /** Rows of the firings that woke one of them. */
  firings: readonly number[]
  triggers: ReadonlySet<number>
  keys: ReadonlySet<string>
  /** Ids of the events that these firings carry, ascending. */
  evidence: readonly number[]
  /** Entities it is about. */
  entities: readonly { label: string; value: string }[]
  /** Epoch ms. */
  from: number
  to: number
}

interface FiringFacts {
  id: number
  trigger_id: number
  key: string
  spec: string
  opened_at: number
  slot: number | null
}

/** @param now epoch ms: the end of a chain that is still at work */
export function readChain({ db, rows }: ReadContext, run: RunRow, now: number): Chain {
  const all = db
    .prepare<[string], RunRow>('SELECT * FROM runs WHERE root_run_id = ? ORDER BY seq')
    .all(run.root_run_id)
  const runs = new Set(all.map(({ id }) => id))
  const firings = db
    .prepare<[string, string], FiringFacts>(
      `SELECT id, trigger_id, key, spec, opened_at, slot FROM firings WHERE id IN (
         SELECT firing_id FROM runs WHERE root_run_id = ? AND firing_id IS NOT NULL
         UNION SELECT d.firing_id FROM json_each(?) j JOIN deliveries d ON d.run_id = j.value)
       ORDER BY id`,
    )
    .all(run.root_run_id, JSON.stringify([...runs]))
  const chunks = db.prepare<[number], Uint8Array>('SELECT ids FROM firing_events WHERE firing_id = ?').pluck()
  const carried = firings.flatMap(({ id }) => chunks.all(id).flatMap(unpackIds))
  const evidence = [...new Set(carried)].sort((a, b) => a - b).slice(0, EVIDENCE_MAX)
  const oldest = evidence.length ? rows.read(evidence.slice(0, 100), false)[0]?.ingested_at : undefined
  const begins = [
    ...all.map(({ made_at }) => made_at),
    ...firings.map(
      ({ opened_at, spec, slot }) => opened_at - lookBack(JSON.parse(spec) as TriggerSpec, slot),
    ),
    ...(oldest === undefined ? [] : [oldest]),
  ]
  const ends = all.flatMap(({ id, finished_at }) => [finished_at ?? now, lastTold(db, id, now)])
  const keys = db.prepare<[number], string>('SELECT key FROM firing_keys WHERE firing_id = ?').pluck()
  return {
    root: run.root_run_id,
    runs,
    firings: firings.map(({ id }) => id),
    triggers: new Set(firings.map(({ trigger_id }) => trigger_id)),
    keys: new Set(firings.flatMap(({ id, key }) => [key, ...keys.all(id)])),
    evidence,
    entities: uniqueEntities(all),
    from: Math.min(...begins),
    to: Math.max(...ends, ...firings.map(({ id }) => lastDelivery(db, id, now))),
  }
}

/** How far before it tripped a firing's window began, milliseconds. */
function lookBack({ condition }: TriggerSpec, slot: number | null): number {
  if ('every' in condition || 'cron' in condition) return slot === null ? 0 : windowOfSlot(condition, slot)
  return windowOf(condition)
}

/** When the last of a firing's deliveries ended. */
const lastDelivery = (db: ReadContext['db'], firing: number, now: number): number =>
  lastEnd(db, 'd.firing_id = ?', firing, now)

/** When the finding of a run was written back. */
const lastTold = (db: ReadContext['db'], run: string, now: number): number =>
  lastEnd(db, "d.finding_of = ? AND d.recipient_kind = 'write_back'", run, now)

function lastEnd(db: ReadContext['db'], which: string, of: number | string, now: number): number {
  const { open, last } = db
    .prepare<[number | string], { open: number; last: number | null }>(
      `SELECT coalesce(sum(d.state IN ('pending', 'running')), 0) AS open, max(max(coalesce(d.delivered_at, d.made_at),
         coalesce((SELECT max(t.at + t.ms) FROM delivery_tries t WHERE t.delivery_id = d.id), 0))) AS last
       FROM deliveries d WHERE ${which}`,
    )
    .get(of)!
  return open > 0 ? now : (last ?? 0)
}

function uniqueEntities(runs: readonly RunRow[]): Chain['entities'] {
  const found = new Map(runs.map(({ label, entity }) => [`${label}=${entity}`, { label, value: entity }]))
  return [...found.values()]
}
