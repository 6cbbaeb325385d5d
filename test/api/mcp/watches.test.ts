/** What a connected client is told of: changes of resources it subscribed to, firings, progress. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import {
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Fields, type Instance, startInstance } from '../../contract/instance.ts'
import { eventually } from '../../eventually.ts'
import { type McpWorld, startMcp } from './mcp-world.ts'

let svc: Instance
let mcp: McpWorld
let client: Client
let project: string
let ingest: string
const updated: string[] = []
const messages: Fields[] = []

beforeAll(async () => {
  svc = await startInstance()
  const labels = [{ name: 'service', field: 'service', primary: true }]
  const { ingest_key } = await svc.post<{ ingest_key: string }>('/api/sources', {
    name: 'web',
    connector: 'webhook',
    config: { labels },
  })
  ingest = `/ingest/${ingest_key}`
  project = (
    await svc.post<{ id: string }>('/api/projects', { template: 'custom', name: 'Shop', objects: [] })
  ).id
  await svc.post('/api/triggers', {
    name: 'any',
    sources: ['web'],
    condition: { event: 'any' },
    cooldown: '1s',
    project: 'Shop',
  })
  await svc.post(`/api/projects/${project}/subscribe`, { url: 'http://127.0.0.1:9/hook' })
  mcp = await startMcp(svc.url)
  client = await mcp.connect()
  client.setNotificationHandler(
    ResourceUpdatedNotificationSchema,
    ({ params }) => void updated.push(params.uri),
  )
  client.setNotificationHandler(
    LoggingMessageNotificationSchema,
    ({ params }) => void messages.push(params as Fields),
  )
  await eventually(() => expect(mcp.sessions.all()[0]?.streams).toBe(1))
})
afterAll(async () => {
  await mcp?.stop()
  await svc?.stop()
})

const pass = () => {
  svc.clock.at += 2_000
  mcp.pass(2_000)
}

describe('a client that subscribed', () => {
  it('is told of events of an entity, and no more once it unsubscribed', async () => {
    const uri = 'svc://entity/service/checkout'
    await svc.post(ingest, { service: 'checkout' })
    await client.subscribeResource({ uri })
    pass()
    await svc.post(ingest, { service: 'cart' })
    pass()
    expect(updated).toEqual([])
    await svc.post(ingest, { service: 'checkout' })
    pass()
    await expect.poll(() => updated).toEqual([uri])
    await client.unsubscribeResource({ uri })
    await svc.post(ingest, { service: 'checkout' })
    await mcp.shared.watches.tick()
    expect(updated).toEqual([uri])
  })

  it('is told when an incident opens, and of each step of one', async () => {
    await client.subscribeResource({ uri: 'svc://incidents' })
    pass()
    await svc.post(ingest, { service: 'till' })
    svc.clock.at += 60_000
    pass()
    await expect.poll(() => updated).toContain('svc://incidents')
    await client.unsubscribeResource({ uri: 'svc://incidents' })
    const { incidents } = await svc.get<{ incidents: { id: string; version: number }[] }>('/api/incidents')
    const { id, version } = incidents[0]!
    const uri = `svc://incident/${id}`
    await client.subscribeResource({ uri })
    pass()
    expect(updated).not.toContain(uri)
    await svc.post(`/api/incidents/${id}/acknowledge`, { version, by: 'mara' })
    pass()
    await expect.poll(() => updated).toContain(uri)
    const { contents } = await client.readResource({ uri })
    expect((contents[0] as Fields).text).toContain(`${id} warning, acknowledged, mara has it`)
    await client.unsubscribeResource({ uri })
  })

  it('is told of findings of a project', async () => {
    const uri = `svc://project/${project}/findings`
    await client.subscribeResource({ uri })
    await svc.post(`/api/projects/${project}/findings`, { entity: 'checkout', finding: 'It broke.' })
    pass()
    await expect.poll(() => updated).toContain(uri)
  })

  it('is told of each firing of a project, as a message too', async () => {
    await client.setLoggingLevel('info')
    await client.subscribeResource({ uri: `svc://project/${project}/firings` })
    svc.clock.at += 60_000
    await svc.post(ingest, { service: 'payments' })
    pass()
    await expect.poll(() => messages).toHaveLength(1)
    expect(messages[0]).toMatchObject({
      level: 'notice',
      logger: 'svc.firings',
      data: { trigger: 'any', state: 'fired', key: 'payments' },
    })
  })

  it('may not watch what cannot be watched', async () => {
    await expect(client.subscribeResource({ uri: 'svc://skill/x' })).rejects.toThrow(
      'only incidents, the timeline of an entity,',
    )
    await expect(client.subscribeResource({ uri: 'svc://project/nope/findings' })).rejects.toThrow(
      'nope is not known',
    )
  })
})

describe('a call that takes long', () => {
  it('says every two seconds that it is under way', async () => {
    let go = () => {}
    const held = new Promise<void>((resolve) => {
      go = resolve
    })
    const asked = mcp.shared.daemon.as(null)
    mcp.shared.daemon.as = () => {
      mcp.shared.daemon.as = () => asked
      return Object.assign(Object.create(asked), { ask: async () => held.then(() => []) })
    }
    const told: unknown[] = []
    const call = client.callTool({ name: 'list_sources', arguments: {} }, undefined, {
      onprogress: (progress) => void told.push(progress),
    })
    await expect.poll(() => mcp.sessions.all()[0]!.session.busy).toBe(1)
    mcp.pass(2_000)
    mcp.pass(2_000)
    await expect.poll(() => told).toHaveLength(2)
    go()
    await call
    expect(told[1]).toMatchObject({ progress: 2, message: 'waiting for the daemon, 4 s' })
  })
})
