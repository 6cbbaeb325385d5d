/** A test of an agent in the daemon: made by one thread, read by another, its runs taken by a third. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { currentDaemon } from '../../../../scripts/build.mjs'
import { startDaemon } from '../../../chaos/daemon.ts'
import { clientOf } from '../../../contract/instance.ts'
import { conclude } from '../../../contract/served-runs.ts'
import { scripted } from '../../../models/setup.ts'

let bundle: string
const base = '/api/agents/builtin/first-look'

beforeAll(async () => {
  bundle = await currentDaemon('dist/test-agent-tests')
})

it('is finished once its runs are, and is there after a restart', async () => {
  const server = await scripted()
  server.reply('m1', () => conclude({ verdict: 'rca' }))
  const folder = mkdtempSync(join(tmpdir(), 'svc-agent-tests-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const env = { PROVIDERA_BASE_URL: server.url, PROVIDERA_API_KEY: 'key' }
  const first = await startDaemon(folder, [], env, bundle)
  onTestFinished(() => first.kill())
  const svc = clientOf(first.url)
  const { ingest_key } = await svc.post<{ ingest_key: string }>('/api/sources', {
    name: 'app',
    connector: 'webhook',
    config: { labels: [{ name: 'service', field: 'service', primary: true }] },
  })
  await svc.post('/api/triggers', { name: 't', sources: ['app'], condition: { event: 'any' } })
  await svc.post('/api/agents/builtin', { name: 'first-look', prompt: 'Look.', model: 'm1', trigger: 't' })
  await svc.post(`${base}/enable`)
  await svc.post(`/ingest/${ingest_key}`, { service: 'checkout' })
  const run = await until(async () => {
    const { runs } = await svc.get<{ runs: { id: string; status: string }[] }>('/api/runs')
    return runs.find(({ status }) => status === 'succeeded')
  })
  await svc.post(`${base}/examples`, { name: 'a', run_id: run.id, verdict: 'rca', mentions: ['certificate'] })
  const { id } = await svc.post<{ id: string }>(`${base}/tests`, { prompt: 'Look again.' })
  const done = await until(async () => {
    const test = await svc.get<{ status: string }>(`${base}/tests/${id}`)
    return test.status === 'running' ? undefined : test
  })
  expect(done).toMatchObject({ status: 'passed', totals: { passed: 1 }, tried: { prompt: true } })
  expect(await first.stop()).toBe(0)

  const second = await startDaemon(folder, [], env, bundle)
  onTestFinished(() => second.kill())
  const again = clientOf(second.url)
  expect(await again.get(`${base}/tests/${id}`)).toEqual(done)
  expect(await again.get(`${base}/examples`)).toMatchObject({ examples: [{ name: 'a' }] })
  expect(await second.stop()).toBe(0)
})

/** Asks until there is an answer; the test's own limit ends it. */
async function until<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
  }
}
