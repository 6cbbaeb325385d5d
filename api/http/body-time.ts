/**
 * Ends a request whose body does not come, as Node does with `requestTimeout`; but Node gives all of them
 * the same time, and a body that is stored while it comes may take as long as it keeps coming.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { writeRefusal } from './unread.ts'

export const BODY_MS = 30_000

const streamed = new WeakSet<IncomingMessage>()

/** From here on whoever reads the body watches over its time. */
export function keepsTime(request: IncomingMessage): void {
  streamed.add(request)
}

/** Whether a body is stored while it comes, and may take its time. */
export const isStreamed = (request: IncomingMessage): boolean => streamed.has(request)

/** @param ms how long a body may take from its headers to its end. */
export function limitBodyTime(app: FastifyInstance, ms = BODY_MS): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = request
    if (raw.headers['content-length'] !== undefined || raw.headers['transfer-encoding'] !== undefined)
      limitTime(raw, reply.raw, ms)
    done()
  })
}

/** Ends a request unless its body has come within so long. */
export function limitTime(raw: IncomingMessage, response: ServerResponse, ms: number): void {
  // A process that was held up sees its timers before what came meanwhile: it reads once more, then it is sure.
  const timer = setTimeout(
    () =>
      setImmediate(() => {
        if (!raw.complete && !raw.destroyed && !streamed.has(raw)) refuse(raw, ms)
      }),
    ms,
  )
  response.once('close', () => clearTimeout(timer))
}

function refuse(raw: IncomingMessage, ms: number): void {
  const detail = `the body did not come within ${ms / 1_000} s`
  writeRefusal(raw.socket, { status: 408, reason: 'Request Timeout', detail }, () => raw.destroy())
}
