/** Events in (SPEC.md, Ingest and reads): POST /ingest/<ingest_key> and POST /remember. */
import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { fail, SvcError } from '../../../engine/index.ts'
import type { RememberRequest } from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { answers, body } from '../validate.ts'

const WIRE_MAX = 16 * 1024 * 1024
const INFLATED_MAX = 64 * 1024 * 1024
/** A real log compresses to a tenth; a bomb to a thousandth. */
const RATIO_MAX = 100
const RATIO_FREE = 1024 * 1024
/** Bodies in memory at once; past it producers are told to wait. */
const IN_FLIGHT_MAX = 128 * 1024 * 1024

const inflate = promisify(gunzip)

export function ingestRoutes(app: FastifyInstance, { engine, auth }: Doors): void {
  const budget = new Budget()
  app.register(async (raw) => {
    raw.removeAllContentTypeParsers()
    // Producers send JSON under all sorts of types; what counts is the body.
    raw.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage) =>
      partsOf(request, payload),
    )
    raw.addHook('onRequest', async (request) => budget.reserve(request))
    raw.addHook('onResponse', async (request) => budget.release(request))
    raw.post<{ Params: { key: string }; Body?: Buffer[] }>(
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
        const route =
          auth.ingestRoute(request.params.key) ?? fail('not_found', 'unknown ingest key: no source has it')
        const echo = request.headers['x-vercel-verify']
        if (typeof echo === 'string' && /^[\x21-\x7e]{1,256}$/.test(echo))
          reply.header('x-vercel-verify', echo)
        const wire = request.body ?? []
        const inflated = await decode(request, wire)
        const result = await engine.ingest({
          ingestKey: route.ingestKey,
          ...(inflated ?? { body: wire }),
          ...(route.wantsHeaders ? { headers: headersOf(request) } : {}),
          // The header is not covered by a signature, so a signature alone does not carry it.
          bypassCooldown:
            request.identity !== undefined &&
            /^\s*(1|true)\s*$/i.test(String(request.headers['x-svc-bypass-cooldown'] ?? '')),
          idempotencyKey: idempotencyKey(request),
          caller: request.identity?.id ?? `signed:${route.sourceId}`,
        })
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
 * The body in the parts it arrived in: they are handed on as they are, for joining them here would
 * hold up the other requests. @throws SvcError too_large, invalid
 */
function partsOf(request: FastifyRequest, payload: IncomingMessage): Promise<Buffer[]> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let size = 0
    const end = (): void => resolve(parts)
    const refuse = (): void => {
      // The stream is left as it is: the answer closes the connection.
      payload.off('data', take).off('end', end)
      reject(new SvcError('too_large', 'the body is larger than this route takes (16 MiB)'))
    }
    const cut = (): void => reject(new SvcError('invalid', 'the body was cut short'))
    const take = (part: Buffer): void => {
      size += part.length
      if (size > WIRE_MAX) refuse()
      else parts.push(part)
    }
    if (Number(request.headers['content-length'] ?? 0) > WIRE_MAX) refuse()
    else payload.on('data', take).on('end', end).on('error', cut)
  })
}

/**
 * The body inflated, with its bytes on the wire; null where it is not compressed.
 * @throws SvcError unsupported_media, invalid, too_large
 */
async function decode(
  request: FastifyRequest,
  parts: readonly Buffer[],
): Promise<{ body: Buffer; wireBody: Buffer } | null> {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (encoding === 'identity' || encoding === '') return null
  if (encoding !== 'gzip' && encoding !== 'x-gzip')
    fail('unsupported_media', 'the Content-Encoding must be gzip, once, or none')
  const wire = Buffer.concat(parts)
  const limit = Math.min(INFLATED_MAX, Math.max(RATIO_FREE, wire.length * RATIO_MAX))
  try {
    return { body: await inflate(wire, { maxOutputLength: limit }), wireBody: wire }
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE')
      return fail(
        'too_large',
        limit === INFLATED_MAX
          ? 'the body decompresses to more than 64 MB'
          : 'the body decompresses to more than 100 times its size',
      )
    return fail('invalid', 'the body is not valid gzip')
  }
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
  reserve(request: FastifyRequest): void {
    const size = Math.min(WIRE_MAX, Number(request.headers['content-length'] ?? 64 * 1024)) || 0
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
