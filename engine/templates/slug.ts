/** Parts of names made from what a person typed. */
import { createHash } from 'node:crypto'

/** Longest slug: a name of 64 characters has room for two and the words around them. */
const MAX = 24
const HASH = 8

/**
 * Lowercase letters and digits with single dashes, at most 24 characters: fits the name of any part,
 * skills included (SPEC.md, Limits). What would be lost, by cutting or because nothing of it is a
 * letter or digit, is told apart by 8 hex digits of its SHA-256. @returns '' for empty text.
 */
export function slug(text: string): string {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  if (plain === '' && text.trim() === '') return ''
  if (plain !== '' && plain.length <= MAX) return plain
  const hash = createHash('sha256').update(text).digest('hex').slice(0, HASH)
  return plain === '' ? hash : `${plain.slice(0, MAX - HASH - 1).replace(/-$/, '')}-${hash}`
}
