/** Workspaces of a hosted instance in the tools. The platform is a stand-in that lists them; it is no platform. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { signedIn } from './sign-in.ts'
import { asked, openTelemetryWorld, type TelemetryWorld } from './telemetry-world.ts'

const LISTED = [
  { id: 'w1', name: 'Acme production', url: 'https://prod.acme.example', current: true },
  { id: 'w2', name: 'Acme staging', url: 'https://staging.acme.example' },
]
let svc: TelemetryWorld
let listed: { status: number; body: unknown }
let users: (string | undefined)[]
const platform = createServer((request, response) => {
  users.push(request.headers['svc-user'] as string | undefined)
  response.writeHead(listed.status, { 'content-type': 'application/json' }).end(JSON.stringify(listed.body))
})

beforeAll(async () => {
  await new Promise<void>((resolve) => platform.listen(0, '127.0.0.1', resolve))
  const { port } = platform.address() as AddressInfo
  svc = await openTelemetryWorld({
    env: { SVC_WORKSPACE_API_URL: `http://127.0.0.1:${port}/v1/workspaces` },
    userHeader: 'x-user',
  })
})
afterAll(async () => {
  await svc.close()
  platform.close()
})
beforeEach(() => {
  listed = { status: 200, body: { workspaces: LISTED } }
  users = []
  svc.clock.ahead += 60_001
})

it('a client that a person signed in is told of those of the platform, and which it reads', async () => {
  const client = await svc.connect((await signedIn(svc)).access)
  const { text } = await asked(client, 'list_workspaces')
  expect(text).toContain('| `w1` | Acme production | https://prod.acme.example | yes |')
  expect(text).toContain(
    '| `w2` | Acme staging | https://staging.acme.example | no, by a connection of its own |',
  )
  expect((await asked(client, 'get_me')).text).toContain('Acme staging')
})

it('takes the one that is read here by any of its names, and says where another is', async () => {
  const client = await svc.connect((await signedIn(svc)).access)
  for (const workspace of ['w1', 'Acme production', 'local', 'This machine'])
    expect(await asked(client, 'traces', { workspace })).toMatchObject({ isError: false })
  expect(await asked(client, 'traces', { workspace: 'w2' })).toEqual({
    ...{ isError: true, text: expect.stringContaining('at https://staging.acme.example') },
  })
  expect((await asked(client, 'traces', { workspace: 'w3' })).text).toContain('not found')
})

it('a key knows of the one it was made in, and reports others as not found', async () => {
  const client = await svc.connect((await svc.key(['read'])).secret)
  expect((await asked(client, 'list_workspaces')).text).not.toContain('w2')
  expect((await asked(client, 'get_me')).text).not.toContain('w2')
  expect((await asked(client, 'traces', { workspace: 'w2' })).text).toContain('not found')
  expect(users).toEqual([])
})

it('the platform is told who asks, as the proxy in front says', async () => {
  const { access } = await signedIn(svc)
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'list_workspaces', arguments: {} },
  }
  await fetch(svc.mcpUrl, {
    ...{ method: 'POST', body: JSON.stringify(body) },
    headers: {
      ...{ ...svc.as(access), 'x-user': 'ann@acme.example', 'content-type': 'application/json' },
      accept: 'application/json, text/event-stream',
    },
  }).then((answer) => answer.text())
  expect(users).toEqual(['ann%40acme.example'])
})

it('where the platform does not answer, the instance is listed, and why the others are not', async () => {
  listed = { status: 503, body: {} }
  const client = await svc.connect((await signedIn(svc)).access)
  const { text, isError } = await asked(client, 'list_workspaces')
  expect([isError, text]).toEqual([
    false,
    expect.stringContaining('Others are not listed: the platform answered 503.'),
  ])
  expect(text).toContain('`local`')
})

it('svc telemetry may ask for them with the token of a client', async () => {
  const { access } = await signedIn(svc)
  const { status, json } = await svc.call('GET', '/api/workspaces', undefined, svc.as(access))
  expect([status, json]).toMatchObject([200, { workspaces: [{ id: 'w1' }, { id: 'w2' }] }])
})
