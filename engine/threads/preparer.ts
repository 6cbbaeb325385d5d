/**
 * The preparer's thread: splits, maps and labels large bodies while the writer commits those before.
 * It reads no disk. Sources and label ids come from the writer when they were missing once, and the
 * writer prepares by itself what was prepared for a source as it no longer is, so that nothing here
 * has to be up to date.
 */
import { type MessagePort, parentPort } from 'node:worker_threads'
import { systemClock } from '../clock.ts'
import { connectorOf } from '../connectors/index.ts'
import type { IngestCall } from '../engine.ts'
import { SvcError } from '../errors.ts'
import { compileSource, type Prepare } from '../ingest/prepare.ts'
import { prepareBody } from '../ingest/prepare-body.ts'
import type { SourceSpec } from '../sources/live.ts'
import { LabelIds } from '../store/label-ids.ts'
import { BufferPool } from './buffer-pool.ts'
import { callsOf, OWN_BUFFER_BYTES } from './call-bytes.ts'
import { faultOf } from './fault.ts'
import type { FromThread, PreparedMessage, ToPreparer, ToThread } from './protocol.ts'

interface Source {
  id: number
  revision: number
  prepare: Prepare
}

/** Runs until the thread is ended. @param writer the port to the writer. */
export function runPreparer(writer: MessagePort): void {
  const main = parentPort!
  const sources = new Map<string, Source>()
  const labels = new LabelIds()
  const pool = new BufferPool()
  const send = (message: FromThread): void => main.postMessage(message)
  /** New labels of the calls that the writer is not done with. */
  const newLabels = new Map<number, [name: string, value: string][]>()
  writer.on('message', (message: ToPreparer) => {
    if (message.t === 'source') {
      sources.set(message.ingestKey, compile(message.source))
      return
    }
    const { id, labelIds, buffer } = message
    if (labelIds) learn(labels, newLabels.get(id) ?? [], labelIds)
    newLabels.delete(id)
    if (buffer) pool.give(buffer)
  })
  main.on('message', (message: ToThread) => {
    if (message.t === 'ingest')
      for (const { id, call: given } of callsOf(message.calls, message.buffers, (size) => pool.take(size))) {
        const call = withOwnBytes(given)
        const prepared = prepare(sources.get(call.ingestKey), call, labels, (error) => faultOf(error, send))
        if (prepared && 'body' in prepared) newLabels.set(id, prepared.body.events.newLabels)
        writer.postMessage({ id, call, prepared } satisfies PreparedMessage, buffersOf(call, prepared))
      }
    // The one call there is: whoever waits for its answer knows that all before it are with the writer.
    else if (message.t === 'call') send({ t: 'settled', results: [{ id: message.id, value: null }] })
  })
}

function learn(labels: LabelIds, names: readonly [string, string][], ids: Uint32Array): void {
  for (const [i, [name, value]] of names.entries()) if (ids[i] !== 0) labels.set(name, value, ids[i]!)
}

function compile({ id, revision, connector: kind, config }: SourceSpec): Source {
  const connector = connectorOf(kind)
  if (connector.mode !== 'push') throw new Error(`nothing is pushed to a ${kind} source`)
  return { id, revision, prepare: compileSource(connector, config) }
}

function prepare(
  source: Source | undefined,
  call: IngestCall,
  known: LabelIds,
  onFault: (error: Error) => SvcError,
): PreparedMessage['prepared'] {
  if (!source) return null
  const { revision } = source
  try {
    const body = prepareBody(source, call.body, call.headers, systemClock.now(), { known, onFault })
    return { revision, body }
  } catch (error) {
    return { revision, error: (error instanceof SvcError ? error : onFault(error as Error)).toWire() }
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
    const { ts, labels, labelEnds, hasEntity, textEnds, ranges } = prepared.body.events
    views.push(ts, labels, labelEnds, hasEntity, textEnds, ranges)
  }
  return views.map((view) => view.buffer as ArrayBuffer)
}
