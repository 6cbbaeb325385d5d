/** Programs that speak MCP, where the daemon that runs them is killed. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../eventually.ts'
import { startDaemon } from './daemon.ts'

const FILE = fileURLToPath(new URL('../mcp/program.mjs', import.meta.url))

/** Processes that run: one that ended and that nobody asked how is none. */
const running = (pids: readonly number[]): number[] =>
  pids.filter((pid) => {
    try {
      process.kill(pid, 0)
      const stat = `/proc/${pid}/stat`
      return !existsSync(stat) || !/^\d+ \(.*\) [ZX]/.test(readFileSync(stat, 'utf8'))
    } catch {
      return false
    }
  })

it('a program that ignores its closed input and SIGTERM ends, with what it started, after a daemon that was killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-programs-'))
  const pids = join(folder, 'pids')
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const daemon = await startDaemon(folder, [], {
    SVC_MCP_STDIO_COMMANDS: `beans: ${process.execPath} ${FILE} modern stubborn mute ${pids}`,
  })
  // It never answers, so the daemon is waiting for it when it is killed.
  const asked = fetch(`${daemon.url}/api/mcp-servers/test`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ url: 'stdio:beans' }),
  }).catch(() => null)
  await eventually(() => expect(existsSync(pids)).toBe(true))
  const started = readFileSync(pids, 'utf8').split(' ').map(Number)
  expect(running(started)).toEqual(started)
  expect(started).toHaveLength(3)
  await daemon.kill()
  await asked
  await eventually(() => expect(running(started)).toEqual([]))
})
