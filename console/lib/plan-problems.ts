/** Problems of a plan, as people read them. */

/** A field by its path, at the start of a sentence: what a call names. */
const FIELD = /^[a-z_]+(?:\[\d+\])?(?:\.[a-z_]+(?:\[\d+\])?)*(?=:? )/
/** A name that somebody gave stays as it is. */
const NAMED = /^\S+ is (the name of|not among|not known)/

/**
 * What the check found, as sentences: fields by the words of the form, each begun with a capital.
 * @example problemWords('table is required; cursor_column is required') // 'Table is required. Cursor column is required.'
 */
export function problemWords(message: string): string {
  return message.split('; ').map(sentenceOf).join(' ')
}

function sentenceOf(part: string): string {
  // The form shows the label alone: its name is for files and calls.
  const said = part.replace(/^([A-Z][^()]*) \([a-z_]+\)(?= is required)/, '$1')
  if (NAMED.test(said)) return ended(said)
  const field = FIELD.exec(said)?.[0] ?? ''
  const words = field.split('.').map(placeWords).reverse().join(' of ') + said.slice(field.length)
  return ended(words.charAt(0).toUpperCase() + words.slice(1))
}

/** "labels 2" for "labels[1]", "cursor column" for "cursor_column". */
const placeWords = (name: string): string =>
  name.replaceAll('_', ' ').replace(/\[(\d+)\]$/, (_, place: string) => ` ${Number(place) + 1}`)

const ended = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`)
