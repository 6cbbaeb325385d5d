/** Calls about traces. */
import type { InputOf } from '../api/client/call.ts'
import * as calls from '../api/client/calls.ts'
import { ask } from './client.ts'
import { filtered } from './lib/filtered.ts'
import type { MetricQuery, TraceQuery } from './lib/traces.ts'

export const traces = {
  list: (query: TraceQuery, to?: string) =>
    ask(calls.listTraces, filtered<InputOf<typeof calls.listTraces>>({ ...query, to })),
  one: (id: string) => ask(calls.getTrace, { id }),
  metrics: (query: MetricQuery) =>
    ask(calls.listMetricSeries, filtered<InputOf<typeof calls.listMetricSeries>>({ ...query, limit: 200 })),
  agents: (window: string) => ask(calls.listAgentActivity, { window }),
}

/** Query keys, in one place. */
export const tkeys = {
  list: (query: TraceQuery) => ['traces', query],
  one: (id: string) => ['trace', id],
  metrics: (query: MetricQuery) => ['metrics', query],
  agents: (window: string) => ['telemetry-agents', window],
} as const
