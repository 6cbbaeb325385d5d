/**
 * What a change of all triggers, and one of a source's labels, would have done over seven days of many events: how
 * long the answer of a daemon takes, beside the bare read of the same rows, how often it says how far it is, and how
 * long single posts of events take meanwhile.
 */
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { IN_LINES, readLines } from '../../api/client/lines.ts'
import { createEngine, type LocalEngine } from '../../engine/local.ts'
import type { Operation, PlanBacktest } from '../../schemas/types.ts'
import type { Daemon } from '../chaos/daemon.ts'
import { createGenerator, SOURCE } from './data.ts'
import { posting } from './http.ts'

const DAY_MS = 86_400_000
const DAYS = 7
const SOURCES = 10
const BODY = 500
const BY = { caller: { id: 'open', name: 'bench' }, origin: 'api' as const }

/** One of each kind for each source: thresholds, a rare event, silence, a change, a sequence. */
const kindsOf = (source: string, more: number): Record<string, object> => ({
  [`${source}-errors`]: {
    filters: [{ field: 'status', op: 'gte', value: 500 }],
    condition: { aggregate: 'count', predicate: `> ${3 + more}`, window: '10m', group_by: ['env'] },
  },
  [`${source}-slow`]: {
    key_field: 'service',
    condition: {
      aggregate: 'avg',
      field: 'ms',
      predicate: `> ${380 + more}`,
      window: '30m',
      resolve: '< 200',
    },
  },
  [`${source}-staging`]: {
    filters: [
      { field: 'env', op: 'eq', value: 'staging' },
      { field: 'event_type', op: 'eq', value: 'error' },
    ],
    condition: { event: 'any' },
    cooldown: `${10 + more}m`,
    storm: { quiet: '1m', limits: [{ max: 5, per: '1h' }] },
  },
  [`${source}-silent`]: { condition: { absent_for: `${300 + more}m`, group_by: ['service'] } },
  [`${source}-failed`]: {
    key_field: 'host',
    condition: {
      sequence: [
        { filters: [{ field: 'event_type', op: 'eq', value: 'error' }] },
        { filters: [{ field: 'status', op: 'gte', value: 500 }] },
      ],
      within: `${5 + more}m`,
    },
  },
})

const names = Array.from({ length: SOURCES }, (_, n) => `s${n}`)

const triggersOf = (more: number): Operation[] =>
  names.flatMap((source) =>
    Object.entries(kindsOf(source, more)).map(
      ([name, spec]): Operation => ({
        op: 'put',
        kind: 'trigger',
        name,
        spec: { ...spec, sources: [source] },
      }),
    ),
  )

const config = {
  ...SOURCE.config,
  labels: [
    ...SOURCE.config.labels,
    { name: 'status', field: 'status', type: 'number' },
    { name: 'ms', field: 'ms', type: 'number' },
  ],
}

/** Another host for a tenth of the events. */
const relabelling: Operation[] = [
  {
    ...{ op: 'patch', kind: 'source', name: 's0' },
    spec: {
      config: {
        labels: config.labels.map((one) => (one.name === 'host' ? { name: 'host', field: 'service' } : one)),
      },
    },
  },
]

export interface ForecastMeasure {
  what: string
  events: number
  triggers: number
  firings: number
  ms: number
  goalMs: number | null
  /** Lines that said how far it is, and the longest time between two. */
  told: number
  quietMs: number
  /** Of the posts meanwhile, in milliseconds, ascending. */
  posts: number[]
}

/**
 * @param folder of its own, made here: the data home of the daemon
 * @param start starts one there. @returns `idle`: posts while nothing else was asked
 */
export async function measureForecast(
  folder: string,
  start: (folder: string) => Promise<Daemon>,
  events: number,
): Promise<{ bareMs: number; idle: number[]; measures: ForecastMeasure[] }> {
  const end = Date.now()
  const clock = { at: end - DAYS * DAY_MS, now: () => clock.at }
  const dataFile = join(folder, 'svc.db')
  const engine = createEngine({ dataFile, clock })
  const keys = await fill(engine, clock, events, end)
  // After the events: what is made before them fires while they are sent, which is not what is measured.
  await engine.applyChangeSet({ operations: triggersOf(0) }, BY)
  await engine.close()
  const bareMs = bareRead(dataFile)
  const daemon = await start(folder)
  const url = `${daemon.url}/ingest/${keys[0]}`
  await posting(url, 2_000)
  const idle = await posting(url, 3_000)
  const measures: ForecastMeasure[] = []
  for (const [what, operations, goalMs] of [
    ['a change of all triggers', triggersOf(1), 10_000],
    ['a change of the labels of one source', relabelling, null],
  ] as const) {
    const ended = new AbortController()
    const posts = posting(url, null, ended.signal)
    const { answer, ...times } = await asked(daemon, [...operations])
    ended.abort()
    const { scanned, triggers } = answer
    measures.push({
      ...{ what, goalMs, ...times, events: scanned, triggers: triggers.length },
      firings: triggers.reduce((sum, { same, added, gone }) => sum + same + added + gone, 0),
      posts: await posts,
    })
  }
  await daemon.stop()
  return { bareMs, idle, measures }
}

/** Asks the daemon as a command does that shows how far it is. @throws Error unless it answers. */
async function asked(daemon: Daemon, operations: Operation[]) {
  const begun = performance.now()
  const response = await fetch(`${daemon.url}/api/change-sets/backtest`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...IN_LINES },
    body: JSON.stringify({ operations, window: `${DAYS}d` }),
  })
  let [times, quietMs, last] = [0, 0, begun]
  const { status, text } = await readLines(response, () => {
    const now = performance.now()
    quietMs = Math.max(quietMs, now - last)
    last = now
    times++
  })
  const ms = performance.now() - begun
  if (status !== 200) throw new Error(`the backtest answered ${status}: ${text}`)
  return { answer: JSON.parse(text) as PlanBacktest, ms, told: times, quietMs }
}

async function fill(
  engine: LocalEngine,
  clock: { at: number },
  events: number,
  end: number,
): Promise<string[]> {
  const keys: string[] = []
  for (const name of names)
    keys.push((await engine.createSource({ ...SOURCE, name, config } as never, BY, false)).ingest_key!)
  const generator = createGenerator(1, end)
  const bodies = Math.ceil(events / BODY)
  for (let b = 0; b < bodies; b++) {
    clock.at = end - DAYS * DAY_MS + Math.floor((b / bodies) * DAYS * DAY_MS)
    // The times of the generator span thirty days; these events are of the moment they come.
    const at = new Date(clock.at).toISOString()
    const lines = Array.from({ length: BODY }, (_, i) =>
      generator.line(b * BODY + i, events).replace(/"at":"[^"]+"/, `"at":"${at}"`),
    )
    await engine.ingest({
      ingestKey: keys[b % SOURCES]!,
      body: Buffer.from(lines.join('\n')),
      bypassCooldown: false,
      caller: 'open',
    })
    engine.maintain()
  }
  clock.at = end
  return keys
}

function bareRead(file: string): number {
  const db = new BetterSqlite3(file, { readonly: true })
  const begun = performance.now()
  const statement = db
    .prepare('SELECT id, source_id, ts, ingested_at, labels, entity, numbers FROM events ORDER BY id')
    .raw()
  let n = 0
  for (const _ of statement.iterate()) n++
  const ms = performance.now() - begun
  db.close()
  if (n === 0) throw new Error('there are no events')
  return ms
}
