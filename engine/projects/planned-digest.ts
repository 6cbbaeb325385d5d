/**
 * What a hand edit of a planned object is compared with: a digest of the document as it may be shown,
 * and a keyed hash of its secrets, which a plain digest would let be guessed.
 */
import { createHash } from 'node:crypto'
import type { Doc } from '../changes/declared.ts'
import { differences } from '../changes/fields.ts'

/** Hex SHA-256 of a part's document as it may be shown; whether it is paused does not count. */
export function digestOf(masked: Doc): string {
  const { paused: _paused, ...spec } = masked
  return createHash('sha256').update(stable(spec)).digest('hex')
}

/**
 * The secrets of a document, by a keyed hash in hex; undefined: it has none.
 * @param masked the same document as it may be shown.
 */
export function secretsOf(doc: Doc, masked: Doc, fingerprint: (text: string) => string): string | undefined {
  const hidden = differences(masked, doc)
  return hidden.length ? fingerprint(stable(hidden.map(({ path, to }) => [path, to]))) : undefined
}

/** JSON with its keys sorted: equal documents give equal text. */
function stable(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stable).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined)
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, entry]) => `${JSON.stringify(key)}:${stable(entry)}`)
    .join(',')}}`
}
