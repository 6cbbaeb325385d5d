/** Workspaces of a hosting platform, before a small server that lists them as docs/configuration.md says. It is no platform. */
import { expect, it, onTestFinished } from 'vitest'
import { upstreamServer } from '../engine/sources/connectors/upstream-server.ts'
import { startInstance } from './instance.ts'

const LIST = [
  { id: 'w1', name: 'Acme production', url: 'https://acme.example/prod', current: true },
  { id: 'w2', name: 'Acme staging', url: 'https://acme.example/staging' },
  { id: 'w3', name: 'Not a page', url: 'javascript:alert(1)' },
]

async function open(env: Record<string, string> = {}) {
  const platform = await upstreamServer(() => ({ body: { workspaces: LIST } }))
  const svc = await startInstance({ env: { SVC_WORKSPACE_API_URL: `${platform.url}v1/workspaces`, ...env } })
  onTestFinished(() => svc.stop())
  return { platform, svc }
}

it('are listed as the platform says, those with an address of a page', async () => {
  const { svc, platform } = await open()
  expect(await svc.get('/api/workspaces')).toEqual({
    workspaces: [
      { id: 'w1', name: 'Acme production', url: 'https://acme.example/prod', is_current: true },
      { id: 'w2', name: 'Acme staging', url: 'https://acme.example/staging', is_current: false },
    ],
    reason: null,
  })
  expect(platform.received).toMatchObject([{ method: 'GET', path: '/v1/workspaces' }])
  expect(platform.received[0]!.headers).not.toHaveProperty('authorization')
  platform.answer = () => ({ body: LIST })
  expect(await svc.get('/api/workspaces')).toMatchObject({ workspaces: [{ id: 'w1' }, { id: 'w2' }] })
})

it('what is no list, a refusal and no platform are a reason, not a fault', async () => {
  const { svc, platform } = await open()
  platform.answer = () => ({ body: '<html>' })
  expect(await svc.get('/api/workspaces')).toEqual({
    ...{ workspaces: [], reason: 'error', detail: 'the platform answered no list of workspaces' },
  })
  platform.answer = () => ({ status: 503, body: {} })
  expect(await svc.get('/api/workspaces')).toMatchObject({
    reason: 'error',
    detail: 'the platform answered 503',
  })
  const { svc: alone } = await open({ SVC_WORKSPACE_API_URL: '' })
  expect(await alone.get('/api/workspaces')).toEqual({ workspaces: [], reason: 'none' })
})
