/** Routes made of operations: what each takes and answers is checked, its engine part runs where its role says. */

import { PassThrough } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import {
  type Fields,
  isRepeatable,
  isTextAlone,
  type NetworkInput,
  type Operation,
  type OperationInput,
  routeOf,
  type Tell,
} from '../../engine/index.ts'
import { askedBy } from './asked.ts'
import { idempotencyKey, refuseIdempotencyKey } from './body-budget.ts'
import type { Doors } from './doors.ts'
import { asSvcError } from './problems.ts'
import { patternOf } from './scopes.ts'
import { answers, body, fields, optionalBody, takes } from './validate.ts'
import { inflated } from './whole-body.ts'
import { callerOf, isKnown, userOf, withEtag, writeBy } from './write-by.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/** Adds the routes of a table of operations, in its order. */
export async function serve(app: FastifyInstance, doors: Doors, table: readonly Operation[]): Promise<void> {
  const bytes = table.flatMap((one) => Object.keys(one.takes ?? {}))
  const add = (to: FastifyInstance): void => {
    for (const one of table) to.route(routeFor(one, doors))
  }
  if (bytes.length === 0) return add(app)
  // Bytes are taken by these alone.
  await app.register(async (scope) => {
    scope.addContentTypeParser(bytes, { parseAs: 'buffer' }, (request: FastifyRequest, given: Buffer) =>
      inflated(request, given),
    )
    add(scope)
  })
}

function routeFor(operation: Operation, doors: Doors): RouteOptions {
  const { method, path } = routeOf(operation)
  const { bodyLimit } = operation
  return {
    method,
    url: patternOf(path),
    schema: schemaOf(operation) as never,
    ...(bodyLimit === undefined ? {} : { bodyLimit }),
    handler: async (request, reply) => {
      if (operation.tells && wantsLines(request.headers.accept))
        return inLines(reply, doors, (told) =>
          doors.engine.perform(operation.id, inputOf(operation, request, reply, doors, told)),
        )
      const input = inputOf(operation, request, reply, doors)
      if (operation.access === 'shows') await doors.auth.flushUsed()
      const answer = await doors.engine.perform(operation.id, input)
      if (operation.access === 'changes' && !onlyPlanned(answer)) await doors.auth.refresh()
      if (operation.hashed && isKnown(request, reply, answer)) return reply.code(304).send()
      return present(operation, input, answer, reply)
    },
  }
}

/** Of a process, by their operations: what one server has compiled of them the next finds, of which tests start many. */
const made = new WeakMap<Operation, object>()

function schemaOf(operation: Operation): object {
  const schema = made.get(operation) ?? makeSchema(operation)
  made.set(operation, schema)
  return schema
}

function makeSchema(operation: Operation): object {
  const { tag, id, summary, answer, status = 200, mayExist, params, query } = operation
  const shown = typeof answer === 'object' && 'schema' in answer ? answer.schema : answer
  return {
    tags: [tag],
    operationId: id,
    summary,
    response: { ...answers(status, shown), ...(mayExist ? answers(200, shown) : {}) },
    ...(params ? { params: { type: 'object', properties: params } } : {}),
    // Of one that takes no query a field is refused, too: what `dry_run` asks of it would be done.
    querystring: querystring(query ?? {}),
    ...(operation.body ? { body: body(operation.body) } : {}),
    ...(operation.optionalBody ? { body: optionalBody(operation.optionalBody) } : {}),
    ...(operation.takes ? takes(operation.takes) : {}),
  }
}

function querystring(given: Fields): object {
  const names = Object.keys(given).filter((name) => given[name]!.required)
  const properties = Object.entries(given).map(([name, { required: _, ...field }]) => [name, field])
  return fields(Object.fromEntries(properties), names)
}

