/** The body of a message: one JSON object, within a bound. */
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { BODY_DEPTH_MAX, nestsDeeper } from '../../../schemas/json-body.ts'
import { asMeant } from '../messages.ts'
import { Refusal, unreadable } from './refuse.ts'

/** Largest message, bytes: ten times the largest field of any tool. */
export const MESSAGE_MAX = 1024 * 1024

/** @throws Refusal 413, 415, 400 */
export async function readMessage(request: IncomingMessage): Promise<Record<string, unknown>> {
  if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? ''))
    throw new Refusal(415, 'the Content-Type must be application/json')
  if (Number(request.headers['content-length'] ?? 0) > MESSAGE_MAX) throw tooLarge()
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of request) {
    bytes += (part as Buffer).length
    if (bytes > MESSAGE_MAX) throw tooLarge()
    parts.push(part as Buffer)
  }
  const body = Buffer.concat(parts)
  if (!isUtf8(body)) throw unreadable('the body is not valid UTF-8')
  const message = parse(body.toString())
  if (Array.isArray(message))
    throw new Refusal(400, 'send one message a request: batches are no part of the protocol any more')
  if (typeof message !== 'object' || message === null)
    throw new Refusal(400, 'the body must be one JSON-RPC message')
  return asMeant(message as Record<string, unknown>)
}

const tooLarge = () => new Refusal(413, `a message must have at most ${MESSAGE_MAX} bytes`)

function parse(text: string): unknown {
  if (nestsDeeper(text, BODY_DEPTH_MAX))
    throw new Refusal(400, `the body must not nest more than ${BODY_DEPTH_MAX} deep`)
  try {
    return JSON.parse(text)
  } catch {
    throw unreadable('the body is not valid JSON')
  }
}
