/** An event as lines for a model: of a read, of a firing and of MCP alike, so that a budget counts what is sent. */
import { escapeLine, escapeText } from './plain-text.ts'
import { countWords } from './plain-words.ts'
import type { Event, Fold, SourceGap } from './types.ts'

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
  const text = escapeText(row.text)
  const end = text.indexOf('\n')
  const head = row.reference
    ? `[reference] [${row.source}] `
    : `[${row.offset}] [${row.source}] ${escapeLine(row.event_type)}: `
  // Escaped together: a row has six labels or so, and a look at each takes longer than one at all.
  let labels = ''
  for (const name in row.labels) labels += ` ${name}=${row.labels[name]}`
  const tail = `${foldText(row.fold)}${labels ? ` ·${escapeLine(labels)}` : ''} (${row.id})`
  if (end < 0) return `${head}${text}${tail}`
  return `${head}${text.slice(0, end)}${tail}\n  ${text.slice(end + 1).replaceAll('\n', '\n  ')}`
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

export interface FoldInText {
  /** Events it stands for. */
  count: number
  /** The first and last of them: the cursor that gives all. */
  cursor: string
}

/** As `foldText` writes them. */
const FOLD = /\(×(\d{1,9}) (evt_\d{1,15}\.\.evt_\d{1,15}) since /g

/** Folds in a text of such lines, each once, in the order of the text. */
export function foldsIn(text: string): FoldInText[] {
  const found = new Map<string, FoldInText>()
  for (const [, count, cursor] of text.matchAll(FOLD))
    found.set(cursor!, { count: Number(count), cursor: cursor! })
  return [...found.values()]
}

const GAPS_TOLD = 5
const GAP_SAID = {
  paused: 'paused',
  deleted: 'deleted',
  polls_fail: 'its polls failed',
  storage_full: 'storage was full',
  secret_missing: 'its signing secret was missing',
} as const satisfies Record<SourceGap['why'], string>
const GAPS_END = ': that events of then are missing says nothing of what happened'

/** Times in which sources took nothing in, as a sentence, the newest of many; empty: there were none. */
export function gapsSaid(gaps: readonly SourceGap[] = []): string {
  if (gaps.length === 0) return ''
  const told = gaps.slice(-GAPS_TOLD).map(({ source, why, from, to }) => {
    const when = to === null ? `since ${from}` : `from ${from} to ${to}`
    return escapeLine(`${source} took nothing in ${when} (${GAP_SAID[why]})`)
  })
  const left = gaps.length - told.length
  const more = left ? `, and so it was ${countWords(left, 'more time')}` : ''
  return `${told.join(', ')}${more}${GAPS_END}`
}

/** What `gapsSaid` told in a text of such lines, each once. Lines of events begin with a bracket or are indented. */
export function gapsIn(text: string): string[] {
  const found = new Set<string>()
  for (const line of text.split('\n'))
    if (/^[^\s[]/.test(line) && line.endsWith(GAPS_END) && line.includes(' took nothing in '))
      found.add(line.slice(0, -GAPS_END.length))
  return [...found]
}
