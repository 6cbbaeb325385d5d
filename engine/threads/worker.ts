/**
 * Entry of the engine's threads. The writer holds the one writing connection; a reader answers
 * reads on a connection of its own, so that a wide read never holds up ingest.
 *
 * Writer, one turn: take every message that arrived while the last commit ran (group commit needs
 * no timer that way), commit the ingest calls in groups, answer, then one step of maintenance,
 * and again while either has work.
 */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { systemClock } from '../clock.ts'
import { createEngine, type LocalEngine } from '../create-engine.ts'
import type { IngestCall } from '../engine.ts'
import { StartError, SvcError } from '../errors.ts'
import { createReads } from '../reads.ts'
import { openReading } from '../store/open.ts'
import { createReadContext } from '../timeline/context.ts'
import type { CallMeta, FromThread, Settled, ThreadOptions, ToThread } from './protocol.ts'

/** Bytes committed together at most: about 4,000 events, 40 ms. */
const GROUP_BYTES = 4 * 1024 * 1024
/** How often retention and expiry look for work when nothing else happens. */
const MAINTAIN_EVERY_MS = 1_000

const port = parentPort!
const options = workerData as ThreadOptions
const send = (message: FromThread): void => port.postMessage(message)

try {
  if (options.role === 'writer') runWriter()
  else runReader()
  send({ t: 'ready' })
} catch (error) {
  send({
    t: 'not_started',
    message: (error as Error).message,
    exitCode: error instanceof StartError ? error.exitCode : 70,
  })
}

function runWriter(): void {
  const engine = createEngine({
    dataFile: options.dataFile,
    maxDbSize: options.maxDbSize,
    retention: options.retention,
    ...(options.env ? { env: options.env } : {}),
    ...(options.boot ? { boot: options.boot } : {}),
    onFatal: (error) => send({ t: 'fatal', message: error.message }),
    onFault: (error, id) => send({ t: 'fault', id, stack: error.stack ?? error.message }),
  })
  const tails = new Map<number, () => void>()
  let maintaining = false
  const maintain = (): void => {
    if (maintaining) return
    maintaining = true
    setImmediate(() => {
      maintaining = false
      if (closed) return
      if (engine.maintain()) maintain()
    })
  }
  let closed = false
  const timer = setInterval(maintain, MAINTAIN_EVERY_MS)
  timer.unref()
  port.on('message', (first: ToThread) => {
    const ingest: { meta: CallMeta; buffers: ArrayBuffer[] }[] = []
    for (
      let message: ToThread | undefined = first;
      message;
      message = receiveMessageOnPort(port)?.message as ToThread | undefined
    ) {
      if (message.t === 'ingest')
        for (const meta of message.calls) ingest.push({ meta, buffers: message.buffers })
      else if (message.t === 'listen') {
        const { id } = message
        tails.set(
          id,
          engine.listen(message.filter, (row) => send({ t: 'tail', id, message: row })),
        )
      } else if (message.t === 'unlisten') {
        tails.get(message.id)?.()
        tails.delete(message.id)
      } else {
        // A call keeps its place: what was sent before it is committed before it runs.
        commitAll(engine, ingest.splice(0))
        if (message.method === 'close') {
          closed = true
          clearInterval(timer)
        }
        answer(engine as unknown as Record<string, unknown>, message.id, message.method, message.args)
      }
    }
    commitAll(engine, ingest)
    maintain()
  })
}

function commitAll(engine: LocalEngine, entries: { meta: CallMeta; buffers: ArrayBuffer[] }[]): void {
  let group: { id: number; call: IngestCall }[] = []
  let bytes = 0
  const flush = (): void => {
    if (group.length === 0) return
    const answers = engine.ingestMany(group.map((entry) => entry.call))
    send({
      t: 'settled',
      results: group.map((entry, i): Settled => {
        const result = answers[i]!
        return result instanceof SvcError
          ? { id: entry.id, error: result.toWire() }
          : { id: entry.id, value: result }
      }),
    })
    group = []
    bytes = 0
  }
  for (const { meta, buffers } of entries) {
    const { id, buffer, start, end, wire, ...rest } = meta
    const call: IngestCall = { ...rest, body: Buffer.from(buffers[buffer]!, start, end - start) }
    if (wire) call.wireBody = Buffer.from(buffers[wire.buffer]!, wire.start, wire.end - wire.start)
    group.push({ id, call })
    bytes += end - start
    if (bytes >= GROUP_BYTES) flush()
  }
  flush()
}

function runReader(): void {
  const db = openReading(options.dataFile)
  const secret = db.prepare("SELECT value FROM meta WHERE key = 'cursor_secret'").pluck().get() as string
  const reads = createReads(createReadContext(db, false, secret), systemClock, true)
  const calls = { ...reads, close: async () => db.close() }
  port.on('message', (message: ToThread) => {
    if (message.t === 'call')
      answer(calls as unknown as Record<string, unknown>, message.id, message.method, message.args)
  })
}

/** Calls a method and sends its result; the reader and the writer answer in order of arrival. */
function answer(target: Record<string, unknown>, id: number, method: string, args: unknown[]): void {
  const run = async (): Promise<unknown> => (target[method] as (...args: unknown[]) => unknown)(...args)
  run().then(
    (value) => send({ t: 'settled', results: [{ id, value }] }),
    (error: Error) => send({ t: 'settled', results: [{ id, error: wireOf(error) }] }),
  )
}

function wireOf(error: Error): ReturnType<SvcError['toWire']> {
  if (error instanceof SvcError) return error.toWire()
  const id = Math.floor(performance.now() * 1_000).toString(16)
  send({ t: 'fault', id, stack: error.stack ?? error.message })
  return { code: 'internal', message: `a fault of ours; the log has it under ${id}`, extra: {} }
}
