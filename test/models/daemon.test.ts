/** Models in the daemon: the store is in one thread, the calls in another, and a secret is on disk sealed. */
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { currentDaemon } from '../../scripts/build.mjs'
import { startDaemon } from '../chaos/daemon.ts'
import { clientOf } from '../contract/instance.ts'
import { startProxy } from '../engine/net/egress/proxy-server.ts'
import { scripted } from './setup.ts'

let bundle: string
const SECRET = 'canary-secret-1'

beforeAll(async () => {
  bundle = await currentDaemon('dist/test-models')
})

it('keeps a provider over a restart, its secret sealed and out of the log', async () => {
  const server = await scripted()
  server.reply('m1', ({ headers }) =>
    headers['x-api-key'] === SECRET ? { text: 'ok' } : { status: 401, error: `bad key ${SECRET}` },
  )
  const folder = mkdtempSync(join(tmpdir(), 'svc-models-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const env = { PROVIDERA_BASE_URL: server.url, PROVIDERA_API_KEY: 'canary-env-2', SVC_LOG_LEVEL: 'trace' }
  const first = await startDaemon(folder, [], env, bundle)
  onTestFinished(() => first.kill())
  const svc = clientOf(first.url)
  const test = (of = svc) => of.post('/api/settings/providers/providera/test', { model: 'm1' })
  expect(await test()).toMatchObject({ ok: false, failed: 'credential' })
  const saved = await svc.put('/api/settings/providers/providera', { key: SECRET })
  expect(saved).toMatchObject({ discovery: { models: ['m1'], error: null }, default: 'providera' })
  expect(await test()).toMatchObject({ ok: true, model: 'm1' })
  expect(await svc.get('/api/usage/model')).toMatchObject({ total: { calls: 0 } })
  expect(await first.stop()).toBe(0)
  for (const file of readdirSync(folder))
    expect(readFileSync(join(folder, file)).includes('canary'), file).toBe(false)

  const second = await startDaemon(folder, [], env, bundle)
  onTestFinished(() => second.kill())
  expect(await test(clientOf(second.url))).toMatchObject({ ok: true })
  expect(await second.stop()).toBe(0)
  expect([...first.output, ...second.output].join('\n')).not.toContain('canary')
})

it('asks models and upstreams through the proxy of its environment, whose login is in no log', async () => {
  const server = await scripted()
  server.reply('m1', () => ({ text: 'ok' }))
  const proxy = await startProxy(Number(new URL(server.url).port))
  onTestFinished(() => proxy.close())
  const folder = mkdtempSync(join(tmpdir(), 'svc-models-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const env = {
    ...{ PROVIDERA_BASE_URL: 'http://models.example.com', PROVIDERA_API_KEY: 'k', SVC_LOG_LEVEL: 'trace' },
    ...{ HTTP_PROXY: proxy.url.replace('//', '//maria:canary@'), NO_PROXY: '' },
  }
  const daemon = await startDaemon(folder, [], env, bundle)
  onTestFinished(() => daemon.kill())
  const svc = clientOf(daemon.url)
  expect(await svc.post('/api/settings/providers/providera/test', { model: 'm1' })).toMatchObject({
    ok: true,
  })
  const config = { url: 'http://api.example.com/orders', text_template: 'x' }
  await svc.post('/api/sources/test', { name: 'orders', connector: 'http_poll', config })
  expect(proxy.asked).toEqual([
    'POST http://models.example.com/v1/messages',
    'GET http://api.example.com/orders',
  ])
  const output = daemon.output.join('\n')
  expect(output).toContain('through the proxy of HTTP_PROXY')
  expect(output).not.toContain('canary')
})

describe('what others are asked by many at once does not wait for a connection, where it would count as silent', () => {
  const CALLS = 200

  async function started(env: Record<string, string> = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'svc-models-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const daemon = await startDaemon(folder, [], env, bundle)
    onTestFinished(() => daemon.kill())
    return clientOf(daemon.url)
  }

  const often = <T>(ask: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: CALLS }, ask))

  it('a provider of models', async () => {
    const server = await scripted()
    let answer = () => {}
    const delayUntil = new Promise<void>((resolve) => {
      answer = resolve
    })
    server.reply('m1', () => ({ text: 'ok', delayUntil }))
    const svc = await started({ PROVIDERA_BASE_URL: server.url, PROVIDERA_API_KEY: 'key' })
    const answers = often(() => svc.post('/api/settings/providers/providera/test', { model: 'm1' }))
    await expect.poll(() => server.requests.filter(({ method }) => method === 'POST').length).toBe(CALLS)
    answer()
    for (const one of await answers) expect(one).toMatchObject({ ok: true })
  })

  it('an MCP server', async () => {
    // Those that gave up wait no more.
    const waiting = new Set<ServerResponse>()
    const server = createServer((_request, response) => {
      waiting.add(response)
      response.on('close', () => waiting.delete(response))
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const svc = await started()
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
    const answers = often(() => svc.post('/api/mcp-servers/test', { name: 'slow', url }))
    await expect.poll(() => waiting.size).toBe(CALLS)
    for (const response of waiting) response.writeHead(403).end()
    for (const one of await answers) expect(one).toMatchObject({ ok: false })
  })
})
