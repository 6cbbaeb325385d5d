/** `svc mcp` as a client starts it: a real process, spoken to over its input and output. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Instance, startInstance } from '../../contract/instance.ts'

const BIN = fileURLToPath(new URL('../../../bin/svc.mjs', import.meta.url))
const AWAY = 'http://127.0.0.1:9'
const INIT = {
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}

let home: string
let svc: Instance
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'svc-mcp-'))
  svc = await startInstance()
})
afterAll(async () => {
  await svc?.stop()
  rmSync(home, { recursive: true, force: true })
})

/** Sends the lines and ends the input. */
async function speak(
  lines: string[],
  { args = [] as string[], env = {} as Record<string, string>, end = true } = {},
) {
  const child = spawn(process.execPath, [BIN, 'mcp', ...args], {
    env: { PATH: process.env.PATH ?? '', SVC_HOME: home, SVCD_URL: svc.url, SVC_LOG_LEVEL: 'trace', ...env },
  })
  let out = ''
  let err = ''
  child.stdout.on('data', (part) => {
    out += part
  })
  child.stderr.on('data', (part) => {
    err += part
  })
  child.stdin.on('error', () => {})
  for (const line of lines) child.stdin.write(`${line}\n`)
  if (end) child.stdin.end()
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, out, err }
}

const ask = (...requests: { method: string; params?: object }[]) =>
  requests.map((request, id) => JSON.stringify({ jsonrpc: '2.0', id, ...request }))
const callOf = (name: string, args = {}) => ({ method: 'tools/call', params: { name, arguments: args } })

describe('svc mcp over stdio', () => {
  it('writes nothing but the protocol, answers what was asked, and ends with its client', async () => {
    // A client that names neither what it can do nor itself, and has null where there are no arguments.
    const bare = { ...INIT, params: { protocolVersion: '2025-06-18' } }
    const sources = { method: 'tools/call', params: { name: 'list_sources', arguments: null } }
    const { code, out, err } = await speak([
      ...ask(bare, { method: 'tools/list' }, sources, callOf('read', {}), { method: 'no/such' }),
      'this is no message',
    ])
    const answers = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { jsonrpc: string; id: number })
      .sort((a, b) => a.id - b.id)
    expect(answers.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4])
    expect(answers[2]).toMatchObject({ result: { structuredContent: { sources: [] } } })
    expect(answers.every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true)
    expect(err).toContain(`svc mcp: stdio -> ${svc.url} as no auth configured (admin, ingest, read)`)
    expect(code).toBe(0)
  })

  it('tells a client of a revision that is not spoken which are, and goes on with one that is', async () => {
    const of = (version: string) => ({
      _meta: {
        'io.modelcontextprotocol/protocolVersion': version,
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    })
    const { code, out } = await speak(
      ask(
        { method: 'server/discover', params: of('2031-01-01') },
        { method: 'tools/list', params: of('2026-07-28') },
        { method: 'tools/list', params: of('2031-01-01') },
      ),
    )
    const answers = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
      .sort((a, b) => a.id - b.id)
    const error = {
      code: -32022,
      data: { requested: '2031-01-01', supported: expect.arrayContaining(['2026-07-28', '2025-11-25']) },
    }
    expect(answers).toMatchObject([
      { id: 0, error },
      { id: 1, result: { resultType: 'complete' } },
      { id: 2, error },
    ])
    expect(code).toBe(0)
  })

  it('lists its tools while the daemon is away, and says that calls may be tried again', async () => {
    const { out, err, code } = await speak(ask(INIT, { method: 'tools/list' }, callOf('list_sources')), {
      args: ['--svcd', AWAY],
    })
    expect(out).toContain('"name":"create_source"')
    expect(out).toContain('it may be restarting. Call again in 2 seconds')
    expect(err).toContain(`svc mcp: stdio -> ${AWAY}: the daemon is not reachable`)
    expect(code).toBe(0)
  })

  it('says of an address where another program answers that it is not svc', async () => {
    const other = createServer((_request, response) => void response.end('<html>')).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { out } = await speak(ask(INIT, callOf('list_sources')), {
      args: ['--svcd', `http://127.0.0.1:${(other.address() as AddressInfo).port}`],
    })
    other.close()
    expect(out).toContain('what answers at the address of the daemon is not svc')
  })

  it('ends with 1 at a message that is too large', async () => {
    const { code, err } = await speak(['x'.repeat(3 * 1024 * 1024)], { end: false })
    expect(code).toBe(1)
    expect(err).toContain('a message must have at most')
  })
})

describe('svc mcp', () => {
  it.each([
    [['--transport', 'carrier-pigeon'], '--transport must be one of stdio, streamable-http, sse'],
    [['--toolsets', 'events,magic'], '--toolsets must be one or more of events, incidents, findings, skills'],
    [['--port', '8788'], '--host and --port are for --transport streamable-http or sse'],
    [['--transport', 'sse', '--port', 'x'], '--port must be a port'],
  ])('says what is wrong with %s', async (args, sentence) => {
    const { code, err, out } = await speak([], { args })
    expect([code, out]).toEqual([78, ''])
    expect(err).toContain(sentence)
  })

  it.each(['SIGTERM', 'SIGHUP'] as const)('serves HTTP until it is told to stop by %s', async (signal) => {
    const child = spawn(process.execPath, [BIN, 'mcp', '--transport', 'streamable-http', '--port', '0'], {
      env: { PATH: process.env.PATH ?? '', SVC_HOME: home, SVCD_URL: svc.url },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let out = ''
    child.stdout.on('data', (part) => {
      out += part
    })
    const exited = once(child, 'exit')
    const url = await new Promise<string>((resolve) => {
      let err = ''
      child.stderr.on('data', (part) => {
        err += part
        const found = /streamable-http on (\S+) -> /.exec(err)
        if (found) resolve(found[1]!)
      })
    })
    expect((await fetch(new URL('/health', url))).status).toBe(200)
    child.kill(signal)
    expect(await exited).toEqual([0, null])
    expect(out).toBe('')
  })
})
