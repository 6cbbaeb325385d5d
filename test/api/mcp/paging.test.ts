/** The list of resources in pages, by the official client (MCP, Pagination). */
import { expect, it, onTestFinished } from 'vitest'
import { startInstance } from '../../contract/instance.ts'
import { startMcp } from './mcp-world.ts'

it('has all resources once over its pages, and refuses a cursor that is not its own', async () => {
  const svc = await startInstance()
  const { id } = await svc.post<{ id: string }>('/api/projects', {
    template: 'custom',
    name: 'Shop',
    objects: [],
  })
  const named = Array.from({ length: 130 }, (_, n) => `skill-${n}`)
  for (const name of named)
    await svc.post(`/api/projects/${id}/skills`, { name, description: 'One of many.', body: '# Text' })
  const mcp = await startMcp(svc.url)
  onTestFinished(async () => {
    await mcp.stop()
    await svc.stop()
  })
  const client = await mcp.connect()
  const first = await client.listResources()
  expect(first.resources).toHaveLength(100)
  const second = await client.listResources({ cursor: first.nextCursor! })
  expect(second.nextCursor).toBeUndefined()
  const uris = [...first.resources, ...second.resources].map(({ uri }) => uri)
  expect(new Set(uris).size).toBe(uris.length)
  expect(uris.filter((uri) => uri.startsWith('svc://skill/')).sort()).toEqual(
    named.map((name) => `svc://skill/${name}`).sort(),
  )
  await expect(client.listResources({ cursor: 'x' })).rejects.toThrow('cursor must be nextCursor')
})
