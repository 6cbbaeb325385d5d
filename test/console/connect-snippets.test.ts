import { describe, expect, it } from 'vitest'
import { CLIENTS, didWords, mcpAddress, snippetOf, startCommand } from '../../console/lib/connect-snippets.ts'
import { declineUrl, readLoginAsk } from '../../console/lib/login-ask.ts'
import { loginMark } from '../../schemas/login-words.ts'

const at = { svcd: 'http://127.0.0.1:8787', mcp: 'http://127.0.0.1:8788/mcp', key: 'svc_0a1b2c3d_x' }
const text = (...of: Parameters<typeof snippetOf>) => snippetOf(...of).text

describe('the text for a client', () => {
  it('is the JSON that most clients take, over stdio and HTTP', () => {
    for (const client of ['desktop', 'editor', 'terminal'] as const) {
      expect(JSON.parse(text(client, 'stdio', at))).toEqual({
        mcpServers: {
          svc: {
            command: 'svc',
            args: ['mcp'],
            env: { SVCD_URL: at.svcd, SVC_AUTH_TOKEN: at.key },
          },
        },
      })
      expect(JSON.parse(text(client, 'http', at))).toEqual({
        mcpServers: { svc: { type: 'http', url: at.mcp, headers: { Authorization: `Bearer ${at.key}` } } },
      })
    }
  })

  it('is what VS Code takes', () => {
    expect(JSON.parse(text('vscode', 'stdio', at)).servers.svc).toMatchObject({
      type: 'stdio',
      command: 'svc',
    })
    expect(JSON.parse(text('vscode', 'http', at)).servers.svc).toMatchObject({ type: 'http', url: at.mcp })
  })

  it('is TOML where the client has that', () => {
    expect(text('toml', 'stdio', at)).toBe(`[mcp_servers.svc]
command = "svc"
args = ["mcp"]

[mcp_servers.svc.env]
SVCD_URL = "http://127.0.0.1:8787"
SVC_AUTH_TOKEN = "svc_0a1b2c3d_x"`)
    expect(text('toml', 'http', at)).toBe(`[mcp_servers.svc]
url = "http://127.0.0.1:8788/mcp"
http_headers = { Authorization = "Bearer svc_0a1b2c3d_x" }`)
  })

  it('names no credential where the instance is open', () => {
    for (const { value, via } of CLIENTS)
      for (const one of via)
        expect(text(value, one, { ...at, key: null })).not.toMatch(/token|authorization/i)
  })

  it('is safe in a shell, whatever the address', () => {
    expect(text('curl', 'http', { ...at, mcp: "http://h/'; rm -rf ~; '" })).toContain(
      "'http://h/'\\''; rm -rf ~; '\\'''",
    )
  })
})

describe('where svc mcp is', () => {
  it.each([
    [null, 'localhost', 'http://127.0.0.1:8788/mcp'],
    [null, 'box.lan', 'http://box.lan:8788/mcp'],
    ['https://svc.example/', 'svc.example', 'https://svc.example/mcp'],
  ])('with SVC_PUBLIC_URL %s and the console on %s it is %s', (publicUrl, host, address) => {
    expect(mcpAddress(publicUrl, host)).toBe(address)
  })

  it.each([
    ['http://127.0.0.1:8788/mcp', null, 'http://127.0.0.1:8787', ''],
    ['http://127.0.0.1:9000/mcp', null, 'http://127.0.0.1:8787', ' --port 9000'],
    ['http://box.lan:8788/mcp', null, 'http://box.lan:8787', ' --host 0.0.0.0'],
    ['http://127.0.0.1:8788/mcp', null, 'http://localhost:9787', ' --svcd http://127.0.0.1:9787'],
    ['no address', null, 'http://127.0.0.1:8787', ''],
  ])('%s is started so', (mcp, publicUrl, page, options) => {
    expect(startCommand(mcp, publicUrl, page)).toBe(`svc mcp --transport streamable-http${options}`)
  })

  it('is told the public address behind a proxy', () => {
    const url = 'https://svc.example'
    expect(startCommand(`${url}/mcp`, url, url)).toBe(
      'SVC_PUBLIC_URL=https://svc.example svc mcp --transport streamable-http',
    )
  })
})

it('says what a client did', () => {
  expect(['connect', 'list_tools', 'read'].map(didWords)).toEqual([
    'connected',
    'listed its tools',
    'called read',
  ])
})

describe('the address that svc login opens', () => {
  const token = 'kQ7f_z2-'.repeat(6).slice(0, 43)
  const query = (more: Record<string, string> = {}) =>
    new URLSearchParams({ challenge: token, state: token, machine: 'laptop', port: '4711', ...more })

  it('is read as the command wrote it', () => {
    expect(readLoginAsk(query({ scopes: 'read,ingest' }))).toEqual({
      ask: { challenge: token, state: token, machine: 'laptop', port: 4711 },
      proposed: 'work',
    })
    const byHand = query()
    byHand.delete('port')
    expect(readLoginAsk(byHand)).toMatchObject({ ask: { port: null }, proposed: 'admin' })
  })

  it.each([
    ['port', 'evil.example'],
    ['port', '4711@evil.example'],
    ['port', '0'],
    ['port', '65536'],
    ['state', 'short'],
    ['challenge', ''],
    ['machine', '<b>you</b>'],
  ])('is none with %s %s', (name, value) => {
    expect(readLoginAsk(query({ [name]: value }))).toBeNull()
  })

  it('leads back to this machine alone', () => {
    expect(declineUrl(4711, token)).toBe(`http://127.0.0.1:4711/?declined=true&state=${token}`)
  })

  it('shows the same eight characters in the console and the terminal', () => {
    expect(loginMark(token)).toBe('KQ7F-Z2KQ')
  })
})
