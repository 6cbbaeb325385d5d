/** The brief of many events in few tokens: rows in, ranked structure and text out. */
export { makeBrief, makeBriefInSteps, renderBrief } from './brief.ts'
export { cautiousTokens } from './tokens.ts'
export type { Brief, BriefRequest, ContextRow } from './types.ts'
