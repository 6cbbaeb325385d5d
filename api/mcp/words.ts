/** Words of a client, fit for a message and for a name. */

/** No control characters, not long. */
export const printable = (words: string): string =>
  words.replace(/[^\x20-\x7e]/g, '?').slice(0, 64) || '(none)'
