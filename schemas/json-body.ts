/** JSON of a body that somebody sent: how deep it nests is looked at before it is parsed. */

/** Lists and objects within each other; a catalog file may nest 100 deep, and an event. */
export const BODY_DEPTH_MAX = 200

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Whether brackets outside strings nest deeper than `most`. Strings are passed over by the engine's own search. */
export function nestsDeeper(text: string, most: number): boolean {
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    // { and [, } and ] differ from each other by one bit.
    if ((code | 0x20) === 0x7b) {
      if (++depth > most) return true
    } else if ((code | 0x20) === 0x7d) depth--
    else if (code === QUOTE) {
      i = closingQuote(text, i)
      if (i === -1) return false
    }
  }
  return false
}

/** Index of the quote that ends the string begun at `start`, or -1. */
function closingQuote(text: string, start: number): number {
  for (let i = text.indexOf('"', start + 1); i !== -1; i = text.indexOf('"', i + 1)) {
    let slashes = 0
    while (text.charCodeAt(i - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return i
  }
  return -1
}
