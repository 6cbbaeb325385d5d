/** Texts of a plan as a model or a person wrote them, without what is only a placeholder. */

/** A value that stands for one that is still to be found: <token> or your-api-key. */
const PLACEHOLDER =
  /^(<[^<>]*>|\{\{[^{}]*\}\}|to[-_ ]?do\b.*|tbd\b.*|x{3,}|your[-_ ].*|(https?:\/\/)?(<|your-).*)$/i

/** @returns the text, trimmed; em dashes are commas. */
export function plainText(value: unknown): string {
  if (typeof value !== 'string') return ''
  return value.replace(/\s*\u2014\s*/g, ', ').trim()
}

/** The same on one line. */
export const plainLine = (value: unknown): string => plainText(value).replace(/\s+/g, ' ')

/** The same, empty where it is a placeholder. */
export function filledIn(value: unknown): string {
  const text = plainText(value)
  return PLACEHOLDER.test(text) ? '' : text
}

/** A config without placeholders, at any depth; they are as if they had not been given. */
export function withoutPlaceholders(value: unknown): unknown {
  if (typeof value === 'string') return PLACEHOLDER.test(value.trim()) ? '' : value
  if (Array.isArray(value)) return value.map(withoutPlaceholders)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutPlaceholders(inner)]))
}
