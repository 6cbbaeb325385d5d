/** Numbers and lists as sentences have them. */

/** Such as "1,200". */
export const numberWords = (value: number): string => value.toLocaleString('en')

/** Such as "1 event", "1,200 events". @param many of a noun whose plural has another form than an s more */
export const countWords = (n: number, noun: string, many = `${noun}s`): string =>
  `${numberWords(n)} ${n === 1 ? noun : many}`

/** Such as "a, b and c". */
export const listWords = (words: readonly string[]): string =>
  words.length < 3 ? words.join(' and ') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

/** The first of many, and how many more there are: such as "a, b and 3 more". */
export const listSome = (words: readonly string[], most: number): string =>
  words.length > most
    ? `${words.slice(0, most).join(', ')} and ${numberWords(words.length - most)} more`
    : words.join(', ')

/** What Node says of the system as `CODE: words, call 'path'`, which a sentence that names the file has no need of. */
const SYSTEM_WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EISDIR: 'it is a folder',
  ENOTDIR: 'what is above it is no folder',
  EACCES: 'that is not permitted',
}

/** Why the system did not open a file. @param path that the sentence names: another one is told */
export function systemWords(error: unknown, path: string): string {
  const { code = '', message, path: at } = error as Error & { code?: string; path?: string }
  const words = SYSTEM_WORDS[code] ?? message.replace(/, \w+ '.*'$/s, '')
  return at === undefined || at.endsWith(path.replace(/^\.\//, '')) ? words : `${words}: ${at}`
}

/** As the beginning of a sentence. */
export const capitalised = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`
