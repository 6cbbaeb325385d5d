/** Reads on a read-only connection beside the running daemon, warm, against the bare statement that fetches the same rows by id. */
import BetterSqlite3 from 'better-sqlite3'
import { systemClock } from '../../engine/index.ts'
import { EntityRules } from '../../engine/log/entity-rules.ts'
import { openReading } from '../../engine/log/store/open.ts'
import { createReadContext } from '../../engine/log/timeline/context.ts'
import { createReads } from '../../engine/log/timeline/reads.ts'
import type { ReadRequest } from '../../schemas/types.ts'
import type { Generator } from './data.ts'

export interface ReadMeasure {
  what: string
  p50: number
  p99: number
  rows: number
  /** p50 against the bare statement's. */
  ratio: number
  goalMs: number | null
}

const RUNS = 400
/** Reads before those that count: for caches, and for V8 to compile what is hot. */
const WARM_RUNS = 1_000

export async function measureReads(file: string, generator: Generator, end: number): Promise<ReadMeasure[]> {
  const db = openReading(file)
  const reads = createReads(createReadContext(db, false, 'bench'), systemClock, true)
  const bare = new BetterSqlite3(file, { readonly: true })
  const byId = bare.prepare(
    'SELECT e.id, e.ts, e.labels, e.text FROM json_each(?) j JOIN events e ON e.id = j.value',
  )
  const to = new Date(end).toISOString()
  const from = (days: number) => new Date(end - days * 86_400_000).toISOString()
  const cases: { what: string; goalMs: number | null; make: () => ReadRequest }[] = [
    {
      what: 'one entity, newest 200 of 24 hours',
      goalMs: 3,
      make: () => ({ selector: { entity: generator.entity() }, from: from(1), to }),
    },
    {
      what: 'rare AND common label, 7 days',
      goalMs: 10,
      make: () => ({ selector: { host: generator.rareHost(), env: 'prod' }, from: from(7), to }),
    },
    {
      what: 'common AND rare label, 7 days',
      goalMs: 10,
      make: () => ({ selector: { env: 'prod', host: generator.rareHost() }, from: from(7), to }),
    },
    {
      what: 'two common labels, 7 days',
      goalMs: null,
      make: () => ({ selector: { env: 'prod', service: 'service-1' }, from: from(7), to }),
    },
  ]
  const measures: ReadMeasure[] = []
  for (const { what, goalMs, make } of cases) {
    const times: number[] = []
    const bareTimes: number[] = []
    let rows = 0
    for (let i = 0; i < WARM_RUNS + RUNS; i++) {
      const request = make()
      const started = performance.now()
      const answer = await reads.read(request)
      const took = performance.now() - started
      if (i < WARM_RUNS) continue
      times.push(took)
      rows += answer.count
      const ids = JSON.stringify(answer.rows.map((row) => Number(row.id.slice(4))))
      const bareStarted = performance.now()
      byId.all(ids)
      bareTimes.push(performance.now() - bareStarted)
    }
    measures.push({
      what,
      goalMs,
      p50: percentile(times, 0.5),
      p99: percentile(times, 0.99),
      rows: rows / RUNS,
      ratio: percentile(times, 0.5) / percentile(bareTimes, 0.5),
    })
  }
  bare.close()
  db.close()
  return measures
}

/** A name that is joined with others, against the same read of the name alone. */
export interface JoinedMeasure {
  /** p50 in milliseconds. */
  plain: number
  joined: number
  rows: number
}

/** Each thing has three names: of service, host and entity the one with its number. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: names refer to groups so
const NAMES = ['service=service-(?<n>[0-9]+)', 'host=host-${n}', 'entity=order-${n}']

/** Newest 200 of 7 days, of services with more than that under each of their names. */
export async function measureJoined(file: string, end: number): Promise<JoinedMeasure> {
  const db = openReading(file)
  const ctx = createReadContext(db, false, 'bench')
  const rules = new EntityRules([{ name: 'things', is: NAMES }])
  const entities = { version: () => 1, rules: () => rules, of: () => rules, versionAsOf: () => 1 }
  const reads = createReads(Object.assign(ctx, { entities }), systemClock, true)
  const window = { from: new Date(end - 7 * 86_400_000).toISOString(), to: new Date(end).toISOString() }
  const times: Record<'plain' | 'joined', number[]> = { plain: [], joined: [] }
  let rows = 0
  for (let i = 0; i < WARM_RUNS + RUNS; i++)
    for (const way of ['plain', 'joined'] as const) {
      const selector = { service: `service-${i % 10}` }
      const started = performance.now()
      const answer = await reads.read({ selector, ...window, joined: way === 'joined' })
      const took = performance.now() - started
      if (i < WARM_RUNS) continue
      times[way].push(took)
      if (way === 'joined') rows += answer.count
    }
  db.close()
  return { plain: percentile(times.plain, 0.5), joined: percentile(times.joined, 0.5), rows: rows / RUNS }
}

function percentile(times: number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}
