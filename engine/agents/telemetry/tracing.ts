/** Runs that have ended, traced: read back, made into spans, and handed to the exporter. */
import { randomUUID } from 'node:crypto'
import type { TracingSettings, TracingTested, TracingWrite } from '../../../schemas/types.ts'
import type { Clock, Timers } from '../../clock.ts'
import { fail } from '../../errors.ts'
import { type Egress, within } from '../../net/fetch.ts'
import { storedFault } from '../../net/redact.ts'
import type { EngineCalls } from '../../roles/calls.ts'
import type { EndedTurn } from '../ask/calls.ts'
import type { EncodedTrace } from './encode.ts'
import { spansOf, type TraceSpan, turnSpans } from './spans.ts'
import {
  addressOf,
  type StoredTracing,
  type TracingCalls,
  type TracingConfig,
  type TracingPort,
  type TracingTarget,
} from './tracing-settings.ts'

/** Runs and turns that wait to be read; more lose their trace. */
const WAITING_MAX = 1_000
const STOP_MS = 2_000
const TEST_AGENT = 'tracing test'

export interface Tracing {
  /** A run has ended. Returns at once, and never fails. */
  finished(run: string): void
  /** A turn of Ask has ended. Likewise. */
  asked(ended: EndedTurn): void
  calls: TracingCalls
  /** Sends what waits. */
  flush(): Promise<void>
  /** Sends what waits, for two seconds at most. Never rejects. */
  stop(): Promise<void>
}

interface TracingParts {
  port: TracingPort & Pick<EngineCalls, 'getRun' | 'firingEvents' | 'event'>
  egress: Egress
  clock: Clock
  timers: Timers
  onError(error: Error): void
}

export function createTracing({ port, egress, clock, timers, onError }: TracingParts): Tracing {
  const exporter = createExporter({ egress, clock, timers })
  /** As it was last read; a write forgets it. */
  let known: Promise<TracingConfig> | null = null
  let work: Promise<void> = Promise.resolve()
  let waiting = 0
  let isStopped = false

  const config = (): Promise<TracingConfig> => {
    known ??= port.tracingConfig().catch((error: unknown) => {
      known = null
      throw error
    })
    return known
  }

  async function trace(id: string): Promise<void> {
    const { enabled, target, content, instance, version } = await config()
    if (!enabled || !target) return
    const run = await port.getRun(id)
    const labels = await labelsOf(run.dispatch_id)
    const { encodeTrace } = await import('./encode.ts')
    const root = spansOf(run, { instance, labels, content })
    const encoded = encodeTrace({ id, agent: run.agent, instance, version, root, parent: run.parent_run_id })
    // It may have been switched off meanwhile.
    if ((await config()).enabled) exporter.add(target, encoded)
  }

  async function traceTurn(ended: EndedTurn): Promise<void> {
    const { enabled, target, content, instance, version } = await config()
    if (!enabled || !target) return
    const { encodeTrace } = await import('./encode.ts')
    const root = turnSpans(ended, { instance, content })
    const encoded = encodeTrace({ id: ended.turn.id, agent: root.name, instance, version, root })
    if ((await config()).enabled) exporter.add(target, encoded)
  }

  function queue(make: () => Promise<void>): void {
    if (isStopped) return
    if (waiting >= WAITING_MAX) {
      exporter.lose(1)
      return
    }
    waiting++
    work = work
      .then(make)
      .catch((error: unknown) => {
        exporter.lose(1)
        onError(error instanceof Error ? error : new Error(String(error)))
      })
      .finally(() => {
        waiting--
      })
  }

  /** Of the event that tripped the firing; without them a trace is still one. */
  async function labelsOf(dispatchId: string | null): Promise<Record<string, string | number>> {
    if (dispatchId === null) return {}
    try {
      const [id] = (await port.firingEvents(dispatchId)).event_ids
      return id === undefined ? {} : (await port.event(id)).labels
    } catch {
      return {}
    }
  }

  const presented = (stored: StoredTracing): TracingSettings => {
    const { exported, dropped, last } = exporter.state()
    return {
      ...stored,
      exported,
      dropped,
      last_export: last && { ...last, at: new Date(last.at).toISOString() },
    }
  }

  async function flush(): Promise<void> {
    await work
    await exporter.flush()
  }

  async function saveTracing(body: TracingWrite): Promise<TracingSettings> {
    const address = body.endpoint === undefined ? null : addressOf(body.endpoint)
    const fault = address === null ? null : await egress.checkTarget(address, 'operator')
    if (fault) fail('invalid', `endpoint: ${fault}`, { field: 'endpoint' })
    const stored = await port.storeTracing(body)
    known = null
    if (stored.state === 'off') exporter.discard()
    return presented(stored)
  }

  async function testTracing(): Promise<TracingTested> {
    const { target, instance, version } = await port.tracingConfig()
    if (!target) return { ok: false, ms: 0, failed: 'settings', error: 'no endpoint is set' }
    const { encodeTrace } = await import('./encode.ts')
    const began = clock.now()
    const id = `test_${randomUUID().replaceAll('-', '')}`
    const encoded = encodeTrace({ id, agent: TEST_AGENT, instance, version, root: testSpan(instance, began) })
    const sent = await exporter.send(target, encoded)
    const ms = clock.now() - began
    if (!sent.ok) return { ok: false, ms, failed: sent.failed, error: sent.error }
    return sent.rejected > 0
      ? { ok: false, ms, failed: 'receiver', error: `it left the span out: ${sent.message}` }
      : { ok: true, ms }
  }

  return {
    finished: (run) => queue(() => trace(run)),
    asked: (ended) => queue(() => traceTurn(ended)),
    calls: {
      getTracing: async () => presented(await port.storedTracing()),
      saveTracing,
      testTracing,
      tracingCounts: async () => {
        const { exported, dropped } = exporter.state()
        return { exported, dropped }
      },
    },
    flush,
    async stop() {
      isStopped = true
      await within(timers, STOP_MS, undefined, flush()).catch(() => {})
      exporter.stop()
    },
  }
}

function testSpan(instance: string, at: number): TraceSpan {
  return {
    name: TEST_AGENT,
    kind: 'internal',
    start: at,
    end: at,
    attributes: { 'svc.instance': instance, 'svc.test': true },
    events: [],
    error: null,
    children: [],
  }
}

/*
 * Traces on their way out: kept in memory, sent in batches in the background, by the one way out. What
 * cannot be sent is dropped and counted; nothing waits for it.
 */

/** What waits at most; more is dropped. */
const QUEUE_BYTES = 16 * 1024 * 1024
/** One request holds this much, or one trace. */
const BATCH_BYTES = 2 * 1024 * 1024
const BATCH_MS = 2_000
const REQUEST_MS = 10_000
const ANSWER_BYTES = 64 * 1024
const MESSAGE_MAX = 300

type Failed = 'address' | 'credential' | 'format' | 'receiver'
type Sent = { ok: true; rejected: number; message: string } | { ok: false; failed: Failed; error: string }

interface ExportState {
  /** Spans since the process started. */
  exported: number
  dropped: number
  last: { at: number; ok: boolean; spans: number; error: string | null } | null
}

interface Exporter {
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

function createExporter(parts: { egress: Egress; clock: Clock; timers: Timers }): Exporter {
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
