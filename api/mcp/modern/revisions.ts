/**
 * Which revisions of the protocol are spoken, and what a client is told that comes with another one
 * (2026-07-28, Versioning: Protocol Version Negotiation; error -32022).
 */
import {
  PROTOCOL_VERSION_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/server'
import { printable } from '../words.ts'

/** Revisions without a session, each request with its revision in `_meta`. */
export const MODERN = ['2026-07-28'] as const

/** Every revision that is spoken, the newest first. */
export const SPOKEN: readonly string[] = [...MODERN, ...SUPPORTED_PROTOCOL_VERSIONS]

/** An error of the protocol as it goes over the wire. */
export interface WireError {
  code: number
  message: string
  data?: unknown
}

/** @returns the revision a request says it is of, by its `_meta`; undefined: none, so of before 2026-07-28 */
export function revisionOf(message: object): unknown {
  const { params } = message as { params?: { _meta?: Record<string, unknown> } }
  return typeof params?._meta === 'object' ? params._meta?.[PROTOCOL_VERSION_META_KEY] : undefined
}

/** @returns what a request is answered that is of a revision nobody speaks; null: it is of one that is */
export function notSpoken(message: object): WireError | null {
  const requested = revisionOf(message)
  if (typeof requested !== 'string' || (MODERN as readonly string[]).includes(requested)) return null
  const { code, data } = new UnsupportedProtocolVersionError({ supported: [...SPOKEN], requested })
  const how = (SPOKEN as readonly string[]).includes(requested)
    ? `${requested} begins with initialize, and its requests carry no revision in _meta`
    : `revision ${printable(requested)} of the protocol is not spoken`
  return { code, message: `${how}; this server speaks ${SPOKEN.join(', ')}`, data }
}
