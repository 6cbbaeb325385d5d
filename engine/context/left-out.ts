/** What no line stands for, by source and type: absence must not look like silence. */
import { addTo } from './measures.ts'
import type { BriefLine, Timed } from './types.ts'

const KINDS = [8, 4, 2, 0]

/** @param told rows by source and type that lines stand for. @returns the fullest wording first */
export function leftOut(lines: readonly Timed[], told: ReadonlyMap<string, number>): BriefLine[] {
  const counts = new Map<string, number>()
  for (const { row } of lines) addTo(counts, `${row.source}\0${row.type}`)
  const left = [...counts]
    .map(([kind, count]): [string, number] => [kind.replace('\0', ' '), count - (told.get(kind) ?? 0)])
    .filter(([, count]) => count > 0)
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
  if (left.length === 0) return []
  const all = left.reduce((sum, [, count]) => sum + count, 0).toLocaleString('en')
  return KINDS.map((most) => {
    const named = left.slice(0, most).map(([kind, count]) => `${kind} ${count.toLocaleString('en')}`)
    const more = left.length - named.length
    const rest = more > 0 ? [`${more} ${named.length ? 'more ' : ''}kinds`] : []
    return { text: `${all} events that no line stands for: ${[...named, ...rest].join(', ')}`, shown: [] }
  })
}
