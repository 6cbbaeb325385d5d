/** What no line stands for, by source and type: absence must not look like silence. */
import type { BriefLine, Kind, Timed } from './types.ts'

const KINDS = [8, 4, 2, 0]

/** @param told rows that lines stand for, by kind. @returns the fullest wording first */
export function leftOut(lines: readonly Timed[], told: ReadonlyMap<Kind, number>): BriefLine[] {
  const left = [...new Set(lines.map(({ kind }) => kind))]
    .map((kind): [string, number] => [`${kind.source} ${kind.type}`, kind.count - (told.get(kind) ?? 0)])
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
