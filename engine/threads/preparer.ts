/**
 * The preparer's thread: splits, maps and labels large bodies while the writer commits those before.
 * It reads no disk. Sources and label ids come from the writer when they were missing once, and the
 * writer prepares by itself what was prepared for a source as it no longer is, so that nothing here
 * has to be up to date.
 */
import { type MessagePort, parentPort } from 'node:worker_threads'
import type { IngestCall } from '../calls.ts'
import { type Clock, clockIn } from '../clock.ts'
import { SvcError } from '../errors.ts'
import { Kernel, prepareLines, suits } from '../log/ingest/kernel.ts'
import { itemsOf } from '../log/ingest/otlp.ts'
import {
  compileSource,
  mapperOf,
  type Prepare,
  type PreparedBody,
  prepareBody,
} from '../log/ingest/prepare.ts'
import { LabelIds } from '../log/store/labels.ts'
import { connectorOf } from '../sources/connectors/index.ts'
import type { SourceSpec } from '../sources/live.ts'
import {
  BufferPool,
  callsOf,
  type FromThread,
  faultOf,
  OWN_BUFFER_BYTES,
  type PreparedMessage,
  type ToPreparer,
  type ToThread,
} from './protocol.ts'

interface Source {
  id: number
  revision: number
  prepare: Prepare
}

/** Told the ids that the new labels of a body have become; 0 where none was stored. */
type Learn = (ids: Uint32Array) => void

/** Runs until the thread is ended. @param writer the port to the writer. @param time memory of the clock. */
export function runPreparer(writer: MessagePort, time?: SharedArrayBuffer): void {
  const main = parentPort!
  const sources = new Map<string, Source>()
  const pool = new BufferPool()
  const send = (message: FromThread): void => main.postMessage(message)
  const preparation = new Preparation(pool, clockIn(time), (error) => faultOf(error, send))
  /** Of the calls that the writer is not done with. */
  const waiting: { id: number; learn: Learn }[] = []
  writer.on('message', (message: ToPreparer) => {
    if (message.t === 'source') {
      sources.set(message.ingestKey, compile(message.source))
      return
    }
    const { id, labelIds, buffer } = message
    // It is the first as a rule: the writer is done with them in their order.
    const at = waiting.findIndex((one) => one.id === id)
    const [found] = at < 0 ? [] : waiting.splice(at, 1)
    if (labelIds) found?.learn(labelIds)
    if (buffer) pool.give(buffer)
  })
  main.on('message', (message: ToThread) => {
    if (message.t === 'ingest')
      for (const { id, call: given } of callsOf(message.calls, message.buffers)) {
        const call = withOwnBytes(given)
        const source = sources.get(call.ingestKey)
        const prepared = source ? preparation.of(source, call, (learn) => waiting.push({ id, learn })) : null
        writer.postMessage({ id, call, prepared } satisfies PreparedMessage, buffersOf(call, prepared))
      }
    // The one call there is: whoever waits for its answer knows that all before it are with the writer.
    else if (message.t === 'call') send({ t: 'settled', results: [{ id: message.id, value: null }] })
  })
}

function compile({ id, revision, name, connector: kind, config }: SourceSpec): Source {
  const connector = connectorOf(kind)
  if (connector.mode !== 'push') throw new Error(`nothing is pushed to a ${kind} source`)
  return { id, revision, prepare: compileSource(connector, config, name) }
}

class Preparation {
  private readonly kernel = new Kernel()
  /** Labels of bodies that the kernel does not read. */
  private readonly labels = new LabelIds()

  constructor(
    private readonly pool: BufferPool,
    private readonly clock: Clock,
    private readonly onFault: (error: Error) => SvcError,
  ) {}

  /** @param wait told what is to be called once the body is stored. */
  of(source: Source, call: IngestCall, wait: (learn: Learn) => void): PreparedMessage['prepared'] {
    const { revision } = source
    try {
      const body = this.byKernel(source, call, wait) ?? this.byItem(source, call, wait)
      return { revision, body }
    } catch (error) {
      return { revision, error: (error instanceof SvcError ? error : this.onFault(error as Error)).toWire() }
    }
  }

  private byKernel(
    { id, prepare }: Source,
    call: IngestCall,
    wait: (learn: Learn) => void,
  ): PreparedBody | null {
    const { kernel, pool, onFault } = this
    if (call.isLokiPush || !prepare.plan || !suits(prepare.plan, call.headers)) return null
    const nowMs = this.clock.now()
    const map = mapperOf(prepare, call, nowMs, onFault)
    const read = prepareLines(kernel, { id, plan: prepare.plan, projection: prepare.projection }, call.body, {
      map,
      nowMs,
      take: (size) => pool.take(size),
    })
    if (!read) return null
    const { prepared, learn } = read
    if (learn.entries.length > 0) wait((ids) => kernel.learn(learn, ids))
    return prepared
  }

  private byItem(source: Source, call: IngestCall, wait: (learn: Learn) => void): PreparedBody {
    const { labels, onFault } = this
    const prepared = prepareBody(source, itemsOf(call), call, this.clock.now(), {
      known: labels,
      onFault,
    })
    const { newLabels } = prepared.events
    wait((ids) => {
      for (const [i, [name, value]] of newLabels.entries()) if (ids[i] !== 0) labels.set(name, value, ids[i]!)
    })
    return prepared
  }
}

/** Small bodies share a buffer, which can be handed over only once. */
function withOwnBytes(call: IngestCall): IngestCall {
  const own = (bytes: Uint8Array): Uint8Array =>
    bytes.byteLength === bytes.buffer.byteLength || bytes.byteLength >= OWN_BUFFER_BYTES
      ? bytes
      : new Uint8Array(bytes)
  return { ...call, body: own(call.body), ...(call.wireBody ? { wireBody: own(call.wireBody) } : {}) }
}

/** What is handed over instead of copied. */
function buffersOf(call: IngestCall, prepared: PreparedMessage['prepared']): ArrayBuffer[] {
  const views: (Uint8Array | Float64Array | Uint32Array)[] = [call.body]
  if (call.wireBody) views.push(call.wireBody)
  if (prepared && 'body' in prepared) {
    const { body, ts, labels, labelEnds, hasEntity, text, textEnds, ranges } = prepared.body.events
    views.push(body, ts, labels, labelEnds, hasEntity, text, textEnds, ranges)
  }
  return [...new Set(views.map((view) => view.buffer as ArrayBuffer))]
}
