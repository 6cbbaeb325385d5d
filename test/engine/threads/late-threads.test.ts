/** Threads that the built daemon starts when it first needs them, by the names that the kernel has of them. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startDaemon } from '../../chaos/daemon.ts'
import { eventually } from '../../eventually.ts'

it.skipIf(process.platform !== 'linux')(
  'a daemon has a preparer from its first large body on, and a checkpointer from its first long log',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-late-threads-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const daemon = await startDaemon(join(folder, 'data'))
    onTestFinished(() => daemon.kill())
    /** The kernel keeps 15 characters. */
    const threads = (): string[] => {
      const tasks = `/proc/${daemon.process.pid}/task`
      const names = readdirSync(tasks).map((id) => readFileSync(join(tasks, id, 'comm'), 'utf8').trim())
      return names.filter((name) => name.startsWith('svc-')).sort()
    }
    const send = async (path: string, body: string): Promise<unknown> => {
      const headers = { 'content-type': 'application/json' }
      return (await fetch(daemon.url + path, { method: 'POST', headers, body })).json()
    }
    const { ingest_key: key } = (await send(
      '/api/sources',
      JSON.stringify({ name: 'app', connector: 'webhook', config: {} }),
    )) as { ingest_key: string }
    const lines = (count: number): string =>
      Array.from({ length: count }, (_, n) => JSON.stringify({ n, pad: 'x'.repeat(500) })).join('\n')

    expect(await send(`/ingest/${key}`, lines(1))).toMatchObject({ ingested: 1 })
    expect(threads()).toEqual(['svc-reader', 'svc-writer'])

    expect(await send(`/ingest/${key}`, lines(100))).toMatchObject({ ingested: 100 })
    expect(threads()).toEqual(['svc-preparer', 'svc-reader', 'svc-writer'])

    // More than 1,000 pages of 8 KiB.
    for (let sent = 0; sent < 20_000; sent += 2_000)
      expect(await send(`/ingest/${key}`, lines(2_000))).toMatchObject({ ingested: 2_000 })
    await eventually(() =>
      expect(threads()).toEqual(['svc-checkpointe', 'svc-preparer', 'svc-reader', 'svc-writer']),
    )
    expect(await daemon.stop()).toBe(0)
  },
)
