/** What bodies of producers may take in memory together, and the key that tells a repeat. */
import type { FastifyRequest } from 'fastify'
import { fail, SvcError } from '../../engine/index.ts'
import { WIRE_MAX } from './whole-body.ts'

/** Bodies in memory at once, bytes; past it they wait for their turn. */
const IN_FLIGHT_MAX = 128 * 1024 * 1024
/** Those that are stored while they come, together. */
const STREAMS_IN_FLIGHT_MAX = 64 * 1024 * 1024
/** How long such a one waits to grow: its producer is held back meanwhile, and not refused after half of it is stored. */
const STREAM_WAIT_MS = 25_000
/** How long a body waits: less than the ten seconds an exporter of OpenTelemetry waits for an answer. */
const WAIT_MS = 8_000
/** How long it waits until one that holds much and comes slowly ends for it, and then until another does. */
const RELIEF_MS = 2_500
/** A body that has had its memory so long, and has not come, is slow: most come at once. */
const SLOW_MS = 2_000
/** Bytes from which on a body is worth ending for another. */
const MUCH = 1024 * 1024
/** Bodies that wait at most; what they have sent meanwhile is in buffers of the connection. */
const WAITING_MOST = 256
/** Of a body whose length is not said. */
const UNSAID = 64 * 1024

/** Bytes a request says its body has, as far as ingest takes them. */
export function announced({ headers }: Pick<FastifyRequest, 'headers'>): number {
  return Math.min(WIRE_MAX, Number(headers['content-length'] ?? UNSAID)) || 0
}

/** @throws SvcError invalid */
export function idempotencyKey(request: Pick<FastifyRequest, 'headers'>): string | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key))
    fail('invalid', 'Idempotency-Key must be 1 to 255 visible ASCII characters', { field: 'Idempotency-Key' })
  return key
}

/** For a call that runs anew each time it is sent: refuses the key instead of ignoring it. @throws SvcError invalid */
export function refuseIdempotencyKey(request: Pick<FastifyRequest, 'headers'>): void {
  if (idempotencyKey(request) !== undefined)
    fail('invalid', 'this call takes no Idempotency-Key: each repeat is done again', {
      field: 'Idempotency-Key',
    })
}

const tooMuch = (): SvcError =>
  new SvcError('too_many', 'too much is being ingested at once; try again in a second', { retryAfter: 1 })

/** What is held for one body. */
interface Held {
  bytes: number
  /** It may hold nothing further. */
  hasLeft: boolean
  /** It is being inflated and stored. */
  isAtWork: boolean
  /** When it was first given memory, by `performance.now`. */
  since: number
}

/** A body that comes too slowly. */
export interface SlowBody {
  /** When it began, by `performance.now`. */
  since: number
  /** Refuses it. */
  end(): void
}

/**
 * A door's body that has been coming longest; null where none of them is slow.
 * @param holdsMuch whether a request has held memory worth freeing, for long enough
 */
type FindSlowBody = (holdsMuch: (request: object) => boolean) => SlowBody | null

/**
 * Where a request carries what is held for it. A Map would do, but one whose keys come and go with each request leaves a
 * trail of old tables behind, each with the requests of its time and the table after it: once one of them has grown old,
 * V8 keeps what the later ones hold until it collects the whole heap.
 */
const HELD = Symbol('what is held for its body')

const heldBy = (request: { [HELD]?: Held }): Held =>
  (request[HELD] ??= { bytes: 0, hasLeft: false, isAtWork: false, since: 0 })

const holdsMuch = (request: object): boolean => {
  const { bytes, since } = heldBy(request)
  return bytes >= MUCH && performance.now() - since >= SLOW_MS
}

interface Waiting {
  request: object
  /** Bytes it will hold in all. */
  size: number
  go(): void
  giveUp(error: SvcError): void
}

/**
 * What bodies may take in memory together, whatever the door they come by. Where there is no room a body waits
 * for its turn, in the order they came: small ones do not overtake a large one, which would never find room.
 */
export class BodyBudget {
  private used = 0
  private readonly waiting: Waiting[] = []
  /** May go past the bound, one at a time: bodies that all wait to grow would wait for each other. */
  private past: object | null = null
  /** One of each door. */
  private readonly doors: FindSlowBody[] = []

  /**
   * @param most bytes together
   * @param waitMs how long one waits
   * @param reliefMs how long one waits before it asks for relief
   */
  constructor(
    private readonly most = IN_FLIGHT_MAX,
    private readonly waitMs = WAIT_MS,
    private readonly reliefMs = RELIEF_MS,
  ) {}

