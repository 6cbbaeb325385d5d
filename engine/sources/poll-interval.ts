/** How often a source is polled (SPEC.md, Sources and labels: modes). */
import type { ConnectorDefinition } from '../connectors/connector.ts'
import { connectorOf } from '../connectors/index.ts'
import { fail } from '../errors.ts'
import { parseDuration } from '../timeline/duration.ts'

/** What a source that is not polled has, for the field is there for every connector. */
const UNUSED = '5s'
/** No connector is polled more often, whatever it allows. */
const SHORTEST_MS = 1_000

/** The interval of a source that names none. @throws SvcError invalid: unknown connector */
export function defaultPoll(kind: string): string {
  const connector = connectorOf(kind)
  return connector.mode === 'poll' ? connector.suggestedPoll : UNUSED
}

/**
 * Checks the interval a source is to have.
 * @throws SvcError invalid for no duration, or one below what the connector allows.
 */
export function checkPoll(kind: string, poll: string | undefined): void {
  const connector = connectorOf(kind)
  // Kept for every connector, so it must hold for every connector.
  const ms = parseDuration(poll ?? defaultPoll(kind), 'poll')
  const least = shortest(connector)
  if (connector.mode === 'poll' && ms < least)
    fail('invalid', `poll must be at least ${least / 1_000}s for ${kind}`, { field: 'poll' })
}

/** Milliseconds between polls, never below what the connector allows. */
export function intervalOf(connector: ConnectorDefinition, poll: string): number {
  return Math.max(shortest(connector), parseDuration(poll, 'poll'))
}

function shortest(connector: ConnectorDefinition): number {
  return Math.max(SHORTEST_MS, connector.mode === 'poll' ? (connector.minPollMs ?? 0) : 0)
}
