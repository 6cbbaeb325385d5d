/**
 * Label drift, the one rule: a label that a part depends on and that the last events of its sources do not
 * carry. Saves, plans, health and graphs all ask here, so that they say the same.
 */
import { ENTITY_SHARE } from '../../connectors/connector.ts'
import { type Coverage, STOPPED_AFTER } from './coverage.ts'
import type { Need } from './needs.ts'

/** What is wrong with one label; null where it is there, or nothing came yet. */
export function driftOf(
  { field, label, sources, isEntity }: Need,
  coverage: (source: string) => Coverage | null,
): string | null {
  const found = sources.flatMap((source) => coverage(source) ?? [])
  const sampled = found.reduce((sum, one) => sum + one.sampled, 0)
  if (sampled === 0) return null
  const carried = found.reduce((sum, { counts }) => sum + (counts.get(label) ?? 0), 0)
  const of = `the last ${sampled} ${sampled === 1 ? 'event' : 'events'} of ${listed(sources)}`
  const names = `${field} names label ${label}`
  if (carried === 0) return `${names}, which is on none of ${of}`
  if (found.every((one) => hasStopped(one, label)))
    return `${names}, which none of the last ${STOPPED_AFTER} events of ${listed(sources)} has, though most before had it`
  if (isEntity && carried / sampled < ENTITY_SHARE)
    return `${names}, the entity, which is on ${carried} of ${of}; the others are on no timeline and wake nobody`
  return null
}

function hasStopped({ sampled, counts, newest }: Coverage, label: string): boolean {
  const before = sampled - STOPPED_AFTER
  return before >= STOPPED_AFTER && !newest.has(label) && (counts.get(label) ?? 0) > before / 2
}

const NAMED = 3
const listed = (names: readonly string[]): string =>
  names.length > NAMED
    ? `${names.slice(0, NAMED).join(', ')} and ${names.length - NAMED} more`
    : names.join(', ')
