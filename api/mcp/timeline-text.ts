/** Events as lines for an agent: like the daemon's text timeline, with the id that other tools take. */
import { escapeLine, escapeText } from '../../schemas/plain-text.ts'
import type { Event } from '../../schemas/types.ts'

/** Oldest first, as given. Labels and the id end the first line of an event. */
export const renderEvents = (rows: readonly Event[]): string => rows.map(renderEvent).join('\n')

function renderEvent(row: Event): string {
  const [first = '', ...rest] = escapeText(row.text).split('\n')
  const at = row.reference ? '[reference]' : `[${row.offset}]`
  const labels = Object.entries(row.labels).map(([name, value]) => `${name}=${escapeLine(String(value))}`)
  const { least, most } = row.fold ?? {}
  const range = least === undefined || least === most ? '' : `, ${least} to ${most}`
  const fold = row.fold ? ` (×${row.fold.count} since ${row.fold.first}${range})` : ''
  const line = `${at} [${row.source}] ${first}${fold}${labels.length ? ` · ${labels.join(' ')}` : ''} (${row.id})`
  return [line, ...rest.map((text) => `  ${text}`)].join('\n')
}
