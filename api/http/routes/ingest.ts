/** Events in (SPEC.md, Ingest and reads): POST /ingest/<ingest_key> and POST /remember. */
import type { IncomingMessage } from 'node:http'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { fail, type IngestPost, type IngestRoute, SvcError } from '../../../engine/index.ts'
import type { IngestResult, RememberRequest } from '../../../schemas/types.ts'
import { FIREHOSE_KEY, type Identity, SELF_MADE } from '../auth.ts'
import { announced, type BodyBudget, idempotencyKey } from '../body-budget.ts'
import type { Doors } from '../doors.ts'
import { formPayload, typeOf } from '../form-body.ts'
import { outcomeOf } from '../guard.ts'
import { storePieces } from '../ingest-pieces.ts'
import { isOfManyLines, LIMITS, piecesOf } from '../ndjson.ts'
import { notFound } from '../not-found.ts'
import { asSvcError, problemHandler } from '../problems.ts'
import { cloudEventOf } from '../senders/cloudevents.ts'
import { DATADOG_KEY, saidInQuery } from '../senders/datadog.ts'
import {
  clusterAnswer,
  ingestBulk,
  isToElasticsearch,
  refuseAsCluster,
  sendAsCluster,
} from '../senders/elasticsearch.ts'
import { lokiPushOf } from '../senders/loki.ts'
import { lookWithoutKey, rawEvents, TO_SPLUNK, WELL } from '../senders/splunk.ts'
import { streamOf } from '../stream-body.ts'
import { answers, body, headers, mayTake } from '../validate.ts'
import { decode, partsOf, WIRE_MAX } from '../whole-body.ts'
import {
  answerSender,
  answerVerification,
  handshakeOf,
  lookAnswer,
  sendLook,
  sizeOf,
  wantedBy,
} from './sender-answers.ts'

/** Types producers give NDJSON; there is no registered one. */
const NDJSON_TYPES = new Set([
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/x-jsonl',
  'application/jsonlines',
])

export const isNdjson = (request: Pick<FastifyRequest, 'headers'>): boolean =>
  NDJSON_TYPES.has(typeOf(request))

const failUnknown = (): never => fail('not_found', 'unknown ingest key: no source has it')

/** A signature covers the whole body, so that no way is open to longer ones. */
const SIGNED_LIMIT = '16 MiB of a source that checks signatures; send it in parts'

/** The pattern of the route. */
export const INGEST = '/ingest/:key'

