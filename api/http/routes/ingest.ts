/** Events in (SPEC.md, Ingest and reads): POST /ingest/<ingest_key> and POST /remember. */
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { fail, type IngestPost, type IngestRoute, SvcError } from '../../../engine/index.ts'
import type { IngestResult, RememberRequest } from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { storePieces } from '../ingest-pieces.ts'
import { LIMITS, piecesOf } from '../ndjson.ts'
import { streamOf } from '../stream-body.ts'
import { answers, body } from '../validate.ts'
import { decode, partsOf, WIRE_MAX } from '../whole-body.ts'

/** Bodies in memory at once; past it producers are told to wait. */
const IN_FLIGHT_MAX = 128 * 1024 * 1024
/** Types producers give NDJSON; there is no registered one. */
const NDJSON_TYPES = new Set([
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/x-jsonl',
  'application/jsonlines',
])

export function ingestRoutes(app: FastifyInstance, { engine, auth }: Doors): void {
  const budget = new Budget()
  const routeOf = (request: FastifyRequest): IngestRoute | undefined =>
    auth.ingestRoute((request.params as { key: string }).key)
  app.register(async (raw) => {
    raw.removeAllContentTypeParsers()
    // Producers send JSON under all sorts of types; what counts is the body.
    raw.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) =>
      isStreamed(request, routeOf(request)) ? payload : partsOf(request, payload),
    )
    raw.addHook('onRequest', async (request) =>
      budget.reserve(request, isStreamed(request, routeOf(request))),
    )
    raw.addHook('onResponse', async (request) => budget.release(request))
    raw.post<{ Params: { key: string }; Body?: Buffer[] | IncomingMessage }>(
      '/ingest/:key',
      {
        schema: {
          tags: ['ingest'],
          operationId: 'ingest',
          summary: 'Store events: a JSON object, an array, or NDJSON; gzip is taken',
          response: answers(202, 'ingest-result.json'),
        },
      },
      async (request, reply) => {
        const route = routeOf(request) ?? fail('not_found', 'unknown ingest key: no source has it')
        const echo = request.headers['x-vercel-verify']
        if (typeof echo === 'string' && /^[\x21-\x7e]{1,256}$/.test(echo))
          reply.header('x-vercel-verify', echo)
        const wire = request.body ?? []
        const call = callOf(request, route)
        const result = Array.isArray(wire)
          ? await engine.ingest({ ...call, ...((await decode(request, wire)) ?? { body: wire }) })
          : await ingestStream(engine, wire, call)
        return reply.code(202).send(result)
      },
    )
  })
  app.get<{ Params: { key: string } }>(
    '/ingest/:key',
    {
      schema: {
        tags: ['ingest'],
        operationId: 'explainIngest',
        summary: 'Explains the ingest URL',
        response: answers(200, null),
      },
    },
    async (request, reply) => {
      const echo = request.headers['x-vercel-verify']
      if (typeof echo === 'string' && /^[\x21-\x7e]{1,256}$/.test(echo)) reply.header('x-vercel-verify', echo)
      return {
        ok: true,
        detail:
          'This is an ingest URL: POST a JSON object, a JSON array, or NDJSON to it, gzip if you like; an answer of 202 means the events are on disk.',
      }
    },
  )
  app.post<{ Body: RememberRequest }>(
    '/remember',
    {
      schema: {
        tags: ['ingest'],
        operationId: 'remember',
        summary: 'Record an observation about an entity',
        body: body('request-remember.json'),
        response: answers(202, 'remember-result.json'),
      },
    },
    async (request, reply) => {
      if (request.identity.sourceId !== null)
        throw new SvcError('forbidden', 'this key only writes to the source it was made for')
      const result = await engine.remember(request.body, request.identity, idempotencyKey(request))
      await auth.refresh()
      return reply.code(202).send(result)
    },
  )
}

/**
 * Whether the body is stored while it comes: NDJSON that is too long to be held, or may be. A signature
 * covers the whole body, so that nothing may be stored before its end.
 */
function isStreamed({ headers }: FastifyRequest, route: IngestRoute | undefined): boolean {
  const type = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  const length = headers['content-length']
  return (
    NDJSON_TYPES.has(type) && route?.signed === false && (length === undefined || Number(length) > WIRE_MAX)
  )
}

/** @throws SvcError invalid */
function callOf(request: FastifyRequest, route: IngestRoute): Omit<IngestPost, 'body'> {
  return {
    ingestKey: route.ingestKey,
    ...(route.wantsHeaders ? { headers: headersOf(request) } : {}),
    // The header is not covered by a signature, so a signature alone does not carry it.
    bypassCooldown:
      request.identity !== undefined &&
      /^\s*(1|true)\s*$/i.test(String(request.headers['x-svc-bypass-cooldown'] ?? '')),
    idempotencyKey: idempotencyKey(request),
    caller: request.identity?.id ?? `signed:${route.sourceId}`,
  }
}

/** @throws SvcError */
function ingestStream(
  engine: Doors['engine'],
  wire: IncomingMessage,
  call: Omit<IngestPost, 'body'>,
): Promise<IngestResult> {
  const { idempotencyKey: key } = call
  return storePieces(piecesOf(streamOf(wire)), ({ bytes }, n, itemsBefore) =>
    engine.ingest({
      ...call,
      body: bytes,
      itemsBefore,
      // Cut the same way again, a repeat finds the pieces that are stored.
      ...(key !== undefined && n > 0 ? { idempotencyKey: `${key}#${n}` } : {}),
    }),
  )
}

/** @throws SvcError invalid */
function idempotencyKey(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key))
    fail('invalid', 'Idempotency-Key must be 1 to 255 visible ASCII characters', { field: 'Idempotency-Key' })
  return key
}

/** Headers a connector may look at; never a credential. */
function headersOf(request: FastifyRequest): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headers).filter(
      ([name, value]) =>
        typeof value === 'string' && name !== 'authorization' && name !== 'cookie' && name !== 'x-svc-token',
    ),
  ) as Record<string, string>
}

class Budget {
  private used = 0
  private readonly held = new WeakMap<FastifyRequest, number>()

  /** @throws SvcError too_many */
  reserve(request: FastifyRequest, streamed: boolean): void {
    const said = Math.min(WIRE_MAX, Number(request.headers['content-length'] ?? 64 * 1024)) || 0
    // One piece is read while another is stored.
    const size = streamed ? 2 * LIMITS.piece : said
    if (this.used + size > IN_FLIGHT_MAX)
      throw new SvcError('too_many', 'too much is being ingested at once; try again in a second', {
        retryAfter: 1,
      })
    this.used += size
    this.held.set(request, size)
  }

  release(request: FastifyRequest): void {
    this.used -= this.held.get(request) ?? 0
    this.held.delete(request)
  }
}
