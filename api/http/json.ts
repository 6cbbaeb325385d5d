/** Bodies of JSON, as all routes but those of ingest take them. */
import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { fail } from '../../engine/index.ts'
import { BODY_DEPTH_MAX, nestsDeeper } from '../../schemas/json-body.ts'
import { isBodiless } from './validate.ts'
import { inflated } from './whole-body.ts'

/** Reads bodies as JSON objects; a body that is empty is none, as on pause and resume. */
export function takeJson(app: FastifyInstance): void {
  app.removeContentTypeParser(['application/json', 'text/plain'])
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, given: Buffer) => {
      const bytes = await inflated(request, given)
      return bytes.length === 0 ? undefined : bodyOf(request, bytes)
    },
  )
}

/** @throws SvcError invalid */
function bodyOf(request: FastifyRequest, bytes: Buffer): unknown {
  // The decoder would put U+FFFD in place of bytes that are not UTF-8, and that would be stored.
  if (!isUtf8(bytes)) fail('invalid', 'the body is not valid UTF-8')
  const text = bytes.toString()
  if (nestsDeeper(text, BODY_DEPTH_MAX))
    fail('invalid', `the body must not nest more than ${BODY_DEPTH_MAX} deep`)
  const body = parsed(text)
  // Null would pass for a body that was not sent.
  if (body === null) fail('invalid', 'the body must be a JSON object, not null')
  const key = prototypeKey(body)
  if (key !== null) fail('invalid', `the body must not have the key ${key}`)
  if (isBodiless(request.routeOptions.schema)) refuseFields(body)
  return body
}

function parsed(text: string): unknown {
  try {
    // A byte order mark is no part of the JSON.
    return JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text)
  } catch {
    return fail('invalid', 'the body is not valid JSON')
  }
}

/** A key that changes what an object is where code copies it; null: there is none. */
function prototypeKey(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null
  if (Object.hasOwn(value, '__proto__')) return '__proto__'
  for (const [key, inner] of Object.entries(value)) {
    if (
      key === 'constructor' &&
      typeof inner === 'object' &&
      inner !== null &&
      Object.hasOwn(inner, 'prototype')
    )
      return 'constructor.prototype'
    const found = prototypeKey(inner)
    if (found !== null) return found
  }
  return null
}

/** Of a call that takes no body: one without fields is none. @throws SvcError invalid */
function refuseFields(body: unknown): void {
  if (typeof body !== 'object' || Array.isArray(body)) fail('invalid', 'this call takes no body')
  const [first] = Object.keys(body as object)
  if (first !== undefined) fail('invalid', `${first} is not a known field; this call takes no body`)
}
