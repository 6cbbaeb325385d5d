/** Numbers and lists as sentences have them. */

/** Such as "1,200". */
export const numberWords = (value: number): string => value.toLocaleString('en')

/** Such as "1 event", "1,200 events". @param many of a noun whose plural has another form than an s more */
export const countWords = (n: number, noun: string, many = `${noun}s`): string =>
  `${numberWords(n)} ${n === 1 ? noun : many}`

/** Such as "a, b and c". */
export const listWords = (words: readonly string[]): string =>
  words.length < 3 ? words.join(' and ') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

/** As the beginning of a sentence. */
export const capitalised = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`
