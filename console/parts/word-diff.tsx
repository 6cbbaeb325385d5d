/** The words that differ between two texts. A part of its own: what compares them is loaded where a text did change. */
import { type DiffPart, wordDiff } from '../lib/word-diff.ts'

export function WordDiff({ from, to }: { from: string; to: string }) {
  return wordDiff(from, to).map((part, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts have no identity but their place.
    <Part key={i} part={part} />
  ))
}

function Part({ part: { mark, text } }: { part: DiffPart }) {
  if (mark === 'removed') return <del>{text}</del>
  if (mark === 'added') return <ins>{text}</ins>
  return text
}
