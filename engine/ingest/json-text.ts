/**
 * JSON inside a string, as senders wrap what others gave them: the `Message` of Amazon SNS, a log line. A path that
 * goes on behind such a string goes on in what it says. Bounded, since a payload decides how often: a text is at
 * most as long as an item, nests at most as deep, and holds others at most three levels within each other.
 */
import { parseDigits } from './json-digits.ts'
import { isDeeper } from './json-scan.ts'

const BYTES_MAX = 1_048_576
const DEPTH_MAX = 100
/** Strings within strings that are looked into. */
export const TEXT_LEVELS = 3

/** Whether a string may be a list or an object of JSON; a cheap look. */
const LOOKS_NESTED = /^[ \t\r\n]*[[{]/

/** @returns the object or list that the text is, or undefined where it is none, or breaks a bound. */
export function parseText(text: string): object | undefined {
  // Few characters of a text are more than one byte: what is short in characters need not be counted.
  if (!LOOKS_NESTED.test(text) || text.length > BYTES_MAX || isTooDeep(text)) return undefined
  try {
    const value = parseDigits(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function isTooDeep(text: string): boolean {
  if (text.length <= 2 * DEPTH_MAX) return false
  const bytes = Buffer.from(text)
  return bytes.length > BYTES_MAX || isDeeper(bytes, [0, bytes.length], DEPTH_MAX)
}
