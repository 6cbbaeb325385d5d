/** Texts and lists in pages that hold no more than a number of tokens. */
import { cautiousTokens } from '../context/index.ts'
import { fail } from '../errors.ts'
import type { InspectQuestion } from './types.ts'

export const cursorOf = (at: number): string => `at:${at}`

/** Where a page begins. @throws SvcError invalid */
export function placeOf({ cursor }: Pick<InspectQuestion, 'cursor'>): number {
  if (cursor === undefined) return 0
  const at = /^at:(\d{1,9})$/.exec(cursor)?.[1]
  return at === undefined
    ? fail('invalid', 'cursor must be next_cursor of an earlier answer of this tool', { field: 'cursor' })
    : Number(at)
}

/** As many characters as surely hold a token: a page is looked for among these. */
const MOST_PER_TOKEN = 6

/**
 * One page of a text, from a character on; cut behind a line or a space where there is one near its end.
 * @returns the page, and where the next begins; null: there is none
 */
export function pageOf(text: string, from: number, budget: number): { page: string; next: number | null } {
  const rest = text.slice(from, from + budget * MOST_PER_TOKEN)
  let low = 1
  let high = rest.length
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (cautiousTokens(rest.slice(0, middle)) <= budget) low = middle
    else high = middle - 1
  }
  let end = Math.max(1, low)
  if (from + end >= text.length) return { page: rest.slice(0, end), next: null }
  const near = Math.max(rest.lastIndexOf('\n', end - 1), rest.lastIndexOf(' ', end - 1)) + 1
  if (near > end * 0.8) end = near
  // No half of a pair of surrogates.
  else if (/[\uD800-\uDBFF]/.test(rest[end - 1]!) && end > 1) end--
  return { page: rest.slice(0, end), next: from + end }
}

/** Lines from one on, as long as they fit; at least one. */
export function linesOf(
  lines: readonly string[],
  from: number,
  budget: number,
): { lines: string[]; next: number | null } {
  const kept: string[] = []
  let tokens = 0
  for (const line of lines.slice(from)) {
    tokens += cautiousTokens(`${line}\n`)
    if (tokens > budget && kept.length) return { lines: kept, next: from + kept.length }
    kept.push(line)
  }
  return { lines: kept, next: null }
}
