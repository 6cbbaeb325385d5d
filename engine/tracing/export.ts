/**
 * Traces on their way out: kept in memory, sent in batches in the background, by the one way out. What
 * cannot be sent is dropped and counted; nothing waits for it.
 */
import type { Clock, Timers } from '../clock.ts'
import type { Egress } from '../egress/index.ts'
import { storedFault } from '../stored-fault.ts'
import type { EncodedTrace } from './encode.ts'
import type { TracingTarget } from './settings.ts'

/** What waits at most; more is dropped. */
const QUEUE_BYTES = 16 * 1024 * 1024
/** One request holds this much, or one trace. */
const BATCH_BYTES = 2 * 1024 * 1024
const BATCH_MS = 2_000
const REQUEST_MS = 10_000
const ANSWER_BYTES = 64 * 1024
const MESSAGE_MAX = 300

export type Failed = 'address' | 'credential' | 'format' | 'receiver'
export type Sent =
  | { ok: true; rejected: number; message: string }
  | { ok: false; failed: Failed; error: string }

export interface ExportState {
  /** Spans since the process started. */
  exported: number
  dropped: number
  last: { at: number; ok: boolean; spans: number; error: string | null } | null
}

export interface Exporter {
  /** Takes a trace that is to be sent; drops it where too much waits. */
  add(target: TracingTarget, trace: EncodedTrace): void
  /** Forgets what waits. */
  discard(): void
  /** Counts spans that could not even be made. */
  lose(spans: number): void
  /** Sends one trace now. */
  send(target: TracingTarget, trace: EncodedTrace): Promise<Sent>
  /** Sends what waits. */
  flush(): Promise<void>
  state(): ExportState
  /** Cuts off what is being sent. */
  stop(): void
}

interface Waiting extends EncodedTrace {
  target: TracingTarget
}

export function createExporter(parts: { egress: Egress; clock: Clock; timers: Timers }): Exporter {
  const { egress, clock, timers } = parts
  const controller = new AbortController()
  let waiting: Waiting[] = []
  let bytes = 0
  let sending: Promise<void> | null = null
  let callOff: (() => void) | null = null
  const state: ExportState = { exported: 0, dropped: 0, last: null }

  async function send(target: TracingTarget, { bytes: body, spans }: EncodedTrace): Promise<Sent> {
    const answer = await egress.send({
      url: target.url,
      method: 'POST',
      headers: { ...target.headers, 'content-type': 'application/x-protobuf' },
      body: Buffer.from(body),
      timeoutMs: REQUEST_MS,
      audience: 'operator',
      maxResponseBytes: ANSWER_BYTES,
      repeatable: true,
      signal: controller.signal,
    })
    const sent = answer.ok ? await judged(answer, target) : failedWith('address', answer.message)
    const rejected = sent.ok ? Math.min(spans, sent.rejected) : spans
    state.exported += spans - rejected
    state.dropped += rejected
    const left = sent.ok && rejected > 0 ? `it left out ${rejected} of ${spans} spans: ${sent.message}` : null
    const error = sent.ok ? left : sent.error
    state.last = { at: clock.now(), ok: error === null, spans, error }
    return sent
  }

  async function pump(): Promise<void> {
    callOff?.()
    callOff = null
    while (waiting.length) {
      const batch = nextBatch(waiting)
      waiting = waiting.slice(batch.length)
      const body = Buffer.concat(batch.map((one) => one.bytes))
      bytes -= body.length
      const spans = batch.reduce((sum, one) => sum + one.spans, 0)
      await send(batch[0]!.target, { bytes: body, spans })
    }
    sending = null
  }

  async function flush(): Promise<void> {
    while (sending || waiting.length) {
      sending ??= pump()
      await sending
    }
  }

  return {
    add(target, trace) {
      if (bytes + trace.bytes.length > QUEUE_BYTES) {
        state.dropped += trace.spans
        return
      }
      waiting.push({ ...trace, target })
      bytes += trace.bytes.length
      if (bytes >= BATCH_BYTES) void flush()
      else callOff ??= timers.after(BATCH_MS, () => void flush())
    },
    discard() {
      state.dropped += waiting.reduce((sum, one) => sum + one.spans, 0)
      waiting = []
      bytes = 0
      callOff?.()
      callOff = null
    },
    lose(spans) {
      state.dropped += spans
    },
    send,
    flush,
    state: () => ({ ...state }),
    stop() {
      callOff?.()
      controller.abort()
    },
  }
}

/** The first ones, of one target. */
function nextBatch(waiting: readonly Waiting[]): Waiting[] {
  const [first] = waiting
  const batch: Waiting[] = []
  let size = 0
  for (const one of waiting) {
    if (one.target !== first!.target || (size > 0 && size + one.bytes.length > BATCH_BYTES)) break
    batch.push(one)
    size += one.bytes.length
  }
  return batch
}

async function judged(
  { status, body }: { status: number; body: Buffer },
  target: TracingTarget,
): Promise<Sent> {
  if (status >= 200 && status < 300) {
    const { rejectedIn } = await import('./encode.ts')
    const { spans, message } = rejectedIn(body)
    return { ok: true, rejected: spans, message: shown(message, target) }
  }
  if (status === 401 || status === 403)
    return failedWith('credential', `answered ${status}: check the API key or the headers`)
  if (status === 404 || status === 405 || (status >= 300 && status < 400))
    return failedWith('address', `answered ${status}: check that the endpoint takes OTLP over HTTP`)
  if (status === 400 || status === 413 || status === 415)
    return failedWith('format', `answered ${status}: it does not take this trace as OTLP protobuf`)
  return failedWith('receiver', `answered ${status}`)
}

/** What the other side wrote, without what it was sent. */
function shown(message: string, { headers }: TracingTarget): string {
  return storedFault(message, Object.values(headers)).slice(0, MESSAGE_MAX)
}

const failedWith = (failed: Failed, error: string): Sent => ({ ok: false, failed, error })
