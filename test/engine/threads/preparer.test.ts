/** The built daemon's threads against the engine in one: large bodies take another way to the same rows. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createEngine } from '../../../engine/local.ts'
import { type Daemon, startDaemon } from '../../chaos/daemon.ts'

const N = 600
const START = Date.now()
const CONFIG = {
  event_type_field: 'level',
  text_template: '{msg} {n}',
  event_time_field: 'at',
  dedupe_field: 'id',
  labels: [
    { name: 'entity', field: 'order', primary: true },
    { name: 'host', field: 'meta.host' },
    { name: 'ms', field: 'ms', type: 'number' },
  ],
}

/** Lines of all sorts: repeated ids, far times, broken JSON, escapes, exponents, other alphabets. */
function linesOf(tag: string): string {
  const line = (n: number): string => {
    if (n % 97 === 13) return '{"broken": '
    const at = n % 50 === 7 ? '2001-01-01T00:00:00Z' : new Date(START - n * 1_000).toISOString()
    const odd = n % 10 === 3 ? ` "e": 1.50e1, "\\u0078": "\\ud83d\\ude00",` : ''
    return `{"id":"${tag}-${n % 41 === 5 ? n - 1 : n}",${odd} "at":"${at}","level":"${n % 3 ? 'info' : 'error'}","msg":"é € ${'x'.repeat(60)}","n":${n},"order":"${tag}-order-with-a-long-name-${n % 20}","meta":{"host":"h${n % 7}"},"ms":${n}.5}`
  }
  return Array.from({ length: N }, (_, n) => line(n)).join('\n')
}

let folder: string
let daemon: Daemon
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-preparer-'))
  daemon = await startDaemon(join(folder, 'data'))
})
afterAll(async () => {
  await daemon.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function ask(path: string, body: string, method = 'POST'): Promise<Record<string, unknown>> {
  const answer = await fetch(`${daemon.url}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body,
  })
  return (await answer.json()) as Record<string, unknown>
}

const READ = { selector: { host: 'h3' }, window: '30d', limit: 200, include_payload: true }
/** Rows without what the clock gave them; a payload is text in process and JSON in an answer. */
const comparable = (rows: unknown) =>
  (rows as Record<string, unknown>[]).map((row) => ({
    ...row,
    ingested_at: '',
    offset: '',
    event_time: row.claimed_time === undefined ? row.event_time : '',
    raw: typeof row.raw === 'string' ? JSON.parse(row.raw) : row.raw,
  }))

it('stores, answers and rejects the same whichever way a body takes', async () => {
  const engine = createEngine({ dataFile: null })
  const source = { name: 'app', connector: 'webhook', config: CONFIG }
  const own = await engine.createSource(
    source,
    { caller: { id: 'open', name: 'test' }, origin: 'api' },
    false,
  )
  const { ingest_key: key } = await ask('/api/sources', JSON.stringify(source))
  // The first body is for a source the preparer has not met, the second for labels it knows.
  for (const tag of ['a', 'b', 'a']) {
    const body = linesOf(tag)
    const expected = await engine.ingest({
      ingestKey: own.ingest_key!,
      body: Buffer.from(body),
      bypassCooldown: false,
      caller: 'open',
    })
    expect(expected.duplicates ?? 0).toBeGreaterThan(0)
    expect(await ask(`/ingest/${key}`, body)).toEqual(expected)
  }
  const expected = comparable((await engine.read(READ)).rows)
  expect(expected.length).toBeGreaterThan(100)
  expect(comparable((await ask('/read', JSON.stringify(READ))).rows)).toEqual(expected)
  await engine.close()
})

it('labels by the config of now, and keeps the order of a source', async () => {
  const source = { name: 'moved', connector: 'webhook', config: { labels: [{ name: 'a', field: 'v' }] } }
  const { ingest_key: key } = await ask('/api/sources', JSON.stringify(source))
  const body = (tag: string) =>
    Array.from({ length: 400 }, (_, n) => JSON.stringify({ v: `${tag}${n}`, pad: 'x'.repeat(80) })).join('\n')
  await ask(`/ingest/${key}`, body('x'))
  await ask(
    '/api/sources/moved',
    JSON.stringify({ ...source, config: { labels: [{ name: 'b', field: 'v' }] } }),
    'PUT',
  )
  const answers = await Promise.all(
    ['y', 'z', 'w'].map((tag, i) => ask(`/ingest/${key}`, i === 1 ? '{"v":"small"}' : body(tag))),
  )
  expect(answers.map((answer) => answer.ingested)).toEqual([400, 1, 400])
  const stored = await ask('/read', JSON.stringify({ selector: { b: 'y399' }, window: '1h' }))
  expect(stored.count).toBe(1)
  expect((await ask('/read', JSON.stringify({ selector: { a: 'y399' }, window: '1h' }))).count).toBe(0)
})

it('takes a large export apart as one thread does', async () => {
  const engine = createEngine({ dataFile: null })
  const exported = (tag: string) => ({
    resourceLogs: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'wide' } }] },
        scopeLogs: [
          {
            logRecords: Array.from({ length: 150 }, (_, n) => ({
              timeUnixNano: `${START - n}000001`,
              body: { stringValue: `${tag} ${'é'.repeat(60)} ${n}` },
              attributes: [{ key: 'n', value: { intValue: `${n}` } }],
            })),
          },
        ],
      },
    ],
  })
  await ask('/v1/logs', JSON.stringify(exported('first')))
  await ask('/v1/logs', JSON.stringify(exported('second')))
  const caller = { id: 'open', name: 'test' }
  const otlp = { signal: 'logs', encoding: 'json' } as const
  const bodies = ['first', 'second'].map((tag) => Buffer.from(JSON.stringify(exported(tag))))
  await engine.makeFirstSource('otlp', { body: bodies[0]!, otlp }, caller)
  const { routes } = await engine.directory()
  for (const body of bodies)
    await engine.ingest({
      ingestKey: routes[0]!.ingestKey,
      body,
      otlp,
      bypassCooldown: false,
      caller: 'open',
    })
  const wanted = { selector: { service: 'wide' }, window: '1h', limit: 300, include_payload: true }
  const ofBodies = (rows: unknown) =>
    comparable(rows).map(({ text, event_time, raw }: Record<string, unknown>) => ({ text, event_time, raw }))
  const expected = ofBodies((await engine.read(wanted)).rows)
  expect(expected).toHaveLength(300)
  expect(ofBodies((await ask('/read', JSON.stringify(wanted))).rows)).toEqual(expected)
  await engine.close()
})
