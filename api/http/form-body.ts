/** A form as JSON: some senders of events post one. */
import type { FastifyRequest } from 'fastify'
import { fail } from '../../engine/index.ts'

export const FORM_TYPE = 'application/x-www-form-urlencoded'
const FORM_FIELD = 'payload='
/** A form as it is written: no JSON, and no text that merely has an equals sign. */
const FORM = /^[\w.%+[\]*-]+=[^\s"{}<>]*\r?\n?$/
/** One event is in it. */
const FORM_BYTES_MAX = 1024 * 1024

/** The Content-Type of a request without its parameters. */
export const typeOf = ({ headers }: Pick<FastifyRequest, 'headers'>): string =>
  (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()

/**
 * A form as JSON: what is in its field `payload`, as GitHub sends it where its webhook's content type is left as it is, and
 * else an object of its fields, as the HTTPHandler of Python sends a line of a log. Null for all else, so that JSON under
 * this type, which curl sends, stays JSON.
 * @param wireBody what a signature covers, if that is not `body`. @throws SvcError invalid
 */
export function formPayload(
  request: FastifyRequest,
  body: Uint8Array | readonly Uint8Array[],
  wireBody?: Buffer,
): { body: Buffer; wireBody: Buffer } | null {
  if (typeOf(request) !== FORM_TYPE) return null
  const form = body instanceof Uint8Array ? Buffer.from(body) : Buffer.concat(body)
  const isPayload = form.toString('latin1', 0, FORM_FIELD.length) === FORM_FIELD
  const text = isPayload || form.length <= FORM_BYTES_MAX ? form.toString().trimEnd() : ''
  if (!isPayload && !FORM.test(text)) return null
  const fields = new URLSearchParams(text)
  const payload = isPayload ? fields.get('payload') : JSON.stringify(objectOfForm(fields))
  if (!payload) fail('invalid', 'the form field payload is empty; send it as application/json')
  return { body: Buffer.from(payload), wireBody: wireBody ?? form }
}

/** A field that comes several times is a list. */
function objectOfForm(fields: URLSearchParams): Record<string, string | string[]> {
  const values = new Map<string, string[]>()
  for (const [name, value] of fields) {
    const before = values.get(name)
    if (before) before.push(value)
    else values.set(name, [value])
  }
  return Object.fromEntries([...values].map(([name, of]) => [name, of.length > 1 ? of : of[0]!]))
}
