/** Runs that have ended, traced: read back, made into spans, and handed to the exporter. */
import { randomUUID } from 'node:crypto'
import type { TracingSettings, TracingTested, TracingWrite } from '../../schemas/types.ts'
import type { EndedTurn } from '../ask/types.ts'
import type { Clock, Timers } from '../clock.ts'
import { type Egress, within } from '../egress/index.ts'
import { fail } from '../errors.ts'
import type { EngineCalls } from '../roles/calls.ts'
import type { TracingCalls, TracingPort } from './calls.ts'
import { createExporter } from './export.ts'
import { addressOf, type StoredTracing, type TracingConfig } from './settings.ts'
import { spansOf, type TraceSpan } from './spans.ts'
import { turnSpans } from './turn-spans.ts'

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

export interface TracingParts {
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
