/** Agents at work in process, traced to a receiver on loopback. */

import { createTracing, type Tracing } from '../../../../../engine/agents/telemetry/tracing.ts'
import {
  emptyTracingEnvironment,
  type TracingEnvironment,
} from '../../../../../engine/agents/telemetry/tracing-settings.ts'
import { createEgress } from '../../../../../engine/net/fetch.ts'
import type { Run } from '../../../../../schemas/types.ts'
import type { ScriptedReply } from '../../../../models/scripted-server.ts'
import type { ReceivedSpan } from '../../../../tracing/otlp.ts'
import { startTraceReceiver, type TraceReceiver } from '../../../../tracing/receiver.ts'
import { type ManualTime, manualTime } from '../../../net/egress/manual-time.ts'
import { openRunWorld, type RunWorld } from '../../runs/run-world.ts'

export interface TraceWorld extends RunWorld {
  receiver: TraceReceiver
  tracing: Tracing
  time: ManualTime
  faults: Error[]
  /** Resolves once no run waits or is at work, and their traces are sent. */
  traced(): Promise<Run[]>
  /** Spans of a run, its root first, then as they came about. */
  spansOf(run: string): ReceivedSpan[]
}

export const ENV: TracingEnvironment = { ...emptyTracingEnvironment, instance: 'here', version: '9.9.9' }

/** @param env what the environment says; `URL` as its endpoint is that of the receiver. */
export async function openTraceWorld(
  env: Partial<TracingEnvironment> = {},
  options: Parameters<typeof openRunWorld>[0] = {},
): Promise<TraceWorld> {
  const receiver = await startTraceReceiver()
  const time = manualTime()
  const egress = createEgress({ allowPrivate: false, timers: time })
  const faults: Error[] = []
  const endpoint = env.endpoint === 'URL' ? receiver.url : (env.endpoint ?? null)
  const world = await openRunWorld({
    ...options,
    tracing: { ...ENV, ...env, endpoint },
    finished: (run) => tracing.finished(run),
  })
  const tracing = createTracing({
    port: world.engine,
    egress,
    clock: world.clock,
    timers: time,
    onError: (error) => void faults.push(error),
  })
  await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
  return {
    ...world,
    receiver,
    tracing,
    time,
    faults,
    traced: async () => {
      const runs = await world.settled()
      // The runner tells of the last one in this turn.
      await new Promise((resolve) => setImmediate(resolve))
      await tracing.flush()
      if (faults.length) throw faults[0]
      return runs
    },
    spansOf: (run) =>
      receiver
        .spans()
        .filter(({ attributes, traceId }) => `run_${traceId}` === run || attributes['svc.run_id'] === run)
        .sort((a, b) => Number(a.parentSpanId !== '') - Number(b.parentSpanId !== '') || a.start - b.start),
    close: async () => {
      await world.close()
      egress.close()
      await receiver.close()
    },
  }
}

export const error = { service: 'checkout', type: 'error', msg: 'cannot pay' }
export const look: ScriptedReply = {
  text: 'Let me see.',
  calls: [{ name: 'read', id: 'call-1', arguments: { selector: { service: 'checkout' }, window: '1h' } }],
}
export const conclude = (more: Record<string, unknown> = {}): ScriptedReply => ({
  calls: [
    { name: 'conclude', arguments: { outcome: 'finding', summary: 'The card gateway is down.', ...more } },
  ],
})
