/**
 * Which operations take the headers of a write of what is declared, and which answer a version, as they are
 * declared (write-by.ts reads and writes them; docs/api.md).
 */
import { operations } from '../../../engine/index.ts'

const find = (operationId: string) => operations.find(({ id }) => id === operationId)

/** @returns the headers an operation takes, as headers.ts has them. */
export function namedHeaders(operationId: string): ('IfMatch' | 'IfNoneMatch' | 'Why')[] {
  const { merges, hashed, recorded } = find(operationId) ?? {}
  return [
    ...(merges ? ['IfMatch' as const] : []),
    ...(hashed ? ['IfNoneMatch' as const] : []),
    ...(recorded ? ['Why' as const] : []),
  ]
}

/** Whether an operation answers 304 to who has its answer already. */
export const isHashed = (operationId: string): boolean => find(operationId)?.hashed ?? false

/** The header of such an answer, and what is answered instead (RFC 9110, 8.8.3 and 15.4.5). */
export const HASH_HEADER = {
  ETag: {
    description: 'A hash of the answer: for If-None-Match of the next read.',
    schema: { type: 'string', pattern: '^"[A-Za-z0-9_-]{22}"$' },
  },
} as const
export const UNCHANGED = {
  description: 'Unchanged: it is as If-None-Match names it, and is not sent again.',
  headers: HASH_HEADER,
} as const

/** Whether an operation answers the version of what it answers. */
export const isVersioned = (operationId: string): boolean => find(operationId)?.versioned ?? false

/** The header of such an answer (RFC 9110, section 8.8.3). */
export const VERSION_HEADER = {
  ETag: {
    description: 'Its version: for If-Match of a write. Absent for a key of the project.',
    schema: { type: 'string', pattern: '^"[0-9]{1,15}"$' },
  },
} as const
