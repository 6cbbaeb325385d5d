/** Answers that go on: server-sent events (WHATWG HTML, section 9.2), kept alive and ended when they must. */
import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { Identity } from './auth.ts'
import type { Doors } from './doors.ts'
import { isHead } from './head.ts'

const HEARTBEAT_MS = 15_000
const REVOKED_CHECK_MS = 500

/**
 * Begins a stream. It says that it lives every 15 seconds, and ends with the daemon, or within half a
 * second of the credential being revoked.
 * @param closed called once it has ended, whoever ended it
 * @throws SvcError too_many: before anything is sent, and `closed` is not called
 */
export function openEventStream(
  reply: FastifyReply,
  { auth, onStop, connections }: Pick<Doors, 'auth' | 'onStop' | 'connections'>,
  identity: Identity,
  closed: () => void,
): ServerResponse {
  const leave = connections.openStream()
  reply.hijack()
  const response = reply.raw
  response.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  if (isHead(reply.request.raw)) response.end()
  else response.write('retry: 2000\n\n')
  const heartbeat = setInterval(() => writeTo(response, ': beat\n\n'), HEARTBEAT_MS)
  const revoked = setInterval(() => {
    if (!auth.stillHolds(identity)) response.end()
  }, REVOKED_CHECK_MS)
  const offStop = onStop(() => response.end())
  response.on('close', () => {
    clearInterval(heartbeat)
    clearInterval(revoked)
    offStop()
    leave()
    closed()
  })
  return response
}

/** Writes to a stream, unless that was ended: its last bytes may still be on the way to a slow reader. */
export function writeTo(stream: ServerResponse, text: string): void {
  if (!stream.writableEnded) stream.write(text)
}
