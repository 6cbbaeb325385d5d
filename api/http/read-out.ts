/**
 * What a refused request still sends is read and forgotten, within bounds, before it is answered: a connection
 * that ends with unread bytes is reset, and a sender in full flow sees a broken pipe in place of the refusal.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** More than any body that is taken as a whole. */
const BYTES_MAX = 64 * 1024 * 1024
const MS_MAX = 20_000
/** A sender that waits for its answer by now. */
const IDLE_MS = 2_000

/**
 * Refusals wait until the body has come, or a bound is reached; then the connection ends with them.
 * @param refuse is told of a connection that waits for its sender alone. @param idleMs how long nothing may come.
 */
export function readOutRefused(
  app: FastifyInstance,
  refuse: (socket: Socket) => void = () => {},
  idleMs = IDLE_MS,
): void {
  app.addHook('onSend', ({ raw }, reply, payload, done) => {
    if (reply.statusCode < 400 || !hasMore(raw)) return done(null, payload)
    refuse(raw.socket)
    void readOut(raw, idleMs).then(() => {
      if (!hasMore(raw)) reply.removeHeader('connection')
      done(null, payload)
    })
  })
}

const hasMore = (raw: IncomingMessage): boolean =>
  !raw.complete &&
  !raw.readableEnded &&
  !raw.destroyed &&
  (raw.headers['content-length'] !== undefined || raw.headers['transfer-encoding'] !== undefined)

function readOut(raw: IncomingMessage, idleMs: number): Promise<void> {
  return new Promise((resolve) => {
    let left = BYTES_MAX
    const done = (): void => {
      clearTimeout(whole)
      clearTimeout(idle)
      raw.off('data', take).off('end', done).off('close', done).off('error', done)
      resolve()
    }
    const take = (part: Buffer): void => {
      left -= part.length
      idle.refresh()
      if (left < 0) {
        raw.pause()
        done()
      }
    }
    const whole = setTimeout(done, MS_MAX)
    // A process that was held up sees its timers before what came meanwhile: it reads once more, then it is sure.
    const idle = setTimeout(() => {
      const before = left
      setImmediate(() => left === before && done())
    }, idleMs)
    raw.on('data', take).on('end', done).on('close', done).on('error', done).resume()
  })
}
