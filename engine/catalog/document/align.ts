/** Which items of a list became which, so that only what changed is written anew. */

/** Where an item of the list after comes from: an item of the list before, or null when it is new. */
export type Alignment = (number | null)[]

/** Two items may be one and the same that changed; the strictest first. */
export type Likeness = (before: unknown, after: unknown) => boolean

/** Above this many comparisons what is left is aligned by position. */
const COMPARISONS_MAX = 1_000_000

/**
 * Aligns two lists in order: what is alike by the first likeness is matched, then by the next in
 * the gaps between. @returns for each item of `after` its origin, ascending where it has one
 */
export function align(
  before: readonly unknown[],
  after: readonly unknown[],
  likenesses: readonly Likeness[],
): Alignment {
  const origins: Alignment = after.map(() => null)
  fill(before, after, origins, { b0: 0, b1: before.length, a0: 0, a1: after.length }, likenesses)
  return origins
}

/** A stretch of both lists, ends excluded. */
interface Gap {
  b0: number
  b1: number
  a0: number
  a1: number
}

function fill(
  before: readonly unknown[],
  after: readonly unknown[],
  origins: Alignment,
  gap: Gap,
  [alike, ...looser]: readonly Likeness[],
): void {
  if (!alike || gap.b0 === gap.b1 || gap.a0 === gap.a1) return
  let { b0, a0 } = gap
  for (const [b, a] of [...longest(before, after, gap, alike), [gap.b1, gap.a1] as const]) {
    fill(before, after, origins, { b0, b1: b, a0, a1: a }, looser)
    if (a < gap.a1) origins[a] = b
    b0 = b + 1
    a0 = a + 1
  }
}

/** The longest common subsequence of a gap, as pairs of indices. */
function longest(
  before: readonly unknown[],
  after: readonly unknown[],
  { b0, b1, a0, a1 }: Gap,
  alike: Likeness,
): (readonly [number, number])[] {
  const [rows, columns] = [b1 - b0, a1 - a0]
  const is = (b: number, a: number) => alike(before[b0 + b], after[a0 + a])
  if (rows * columns > COMPARISONS_MAX) {
    const same = Array.from({ length: Math.min(rows, columns) }, (_, i) => i).filter((i) => is(i, i))
    return same.map((i) => [b0 + i, a0 + i] as const)
  }
  const lengths = Array.from({ length: rows + 1 }, () => new Uint32Array(columns + 1))
  for (let b = rows - 1; b >= 0; b--)
    for (let a = columns - 1; a >= 0; a--)
      lengths[b]![a] = is(b, a)
        ? lengths[b + 1]![a + 1]! + 1
        : Math.max(lengths[b + 1]![a]!, lengths[b]![a + 1]!)
  const pairs: (readonly [number, number])[] = []
  for (let b = 0, a = 0; b < rows && a < columns; ) {
    if (is(b, a) && lengths[b]![a] === lengths[b + 1]![a + 1]! + 1) pairs.push([b0 + b++, a0 + a++])
    else if (lengths[b + 1]![a]! >= lengths[b]![a + 1]!) b++
    else a++
  }
  return pairs
}
