/** Settings of tracing over HTTP: who may, what is answered, what a test span says. */
import { expect, it, onTestFinished } from 'vitest'
import { loadTracing } from '../../api/config.ts'
import { startTraceReceiver } from '../tracing/receiver.ts'
import { startInstance } from './instance.ts'

const PATH = '/api/settings/tracing'

async function open(env: Record<string, string> = {}) {
  const receiver = await startTraceReceiver()
  const svc = await startInstance({ secured: true, tracing: loadTracing(env, 'host-1') })
  onTestFinished(async () => {
    await svc.stop()
    await receiver.close()
  })
  return { receiver, svc }
}

it('are read and written by admins, secrets in and never out', async () => {
  const { svc, receiver } = await open()
  expect(await svc.get(PATH)).toMatchObject({ state: 'off', instance: 'host-1', endpoint: '' })
  const saved = await svc.put(PATH, {
    enabled: true,
    endpoint: `${receiver.url}/`,
    api_key: 'canary-key-1',
    headers: 'x-team=canary-team',
    content: false,
  })
  expect(saved).toMatchObject({
    state: 'on',
    endpoint: receiver.url,
    content: false,
    content_source: 'console',
    api_key_configured: true,
    headers: ['x-team'],
  })
  expect(JSON.stringify([saved, await svc.get(PATH)])).not.toContain('canary')
  expect(await svc.post(`${PATH}/test`)).toMatchObject({ ok: true })
  expect(receiver.requests[0]!.headers).toMatchObject({
    authorization: 'Bearer canary-key-1',
    'x-team': 'canary-team',
  })
  expect(await svc.get(PATH)).toMatchObject({ exported: 1, last_export: { ok: true } })
  const { text } = await svc.call('GET', '/metrics')
  expect(text).toContain('svc_trace_spans_total{result="exported"} 1')
  const { secret } = await svc.post<{ secret: string }>('/api/keys', { name: 'reader', scopes: ['read'] })
  for (const [method, path] of [
    ['GET', PATH],
    ['PUT', PATH],
    ['POST', `${PATH}/test`],
  ] as const)
    expect((await svc.as(secret).call(method, path, method === 'PUT' ? {} : undefined)).status).toBe(403)
})

it('are refused with the field and the rule', async () => {
  const { svc } = await open()
  expect(await svc.refused('PUT', PATH, { endpoint: 'x' })).toEqual([
    400,
    'endpoint must be an absolute http or https address',
  ])
  expect((await svc.refused('PUT', PATH, { enabled: 'yes' }))[0]).toBe(400)
  expect((await svc.refused('PUT', PATH, { api_key: 'with blank' }))[1]).toContain('api_key')
  expect((await svc.refused('PUT', PATH, { key: 'x' }))[1]).toContain('key')
  expect(await svc.post(`${PATH}/test`)).toMatchObject({ ok: false, failed: 'settings' })
})

it('come from the environment', async () => {
  const { svc } = await open({
    SVC_TRACING_ENABLED: 'on',
    SVC_TRACING_PROVIDER: 'collector',
    SVC_TRACING_API_KEY: 'k',
    SVC_TRACING_HEADERS: 'x-a=1',
    SVC_TRACING_CONTENT: 'off',
    SVC_INSTANCE_NAME: 'shop',
  })
  expect(await svc.get(PATH)).toMatchObject({
    state: 'on',
    enabled_source: 'env',
    provider: 'collector',
    endpoint: 'http://127.0.0.1:4318',
    api_key_source: 'env',
    headers: ['x-a'],
    content: false,
    instance: 'shop',
  })
})

it.each([
  ['SVC_TRACING_ENABLED', 'secret'],
  ['SVC_TRACING_PROVIDER', 'secret'],
  ['SVC_TRACING_ENDPOINT', 'ftp://secret'],
  ['SVC_TRACING_API_KEY', 'a secret'],
  ['SVC_TRACING_HEADERS', 'secret'],
  ['SVC_TRACING_CONTENT', 'secret'],
  ['SVC_INSTANCE_NAME', 'a/secret'],
])('name %s where it cannot be used, and not its value', (name, value) => {
  expect(() => loadTracing({ [name]: value })).toThrow(name)
  expect(() => loadTracing({ [name]: value })).not.toThrow(/secret/)
})
