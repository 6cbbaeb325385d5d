/**
 * Patterns for the API document, which every engine of regular expressions takes: clients and validators in Go,
 * Python, Java and Rust compile them, and know neither \p{L} nor \u0020 alike. The server keeps its own.
 */

const CLASS = /\[(\^?)((?:\\.|[^\]\\])*)\]/g

/**
 * @param pattern as a schema has it (ECMA-262, with the flag u).
 * @returns the same for ASCII. A class that names kinds of characters takes every character beyond it: the
 *   server may refuse what this takes, never the other way round.
 */
export function portable(pattern: string): string {
  return pattern
    .replace(CLASS, (given, not: string) => (/\\p\{/.test(given) && !not ? classOf(given) : given))
    .replace(/\\u00([0-9a-f]{2})/gi, '\\x$1')
}

/** The class of what a class does not take of ASCII, negated. */
function classOf(given: string): string {
  const taken = new RegExp(`^${given}$`, 'u')
  const left = Array.from({ length: 128 }, (_, code) => code).filter(
    (code) => !taken.test(String.fromCharCode(code)),
  )
  const ranges: [number, number][] = []
  for (const code of left) {
    const last = ranges.at(-1)
    if (last && last[1] === code - 1) last[1] = code
    else ranges.push([code, code])
  }
  return `[^${ranges.map(([from, to]) => (from === to ? hex(from) : `${hex(from)}-${hex(to)}`)).join('')}]`
}

const hex = (code: number): string => `\\x${code.toString(16).padStart(2, '0')}`
