/**
 * Values as spans carry them: without what looks like a secret, within 32,768 characters, and absent
 * where there is nothing to say.
 */
import { redact } from '../redact.ts'

export type Attribute = string | number | boolean | string[]
export type Attributes = Record<string, Attribute>
/** What is null, empty text or an empty list is left out. */
export type Given = Record<string, Attribute | null | undefined>

/** Characters of one attribute. */
export const ATTRIBUTE_MAX = 32_768
/** To these the texts within a structure are cut, one after the other, until it fits. */
const TEXT_LIMITS = [8_192, 2_048, 512, 128]
/** A field so named holds a secret, whatever it looks like. */
const SECRET_NAME =
  /^(?:.*[_-])?(?:password|passwd|pwd|secret|token|authorization|cookie|credentials?|api[_-]?key|access[_-]?key|private[_-]?key)$/i

/** @returns attributes that say something, redacted and cut */
export function attributesOf(given: Given): Attributes {
  const kept: Attributes = {}
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined) continue
    if (typeof value === 'number' && !Number.isFinite(value)) continue
    if (typeof value !== 'string' && !Array.isArray(value)) kept[name] = value
    else if (value.length > 0)
      kept[name] = typeof value === 'string' ? cut(redact(value)) : value.map((one) => cut(redact(one)))
  }
  return kept
}

/** @returns at most so many characters, none of them half of a pair */
export function cut(text: string, max: number = ATTRIBUTE_MAX): string {
  if (text.length <= max) return text
  const last = text.charCodeAt(max - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max)
}

/** Takes secrets out of a text; the same text is looked through once. */
export type Clean = (text: string) => string

/** For one run: each call of its model is asked all that was said before. */
export function cleaner(): Clean {
  const known = new Map<string, string>()
  return (text) => {
    const clean = known.get(text) ?? redact(text)
    known.set(text, clean)
    return clean
  }
}

/** A structure with its texts redacted, and with nothing in fields named like a secret. */
export function scrubbed(value: unknown, clean: Clean = redact): unknown {
  if (typeof value === 'string') return clean(value)
  if (Array.isArray(value)) return value.map((inner) => scrubbed(inner, clean))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const isSecret = SECRET_NAME.test(name) && (typeof inner === 'string' || typeof inner === 'number')
      return [name, isSecret ? '[redacted]' : scrubbed(inner, clean)]
    }),
  )
}

/**
 * JSON of a structure that is scrubbed already, within the limit of an attribute.
 * @returns null where cutting its texts alone does not make it fit
 */
export function fittedJson(value: unknown): string | null {
  const whole = JSON.stringify(value)
  if (whole.length <= ATTRIBUTE_MAX) return whole
  for (const limit of TEXT_LIMITS) {
    const text = JSON.stringify(shortened(value, limit))
    if (text.length <= ATTRIBUTE_MAX) return text
  }
  return null
}

/** Characters of the JSON of a structure whose texts are cut as far as they are. */
export const leastSize = (value: unknown): number =>
  JSON.stringify(shortened(value, TEXT_LIMITS.at(-1)!)).length

function shortened(value: unknown, limit: number): unknown {
  if (typeof value === 'string') return value.length > limit ? `${cut(value, limit)}…` : value
  if (Array.isArray(value)) return value.map((inner) => shortened(inner, limit))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shortened(inner, limit)]))
}
