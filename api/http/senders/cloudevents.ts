/**
 * CloudEvents in binary mode: the attributes are headers, and the body is the data, of any type.
 * https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md
 */
import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'
import { typeOf } from '../form-body.ts'

/** Header that each has, and by which it is known. */
export const CLOUD_EVENT = 'ce-specversion'

const JSON_TYPE = /^(?:$|[\w.-]+\/(?:[\w.+-]+\+)?json$)/
/** What a byte order mark is before JSON is no part of it. */
const OBJECT = /^\uFEFF?\s*\{/
/** What else than JSON is looked at whole: an event may have no more. */
const EVENT_BYTES_MAX = 1024 * 1024

/**
 * The data as one event, whatever it is: an object as it came, anything else under `data`, and bytes that are no text under
 * `data_base64`, as the same event has them in structured mode. Null for what is no event in binary mode.
 */
export function cloudEventOf(
  request: FastifyRequest,
  given: Uint8Array | readonly Uint8Array[],
): Buffer | null {
  const { headers } = request
  if (headers[CLOUD_EVENT] === undefined || headers['ce-type'] === undefined) return null
  const body = given instanceof Uint8Array ? Buffer.from(given) : Buffer.concat(given)
  if (body.length === 0) return Buffer.from('{}')
  const isJson = JSON_TYPE.test(typeOf(request))
  const isObject = OBJECT.test(body.toString('utf8', 0, 64))
  if (isJson)
    return isObject ? body : Buffer.concat([Buffer.from('{"data":'), withoutMark(body), Buffer.from('}')])
  if (isObject && (body.length > EVENT_BYTES_MAX || parses(body))) return body
  return Buffer.from(
    JSON.stringify(isUtf8(body) ? { data: body.toString() } : { data_base64: body.toString('base64') }),
  )
}

const withoutMark = (body: Buffer): Buffer =>
  body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body

function parses(body: Buffer): boolean {
  try {
    JSON.parse(body.toString())
    return true
  } catch {
    // It only begins like JSON: it is text.
    return false
  }
}
