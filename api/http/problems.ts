/** Every error as `{"detail": "<plain sentence>"}` with the status of its kind (SPEC.md, Errors). */
import { randomBytes } from 'node:crypto'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { SvcError } from '../../engine/index.ts'
import { refusalOfSplunk } from './senders/splunk.ts'
import { TAKES } from './validate.ts'
import { describeSize } from './whole-body.ts'

/** Answers with an SvcError. */
export function sendProblem(reply: FastifyReply, error: SvcError): FastifyReply {
  const { retryAfter: _wait, allow: _allow, field: _field, about: _about, ...more } = error.extra
  return problemHeaders(reply, error)
    .type('application/json; charset=utf-8')
    .send(
      JSON.stringify({
        detail: error.message,
        ...refusalOfSplunk(reply.request.originalUrl, error),
        ...more,
      }),
    )
}

/** Status and headers of a refusal, whatever its body is. */
export function problemHeaders(reply: FastifyReply, error: SvcError): FastifyReply {
  const { retryAfter, allow } = error.extra
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter))
  if (allow !== undefined) reply.header('allow', allow)
  if (error.code === 'unauthenticated') reply.header('www-authenticate', 'Bearer')
  // A refusal before the body was read leaves bytes on the wire that are no next request.
  if (!reply.request.raw.complete && error.status >= 400) reply.header('connection', 'close')
  return reply.code(error.status)
}

const TOO_LARGE = 'FST_ERR_CTP_BODY_TOO_LARGE'
const UNKNOWN_MEDIA = 'FST_ERR_CTP_INVALID_MEDIA_TYPE'
/** Fastify's own refusals in our words. */
const FRAMEWORK: Record<string, (error: FastifyError) => SvcError> = {
  [UNKNOWN_MEDIA]: () => new SvcError('unsupported_media', 'the Content-Type must be application/json'),
  FST_ERR_CTP_EMPTY_JSON_BODY: () => new SvcError('invalid', 'the body is empty; it must be a JSON object'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new SvcError('invalid', 'the Content-Length does not match the body'),
  FST_ERR_CTP_INVALID_JSON_BODY: () => new SvcError('invalid', 'the body is not valid JSON'),
  FST_ERR_MAX_PARAM_LENGTH: () => new SvcError('invalid', 'a name in the path is longer than 500 characters'),
  FST_ERR_BAD_URL: () => new SvcError('invalid', 'the path is not a valid URL path'),
}

/** The error handler of the server. */
export function problemHandler(log: Logger) {
  return (error: FastifyError | SvcError, request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    sendProblem(reply, tooLarge(error, request) ?? otherMedia(error, request) ?? asSvcError(error, log))
}

/** A body of another type, on a route that takes other types than JSON; null: it is another fault. */
function otherMedia({ code }: FastifyError | SvcError, request: FastifyRequest): SvcError | null {
  const schema = request.routeOptions.schema as Record<string, object | undefined> | undefined
  const types = Object.keys(schema?.[TAKES] ?? {})
  if (code !== UNKNOWN_MEDIA || types.length === 0) return null
  return new SvcError('unsupported_media', `the Content-Type must be ${types.join(' or ')}`)
}

/** A body over what its route takes; null: it is another fault. */
function tooLarge({ code }: FastifyError | SvcError, request: FastifyRequest): SvcError | null {
  const { bodyLimit } = request.routeOptions
  if (code !== TOO_LARGE || bodyLimit === undefined) return null
  return new SvcError('too_large', `the body is larger than this route takes (${describeSize(bodyLimit)})`)
}

export function asSvcError(error: FastifyError | SvcError | Error, log: Logger): SvcError {
  if (error instanceof SvcError) return error
  const known = FRAMEWORK[(error as FastifyError).code ?? '']
  if (known) return known(error as FastifyError)
  if (error instanceof SyntaxError) return new SvcError('invalid', 'the body is not valid JSON')
  if ((error as FastifyError).statusCode === 415)
    return new SvcError('unsupported_media', 'the Content-Type or Content-Encoding is not accepted')
  if ((error as FastifyError).statusCode === 413)
    return new SvcError('too_large', 'the body is larger than this route takes')
  if ((error as FastifyError).statusCode === 404) return new SvcError('not_found', 'nothing is at this path')
  const client = (error as FastifyError).statusCode
  if (client !== undefined && client >= 400 && client < 500)
    return new SvcError('invalid', 'the request cannot be read')
  const id = randomBytes(6).toString('hex')
  log.error({ err: error, id }, 'a fault of ours')
  return new SvcError('internal', `a fault of ours; the log has it under ${id}`)
}
