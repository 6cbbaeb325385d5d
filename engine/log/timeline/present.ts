/** Stored rows as rows of an answer, and the text timeline. */
import { eventLine } from '../../../schemas/event-line.ts'
import { escapeLine, escapeText } from '../../../schemas/plain-text.ts'
import type { Row } from '../../calls.ts'
import { iso } from '../../model/units.ts'
import { type Dictionary, TYPE_LABEL } from '../store/labels.ts'
import type { StoredRow } from '../store/scan.ts'
import { labelIdsOf } from '../store/tail.ts'
import type { SourceNames } from './context.ts'

export const eventId = (id: number): string => `evt_${id}`

/** The number of an event id, or null when it is not one. */
export function parseEventId(text: string): number | null {
  const match = /^evt_(\d{1,15})$/.exec(text)
  return match ? Number(match[1]) : null
}

/** Age against the end of the window: T-12s, or T+3s for a producer whose clock is ahead. */
export function offsetOfEvent(ts: number, now: number): string {
  const seconds = Math.round((now - ts) / 1000)
  return seconds >= 0 ? `T-${seconds}s` : `T+${-seconds}s`
}

const decoder = new TextDecoder()

/** @param now end of the window, epoch ms. */
export function presentRow(stored: StoredRow, dictionary: Dictionary, names: SourceNames, now: number): Row {
  const source = names.get(stored.source_id)
  const labels: Record<string, string | number> = {}
  let eventType = ''
  for (const labelId of labelIdsOf(stored.labels)) {
    const label = dictionary.label(labelId)
    if (label.name === TYPE_LABEL) eventType = label.value
    else if (!label.name.startsWith('@')) labels[label.name] = label.value
  }
  if (stored.numbers) Object.assign(labels, JSON.parse(stored.numbers))
  const entity = stored.entity === null ? null : dictionary.label(stored.entity)
  return {
    id: eventId(stored.id),
    offset: offsetOfEvent(stored.ts, now),
    source: source?.name ?? `source ${stored.source_id}`,
    source_type: source?.sourceType ?? 'event_stream',
    event_type: eventType,
    event_time: iso(stored.ts),
    ingested_at: iso(stored.ingested_at),
    ...(stored.claimed_time === null ? {} : { claimed_time: stored.claimed_time }),
    entity: entity && { label: entity.name, value: entity.value },
    labels,
    // What was sent is exact in the payload; this is for people and models to read.
    text: escapeText(stored.text),
    ...(stored.raw ? { raw: decoder.decode(stored.raw) } : {}),
  }
}

/** One row as lines of the text timeline. */
export const renderRow = (row: Row): string => eventLine(row)

/** Other names that a heading lists. */
const ALSO_MAX = 10

/**
 * The heading of the text timeline.
 * @param selector none: a read of sources, which it names then, or of all.
 * @param also other names that were read for a label of the selector
 */
export function renderHeading(
  selector: Record<string, unknown> | undefined,
  sources: readonly string[] | undefined,
  window: string,
  also: (label: string) => readonly string[] = () => [],
): string {
  const told = (label: string) => {
    const names = also(label)
    const more = names.length > ALSO_MAX ? `, ${names.length - ALSO_MAX} more` : ''
    return names.length ? ` (also ${names.slice(0, ALSO_MAX).join(', ')}${more})` : ''
  }
  const constraints = selector
    ? Object.entries(selector).map(([name, value]) => escapeLine(`${name}=${value}${told(name)}`))
    : sources?.length
      ? sources.map((name) => escapeLine(`source ${name}`))
      : ['all sources']
  return `=== read · ${constraints.join(', ')} · window=${window} · ONE svc read ===\n`
}

/** The whole text timeline. @param none what is said where there are no rows. */
export function renderTimeline(
  heading: string,
  rows: readonly Row[],
  none = 'no events in this window',
): string {
  return `${heading}\n${rows.length ? rows.map(renderRow).join('\n') : none}\n`
}