export function ingestRoutes(app: FastifyInstance, doors: Doors): void {
  const { engine, auth } = doors
  const streaming = new WeakSet<FastifyRequest>()
  const budgetOf = (request: FastifyRequest): BodyBudget =>
    streaming.has(request) ? doors.streams : doors.bodies
  const routeOf = (request: FastifyRequest): IngestRoute | undefined =>
    auth.ingestRoute((request.params as { key: string }).key)
  app.register(async (raw) => {
    raw.removeAllContentTypeParsers()
    // Producers send JSON under all sorts of types; what counts is the body.
    raw.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) =>
      outcomeOf(payload)
        ? []
        : streaming.has(request)
          ? payload
          : partsOf(request, payload, routeOf(request)?.signed ? SIGNED_LIMIT : undefined),
    )
    const refuse = problemHandler(doors.log)
    raw.setErrorHandler((error: FastifyError | SvcError, request, reply) =>
      isToElasticsearch(request.originalUrl)
        ? refuseAsCluster(reply, asSvcError(error, doors.log))
        : refuse(error, request, reply),
    )
    raw.addHook('onRequest', async (request, reply) => {
      if (outcomeOf(request.raw)) return
      reply.raw.once('close', () => budgetOf(request).abandon(request.raw))
      const isStream = isStreamed(request, routeOf(request))
      if (isStream) streaming.add(request)
      await budgetOf(request).hold(request.raw, isStream ? STREAM_BEGINS : announced(request))
    })
    raw.addHook('onResponse', async (request) => budgetOf(request).abandon(request.raw))
    raw.post<{ Params: { key: string }; Body?: Buffer[] | IncomingMessage }>(
      INGEST,
      {
        schema: {
          tags: ['ingest'],
          operationId: 'ingest',
          summary: 'Store events: a JSON object, an array, or NDJSON; gzip, deflate and zstd are taken',
          // None is a test of the address.
          ...mayTake({
            'application/json': 'request-ingest.json',
            'application/x-ndjson': null,
            'application/x-www-form-urlencoded': 'request-ingest-form.json',
          }),
          ...headers('IdempotencyKey', 'BypassCooldown'),
          response: { ...answers(202, 'ingest-result.json'), ...answers(200, 'ingest-result.json') },
        },
      },
      async (request, reply) => {
        const outcome = outcomeOf(request.raw)
        if (outcome && 'result' in outcome) return reply.code(202).send(outcome.result)
        return budgetOf(request).during(request.raw, () => ingested(request, reply, doors))
      },
    )
  })
  app.get<{ Params: { key: string } }>(
    INGEST,
    {
      schema: {
        tags: ['ingest'],
        operationId: 'explainIngest',
        summary: 'Explains the ingest URL',
        response: answers(200, 'ingest-explained.json'),
      },
    },
    async (request, reply) => {
      const route = auth.ingestRoute(request.params.key)
      // The address that makes its own source is one before there is that source.
      if (!route && request.params.key !== SELF_MADE) failUnknown()
      answerVerification(request, reply, route)
      const told = clusterAnswer(request.originalUrl, request.raw)
      if (told) return sendAsCluster(reply, told)
      const look = lookAnswer(request)
      if (look !== null) return sendLook(reply, look)
      return {
        ok: true,
        detail:
          'This is an ingest URL: POST a JSON object, a JSON array, or NDJSON to it, compressed if you like; an answer of 202 means the events are on disk.',
      }
    },
  )
  app.options<{ Params: { key: string } }>(INGEST, { schema: { hide: true } }, async (request, reply) => {
    const given = handshakeOf(request.headers)
    const isLook = lookWithoutKey(request.raw, request.originalUrl) !== null
    if (isLook) return reply.code(200).send(WELL)
    if (given === null) return notFound(request, reply)
    if (!routeOf(request)) failUnknown()
    return reply.code(200).headers(given).send()
  })
  app.post<{ Body: RememberRequest }>(
    '/remember',
    {
      schema: {
        tags: ['ingest'],
        operationId: 'remember',
        summary: 'Record an observation about an entity',
        body: body('request-remember.json'),
        ...headers('IdempotencyKey'),
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

async function ingested(
  request: FastifyRequest<{ Body?: Buffer[] | IncomingMessage }>,
  reply: FastifyReply,
  doors: Doors,
): Promise<FastifyReply> {
  const { engine, auth, bodies, streams, clock } = doors
  const wire = request.body ?? []
  const given = Array.isArray(wire) ? await wholeOf(request, wire, bodies) : null
  const known = auth.ingestRoute((request.params as { key: string }).key)
  if (given?.unreadable) return refuseUnreadable(request, known, given, engine)
  const route = known ?? (await selfMade(request, given?.body ?? [], doors))
  if (!route) return reply.code(202).send({ ingested: 0 })
  const told = clusterAnswer(request.originalUrl, request.raw, given?.body ?? [])
  if (told) return sendAsCluster(reply, told)
  answerVerification(request, reply, route)
  if (given && sizeOf(given.body) === 0) {
    const look = lookAnswer(request)
    if (look !== null) return sendLook(reply, look)
    if (route.connector === 'vercel') return reply.code(200).send({ ingested: 0 })
  }
  const wanted = given ? wantedBy(request, route, given.body) : null
  const call = callOf(request, route)
  if (call.headers) Object.assign(call.headers, saidInQuery(request.originalUrl))
  if (given && isToElasticsearch(request.originalUrl))
    return ingestBulk(request, reply, { ...call, ...signedBody(route, given) }, doors)
  const isGood = () => auth.stillHolds(request.identity)
  const many = given && manyLines(request, route, given.body)
  const result = many
    ? await ingestStream(engine, many, call, isGood)
    : given
      ? route.isSns
        ? await ingestSns(engine, given, call, route.signed)
        : await engine.ingest({ ...call, ...given })
      : await ingestStream(engine, held(streamOf(wire as IncomingMessage), request, streams), call, isGood)
  return answerSender(reply, result, wanted, clock.now())
}

/**
 * Whether the body is stored while it comes: NDJSON that is too long to be held, or may be. A signature
 * covers the whole body, so that nothing may be stored before its end.
 */
function isStreamed(request: FastifyRequest, route: IngestRoute | undefined): boolean {
  const length = request.headers['content-length']
  if (isToElasticsearch(request.originalUrl) || TO_SPLUNK.test(request.originalUrl)) return false
  return isNdjson(request) && route?.signed === false && (length === undefined || Number(length) > WIRE_MAX)
}

/** The parts of NDJSON that is short enough to be held and has more lines than are taken at once; null for all else. */
function manyLines(
  request: FastifyRequest,
  route: IngestRoute,
  body: Uint8Array | readonly Uint8Array[],
): readonly Uint8Array[] | null {
  if (route.signed || !isNdjson(request)) return null
  const parts = body instanceof Uint8Array ? [body] : body
  return isOfManyLines(parts) ? parts : null
}

/** @throws SvcError invalid */
export function callOf(
  request: Pick<FastifyRequest, 'headers' | 'identity'>,
  route: IngestRoute,
): Omit<IngestPost, 'body'> {
  return {
    ingestKey: route.ingestKey,
    ...(route.wantsHeaders ? { headers: headersOf(request) } : {}),
    // The header is not covered by a signature, so a signature alone does not carry it.
    bypassCooldown:
      mayIngest(request.identity as Identity | null, route) &&
      /^\s*(1|true)\s*$/i.test(String(request.headers['x-svc-bypass-cooldown'] ?? '')),
    idempotencyKey: idempotencyKey(request),
    caller: request.identity?.id ?? `signed:${route.sourceId}`,
  }
}

/** Whether the credential alone would open the ingest URL, signature or not. */
function mayIngest(identity: Identity | null, route: IngestRoute): boolean {
  if (!identity || identity.project !== null) return false
  const { scopes, sourceId } = identity
  return (
    (scopes.includes('ingest') || scopes.includes('admin')) &&
    (sourceId === null || sourceId === route.sourceId)
  )
}

/** What a stream takes in memory before anything of it came. */
const STREAM_BEGINS = 64 * 1024

/**
 * The parts of a stream, each once there is room for what is held of it: one piece is read while another is stored, and of
 * a stream that trickles there is little of both.
 */
async function* held(
  parts: AsyncIterable<Buffer>,
  request: FastifyRequest,
  streams: BodyBudget,
): AsyncGenerator<Buffer> {
  let size = 0
  for await (const part of parts) {
    size += part.length
    await streams.hold(request.raw, Math.min(2 * LIMITS.piece, STREAM_BEGINS + 2 * size))
    yield part
  }
}

/** @param isGood whether the credential has not been revoked while it comes. @throws SvcError */
function ingestStream(
  engine: Doors['engine'],
  parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  call: Omit<IngestPost, 'body'>,
  isGood: () => boolean,
): Promise<IngestResult> {
  const { idempotencyKey: key } = call
  return storePieces(piecesOf(parts), ({ bytes }, n, itemsBefore) => {
    if (!isGood()) throw new SvcError('unauthenticated', 'the credential was revoked meanwhile')
    return engine.ingest({
      ...call,
      body: bytes,
      itemsBefore,
      // Cut the same way again, a repeat finds the pieces that are stored.
      ...(key !== undefined && n > 0 ? { idempotencyKey: `${key}#${n}` } : {}),
    })
  })
}

/** A body with what its signature covers, where its source checks one and something else of it is stored. */
const signedBody = ({ signed }: IngestRoute, { body, wireBody }: WholeBody): WholeBody =>
  signed
    ? { body, wireBody: wireBody ?? Buffer.concat(body instanceof Uint8Array ? [body] : body) }
    : { body }

/** Of Amazon SNS: stored where its signature holds, and a subscription is confirmed then; what fails, SNS sends again. */
async function ingestSns(
  engine: Doors['engine'],
  given: WholeBody,
  call: Omit<IngestPost, 'body'>,
  isSigned: boolean,
): Promise<IngestResult> {
  // A copy: what is stored is handed to the engine.
  const message = given.body instanceof Uint8Array ? Buffer.from(given.body) : Buffer.concat(given.body)
  const certificate = isSigned ? await engine.snsCertificate(message) : null
  const result = await engine.ingest({ ...call, ...given, certificate })
  await engine.confirmSns(message)
  return result
}

/**
 * Makes the source at the address that needs none, where the body is for it.
 * @returns null where the body holds nothing. @throws SvcError not_found for any other address
 */
async function selfMade(
  { identity, params }: FastifyRequest,
  body: Uint8Array | readonly Uint8Array[],
  { engine, auth }: Doors,
): Promise<IngestRoute | null> {
  if ((params as { key: string }).key !== SELF_MADE) return failUnknown()
  if (identity.sourceId !== null) fail('forbidden', 'this key only writes to the source it was made for')
  const whole = body instanceof Uint8Array ? body : Buffer.concat(body)
  if (!(await engine.makeFirstSource(SELF_MADE, { body: whole }, identity))) return null
  await auth.refresh()
  return auth.ingestRoute(SELF_MADE) ?? null
}

/** A body that is held, whole. */
type WholeBody = Pick<IngestPost, 'body' | 'wireBody' | 'unreadable' | 'isLokiPush'>

/** @throws SvcError invalid, of a form */
async function wholeOf(
  request: FastifyRequest,
  parts: readonly Buffer[],
  bodies: BodyBudget,
): Promise<WholeBody> {
  let inflated: Awaited<ReturnType<typeof decode>>
  try {
    const push = await lokiPushOf(request, parts, bodies)
    if (push) return push
    inflated = await decode(request.headers['content-encoding'], parts, (bytes) =>
      bodies.hold(request.raw, bytes),
    )
  } catch (error) {
    return asUnreadable(error, parts)
  }
  const given = inflated ?? { body: parts }
  const lines = rawEvents(request.originalUrl, given.body)
  if (lines) return { body: lines, wireBody: inflated?.wireBody ?? Buffer.concat(parts) }
  const event = cloudEventOf(request, given.body)
  if (event) return { body: event, wireBody: inflated?.wireBody ?? Buffer.concat(parts) }
  return formPayload(request, given.body, inflated?.wireBody) ?? given
}

/** What could not be unpacked, for its source to tell. @throws the error, where it is not of the body */
function asUnreadable(error: unknown, parts: readonly Buffer[]): WholeBody {
  if (!(error instanceof SvcError)) throw error
  const { code, message: detail } = error
  if (code !== 'unsupported_media' && code !== 'invalid' && code !== 'too_large') throw error
  return { body: Buffer.alloc(0), wireBody: Buffer.concat(parts), unreadable: { code, detail } }
}

/** Senders of logs look at no answer: what is wrong with their bodies is told on their source, as of all that is refused. */
async function refuseUnreadable(
  request: FastifyRequest,
  route: IngestRoute | undefined,
  given: WholeBody,
  engine: Doors['engine'],
): Promise<never> {
  if (route) await engine.ingest({ ...callOf(request, route), ...given })
  const { code, detail } = given.unreadable!
  return fail(code, detail)
}

const CREDENTIALS: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'x-svc-token',
  FIREHOSE_KEY,
  DATADOG_KEY,
])

/** Headers a connector may look at; never a credential. */
function headersOf({ headers }: Pick<FastifyRequest, 'headers'>): Record<string, string> {
  const shown: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (typeof value === 'string' && !CREDENTIALS.has(name)) shown[name] = value
  }
  return shown
}
