import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type McpTestServer, startMcpServer } from '../../mcp/server.ts'
import { svc } from './cli-harness.ts'
import { type Daemon, startDaemon } from './real-daemon.ts'

let daemon: Daemon
let desk: McpTestServer
const find = { name: 'find', description: 'Finds tickets.\nBy id.', annotations: { readOnlyHint: true } }

beforeEach(async () => {
  daemon = await startDaemon()
  desk = await startMcpServer([find, { name: 'close', description: 'Closes one.' }])
  await fetch(`${daemon.url}/api/mcp-servers`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'desk', url: desk.url }),
  })
})
afterEach(() => Promise.all([daemon.stop(), desk.close()]))

const run = (line: string) => svc([...line.split(' '), '--svcd', daemon.url])

describe('svc mcp-servers test', () => {
  it('lists what a server offers, and what it may', async () => {
    const { code, out, err } = await run('mcp-servers test desk')
    expect([code, err]).toEqual([0, 'answered within 0 ms\n'])
    expect(out.split('\n').map((line) => line.trim().split(/\s{2,}/))).toEqual([
      ['TOOL', 'MAY', 'STATE', 'WHAT'],
      ['close', 'write', 'new', 'Closes one.'],
      ['find', 'read', 'new', 'Finds tickets.'],
      [''],
    ])
  })

  it('exits with 1 where it does not answer, and prints JSON as it came', async () => {
    // A port that is given to nobody by chance: that of a server which was closed may be another's by then.
    await fetch(`${daemon.url}/api/mcp-servers`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'gone', url: 'http://127.0.0.1:9/mcp' }),
    })
    expect(await run('mcp-servers test gone')).toMatchObject({
      code: 1,
      err: 'svc: gone: connection refused\n',
    })
    const { code, out, err } = await run('mcp-servers test gone --json')
    expect([code, JSON.parse(out), err]).toEqual([
      1,
      { ok: false, ms: 0, tools: [], error: 'connection refused' },
      '',
    ])
  })
})

describe('svc mcp-servers approve', () => {
  it('shows what changed, and accepts it', async () => {
    await run('mcp-servers test desk')
    expect((await run('mcp-servers approve desk find')).err).toBe('svc: find has no change to approve\n')
    desk.tools = [{ name: 'find', description: 'Finds tickets.\nBy text.' }]
    expect((await run('mcp-servers test desk')).err).toContain('svc mcp-servers approve desk <tool>')
    expect((await run('mcp-servers list')).out).toMatch(/1, 1 changed/)
    expect(await run('mcp-servers approve desk find')).toMatchObject({
      code: 0,
      out: [
        '- may read',
        '+ may write',
        '  Finds tickets.',
        '- By id.',
        '+ By text.',
        '  {',
        '    "type": "object"',
        'approved find of desk',
        '',
      ].join('\n'),
    })
    expect((await run('mcp-servers test desk')).out).toMatch(/find +write +pinned/)
  })

  it('of a tool that is not there says what to do', async () => {
    expect(await run('mcp-servers approve desk none')).toMatchObject({
      code: 1,
      err: 'svc: desk has no tool named none; test it first\n',
    })
  })
})
