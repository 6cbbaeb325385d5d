/** The way out to upstreams, of polls, tests and discoveries. */
import { type Egress, fetchOver } from '../egress/index.ts'

/** Longer than anything may take: a poll, a test and a discovery have their own ends. */
const REQUEST_MS = 60_000
/** Of one answer, whatever the connector asks for. */
const ANSWER_BYTES = 16 * 1024 * 1024

/** An operator named the upstreams, so they may be inside the network. */
export const upstreamFetch = (egress: Egress): typeof fetch =>
  fetchOver(egress, { audience: 'operator', timeoutMs: REQUEST_MS, maxResponseBytes: ANSWER_BYTES })
