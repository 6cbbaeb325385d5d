/** A daemon with a shop in it, and a client of its MCP server. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { type Instance, startInstance } from '../../contract/instance.ts'
import { MINUTE } from '../../contract/served-runs.ts'
import { composed, idOf, serveEngine } from '../../engine/sources/docker/engine-server.ts'
import { type McpWorld, startMcp } from './mcp-world.ts'

/** A webhook source. */
export const SOURCE = {
  name: 'web',
  connector: 'webhook',
  config: {
    event_type_field: 'type',
    text_template: '{message}',
    labels: [{ name: 'service', field: 'service', primary: true }],
  },
}
/** An event with a number that is longer than a double holds. */
export const BIG = '{"service":"checkout","type":"order","message":"paid","id":12345678901234567890}'

export interface Shop {
  svc: Instance
  mcp: McpWorld
  client: Client
  /** Id of the project. */
  project: string
  /** Key of the source. */
  ingest: string
  close(): Promise<void>
}

export async function openShop(): Promise<Shop> {
  const docker = await serveEngine([
    { id: idOf(1), name: 'shop-api-1', labels: composed('shop', 'api'), log: [] },
  ])
  const svc = await startInstance({ env: docker.env })
  const { ingest_key: ingest } = await svc.post<{ ingest_key: string }>('/api/sources', SOURCE)
  await svc.post('/api/triggers', {
    name: 'any',
    sources: ['web'],
    condition: { event: 'any' },
    cooldown: '1s',
  })
  await svc.call('POST', `/ingest/${ingest}`, BIG, { 'content-type': 'application/json' })
  for (let i = 0; i < 30; i++)
    await svc.post(`/ingest/${ingest}`, { service: 'cart', type: `kind${i}`, message: `message ${i}` })
  svc.clock.at += MINUTE
  const { id: project } = await svc.post<{ id: string }>('/api/projects', {
    template: 'custom',
    name: 'Shop',
    objects: [],
  })
  await svc.post(`/api/projects/${project}/skills`, {
    name: 'refunds',
    description: 'How to refund.',
    body: '# Do',
  })
  const mcp = await startMcp(svc.url)
  const client = await mcp.connect()
  await client.listTools()
  return {
    svc,
    mcp,
    client,
    project,
    ingest,
    close: async () => {
      await mcp.stop()
      await svc.stop()
      await docker.close()
    },
  }
}
