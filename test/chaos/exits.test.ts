/**
 * A daemon that exits without a stop: by a second signal, an uncaught fault or a disk that failed. Unlike SIGKILL, an exit
 * closes the connections of all threads, and the last connection to close copies the log into the data file and removes
 * it. And a log of the daemon that cannot be written, which is no reason to exit.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import BetterSqlite3 from 'better-sqlite3'
import { expect, it } from 'vitest'
import { SHORT_LIVED } from '../short-lived.ts'
import { startDaemon } from './daemon.ts'

const EVENTS = 500

it('leaves a file that starts again, with all that was acknowledged, while its log is copied in part', async () => {
  // The writer looks at its log each second: where that falls between the end of the reader and the exit, the copying is
  // over by then, and the exit is another one.
  let left = await exitWhileCopying()
  for (let n = 1; n < 10 && !left.isUnderWay; n++) {
    await startsAgain(left)
    left = await exitWhileCopying()
  }
  expect(left.isUnderWay, 'it was still under way').toBe(true)
  await startsAgain(left)
})

interface Left {
  folder: string
  /** Events that were acknowledged. */
  sent: number
  /** Whether the copying was, when it exited. */
  isUnderWay: boolean
}

/** A daemon that exits by a second signal just as its log may be copied whole. */
async function exitWhileCopying(): Promise<Left> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-exit-'))
  const daemon = await startDaemon(folder)
  const call = async <T>(path: string, body?: unknown): Promise<T> => {
    const answer = await fetch(daemon.url + path, {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers: { 'content-type': 'application/json' },
    })
    expect(answer.ok, path).toBe(true)
    return (await answer.json()) as T
  }
  const source = { name: 'app', connector: 'webhook', config: {} }
  const { ingest_key } = await call<{ ingest_key: string }>('/api/sources', source)

  // While a read transaction is open SQLite cannot copy all of the log, and the witness keeps its mark of the copying.
  const reader = new BetterSqlite3(join(folder, 'svc.db'), { readonly: true })
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM events').get()
  const isUnderWay = () =>
    readFileSync(join(folder, 'svc.db.witness'), 'latin1').trim().slice(-2).includes('1')
  let sent = 0
  await expect
    .poll(async () => {
      const text = Array.from({ length: 2_000 }, (_, i) => ((i * 7919 + sent) % 97).toString(36)).join('')
      await call(
        `/ingest/${ingest_key}`,
        Array.from({ length: EVENTS }, (_, n) => ({ n: sent + n, text })),
      )
      sent += EVENTS
      return isUnderWay()
    })
    .toBe(true)

  // The stop waits for this request, which never ends. A signal within half a second of the first is ignored.
  const { port } = new URL(daemon.url)
  const unfinished = connect(Number(port), '127.0.0.1')
  unfinished.on('error', () => undefined)
  await once(unfinished, 'connect')
  unfinished.write(`POST /ingest/${ingest_key} HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n[`)
  const exited = once(daemon.process, 'exit') as Promise<[number | null]>
  const stopping = performance.now()
  daemon.process.kill('SIGTERM')
  await expect.poll(() => performance.now() - stopping).toBeGreaterThan(600)
  reader.close()
  daemon.process.kill('SIGTERM')
  expect((await exited)[0]).toBe(1)
  return { folder, sent, isUnderWay: isUnderWay() }
}

async function startsAgain({ folder, sent }: Left): Promise<void> {
  const again = await startDaemon(folder)
  const found = await fetch(`${again.url}/api/sources/app`)
  expect(await found.json()).toMatchObject({ health: { events_total: sent } })
  expect(await again.stop()).toBe(0)
  rmSync(folder, { recursive: true, force: true })
}

it('goes on where its own log cannot be written, as on a full volume', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-mute-'))
  // It cannot say where it listens.
  const free = createServer().listen(0, '127.0.0.1')
  await once(free, 'listening')
  const { port } = free.address() as { port: number }
  free.close()
  await once(free, 'close')
  const full = openSync('/dev/full', 'w')
  const bundle = fileURLToPath(new URL('../../dist/svc.mjs', import.meta.url))
  const daemon = spawn(
    process.execPath,
    [...SHORT_LIVED, bundle, 'up', '--port', String(port), '--data-dir', folder],
    {
      env: {
        ...{ PATH: process.env.PATH ?? '', HOME: folder, SVC_OTLP_GRPC_PORT: 'off' },
        ...{ SVC_LOG_FORMAT: 'json', SVC_LOG_LEVEL: 'debug' },
        NODE_COMPILE_CACHE: join(dirname(bundle), '.compiled'),
      },
      stdio: ['ignore', full, 'ignore'],
    },
  )
  closeSync(full)
  const exited = once(daemon, 'exit') as Promise<[number | null]>
  const health = async () => {
    expect(daemon.exitCode, 'it runs').toBeNull()
    return fetch(`http://127.0.0.1:${port}/health`).then(
      ({ status }) => status,
      () => 0,
    )
  }
  await expect.poll(health).toBe(200)
  // Each request is a line.
  for (let n = 0; n < 20; n++) expect(await health()).toBe(200)
  daemon.kill('SIGTERM')
  expect((await exited)[0]).toBe(0)
  rmSync(folder, { recursive: true, force: true })
})