  /** Where memory is short, looks for slow bodies here, too: what one says it has is held until all of it is there. */
  relieveBy(findSlowBody: FindSlowBody): void {
    this.doors.push(findSlowBody)
  }

  /**
   * Returns once there is room for a body. Growing comes before beginning, since it lets bodies end.
   * @param size bytes it takes in all, from now on.
   * @throws SvcError too_many: its turn did not come in time; invalid: it was given up meanwhile
   */
  async hold(request: object, size: number): Promise<void> {
    const { hasLeft, bytes } = heldBy(request)
    if (hasLeft) fail('invalid', 'the body was cut short')
    const isGrowing = bytes > 0
    if (isGrowing ? this.takes(request, size) : this.waiting.length === 0 && this.fits(request, size)) {
      this.take(request, size)
      return
    }
    if (this.waiting.length >= WAITING_MOST) throw tooMuch()
    await this.turn(request, size, isGrowing)
  }

  /** The same for a body that begins, where it need not wait. @returns whether it has its room */
  holdNow(request: object, size: number): boolean {
    if (this.waiting.length > 0 || !this.fits(request, size)) return false
    this.take(request, size)
    return true
  }

  /** Runs what inflates and stores the body; then nothing of it is in memory any more. */
  async during<T>(request: object, run: () => Promise<T>): Promise<T> {
    heldBy(request).isAtWork = true
    try {
      return await run()
    } finally {
      this.release(request)
    }
  }

  /** Its sender has gone, or was answered: what is not at work any more holds nothing. */
  abandon(request: object): void {
    if (heldBy(request).isAtWork) this.leave(request)
    else this.release(request)
  }

  /** It need not wait any more. What it holds it holds until it is released. */
  private leave(request: object): void {
    if (this.waiting.length === 0) return
    const waiting = this.waiting.filter((one) => one.request === request)
    for (const one of waiting) one.giveUp(new SvcError('invalid', 'the body was cut short'))
    if (waiting.length > 0) this.next()
  }

  /** It is stored or refused: nothing of it is in memory any more, and it may hold nothing further. */
  release(request: object): void {
    const held = heldBy(request)
    held.hasLeft = true
    held.isAtWork = false
    this.leave(request)
    this.used -= held.bytes
    held.bytes = 0
    if (this.past === request) this.past = null
    this.next()
  }

  private turn(request: object, size: number, isGrowing: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer)
        clearInterval(relief)
        this.waiting.splice(this.waiting.indexOf(one), 1)
      }
      const one: Waiting = {
        request,
        size,
        go: () => {
          leave()
          this.take(request, size)
          resolve()
        },
        giveUp: (error) => {
          leave()
          reject(error)
        },
      }
      const timer = setTimeout(() => {
        one.giveUp(tooMuch())
        this.next()
      }, this.waitMs)
      const relief = setInterval(() => this.relieve(), this.reliefMs)
      const at = this.waiting.findIndex((other) => heldBy(other.request).bytes === 0)
      this.waiting.splice(isGrowing && at >= 0 ? at : this.waiting.length, 0, one)
    })
  }

  /** Ends the body that has been coming longest, whatever its door, if one is slow. */
  private relieve(): void {
    const slow = this.doors.map((find) => find(holdsMuch)).filter((body) => body !== null)
    slow.sort((one, other) => one.since - other.since)[0]?.end()
  }

  /** Lets in whoever has the next turn, as far as there is room. */
  private next(): void {
    for (let first = this.waiting[0]; first; first = this.waiting[0]) {
      const { request, size } = first
      const isGrowing = heldBy(request).bytes > 0
      if (!(isGrowing ? this.takes(request, size) : this.fits(request, size))) return
      first.go()
    }
  }

  private fits(request: object, size: number): boolean {
    return this.used + size - heldBy(request).bytes <= this.most
  }

  private takes(request: object, size: number): boolean {
    if (this.fits(request, size)) return true
    this.past ??= request
    return this.past === request
  }

  private take(request: object, size: number): void {
    const held = heldBy(request)
    if (held.bytes === 0) held.since = performance.now()
    const more = Math.max(0, size - held.bytes)
    this.used += more
    held.bytes += more
  }
}

/** For bodies that are stored while they come. */
export const streamBudget = (): BodyBudget => new BodyBudget(STREAMS_IN_FLIGHT_MAX, STREAM_WAIT_MS)
