/** MCP servers that are programs of the daemon's machine: the operator says which there are, nobody else. */
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { type Instance, startInstance } from './instance.ts'

const FILE = fileURLToPath(new URL('../mcp/program.mjs', import.meta.url))
const LIST = `beans: TOKEN={auth_value} LEVEL=warn ${process.execPath} ${FILE} modern; plain: ${process.execPath} ${FILE} legacy`
const ENV = { SVC_MCP_STDIO_COMMANDS: LIST, SVC_SECRET_BEANS: 'secret-of-beans' }
const COMMAND = `TOKEN={auth_value} LEVEL=… ${process.execPath} ${FILE} modern`

let svc: Instance
afterEach(() => svc.stop())

describe('an MCP server that is a program', () => {
  it('is refused by every door where the operator lists none of its name', async () => {
    for (const [env, why] of [
      [
        {},
        'url: stdio:beans would run a program where svc runs, and the operator allows none: SVC_MCP_STDIO_COMMANDS is not set',
      ],
      [
        { SVC_MCP_STDIO_COMMANDS: 'files: /bin/true' },
        'url: stdio:beans is none of the programs that SVC_MCP_STDIO_COMMANDS allows (files)',
      ],
    ] as const) {
      svc = await startInstance({ env })
      const server = { name: 'beans', url: 'stdio:beans' }
      expect(await svc.refused('POST', '/api/mcp-servers', server)).toEqual([400, why])
      expect(await svc.post('/api/mcp-servers/test', { url: 'stdio:beans' })).toMatchObject({
        ok: false,
        error: why.replace('url: ', ''),
      })
      const yaml = 'mcp_servers:\n  - name: beans\n    url: stdio:beans\n'
      expect(JSON.stringify(await svc.refused('POST', '/api/catalog/import', { yaml }))).toContain(why)
      expect(await svc.get('/api/mcp-servers')).toMatchObject({ servers: [] })
      await svc.stop()
    }
    svc = await startInstance()
  })

  it('is declared by its name, shown with its command, and its plan says what will run', async () => {
    svc = await startInstance({ env: ENV })
    const yaml = `mcp_servers:\n  - name: beans\n    url: stdio:beans\n    auth_value: \${SVC_SECRET_BEANS}\n`
    const planned = await svc.post('/api/catalog/import', { yaml, dry_run: true })
    expect(JSON.stringify(planned)).toContain(
      JSON.stringify(`mcp_server beans: runs a program where svc runs: ${COMMAND}`),
    )
    await svc.post('/api/catalog/import', { yaml })
    expect(await svc.get('/api/mcp-servers/beans')).toMatchObject({
      url: 'stdio:beans',
      command: COMMAND,
      auth_value_configured: true,
    })
    expect(await svc.get('/api/mcp-servers')).toMatchObject({
      programs: [
        { name: 'beans', url: 'stdio:beans', command: COMMAND, takes_credential: true },
        { name: 'plain', takes_credential: false },
      ],
    })
  })

  it('takes no headers, no credential that its command has no place for, and keeps none for another program', async () => {
    svc = await startInstance({ env: ENV })
    const refused = (more: object) =>
      svc.refused('POST', '/api/mcp-servers', { name: 'a', url: 'stdio:plain', ...more })
    expect(await refused({ headers: { 'X-A': 'b' } })).toEqual([
      400,
      'headers must not be given where url is a program: a program gets no headers',
    ])
    expect(await refused({ auth_value: 'x' })).toEqual([
      400,
      'auth_value must not be given: the program plain takes no credential',
    ])
    expect((await refused({ url: 'stdio:a b' }))[0]).toBe(400)
    await svc.post('/api/mcp-servers', { name: 'a', url: 'stdio:beans', auth_value: 'stored-0123' })
    expect(await svc.refused('PUT', '/api/mcp-servers/a', { name: 'a', url: 'stdio:plain' })).toEqual([
      400,
      'auth_value: enter it again: the address changed',
    ])
  })

  it('is tested as a run would use it, and is shown no secret of the daemon', async () => {
    svc = await startInstance({ env: { ...ENV, SVC_AUTH_TOKEN: 'root-token-of-the-daemon' } })
    await svc.post('/api/mcp-servers', {
      name: 'beans',
      url: 'stdio:beans',
      auth_value: `\${SVC_SECRET_BEANS}`,
    })
    const tested = await svc.post<{ ok: boolean; tools: { name: string }[] }>(
      '/api/mcp-servers/beans/test',
      {},
    )
    expect(tested.ok).toBe(true)
    expect(tested.tools.map(({ name }) => name)).toContain('started')
  })
})
