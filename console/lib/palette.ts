/** What is typed into the palette: an id, a verb with a name, or words. */

export interface AskedId {
  kind: 'event' | 'incident' | 'run' | 'firing' | 'project' | 'firing or run'
  /** As the API has it; the number of an incident. */
  id: string
}

/** evt_12, #128 or inc_128, run_…, a firing with or without fir_, uc_…; null: no id. */
export function idIn(query: string): AskedId | null {
  const text = query.trim()
  if (/^evt_\d+$/i.test(text)) return { kind: 'event', id: text.toLowerCase() }
  const incident = /^(?:#|inc_)(\d{1,15})$/i.exec(text)
  if (incident) return { kind: 'incident', id: incident[1]! }
  if (/^run_[0-9a-z]+$/i.test(text)) return { kind: 'run', id: text }
  const firing = /^fir_([0-9a-z]+)$/i.exec(text)
  if (firing) return { kind: 'firing', id: firing[1]! }
  if (/^uc_[0-9a-f]+$/i.test(text)) return { kind: 'project', id: text }
  // Both a firing and the run that it made have 32 hexadecimal digits.
  return /^[0-9a-f]{32}$/i.test(text) ? { kind: 'firing or run', id: text.toLowerCase() } : null
}

const VERBS = ['pause', 'resume', 'acknowledge', 'handle', 'reopen'] as const
export type Verb = (typeof VERBS)[number]

/** "pause app-logs", "ack #128"; a verb may be cut short after two letters. Null: the query begins with none. */
export function verbIn(query: string): { verb: Verb; of: string } | null {
  const [, word = '', of = ''] = /^\s*(\S+)\s*(.*?)\s*$/.exec(query) ?? []
  const typed = word.toLowerCase()
  if (typed.length < 2) return null
  const verb = VERBS.find((one) => one.startsWith(typed))
  return verb === undefined ? null : { verb, of: of.toLowerCase() }
}

/**
 * What a search for a substring is asked, whose answer then is narrowed by all the words.
 * @returns the longest word, of an entity its value: "checkout" of "service=checkout fails"
 */
export const longestWord = (query: string): string =>
  query
    .split(/\s+/)
    .map((word) => word.replace(/^[\w.]+=/, ''))
    .reduce((longest, word) => (word.length > longest.length ? word : longest), '')

/** Whether a row has all the words of the query, in any order. */
export function isFound(query: string, ...texts: (string | undefined)[]): boolean {
  const all = texts.join(' ').toLowerCase()
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word))
}
