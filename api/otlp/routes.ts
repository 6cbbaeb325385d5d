/** OTLP/HTTP (SPEC.md, Ingest and reads): POST /v1/logs, /v1/traces and /v1/metrics, in JSON or protobuf. */
import type { IncomingMessage } from 'node:http'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { fail, type OtlpForm, type OtlpSignal, type SvcError } from '../../engine/index.ts'
import { ownField } from '../../schemas/fields-of.ts'
import { announced, idempotencyKey } from '../http/body-budget.ts'
import type { Doors } from '../http/doors.ts'
import { asSvcError, problemHeaders } from '../http/problems.ts'
import { answers, headers, takes } from '../http/validate.ts'
import { decode, partsOf } from '../http/whole-body.ts'
import { codeOf, jsonAnswer, protobufAnswer, protobufStatus } from './answer.ts'
import { receive } from './receive.ts'

const PROTOBUF = 'application/x-protobuf'
const ENCODINGS: Record<string, OtlpForm['encoding']> = {
  'application/json': 'json',
  [PROTOBUF]: 'protobuf',
  'application/protobuf': 'protobuf',
}
const SIGNALS: readonly OtlpSignal[] = ['logs', 'traces', 'metrics']

export function otlpRoutes(app: FastifyInstance, doors: Doors): void {
  app.register(async (raw) => {
    raw.removeAllContentTypeParsers()
    raw.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage) =>
      partsOf(request, payload, '16 MiB'),
    )
    raw.setErrorHandler((error: FastifyError | SvcError, request, reply) =>
      refuse(request, reply, asSvcError(error, doors.log)),
    )
    raw.addHook('onRequest', async (request, reply) => {
      reply.raw.once('close', () => doors.bodies.abandon(request.raw))
      await doors.bodies.hold(request.raw, announced(request))
    })
    raw.addHook('onResponse', async (request) => doors.bodies.abandon(request.raw))
    for (const signal of SIGNALS)
      raw.post<{ Body?: Buffer[] }>(
        `/v1/${signal}`,
        {
          schema: {
            tags: ['ingest'],
            operationId: `export${signal[0]!.toUpperCase()}${signal.slice(1)}`,
            summary: `Store ${signal} of OpenTelemetry, OTLP/HTTP in JSON or protobuf; gzip, deflate and zstd are taken`,
            ...takes({ 'application/json': `request-otlp-${signal}.json`, [PROTOBUF]: null }),
            ...headers('IdempotencyKey', 'ExportSource'),
            response: answers(200, { media: { 'application/json': 'otlp-answer.json', [PROTOBUF]: null } }),
          },
        },
        async (request, reply) =>
          doors.bodies.during(request.raw, () => exported(signal, request, reply, doors)),
      )
  })
}

async function exported(
  signal: OtlpSignal,
  request: FastifyRequest<{ Body?: Buffer[] }>,
  reply: FastifyReply,
  doors: Doors,
): Promise<FastifyReply> {
  const wire = request.body ?? []
  const encoding = encodingOf(request) ?? refusedType(wire)
  // Of protobuf no byte is an export of nothing.
  if (encoding === 'json' && wire.length === 0) fail('invalid', EMPTY)
  const plain = await decode(request.headers['content-encoding'], wire, (bytes) =>
    doors.bodies.hold(request.raw, bytes),
  )
  const source = request.headers['x-svc-source']
  const result = await receive(doors, {
    form: { signal, encoding },
    body: plain?.body ?? wire,
    source: typeof source === 'string' ? source.trim() : undefined,
    idempotencyKey: idempotencyKey(request),
    caller: request.identity,
  })
  if (encoding === 'protobuf') return reply.type(PROTOBUF).send(protobufAnswer(result))
  return reply.type('application/json').send(JSON.stringify(jsonAnswer(signal, result)))
}

const EMPTY = `the body is empty; it must be an export, in JSON or ${PROTOBUF}`

/** @throws SvcError: of a type that is not taken, or of none because nothing was sent. */
function refusedType(wire: readonly Buffer[]): never {
  if (wire.length === 0) fail('invalid', EMPTY)
  return fail('unsupported_media', `the Content-Type must be application/json or ${PROTOBUF}`)
}

function encodingOf(request: FastifyRequest): OtlpForm['encoding'] | undefined {
  const type = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  return ownField(ENCODINGS, type)
}

/** As every refusal is, and as exporters read it: {detail} and {code, message} in one, or a Status. */
function refuse(request: FastifyRequest, reply: FastifyReply, error: SvcError): FastifyReply {
  problemHeaders(reply, error)
  // The only statuses after which an exporter tries again are 429, 502, 503 and 504.
  if (error.code === 'storage_full') reply.code(503)
  if (encodingOf(request) === 'protobuf') return reply.type(PROTOBUF).send(protobufStatus(error))
  return reply
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ detail: error.message, code: codeOf(error), message: error.message }))
}
