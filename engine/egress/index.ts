/** The one way out over HTTP, for the rest of the engine. */
export { createEgress, type Egress, type EgressOptions, type EgressRequest } from './egress.ts'
export type { EgressAnswer } from './exchange.ts'
export { type EgressFault, type FaultCode, faultOf, networkFault } from './faults.ts'
export { EgressError, type FetchBounds, fetchOver } from './fetch.ts'
export { createEgressFetch } from './streaming-fetch.ts'
export type { Audience } from './target.ts'
export { within } from './timers.ts'
