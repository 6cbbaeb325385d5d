/** The lines that differ between two texts, with the lines around them. */

export interface DiffLine {
  mark: ' ' | '-' | '+'
  text: string
}

/** Unchanged lines shown beside a change. */
const CONTEXT = 2
/** Pairs of lines compared at most; texts that differ in more are shown one after the other. */
const PAIRS_MAX = 4_000_000

/**
 * A line diff.
 * @returns hunks in order, each the changed lines between up to two unchanged ones; none when the texts are equal.
 */
export function diffLines(from: readonly string[], to: readonly string[]): DiffLine[][] {
  const head = sharedHead(from, to)
  const tail = sharedTail(from, to, head)
  const lines: DiffLine[] = [
    ...from.slice(0, head).map((text): DiffLine => ({ mark: ' ', text })),
    ...middle(from.slice(head, from.length - tail), to.slice(head, to.length - tail)),
    ...from.slice(from.length - tail).map((text): DiffLine => ({ mark: ' ', text })),
  ]
  return hunks(lines)
}

function sharedHead(from: readonly string[], to: readonly string[]): number {
  let count = 0
  while (count < from.length && count < to.length && from[count] === to[count]) count++
  return count
}

function sharedTail(from: readonly string[], to: readonly string[], head: number): number {
  const most = Math.min(from.length, to.length) - head
  let count = 0
  while (count < most && from[from.length - 1 - count] === to[to.length - 1 - count]) count++
  return count
}

/** What differs between the shared ends, by their longest common subsequence. */
function middle(from: readonly string[], to: readonly string[]): DiffLine[] {
  const removed = from.map((text): DiffLine => ({ mark: '-', text }))
  const added = to.map((text): DiffLine => ({ mark: '+', text }))
  if (from.length * to.length > PAIRS_MAX) return [...removed, ...added]
  const width = to.length + 1
  const lengths = commonLengths(from, to)
  const lines: DiffLine[] = []
  let a = 0
  let b = 0
  while (a < from.length && b < to.length) {
    if (from[a] === to[b]) {
      lines.push({ mark: ' ', text: from[a]! })
      a++
      b++
    } else if (lengths[(a + 1) * width + b]! >= lengths[a * width + b + 1]!) lines.push(removed[a++]!)
    else lines.push(added[b++]!)
  }
  return [...lines, ...removed.slice(a), ...added.slice(b)]
}

/** At row a, column b: the length of the longest common subsequence of what follows there. */
function commonLengths(from: readonly string[], to: readonly string[]): Uint32Array {
  const width = to.length + 1
  const lengths = new Uint32Array((from.length + 1) * width)
  for (let a = from.length - 1; a >= 0; a--)
    for (let b = to.length - 1; b >= 0; b--)
      lengths[a * width + b] =
        from[a] === to[b]
          ? lengths[(a + 1) * width + b + 1]! + 1
          : Math.max(lengths[(a + 1) * width + b]!, lengths[a * width + b + 1]!)
  return lengths
}

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
