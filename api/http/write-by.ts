/** Who makes a write, and what its headers say of it. */
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Caller, SvcError, type WriteBy } from '../../engine/index.ts'
import { NO_AUTH } from '../../schemas/caller-words.ts'
import { SESSION_COOKIE } from './auth.ts'

const WHY_MAX = 500
const ORIGINS = ['api', 'console', 'mcp', 'catalog'] as const

/** Who asked, as the engine is told: on an open instance the name of a key that was sent all the same says it. */
export const callerOf = ({ id, name, isAnybody }: Caller): Caller => ({
  id,
  name,
  ...(isAnybody && name === NO_AUTH ? { isAnybody } : {}),
})

/**
 * The writer of a request: `If-Match: "<version>"` is the version it saw, `X-SVC-Why` its reason,
 * `X-SVC-Origin` which client of ours it is (console, mcp, catalog).
 * @throws SvcError invalid for an If-Match that is no version
 */
export function writeBy(request: FastifyRequest): WriteBy {
  const base = request.method === 'GET' ? undefined : versionOf(request.headers['if-match'])
  return {
    caller: callerOf(request.identity),
    origin: originOf(request),
    why: whyOf(request.headers['x-svc-why']),
    ...(base === undefined ? {} : { base }),
  }
}

/** Answers with a resource and its version as ETag (RFC 9110, section 8.8.3). */
export function withEtag<T extends { version?: number | undefined }>(reply: FastifyReply, resource: T): T {
  if (resource.version !== undefined) reply.header('etag', `"${resource.version}"`)
  return resource
}

/**
 * Answers with an ETag made of what is answered (RFC 9110, section 8.8.3).
 * @param answer or the bytes of its JSON text
 * @returns whether the reader has it already: If-None-Match names it, or is `*`
 */
export function isKnown(request: FastifyRequest, reply: FastifyReply, answer: unknown): boolean {
  const text = answer instanceof Uint8Array ? answer : JSON.stringify(answer)
  const tag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
  reply.header('etag', tag).header('cache-control', 'private, no-cache')
  const given = request.headers['if-none-match']
  if (given === undefined) return false
  const known = given.split(',').map((one) => one.trim().replace(/^W\//, ''))
  return known.includes('*') || known.includes(tag)
}

const USER_MAX = 100

/** Who is asking, as the proxy in front says it. @param header its name, lower case; null: none says it */
export function userOf({ headers }: FastifyRequest, header: string | null | undefined): string | null {
  const said = header ? headers[header] : undefined
  const name = (typeof said === 'string' ? said : '').trim().slice(0, USER_MAX)
  return name === '' ? null : name
}

function versionOf(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === '*') return undefined
  const match = /^(?:W\/)?"(\d{1,15})"$/.exec(header.trim())
  if (!match)
    throw new SvcError('invalid', 'If-Match must be the ETag of the resource, such as "12"', {
      field: 'If-Match',
    })
  return Number(match[1])
}

function whyOf(header: string | string[] | undefined): string | undefined {
  const text = typeof header === 'string' ? header.trim() : ''
  if (text === '') return undefined
  // Header values are Latin-1; clients send other text percent-encoded.
  try {
    return decodeURIComponent(text).slice(0, WHY_MAX)
  } catch {
    return text.slice(0, WHY_MAX)
  }
}

function originOf(request: FastifyRequest): WriteBy['origin'] {
  const said = request.headers['x-svc-origin']
  const known = ORIGINS.find((origin) => origin === said)
  return known ?? (request.cookies?.[SESSION_COOKIE] ? 'console' : 'api')
}
