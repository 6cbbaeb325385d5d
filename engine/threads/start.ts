/**
 * The engine in threads behind the Engine interface: the doors stay responsive while the writer
 * waits for its fsync, and a wide read holds up neither.
 */

import type { IngestResult } from '../../schemas/types.ts'
import type { BootCatalog, BootReport } from '../catalog/boot.ts'
import { systemClock } from '../clock.ts'
import { declaredCallNames } from '../declared/call-names.ts'
import type { IngestCall } from '../engine.ts'
import { fail } from '../errors.ts'
import { follow } from '../live.ts'
import type { Retention } from '../store/maintenance.ts'
import type { Engine } from '../whole-engine.ts'
import type { CallMeta } from './protocol.ts'
import { EngineThread, type ThreadEvents } from './thread.ts'

export interface StartOptions {
  /** Path of the data file. */
  dataFile: string
  /** Storage limit in bytes; null: the volume's size. */
  maxDbSize: number | null
  retention: Retention
  /** Read for `${NAME}` references and templates. */
  env: Readonly<Record<string, string | undefined>>
  /** The catalog file and the project to begin with. */
  boot: BootCatalog
  /** Told what the boot did with the catalog. */
  onBooted(report: BootReport): void
  /** The disk failed or a thread died: the process must stop and start again. */
  onFatal(error: Error): void
  /** A fault of ours, with the id its caller was told. */
  onFault(id: string, stack: string): void
}

const READS = ['stats', 'histogram', 'entities', 'entityValues', 'event'] as const
const WRITES = [
  'remember',
  'listConnectors',
  'testSource',
  'discoverSource',
  'previewLabel',
  'sourceEvents',
  'sourceFields',
  'listKeys',
  'createKey',
  'revokeKey',
  'touchKeys',
  'directory',
  'loadSessions',
  'saveSessions',
  'dropSession',
  'usage',
  'status',
  ...declaredCallNames,
] as const

/** Starts the writer, then the reader beside it. @throws StartError */
export async function startEngine(options: StartOptions): Promise<Engine> {
  const entry = new URL(
    import.meta.url.endsWith('.ts') ? './worker.ts' : './engine-worker.mjs',
    import.meta.url,
  )
  const events: ThreadEvents = { onFatal: options.onFatal, onFault: options.onFault }
  const shared = { dataFile: options.dataFile, maxDbSize: options.maxDbSize, retention: options.retention }
  const writer = await EngineThread.start(
    entry,
    { role: 'writer', ...shared, env: { ...options.env }, boot: options.boot },
    events,
  )
  options.onBooted(await writer.call<BootReport>('bootReport', []))
  const reader = await EngineThread.start(entry, { role: 'reader', ...shared }, events)
  const ingest = new IngestBatcher(writer)
  const forward = (thread: EngineThread, methods: readonly string[]) =>
    Object.fromEntries(methods.map((method) => [method, (...args: unknown[]) => thread.call(method, args)]))
  return {
    ...forward(reader, READS),
    ...forward(writer, WRITES),
    read: async (request) => {
      if (request.as_of !== undefined && request.cursor === undefined) {
        const instant = Date.parse(request.as_of)
        if (instant > systemClock.now())
          fail('invalid', 'as_of must not be in the future', { field: 'as_of' })
        await writer.call('closeInstant', [instant])
      }
      return reader.call('read', [request])
    },
    ingest: (call) => ingest.add(call),
    tail: (filter, listener) =>
      follow(
        async (send) => {
          const stop = writer.listen(filter, send)
          // A call after `listen` on the same port: once it answers, listening has begun.
          await writer.call('directory', [])
          return stop
        },
        () => reader.call('backlog', [filter]),
        filter.afterId,
        listener,
      ),
    close: async () => {
      await reader.stop()
      await writer.stop()
    },
  } as Engine
}

/** Small bodies are copied into one buffer; from this size their own is handed over instead. */
const OWN_BUFFER_BYTES = 64 * 1024

/** Hands the calls of one turn of the event loop to the writer in one message. */
class IngestBatcher {
  private waiting: { call: IngestCall; id: number }[] = []

  constructor(private readonly writer: EngineThread) {}

  add(call: IngestCall): Promise<IngestResult> {
    const { id, promise } = this.writer.expect<IngestResult>()
    this.waiting.push({ call, id })
    if (this.waiting.length === 1) setImmediate(() => this.flush())
    return promise
  }

  private flush(): void {
    const group = this.waiting
    this.waiting = []
    const pack = new BufferPack(
      group.reduce(
        (sum, { call }) => sum + smallSize(call.body) + (call.wireBody ? smallSize(call.wireBody) : 0),
        0,
      ),
    )
    const calls = group.map(({ call, id }): CallMeta => {
      const { body, wireBody, ...rest } = call
      return { ...rest, id, ...pack.put(body), ...(wireBody ? { wire: pack.put(wireBody) } : {}) }
    })
    this.writer.send({ t: 'ingest', calls, buffers: pack.buffers }, pack.buffers)
  }
}

const smallSize = (bytes: Uint8Array): number => (bytes.length >= OWN_BUFFER_BYTES ? 0 : bytes.length)

class BufferPack {
  readonly buffers: ArrayBuffer[]
  private readonly shared: Uint8Array
  private at = 0

  constructor(sharedBytes: number) {
    const buffer = new ArrayBuffer(sharedBytes)
    this.shared = new Uint8Array(buffer)
    this.buffers = [buffer]
  }

  put(bytes: Uint8Array): { buffer: number; start: number; end: number } {
    if (bytes.length < OWN_BUFFER_BYTES) {
      this.shared.set(bytes, this.at)
      const start = this.at
      this.at += bytes.length
      return { buffer: 0, start, end: this.at }
    }
    // A view of a larger buffer cannot be transferred alone.
    const own =
      bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength
        ? (bytes.buffer as ArrayBuffer)
        : new Uint8Array(bytes).buffer
    this.buffers.push(own)
    return { buffer: this.buffers.length - 1, start: 0, end: bytes.length }
  }
}
