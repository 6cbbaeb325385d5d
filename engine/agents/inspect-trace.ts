/** All events and spans of one trace id, of all sources, in order of their beginnings. */

import { escapeLine } from '../../schemas/plain-text.ts'
import {
  type ContextRow,
  cautiousTokens,
  SPAN_ID_LABELS,
  SPAN_PARENT_LABELS,
  shortened,
  shortNumber,
  TRACE_ID_LABELS,
} from '../log/brief/brief.ts'
import type { Steps } from '../log/steps.ts'
import { type Around, type Looked, linesOf, placeOf } from '../log/timeline/inspect-pages.ts'
import { iso } from '../log/timeline/present.ts'
import { findTraceInSteps, TRACE_ROWS_MAX, type TracePart } from '../log/timeline/traces.ts'
import { redact } from '../net/redact.ts'

const TEXT_MAX = 340
const LABELS_MAX = 300
const DEPTH_MAX = 12

/** @throws SvcError invalid, not_found */
export function* traceInSteps(around: Around): Steps<Looked> {
  const { question, budget } = around
  const { id = '' } = question
  const found = yield* findTraceInSteps(around, id)
  if (found === null)
    return {
      heading: `No event that may be read here has the trace id ${id}`,
      text: 'no events',
      shown: [],
    }
  const { id: trace, parts: rows } = found
  const lines = linesOfTrace(rows)
  const begin = Math.min(...rows.map((one) => one.begin))
  const others =
    found.others.length > 0
      ? `; ${found.others.length} other trace ids begin like it: ${found.others.slice(0, 3).join(', ')}`
      : ''
  const most = rows.length >= TRACE_ROWS_MAX ? `, the first ${TRACE_ROWS_MAX} looked at` : ''
  const heading = `Trace ${trace}: ${rows.length} events and spans of ${new Set(rows.map(({ row }) => row.source)).size} sources${most}, begun ${iso(begin)}; ms after that, how long, whose${others}`
  const at = placeOf(question)
  const page = linesOf(
    lines.map(({ text }) => text),
    at,
    budget - cautiousTokens(`${heading}\n`),
  )
  return {
    heading,
    text: page.lines.join('\n'),
    shown: lines.slice(at, at + page.lines.length).map(({ row }): [string, number] => [row.id, 1]),
    next: page.next,
  }
}

function linesOfTrace(all: readonly TracePart[]): { row: ContextRow; text: string }[] {
  const first = Math.min(...all.map(({ begin }) => begin))
  const parents = new Map(
    all.flatMap(({ span, parent, length }) => (length === null ? [] : [[span, parent]])),
  )
  const depthOf = ({ span, length }: TracePart): number => {
    let depth = length === null && parents.has(span) ? 1 : 0
    for (let at = parents.get(span); at && parents.has(at) && depth < DEPTH_MAX; at = parents.get(at)) depth++
    return depth
  }
  return [...all]
    .sort(
      (a, b) => a.begin - b.begin || (b.length ?? 0) - (a.length ?? 0) || numberOf(a.row) - numberOf(b.row),
    )
    .map((one) => {
      const { id, source, type, entity, text, labels } = one.row
      const length = one.length === null ? '' : ` ${shortNumber(one.length)}ms`
      const named = Object.entries(labels)
        .filter(([name, value]) => !HIDDEN.has(name) && String(value) !== entity)
        .map(([name, value]) => `${name}=${value}`)
        .join(' ')
      const rest = named ? ` {${escapeLine(redact(named)).slice(0, LABELS_MAX)}}` : ''
      const whose = entity ? ` ${escapeLine(entity)}` : ''
      return {
        row: one.row,
        text: `${'  '.repeat(depthOf(one))}${id} +${Math.round(one.begin - first)}ms${length}${whose} ${source} ${type}: ${shortened(text, TEXT_MAX)}${rest}`,
      }
    })
}

const HIDDEN = new Set([...TRACE_ID_LABELS, ...SPAN_ID_LABELS, ...SPAN_PARENT_LABELS, 'signal'])
const numberOf = ({ id }: ContextRow): number => Number(id.slice(4))
