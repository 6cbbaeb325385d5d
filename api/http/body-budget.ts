/** What bodies of producers may take in memory together, and the key that tells a repeat. */
import type { FastifyRequest } from 'fastify'
import { fail, SvcError } from '../../engine/index.ts'
import { WIRE_MAX } from './whole-body.ts'

/** Bodies in memory at once; past it producers are told to wait. */
const IN_FLIGHT_MAX = 128 * 1024 * 1024
/** Of a body whose length is not said. */
const UNSAID = 64 * 1024

/** Bytes a request says its body has, as far as ingest takes them. */
export function announced({ headers }: FastifyRequest): number {
  return Math.min(WIRE_MAX, Number(headers['content-length'] ?? UNSAID)) || 0
}

/** @throws SvcError invalid */
export function idempotencyKey(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key))
    fail('invalid', 'Idempotency-Key must be 1 to 255 visible ASCII characters', { field: 'Idempotency-Key' })
  return key
}

const tooMuch = (): SvcError =>
  new SvcError('too_many', 'too much is being ingested at once; try again in a second', { retryAfter: 1 })

/** What bodies may take in memory together, whatever the door they come by. */
export class BodyBudget {
  private used = 0
  private readonly held = new WeakMap<object, number>()

  /** @param size bytes it will take. @throws SvcError too_many */
  reserve(request: object, size: number): void {
    if (this.used + size > IN_FLIGHT_MAX) throw tooMuch()
    this.used += size
    this.held.set(request, size)
  }

  /** More of it has arrived than was announced. @param size in all. @throws SvcError too_many */
  grow(request: object, size: number): void {
    const more = size - (this.held.get(request) ?? 0)
    if (more <= 0) return
    if (this.used + more > IN_FLIGHT_MAX) throw tooMuch()
    this.used += more
    this.held.set(request, size)
  }

  release(request: object): void {
    this.used -= this.held.get(request) ?? 0
    this.held.delete(request)
  }
}
