/** On the built daemon: threads that only read let those of ingest have a busy processor first. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../../chaos/daemon.ts'

let folder: string
let daemon: Daemon

/** Of all threads of the daemon, those that are nicer than a process is, ascending (proc_pid_stat(5), field 19). */
function nicenesses(): number[] {
  const tasks = `/proc/${daemon.process.pid}/task`
  return readdirSync(tasks)
    .map((id) =>
      Number(
        readFileSync(`${tasks}/${id}/stat`, 'utf8')
          .replace(/^.*\) /, '')
          .split(' ')[16],
      ),
    )
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
})
