/**
 * Answers of JSON are compressed on the way where the asker takes it. Streams are handed on as they come: a tail or
 * an export must not wait for a buffer to fill. What tells a secret once is left as it is: how small an answer gets
 * tells of what is in it (BREACH).
 */
import { gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { bestCoding } from './taken-codings.ts'

/** Smaller answers fit into a packet or two as they are. */
export const PACKED_FROM_BYTES = 1_024
/** 428 kB of timeline rows: 1.8 ms and 52 kB; at level 6 3.6 ms and 48 kB (2026-11-23). */
const LEVEL = 3
const JSON_TYPE = /^application\/([a-z.]+\+)?json\b/

/** Not looked at by a promise: most answers are small, and ingest counts microseconds. */
export function packAnswers(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload: unknown, done) => {
    if (!isLarge(payload) || !isPackable(reply)) return done(null, payload)
    const varies = reply.getHeader('vary')
    reply.header('vary', varies ? `${varies}, Accept-Encoding` : 'Accept-Encoding')
    if (bestCoding(request.headers['accept-encoding'], ['gzip']) === null) return done(null, payload)
    gzip(payload, { level: LEVEL }, (error, packed) => {
      if (error) return done(error)
      reply.removeHeader('content-length')
      reply.header('content-encoding', 'gzip')
      done(null, packed)
    })
  })
}

const isLarge = (payload: unknown): payload is string | Buffer =>
  (typeof payload === 'string' || Buffer.isBuffer(payload)) && payload.length >= PACKED_FROM_BYTES

const isPackable = (reply: FastifyReply): boolean =>
  JSON_TYPE.test(String(reply.getHeader('content-type') ?? '')) &&
  !reply.hasHeader('content-encoding') &&
  // Secrets are sent so.
  !String(reply.getHeader('cache-control') ?? '').includes('no-store')
