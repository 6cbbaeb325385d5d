/** Names that a mistyped one was likely meant to be, for sentences that say that a name is not known. */

/**
 * What to add to a sentence that says that a name is not known.
 * @param name as it was given; anything but text is close to nothing
 * @returns " (did you mean NAME?)", or empty text where no known name is close
 */
export function didYouMean(name: unknown, known: Iterable<unknown>): string {
  if (typeof name !== 'string') return ''
  const names = [...known].filter((one): one is string => typeof one === 'string' && one !== '')
  const close = closest(name, names)
  return close ? ` (did you mean ${close}?)` : ''
}

/** Longer words are compared with none: what it takes grows with the product of their lengths. */
const COMPARED_MAX = 64

/** The known name that a name was likely meant to be; undefined: none is close. */
export function closest(name: string, known: readonly string[]): string | undefined {
  if (name.length > COMPARED_MAX) return undefined
  const given = name.toLowerCase()
  const most = Math.max(1, Math.floor(given.length / 3))
  const mistyped = known
    .filter((one) => Math.abs(one.length - name.length) <= most)
    .map((one) => ({ name: one, distance: distanceOf(given, one.toLowerCase()) }))
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance)[0]?.name
  return mistyped ?? extended(given, known)
}

/** The one known name that a word was likely short for: text_field for text. */
function extended(given: string, known: readonly string[]): string | undefined {
  const longer = known.filter((one) => one.toLowerCase().split(/[_.-]/).includes(given))
  return longer.length === 1 ? longer[0] : undefined
}

/** Edits between two words, two letters in each other's place being one (optimal string alignment). */
function distanceOf(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        next[j] = Math.min(next[j]!, before[j - 2]! + 1)
    }
    before = row
    row = next
  }
  return row[b.length]!
}
