/** What a finding must hold: words in any case, or a pattern between slashes. */
import { RE2JS } from 're2js'

/** `/pattern/`, or `/pattern/i` for any case. */
const PATTERN = /^\/(.+)\/(i?)$/s
/**
 * Instructions of a pattern. A finding has at most 64 KiB and an instruction on a character takes 16 ns at
 * worst (engine/ingest/pattern.ts), so the slowest takes a third of a second; a pattern of words has fifty.
 */
const SIZE_MAX = 300

/** @returns what is wrong with a mention, as the rest of a sentence; null: nothing is. */
export function mentionFault(mention: string): string | null {
  try {
    const pattern = patternOf(mention)
    if (pattern && pattern.programSize() > SIZE_MAX) return 'is too large a pattern: make its repeats smaller'
    return null
  } catch (error) {
    return `is not supported: ${(error as Error).message.replace('error parsing regexp: ', '')}`
  }
}

/** @param mention one without a `mentionFault` */
export function mentioned(mention: string, text: string): boolean {
  const pattern = patternOf(mention)
  if (pattern) return pattern.matcher(text).find()
  return plain(text).includes(plain(mention))
}

function patternOf(mention: string): RE2JS | null {
  const [, source, inAnyCase] = PATTERN.exec(mention) ?? []
  return source === undefined ? null : RE2JS.compile(source, inAnyCase ? RE2JS.CASE_INSENSITIVE : 0)
}

/** Lines break anywhere in Markdown: how words are spaced says nothing. */
const plain = (text: string): string => text.replace(/\s+/g, ' ').trim().toLowerCase()