function inputOf(
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
  doors: Doors,
  told?: Tell,
): NetworkInput<unknown, unknown, unknown> {
  const { params, query, identity } = request
  const taken = request.body instanceof Uint8Array ? request.body : new Uint8Array()
  return {
    params,
    query,
    body: operation.takes ? taken : request.body,
    caller: { ...callerOf(identity), scopes: identity.scopes },
    project: identity.project,
    user: userOf(request, doors.config.userHeader),
    secured: doors.auth.secured,
    by: writeBy(request),
    repeat: repeatOf(operation, request),
    asText: !told && isTextAlone(operation) ? true : undefined,
    get asked() {
      const asked = askedBy(request, reply, doors)
      return told ? { ...asked, told } : asked
    },
  }
}

/**
 * The Idempotency-Key of a call that takes one; what only reads needs none.
 * @throws SvcError invalid where it would be passed over, and the call done again with each repeat
 */
function repeatOf(operation: Operation, request: FastifyRequest): string | undefined {
  if (request.method !== 'POST') return undefined
  if (isRepeatable(operation)) return idempotencyKey(request)
  if (operation.role === 'network' && operation.scope !== 'read') refuseIdempotencyKey(request)
  return undefined
}

/** A change-set that was planned and not made: it changes nothing, and waits for nobody who writes. */
const onlyPlanned = (answer: unknown): boolean =>
  (answer as { change_set?: number | null } | null)?.change_set === null

async function present(
  { answer: shown, status = 200, mayExist, versioned, secret, file, type }: Operation,
  { params, query, asText }: OperationInput,
  answer: unknown,
  reply: FastifyReply,
): Promise<unknown> {
  reply.code(mayExist && (answer as { existing?: true }).existing ? 200 : status)
  if (secret) reply.header('cache-control', 'no-store')
  if (versioned) withEtag(reply, answer as { version?: number })
  if (file !== undefined) {
    const name = typeof file === 'string' ? file : file(params as never)
    reply.header('content-disposition', `attachment; filename="${name}"`)
  }
  if (asText && answer instanceof Uint8Array) return reply.type(JSON_TYPE).send(bytesOf(answer))
  if (typeof shown === 'string') return answer
  if ('media' in shown) reply.type(`${type?.(query as never) ?? Object.keys(shown.media)[0]}; charset=utf-8`)
  else if (shown.write) {
    reply.type(JSON_TYPE)
    return shown.write(answer as never)
  }
  return answer
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)

/*
 * An answer that takes long, as lines of JSON (NDJSON), where that was asked for: `{"progress":{"done","of"}}` while it
 * is worked out, and at last `{"status","answer"}`. What is answered or refused at once is answered as any other.
 */

const LINES = 'application/x-ndjson'
/** Between two lines, in milliseconds: a bar that moves needs no more. */
const EVERY_MS = 100

/** Whether an answer is wanted in lines. @param accept the header */
const wantsLines = (accept: string | undefined): boolean => accept?.includes(LINES) ?? false

/** @param run does it, and tells how far it is. @returns what is to be sent */
function inLines(
  reply: FastifyReply,
  { log, clock }: Pick<Doors, 'log' | 'clock'>,
  run: (told: Tell) => Promise<unknown>,
): Promise<unknown> {
  const lines = new PassThrough()
  let told: number | null = null
  const write = (line: string): void => void lines.write(`${line}\n`)
  return new Promise((resolve, reject) => {
    const tell: Tell = (progress) => {
      const now = clock.now()
      if (told !== null && now - told < EVERY_MS) return
      if (told === null) {
        reply.type(`${LINES}; charset=utf-8`).header('cache-control', 'no-store')
        resolve(lines)
      }
      told = now
      write(JSON.stringify({ progress }))
    }
    const end = (status: number, answer: string): void => {
      lines.end(`{"status":${status},"answer":${answer}}\n`)
    }
    const fail = (error: Error): void => {
      if (told === null) {
        reject(error)
        return
      }
      const { status, message, extra } = asSvcError(error, log)
      end(
        status,
        JSON.stringify({ detail: message, ...(extra.problems ? { problems: extra.problems } : {}) }),
      )
    }
    run(tell)
      .then((answer) => {
        if (told === null) resolve(answer)
        else
          end(200, String(reply.serializeInput(answer as Record<string, unknown>, '200', 'application/json')))
      })
      .catch(fail)
  })
}
