/**
 * Label drift, the one rule: a label that a part depends on and that the last events of its sources do not
 * carry. Saves, plans, health and graphs all ask here, so that they say the same.
 */
import { ENTITY_SHARE } from '../../connectors/connector.ts'
import { type Coverage, STOPPED_AFTER } from './coverage.ts'
import type { Need } from './needs.ts'

/** What is wrong with one label; null where it is there, or nothing came yet. */
export function driftOf(
  { field, label, sources, isEntity, isProposed }: Need,
  coverage: (source: string) => Coverage | null,
): string | null {
  const found = sources.flatMap((source) => coverage(source) ?? [])
  const sampled = sum(found, (one) => one.sampled)
  if (sampled === 0) return null
  const carried = sum(found, ({ counts }) => counts.get(label) ?? 0)
  // Of what lacks it a connector may take another label: that is on a timeline, and wakes.
  const elsewhere = isEntity ? sum(found, (one) => elsewhereOf(one, label)) : 0
  const isMost = (carried + elsewhere) / sampled >= ENTITY_SHARE
  const of = `the last ${sampled} ${sampled === 1 ? 'event' : 'events'} of ${listed(sources)}`
  const names = `${field} names label ${label}`
  if (carried === 0) return isProposed && isMost ? null : `${names}, which is on none of ${of}`
  if (found.every((one) => hasStopped(one, label)))
    return `${names}, which none of the last ${STOPPED_AFTER} events of ${listed(sources)} has, though most before had it`
  if (!isEntity || isMost) return null
  const others = elsewhere === 0 ? 'the others' : `${sampled - carried - elsewhere} of the others`
  return `${names}, the entity, which is on ${carried} of ${of}; ${others} are on no timeline and wake nobody`
}

const sum = (found: readonly Coverage[], of: (one: Coverage) => number): number =>
  found.reduce((total, one) => total + of(one), 0)

const elsewhereOf = ({ entities }: Coverage, label: string): number =>
  [...entities].reduce((total, [entity, count]) => total + (entity === label ? 0 : count), 0)

function hasStopped({ sampled, counts, newest }: Coverage, label: string): boolean {
  const before = sampled - STOPPED_AFTER
  return before >= STOPPED_AFTER && !newest.has(label) && (counts.get(label) ?? 0) > before / 2
}

const NAMED = 3
const listed = (names: readonly string[]): string =>
  names.length > NAMED
    ? `${names.slice(0, NAMED).join(', ')} and ${names.length - NAMED} more`
    : names.join(', ')
