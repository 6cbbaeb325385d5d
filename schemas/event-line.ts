/** An event as lines for a model: of a read, of a firing and of MCP alike, so that a budget counts what is sent. */
import { escapeLine, escapeText } from './plain-text.ts'
import type { Event, Fold } from './types.ts'

/** What a line needs to know of an event. */
export type Lined = Pick<
  Event,
  'id' | 'offset' | 'source' | 'event_type' | 'text' | 'labels' | 'fold' | 'reference'
>

/**
 * Age, source and type, what it says, its labels and its id. @returns further lines of the text are indented, so
 * that none looks like an event
 */
export function eventLine(row: Lined): string {
  const [first = '', ...rest] = escapeText(row.text).split('\n')
  const at = row.reference ? '[reference]' : `[${row.offset}]`
  const type = row.reference ? '' : `${escapeLine(row.event_type)}: `
  const labels = Object.entries(row.labels).map(([name, value]) => `${name}=${escapeLine(String(value))}`)
  const line = `${at} [${row.source}] ${type}${first}${foldText(row.fold)}${labels.length ? ` · ${labels.join(' ')}` : ''} (${row.id})`
  return [line, ...rest.map((text) => `  ${text}`)].join('\n')
}

/** What a line tells of those it stands for; `first..last` is the cursor that gives all of them. */
export function foldText(fold: Fold | undefined): string {
  if (!fold) return ''
  const { least, most, numbers = [] } = fold
  const own = least === undefined || most === undefined ? [] : [{ least, most }]
  const ranges = [...own, ...numbers]
    .filter((range) => range.least !== range.most)
    .map(
      (range) => `, ${'name' in range && range.name ? `${range.name} ` : ''}${range.least} to ${range.most}`,
    )
  return ` (×${fold.count} ${fold.cursor} since ${fold.first}${ranges.join('')})`
}
