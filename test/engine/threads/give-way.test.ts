/** On the built daemon: threads that only read let those of ingest have a busy processor first. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../../chaos/daemon.ts'

let folder: string
let daemon: Daemon

/** As `nice` has it. */
const NICEST = 19
/** Of this process, which programs that it starts have too. */
const OWN = getPriority()

/** How much nicer threads of the daemon are than it was started with, of those that are, ascending (proc_pid_stat(5), field 19). */
function nicenesses(own = OWN): number[] {
  const tasks = `/proc/${daemon.process.pid}/task`
  return readdirSync(tasks)
    .map((id) =>
      Number(
        readFileSync(`${tasks}/${id}/stat`, 'utf8')
          .replace(/^.*\) /, '')
          .split(' ')[16],
      ),
    )
    .map((nice) => nice - own)
    .filter((nice) => nice !== 0)
    .sort((a, b) => a - b)
}

// Elsewhere a priority is of a process, and no thread has one of its own.
describe.runIf(process.platform === 'linux')('threads that only read', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'svc-nice-'))
    daemon = await startDaemon(folder)
  })

  afterAll(async () => {
    await daemon.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('give way to ingest, and wide reads to short ones', async () => {
    expect(nicenesses()).toEqual([5])
    const answer = await fetch(`${daemon.url}/api/catalog/export`)
    expect(answer.status).toBe(200)
    expect(nicenesses()).toEqual([5, 10])
  })

  it('do so besides what the daemon was started with, as only a privileged one may be less nice again', async () => {
    await daemon.stop()
    daemon = await startDaemon(folder, [], {}, undefined, { niceness: 10 })
    const own = Math.min(NICEST, OWN + 10)
    expect(nicenesses(own)).toEqual([Math.min(5, NICEST - own)])
  })
})
