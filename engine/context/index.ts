/** The brief of many events in few tokens: rows in, ranked structure and text out. */
export { makeBrief, makeBriefInSteps, renderBrief } from './brief.ts'
export { number as shortNumber, shortened } from './lines.ts'
export { ascending, quantile } from './measures.ts'
export {
  REQUESTS_BACK_MS,
  SPAN_ID_LABELS,
  SPAN_PARENT_LABELS,
  TRACE_ID_LABELS,
  traceIdIn,
} from './paths/traces.ts'
export { type Numbers, numbersOf, type Sample } from './series.ts'
export { cautiousTokens } from './tokens.ts'
export type { Brief, BriefRequest, ContextRow, SpanFacts, Timed } from './types.ts'
export { NOBODY } from './types.ts'
export { windowsOf } from './windows.ts'
