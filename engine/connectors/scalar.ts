/** Values of payload fields: as text, as objects, as item keys. */
import { createHash } from 'node:crypto'

/** A scalar as text; undefined for what has none, and for empty text. */
export function scalar(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

/** The object, or one without fields where it is none. */
export function objectOf(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {}
}

/**
 * What identifies an item. Numbers past 2^53 are rounded when parsed, so that different ids look alike;
 * there the item's bytes tell them apart, for an event must never be taken for a repeat of another.
 */
export function itemKey(value: unknown, raw: Uint8Array | string): string | undefined {
  const key = scalar(value)
  if (typeof value !== 'number' || Math.abs(value) <= Number.MAX_SAFE_INTEGER) return key
  return `${value}#${createHash('sha256').update(raw).digest('hex')}`
}
