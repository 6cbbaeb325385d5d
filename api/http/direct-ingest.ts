/**
 * POST /ingest/<ingest_key> as most producers send it, ahead of the framework, which is half of what a post of one event
 * costs: a body of a length that is said, as it is, for a source that checks no signature. The checks, the call and the
 * answer are those of the route (server.ts, routes/ingest.ts). What is refused, fails or is out of the ordinary goes on to
 * the framework with what came of it so far, so that each refusal is written in one place.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { IngestRoute } from '../../engine/index.ts'
import type { IngestResult } from '../../schemas/types.ts'
import type { Identity } from './auth.ts'
import { announced } from './body-budget.ts'
import { BODY_MS, limitTime } from './body-time.ts'
import type { Doors } from './doors.ts'
import { FORM_TYPE, typeOf } from './form-body.ts'
import { type Outcome, setOutcome } from './guard.ts'
import { AT_ONCE } from './ndjson.ts'
import { PACKED_FROM_BYTES } from './pack-answers.ts'
import { callOf, INGEST, isNdjson } from './routes/ingest.ts'
import { EVENT_GRID, FIREHOSE_REQUEST } from './routes/sender-answers.ts'
import { headersOfAll } from './security-headers.ts'
import { CLOUD_EVENT } from './senders/cloudevents.ts'
import { shaping } from './validate.ts'
import { collectParts, WIRE_MAX } from './whole-body.ts'

/** What the checks look at, of a request that the framework has not seen. */
export type Checked = Pick<FastifyRequest, 'raw' | 'method' | 'url' | 'headers' | 'params' | 'is404'> & {
  routeOptions: { url?: string | undefined }
  cookies?: FastifyRequest['cookies']
  identity: Identity
}

/** Hands a request to the framework. */
type HandOn = (request: IncomingMessage, response: ServerResponse) => void

const PREFIX = '/ingest/'
const TAKEN = 202
/** Headers with which a post is out of the ordinary: compressed, of a sender with answers of its own, or with a credential that needs more reading. */
const UNUSUAL = [
  ...['content-encoding', 'transfer-encoding', 'x-vercel-verify', 'cookie'],
  ...[EVENT_GRID, FIREHOSE_REQUEST, CLOUD_EVENT],
] as const

export class DirectIngest {
  /** What this turn of the event loop has begun with. */
  private fresh: { raw: IncomingMessage; response: ServerResponse }[] = []
  private readonly write = shaping({ $ref: 'ingest-result.json#' })
  private readonly headers = [
    ...headersOfAll().flat(),
    ...['content-type', 'application/json; charset=utf-8', 'content-length'],
  ]

  /**
   * @param check the checks of every request before its body is read; it throws what it refuses with
   * @param handOn to the framework
   */
  constructor(
    private readonly doors: Doors,
    private readonly check: (request: Checked) => void,
    private readonly handOn: HandOn,
  ) {}

  /** Takes a request, or hands it on. */
  take(raw: IncomingMessage, response: ServerResponse): void {
    const route = this.routeOf(raw)
    if (route) this.begin(raw, response, route)
    else this.handOn(raw, response)
  }

  private begin(raw: IncomingMessage, response: ServerResponse, route: IngestRoute): void {
    const request = asChecked(raw)
    try {
      this.check(request)
    } catch (error) {
      this.conclude(raw, response, { error: error as Error })
      return
    }
    if (!this.doors.bodies.holdNow(raw, announced(raw))) {
      this.handOn(raw, response)
      return
    }
    // As a rule the body came with the headers, and is there once this turn of the event loop has read it: a timer for
    // each would cost more than all the checks.
    if (this.fresh.push({ raw, response }) === 1) setImmediate(() => this.limitFresh())
    collectParts(raw, (error, parts) => {
      if (error) this.fail(raw, response, error)
      else this.store(request, route, parts, response)
    })
  }

  /** The source of a post that is taken here. */
  private routeOf({ method, url, headers }: IncomingMessage): IngestRoute | undefined {
    if (method !== 'POST' || !url!.startsWith(PREFIX) || this.doors.stopping()) return undefined
    const length = headers['content-length']
    if (length === undefined || Number(length) > WIRE_MAX) return undefined
    // It may have more lines than are taken at once.
    if (Number(length) > AT_ONCE && isNdjson({ headers })) return undefined
    for (const name of UNUSUAL) if (headers[name] !== undefined) return undefined
    const route = this.doors.auth.ingestRoute(url!.slice(PREFIX.length))
    return route && isPlain(route) && typeOf({ headers }) !== FORM_TYPE ? route : undefined
  }

  private limitFresh(): void {
    const { fresh } = this
    this.fresh = []
    for (const { raw, response } of fresh)
      if (!raw.complete && !raw.destroyed) limitTime(raw, response, BODY_MS)
  }

  private store(request: Checked, route: IngestRoute, body: Buffer[], response: ServerResponse): void {
    const { raw, identity } = request
    try {
      const call = callOf(request, route)
      this.doors.engine.ingest({ ...call, body }).then(
        (result) => {
          this.doors.bodies.release(raw)
          this.answer(raw, response, identity, result)
        },
        (error: Error) => this.fail(raw, response, error),
      )
    } catch (error) {
      this.fail(raw, response, error as Error)
    }
  }

  private answer(
    raw: IncomingMessage,
    response: ServerResponse,
    identity: Identity,
    result: IngestResult,
  ): void {
    const text = this.write(result)
    const bytes = Buffer.byteLength(text)
    // A long one may have to be packed.
    if (bytes >= PACKED_FROM_BYTES || this.doors.stopping()) {
      this.conclude(raw, response, { identity, result })
      return
    }
    response.writeHead(TAKEN, [...this.headers, bytes])
    response.end(text)
    this.doors.tellAnswered(INGEST, 'POST', TAKEN)
  }

  private fail(raw: IncomingMessage, response: ServerResponse, error: Error): void {
    this.doors.bodies.release(raw)
    this.conclude(raw, response, { error })
  }

  private conclude(raw: IncomingMessage, response: ServerResponse, outcome: Outcome): void {
    setOutcome(raw, outcome)
    this.handOn(raw, response)
  }
}

const isPlain = ({ signed, isSns, isChallenged, wantsOk, verifyCode, connector }: IngestRoute): boolean =>
  !signed && !isSns && !isChallenged && !wantsOk && verifyCode === undefined && connector !== 'vercel'

const asChecked = (raw: IncomingMessage): Checked => ({
  raw,
  method: raw.method!,
  url: raw.url!,
  headers: raw.headers,
  params: { key: raw.url!.slice(PREFIX.length) },
  is404: false,
  routeOptions: { url: INGEST },
  identity: null as never,
})
