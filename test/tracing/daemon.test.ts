/** Tracing in the built daemon: runs are read in one thread, settings kept in another, and a stop sends what waits. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { currentDaemon } from '../../scripts/build.mjs'
import { startDaemon } from '../chaos/daemon.ts'
import { clientOf } from '../contract/instance.ts'
import { scripted } from '../models/setup.ts'
import { startTraceReceiver } from './receiver.ts'

let bundle: string

beforeAll(async () => {
  bundle = await currentDaemon('dist/test-tracing')
})

it('sends the trace of a run, with what the environment says, and keeps the key sealed', async () => {
  const receiver = await startTraceReceiver()
  const models = await scripted()
  models.reply('m1', () => ({
    calls: [{ name: 'conclude', arguments: { outcome: 'finding', summary: 'It is down.' } }],
  }))
  const folder = mkdtempSync(join(tmpdir(), 'svc-tracing-'))
  const env = {
    PROVIDERA_BASE_URL: models.url,
    PROVIDERA_API_KEY: 'scripted',
    SVC_TRACING_ENABLED: 'on',
    SVC_TRACING_ENDPOINT: receiver.url,
    SVC_INSTANCE_NAME: 'shop',
    // What other programs read has no say here.
    OTEL_TRACES_SAMPLER: 'always_off',
    OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: '3',
    SVC_LOG_LEVEL: 'trace',
  }
  const daemon = await startDaemon(folder, [], env, bundle)
  onTestFinished(async () => {
    await daemon.kill()
    await receiver.close()
    rmSync(folder, { recursive: true })
  })
  const svc = clientOf(daemon.url)
  await svc.put('/api/settings/tracing', { api_key: 'canary-key-1' })
  expect(await svc.post('/api/settings/tracing/test')).toMatchObject({ ok: true })
  const { ingest_key } = await svc.post<{ ingest_key: string }>('/api/sources', {
    name: 'orders',
    connector: 'webhook',
    config: { labels: [{ name: 'order', field: 'order', primary: true }] },
  })
  await svc.post('/api/triggers', { name: 't', sources: ['orders'], condition: { event: 'any' } })
  await svc.post('/api/agents/builtin', { name: 'first-look', prompt: 'Look.', model: 'm1', trigger: 't' })
  await svc.post('/api/agents/builtin/first-look/enable', {})
  const traced = receiver.next()
  await svc.post(`/ingest/${ingest_key}`, { order: 'o1' })
  const [root] = (await traced).spans.filter(({ parentSpanId }) => parentSpanId === '')
  expect(root).toMatchObject({
    name: 'first-look',
    resource: { 'service.name': 'shop/first-look' },
    attributes: { 'svc.key': 'o1', 'svc.status': 'succeeded', 'output.value': 'It is down.' },
  })
  expect(receiver.requests.at(-1)!.headers.authorization).toBe('Bearer canary-key-1')
  expect(await svc.get('/api/settings/tracing')).toMatchObject({ state: 'on', dropped: 0 })

  const id = `run_${root!.traceId}`
  await svc.post(`/api/runs/${id}/rerun`, {})
  for (let total = 1; total > 0; )
    total = (await svc.get<{ total: number }>('/api/runs?status=open&limit=1')).total
  expect(await daemon.stop()).toBe(0)
  const again = receiver.spans().filter(({ parentSpanId }) => parentSpanId === '')
  expect(again.map(({ attributes }) => attributes['svc.woken_by'])).toEqual([undefined, 'trigger', 'rerun'])
  for (const file of readdirSync(folder))
    expect(readFileSync(join(folder, file)).includes('canary'), file).toBe(false)
  expect(daemon.output.join('\n')).not.toContain('canary')
})
