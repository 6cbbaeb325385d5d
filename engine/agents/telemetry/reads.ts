/** What the telemetry query server reads beside traces: spans, metrics as series, agents and what they did. */
import type { AgentActivityResult, MetricSeriesResult, TelemetrySpansResult } from '../../../schemas/types.ts'
import type { ActivityAsked, MetricsAsked, SpansAsked } from '../../calls.ts'
import type { Clock } from '../../clock.ts'
import type { Steps } from '../../log/steps.ts'
import type { ReadContext } from '../../log/timeline/context.ts'
import { activityInSteps } from './activity.ts'
import { metricsInSteps } from './metric-series.ts'
import { spansInSteps } from './spans.ts'

export interface TelemetryReads {
  /** @throws SvcError invalid, not_found */
  telemetrySpans(asked: SpansAsked): Promise<TelemetrySpansResult>
  /** @throws SvcError invalid, not_found */
  metricSeries(asked: MetricsAsked): Promise<MetricSeriesResult>
  /** @throws SvcError invalid, not_found */
  agentActivity(asked: ActivityAsked): Promise<AgentActivityResult>
}

/** @param inSteps runs a wide read, which gives way to others. */
export function createTelemetryReads(
  ctx: ReadContext,
  clock: Clock,
  inSteps: <T>(steps: Steps<T>) => Promise<T>,
): TelemetryReads {
  return {
    telemetrySpans: (asked) => inSteps(spansInSteps(ctx, asked, clock.now())),
    metricSeries: (asked) => inSteps(metricsInSteps(ctx, asked, clock.now())),
    agentActivity: (asked) => inSteps(activityInSteps(ctx, asked, clock.now())),
  }
}
