/** What differs between two texts, word by word. */
import { diffArrays } from 'diff'

export interface DiffPart {
  mark: 'same' | 'removed' | 'added'
  text: string
}

/** Words changed at most; texts that differ in more are shown one after the other. */
const CHANGED_MAX = 1_000

/** @returns parts in order; those of one mark side by side are one part. */
export function wordDiff(from: string, to: string): DiffPart[] {
  const parts = diffArrays(wordsOf(from), wordsOf(to), { maxEditLength: CHANGED_MAX })
  if (!parts)
    return [
      { mark: 'removed', text: from },
      { mark: 'added', text: to },
    ]
  return parts.map(({ value, added, removed }) => ({
    mark: added ? 'added' : removed ? 'removed' : 'same',
    text: value.join(''),
  }))
}

/** Words and the spaces between them, which together are the text. */
const wordsOf = (text: string): string[] => text.match(/\s+|[^\s]+/g) ?? []
