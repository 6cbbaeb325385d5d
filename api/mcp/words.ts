/** Words of a client, fit for a message and for a name. */

/** No control characters, not long. */
export const printable = (words: string): string =>
  words.replace(/[^\x20-\x7e]/g, '?').slice(0, 64) || '(none)'

const WORD_MAX = 200
const SENTENCE_MAX = 4_000

/** A sentence about what a client sent, which may repeat it: no word of it without end, and not all of a long text. */
export function bounded(sentence: string): string {
  const words = sentence.replace(/\S{201,}/gu, (word) => `${word.slice(0, WORD_MAX)}…`)
  return words.length > SENTENCE_MAX ? `${words.slice(0, SENTENCE_MAX)}…` : words
}
