/** Resources of MCP servers: of the official server classes of both generations. */
import { randomUUID } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import {
  ErrorCode,
  ListResourcesRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { createMcpHandler, Server as ModernServer } from '@modelcontextprotocol/server'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Polled } from '../../../../engine/sources/connectors/connector.ts'
import { validateConfig } from '../../../../engine/sources/connectors/index.ts'
import { mcpResources } from '../../../../engine/sources/connectors/mcp-resources.ts'
import { mapped, NOW, prepared, reach } from './reach.ts'

interface Offered {
  uri: string
  name: string
  mimeType?: string
  annotations?: { lastModified: string }
  text?: string
  blob?: string
}

interface Options {
  revision?: 'modern'
  token?: string
  pageSize?: number
}

/** @returns what it offers from now on, and what was read */
async function serving(resources: Offered[], { revision, token, pageSize = 1_000 }: Options = {}) {
  const reads: string[] = []
  const offered = { resources, reads, url: '' }
  const list = (params: { cursor?: string | undefined } | undefined) => {
    const from = Number(params?.cursor ?? 0)
    const until = from + pageSize
    const page = offered.resources.slice(from, until).map(({ text: _text, blob: _blob, ...one }) => one)
    return { resources: page, ...(until < offered.resources.length ? { nextCursor: String(until) } : {}) }
  }
  const read = ({ uri }: { uri: string }) => {
    reads.push(uri)
    const { text, blob } = offered.resources.find((one) => one.uri === uri) ?? {}
    if (blob !== undefined) return { contents: [{ uri, blob }] }
    if (text === undefined) throw new McpError(ErrorCode.InvalidParams, `no ${uri} for ${token}`)
    return { contents: [{ uri, text }] }
  }
  const capabilities = { resources: {} }
  const modern = toNodeHandler(
    createMcpHandler(() => {
      const server = new ModernServer({ name: 'test', version: '1' }, { capabilities })
      server.setRequestHandler(
        'resources/list',
        async ({ params }) => ({ ...list(params), resultType: 'complete' }) as never,
      )
      server.setRequestHandler('resources/read', async ({ params }) => read(params) as never)
      return server
    }),
  )
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const begin = async () => {
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    const server = new Server({ name: 'test', version: '1' }, { capabilities })
    server.setRequestHandler(ListResourcesRequestSchema, ({ params }) => list(params))
    server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => read(params))
    await server.connect(transport)
    return transport
  }
  const server = http.createServer(async (request, response) => {
    if (token && request.headers.authorization !== `Bearer ${token}`)
      return void response.writeHead(401).end()
    if (revision === 'modern') return modern(request, response)
    const session = request.headers['mcp-session-id'] as string | undefined
    const transport = session === undefined ? await begin() : sessions.get(session)
    if (!transport) return void response.writeHead(404).end()
    await transport.handleRequest(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  offered.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  return offered
}

const config = (url: string, more = {}) => validateConfig('mcp_resources', { url, ...more })
const a = { uri: 'file:///runbooks/a.md', name: 'a', mimeType: 'text/markdown', text: '# Restart it' }
const b = { uri: 'note://b', name: 'b', text: '{"owner":"pay"}' }
const items = (polled: { items: readonly string[] }) => polled.items.map((item) => JSON.parse(item))

describe('resources of an MCP server', () => {
  it('are read as far as the time of a poll goes, and the rest by the next, where each takes long', async () => {
    const all = Array.from({ length: 30 }, (_, n) => ({ uri: `note://${n}`, name: `${n}`, text: `${n}` }))
    const server = await serving(all)
    const out = reach()
    const note = server.reads.push.bind(server.reads)
    server.reads.push = (uri) => {
      out.now += 1_000
      return note(uri)
    }
    const first = await mcpResources.poll(config(server.url), null, out)
    expect([first.items.length, first.more]).toEqual([12, true])
    const second = await mcpResources.poll(config(server.url), first.cursor, out)
    const third = await mcpResources.poll(config(server.url), second.cursor, out)
    expect(third.more).toBeUndefined()
    const names = [first, second, third].flatMap((polled) => items(polled).map(({ name }) => name))
    expect(names).toEqual(all.map(({ name }) => name))
  })

  it.each<Options>([{}, { revision: 'modern' }, { pageSize: 1 }])(
    'are an event each when they are new, of a server of %j',
    async (options) => {
      const server = await serving([a, b], options)
      const polled = await mcpResources.poll(config(server.url), null, reach())
      expect(items(polled)).toEqual([
        {
          change: 'added',
          uri: a.uri,
          name: 'a',
          mime_type: 'text/markdown',
          text: '# Restart it',
          time: '2026-11-20T12:00:00.000Z',
          turn: 0,
        },
        { change: 'added', uri: b.uri, name: 'b', text: b.text, time: '2026-11-20T12:00:00.000Z', turn: 0 },
      ])
      const labels = [{ name: 'owner', field: 'json.owner' }]
      expect(prepared(mcpResources, config(server.url, { labels }), polled)).toMatchObject([
        {
          eventType: 'resource.added',
          text: 'a added: # Restart it',
          ts: NOW,
          strings: [['resource', a.uri]],
          hasEntity: true,
        },
        { strings: expect.arrayContaining([['owner', 'pay']]) },
      ])
    },
  )

  it('are events when they change or go, and none while they stay', async () => {
    const server = await serving([a, b])
    const out = reach()
    const poll = (cursor: string | null) => mcpResources.poll(config(server.url), cursor, out)
    const first = await poll(null)
    const second = await poll(first.cursor)
    expect(second.items).toEqual([])
    server.resources = [{ ...a, text: '# Start it' }]
    const third = await poll(second.cursor)
    expect(items(third)).toMatchObject([
      { change: 'changed', uri: a.uri, text: '# Start it' },
      { change: 'gone', uri: b.uri, name: 'b' },
    ])
    expect(mapped(mcpResources, config(server.url), third)).toMatchObject([
      { eventType: 'resource.changed' },
      { eventType: 'resource.gone', text: 'b gone' },
    ])
    // After a poll whose outcome was not stored it is the same again.
    expect((await poll(second.cursor)).items).toEqual(third.items)
    expect((await poll(third.cursor)).items).toEqual([])
  })

  it('have the key they had in a poll whose outcome was not stored, and another each time they become so again', async () => {
    const server = await serving([a, b])
    const out = reach()
    const seen = new Set<unknown>()
    const settings = config(server.url)
    const keysOf = (polled: Polled) =>
      mapped(mcpResources, settings, polled).map(({ dedupeKey }) => dedupeKey)
    let cursor: string | null = null
    for (const offered of [[a, b], [{ ...a, text: 'other' }], [a, b], [], [a, b]]) {
      server.resources = offered
      const polled = await mcpResources.poll(settings, cursor, out)
      const keys = keysOf(polled)
      expect(keys.filter((key) => key === undefined || seen.has(key))).toEqual([])
      for (const key of keys) seen.add(key)
      // The daemon was killed before the cursor was stored, and is started a minute later.
      out.now += 60_000
      expect(keysOf(await mcpResources.poll(settings, cursor, out))).toEqual(keys)
      cursor = polled.cursor
    }
    expect(seen.size).toBe(2 + 2 + 2 + 2 + 2)
  })

  it('go on from the cursor of an older version', async () => {
    const server = await serving([a, b])
    const { cursor } = await mcpResources.poll(config(server.url), null, reach())
    const { known } = JSON.parse(cursor!) as { known: unknown }
    const polled = await mcpResources.poll(config(server.url), JSON.stringify(known), reach())
    expect(polled.items).toEqual([])
  })

  it('are not read again while their server says that they did not change', async () => {
    const dated = { ...a, annotations: { lastModified: '2026-11-20T11:00:00Z' } }
    const server = await serving([dated])
    const first = await mcpResources.poll(config(server.url), null, reach())
    expect(items(first)).toMatchObject([{ modified: '2026-11-20T11:00:00Z' }])
    const second = await mcpResources.poll(config(server.url), first.cursor, reach())
    server.resources = [{ ...dated, text: 'new', annotations: { lastModified: '2026-11-20T11:30:00Z' } }]
    const third = await mcpResources.poll(config(server.url), second.cursor, reach())
    expect([second.items.length, third.items.length, server.reads.length]).toEqual([0, 1, 2])
  })

  it('are those that begin as is said; what is no text is told by its size, and one that cannot be read keeps no other', async () => {
    const image = { uri: 'file:///c.png', name: 'c', blob: Buffer.from('12345').toString('base64') }
    const server = await serving([a, b, image, { uri: 'file:///none', name: 'none' }], {
      token: 'token-of-the-test',
    })
    const read = config(server.url, { uris: ['file:///'], bearer_token: 'token-of-the-test' })
    const polled = await mcpResources.poll(read, null, reach())
    expect(items(polled)).toMatchObject([{ uri: a.uri }, { uri: image.uri, bytes: 5 }])
    expect(polled.notice).toMatch(/^1 not read: none: the MCP server says: .*no file:\/\/\/none for \*\*\*/)
    expect(mapped(mcpResources, read, polled)).toMatchObject([{}, { text: 'c added: 5 bytes' }])
  })

  it('are read on by the next poll where there are many, and more than are followed are told', async () => {
    const many = Array.from({ length: 510 }, (_, i) => ({ uri: `note://${i}`, name: `n${i}`, text: `t${i}` }))
    const server = await serving(many)
    const out = reach()
    let cursor: string | null = null
    const sizes: number[] = []
    for (let more = true; more; ) {
      const polled = await mcpResources.poll(config(server.url), cursor, out)
      sizes.push(polled.items.length)
      cursor = polled.cursor
      more = polled.more === true
      expect(polled.notice).toMatch(/more than are followed: the first 500 are/)
    }
    expect(sizes).toEqual([100, 100, 100, 100, 100])
    // All of them come to their turn again.
    server.reads.length = 0
    for (let poll = 0; poll < 5; poll++)
      cursor = (await mcpResources.poll(config(server.url), cursor, out)).cursor
    expect(new Set(server.reads).size).toBe(500)
  })

  it('that cannot be had are told with what to do', async () => {
    const closed = await serving([], { token: 'x' })
    const fault = (url: string) =>
      mcpResources.poll(config(url), null, reach()).then(
        () => '',
        (error: Error) => error.message,
      )
    expect(await fault(closed.url)).toBe('The MCP server answered 401. Set bearer_token.')
    expect(await fault(closed.url.replace(/:\d+/, ':1'))).toMatch(
      /^The MCP server cannot be reached: .* Check url/,
    )
  })

  it('are found', async () => {
    const server = await serving([a, b])
    expect(await mcpResources.discover!({ url: server.url }, reach())).toMatchObject({
      connector: 'mcp_resources',
      summary: '2 resources (file:, note:)',
      resources: [{ uri: a.uri, name: 'a' }, { uri: b.uri }],
      proposed_config: { url: server.url },
    })
  })
})
