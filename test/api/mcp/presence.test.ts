/** The daemon is told which clients are at work, so that a person who connects one sees it. */
import { pino } from 'pino'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import type { Caller } from '../../../api/mcp/daemon.ts'
import { Presence } from '../../../api/mcp/presence.ts'
import type { ConnectInfo, McpClientSeen } from '../../../schemas/types.ts'
import { type Instance, startInstance } from '../../contract/instance.ts'
import { eventually } from '../../eventually.ts'
import { called, startMcp, toolsOf } from './mcp-world.ts'

let svc: Instance | undefined
afterEach(async () => {
  await svc?.stop()
  svc = undefined
})

const seen = async () => (await svc!.get<ConnectInfo>('/api/connect')).clients
/** Nothing waits for the word to the daemon, so the test does. */
const seesLast = (call: string) =>
  eventually(async () => expect((await seen())[0]).toMatchObject({ name: 'test-client', call }))

it('tells who connected, with which key, and what it asked last', async () => {
  svc = await startInstance({ secured: true })
  const mcp = await startMcp(svc.url)
  onTestFinished(() => mcp.stop())
  const key = await svc.post<{ id: string; secret: string }>('/api/keys', {
    name: 'reader',
    scopes: ['read'],
  })
  const client = await mcp.connect(key.secret)
  await seesLast('connect')
  await toolsOf(client)
  await seesLast('list_tools')
  expect(await seen()).toEqual([
    {
      credential: `key:${key.id}`,
      credential_name: 'reader',
      name: 'test-client',
      version: '1',
      transport: 'http',
      call: 'list_tools',
      at: '2026-11-20T12:00:00.000Z',
    },
  ])
})

it('says a word once the one before is heard: the last that is said is the last that is heard', async () => {
  const asked: string[] = []
  const waiting: (() => void)[] = []
  const ask = (_: unknown, { body }: { body: McpClientSeen }) => {
    asked.push(body.call)
    return new Promise<never>((_resolve, reject) => waiting.push(() => reject(new Error('gone'))))
  }
  const presence = new Presence(
    { log: pino({ level: 'silent' }), every: () => () => undefined },
    { ask } as unknown as Caller,
    'stdio',
  )
  presence.tell(undefined, 'connect')
  presence.tell(undefined, 'list_tools')
  await eventually(() => expect(asked).toEqual(['connect']))
  // That it was not heard keeps nobody from saying the next.
  waiting[0]!()
  await eventually(() => expect(asked).toEqual(['connect', 'list_tools']))
})

it('tells the first call of a tool in five seconds, and not each', async () => {
  svc = await startInstance()
  const mcp = await startMcp(svc.url)
  onTestFinished(() => mcp.stop())
  const client = await mcp.connect()
  await called(client, 'list_projects')
  await seesLast('list_projects')
  await called(client, 'list_sources')
  await called(client, 'list_skills')
  expect((await seen())[0]!.call).toBe('list_projects')
  mcp.pass(5_000)
  await called(client, 'list_runs')
  await seesLast('list_runs')
})

it('is told by a project key too, which learns nothing of the others', async () => {
  svc = await startInstance({ secured: true })
  const mcp = await startMcp(svc.url)
  onTestFinished(() => mcp.stop())
  const { id } = await svc.post<{ id: string }>('/api/projects', {
    template: 'webhook_watch',
    params: { service: 'checkout' },
  })
  const key = await svc.post<{ secret: string }>(`/api/projects/${id}/keys`, { name: 'scout' })
  await toolsOf(await mcp.connect(key.secret))
  await seesLast('list_tools')
  const by = { authorization: `Bearer ${key.secret}` }
  expect((await svc.call('GET', '/api/connect', undefined, by)).status).toBe(403)
})

it('keeps 200 clients, the newest', async () => {
  svc = await startInstance()
  for (let i = 0; i < 201; i++)
    await svc.post('/api/connect/clients', {
      name: `c${i}`,
      version: '',
      transport: 'stdio',
      call: 'connect',
    })
  const names = (await seen()).map(({ name }) => name)
  expect([names.length, names[0], names.at(-1)]).toEqual([200, 'c200', 'c1'])
})

it('serves the skill that teaches an agent', async () => {
  svc = await startInstance()
  const answer = await svc.call('GET', '/api/connect/skill')
  expect(answer.text).toMatch(/^---\nname: svc\n/)
  expect(answer.headers.get('content-disposition')).toContain('SKILL.md')
})
