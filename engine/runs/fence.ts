/**
 * Text from outside as a model is shown it: between two marker lines that nobody outside can know, with
 * what looks like a secret taken out, so that what it says can be told from what the agent is told.
 */
import { createHmac } from 'node:crypto'
import { foldText } from '../../schemas/event-line.ts'
import { escapeText } from '../../schemas/plain-text.ts'
import type { Row } from '../calls.ts'
import { redact } from '../redact.ts'

/** Of one event; a stack trace says what it says in its first lines. */
const TEXT_MAX = 600
const LABEL_MAX = 120
const MARKER_LENGTH = 16

/**
 * The marker of a run: the same whenever the run is repeated, so that its first message is, too.
 * @param secret of the instance, so that no writer of events can make it up
 */
export function markerOf(secret: string, seed: string): string {
  return createHmac('sha256', secret).update(seed).digest('hex').slice(0, MARKER_LENGTH)
}

/** @param marker as `markerOf` gives it */
export function fence(marker: string, text: string): string {
  // It cannot be in the text but by being read back from a model.
  const safe = escapeText(redact(text).replaceAll(marker, ''))
  return `<<<data ${marker}\n${safe}\ndata ${marker}>>>`
}

/** Rows as lines that begin with the id to cite: "evt_12 2026-11-20T12:00:00Z logs error: text". */
export function renderRows(rows: readonly Row[]): string {
  if (rows.length === 0) return 'no events'
  return rows.map(renderRow).join('\n')
}

/** One of them: what the budget of a read of a run is counted of. */
export function renderRow(row: Row): string {
  const { id, event_time, source, event_type, text, labels, fold, reference } = row
  const at = reference ? 'reference' : event_time
  const shown = Object.entries(labels)
    .map(([name, value]) => `${name}=${cut(String(value), LABEL_MAX)}`)
    .join(' ')
  const first = `${id} ${at} ${source} ${event_type}${foldText(fold)}: ${cut(redact(oneLine(text)), TEXT_MAX)}`
  return shown ? `${first} {${shown}}` : first
}

/** A line break in a text must not look like the next event. */
const oneLine = (text: string): string => text.replace(/[\r\n\u2028\u2029]+/g, ' ⏎ ')

const cut = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max)}…` : text)
