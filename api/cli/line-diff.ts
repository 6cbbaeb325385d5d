/** The lines that differ between two texts, with the lines around them. */
import { diffArrays } from 'diff'

export interface DiffLine {
  mark: ' ' | '-' | '+'
  text: string
}

/** Unchanged lines shown beside a change. */
const CONTEXT = 2
/** Lines changed at most; texts that differ in more are shown one after the other. */
const CHANGED_MAX = 4_000

/**
 * A line diff.
 * @returns hunks in order, each the changed lines between up to two unchanged ones; none when the texts are equal.
 */
export function diffLines(from: readonly string[], to: readonly string[]): DiffLine[][] {
  const parts = diffArrays([...from], [...to], { maxEditLength: CHANGED_MAX })
  if (!parts) return hunks([...marked('-', from), ...marked('+', to)])
  return hunks(parts.flatMap(({ value, added, removed }) => marked(added ? '+' : removed ? '-' : ' ', value)))
}

const marked = (mark: DiffLine['mark'], lines: readonly string[]): DiffLine[] =>
  lines.map((text) => ({ mark, text }))

function hunks(lines: readonly DiffLine[]): DiffLine[][] {
  const found: DiffLine[][] = []
  let end = -1
  lines.forEach(({ mark }, at) => {
    if (mark === ' ') return
    const start = Math.max(at - CONTEXT, 0)
    const until = Math.min(at + CONTEXT + 1, lines.length)
    if (start > end || end < 0) found.push(lines.slice(start, until))
    else found[found.length - 1]!.push(...lines.slice(end, until))
    end = until
  })
  return found
}
