/**
 * An MCP server as a program, by the official server classes of either generation, whose tools tell what it was started
 * with and end it in the ways a program may end.
 * Arguments: `legacy`, of before 2026-07-28, which ends at a request before `initialize`; `deaf`, which passes over it; `modern`; `broken`, which ends at once; `last`, which ends with an answer; then `stubborn`, where it does not end by itself,
 * `mute`, where it lists no tools, and a file that it writes its own process, one that it started and its parent into.
 */
import { spawn } from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { Server as ModernServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const [mode, ...how] = process.argv.slice(2)

/** @type {Record<string, () => string | Promise<string>>} */
const TOOLS = {
  env: () => JSON.stringify(process.env),
  started: () => JSON.stringify({ cwd: process.cwd(), args: process.argv.slice(2), pid: process.pid }),
  child: () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
    child.unref()
    return String(child.pid)
  },
  noise: () => {
    process.stdout.write('this is a line of a log\n')
    return 'said'
  },
  bar: () => {
    process.stdout.write('{50%} of {"beans"} ')
    return 'said'
  },
  grow: () => {
    TOOLS.grown = () => 'grown'
    process.stdout.write(
      `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })}\n`,
    )
    return 'said'
  },
  huge: () => 'x'.repeat(9 * 1024 * 1024),
  silent: () => new Promise(() => {}),
  die: () => {
    process.stderr.write('looking for beans\nout of beans: secret-of-beans\n', () => process.exit(3))
    return new Promise(() => {})
  },
}
/** @type {() => any} */
const list = () => (how.includes('mute') ? new Promise(() => {}) : listed())
const listed = () => ({
  tools: Object.keys(TOOLS).map((name) => ({ name, inputSchema: { type: /** @type {const} */ ('object') } })),
})
/** @param {{ params: { name: string } }} request */
const call = async ({ params }) => ({
  content: [{ type: /** @type {const} */ ('text'), text: (await TOOLS[params.name]?.()) ?? 'no such tool' }],
})

if (how.includes('stubborn')) {
  process.on('SIGTERM', () => {})
  setInterval(() => {}, 1000)
}
const file = how.find((word) => word.startsWith('/'))
if (file) {
  writeFileSync(`${file}.new`, `${process.pid} ${TOOLS.child?.()} ${process.ppid}`)
  renameSync(`${file}.new`, file)
}
if (mode === 'broken') {
  process.stderr.write('no such folder\n')
  process.exitCode = 2
} else if (mode === 'last')
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(60_000) } })}\n`)
else if (mode === 'modern')
  serveStdio(() => {
    const server = new ModernServer({ name: 'test', version: '1' }, { capabilities: { tools: {} } })
    server.setRequestHandler('tools/list', list)
    server.setRequestHandler('tools/call', call)
    return server
  })
else {
  const server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, list)
  server.setRequestHandler(CallToolRequestSchema, call)
  const transport = new StdioServerTransport()
  await server.connect(transport)
  const take = transport.onmessage
  let isBegun = false
  transport.onmessage = (message) => {
    if (!isBegun && 'method' in message && message.method !== 'initialize') {
      if (mode === 'deaf') return
      process.exit(1)
    }
    isBegun = true
    take?.(message)
  }
}
