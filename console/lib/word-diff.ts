/** What differs between two texts, word by word. */
export interface DiffPart {
  mark: 'same' | 'removed' | 'added'
  text: string
}

/** Pairs of words compared at most; texts with more are shown one after the other. */
const PAIRS_MAX = 4_000_000

/** @returns parts in order; those of one mark side by side are one part. */
export function wordDiff(from: string, to: string): DiffPart[] {
  const [a, b] = [wordsOf(from), wordsOf(to)]
  const parts: DiffPart[] = []
  const put = (mark: DiffPart['mark'], text: string) => {
    const last = parts.at(-1)
    if (last?.mark === mark) last.text += text
    else if (text !== '') parts.push({ mark, text })
  }
  if (a.length * b.length > PAIRS_MAX) {
    put('removed', from)
    put('added', to)
    return parts
  }
  const width = b.length + 1
  const lengths = commonLengths(a, b)
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length)
    if (a[i] === b[j]) {
      put('same', a[i++]!)
      j++
    } else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) put('removed', a[i++]!)
    else put('added', b[j++]!)
  put('removed', a.slice(i).join(''))
  put('added', b.slice(j).join(''))
  return parts
}

/** Words and the spaces between them, which together are the text. */
const wordsOf = (text: string): string[] => text.match(/\s+|[^\s]+/g) ?? []

/** At row i, column j: the length of the longest common subsequence of what follows there. */
function commonLengths(a: readonly string[], b: readonly string[]): Uint16Array {
  const width = b.length + 1
  const lengths = new Uint16Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        a[i] === b[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!)
  return lengths
}
