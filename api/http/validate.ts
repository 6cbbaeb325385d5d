/** Bodies are checked by the schemas' own validator, so every door says the same of a fault. */
import { Ajv, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import { SvcError } from '../../engine/index.ts'
import { schemaIds, schemaOf } from '../../schemas/all.ts'
import { annotationKeywords, check, explain } from '../../schemas/index.ts'
import { shapeOf } from '../../schemas/shape.ts'
import type { HeaderName } from './document/headers.ts'

/** Query strings and path parameters are text; numbers and booleans in them are read as such. */
const query = new Ajv({ coerceTypes: 'array', useDefaults: true, removeAdditional: false, allErrors: true })
for (const keyword of annotationKeywords) query.addKeyword(keyword)

/** Marks the schema of a body that may be absent. */
const OPTIONAL = 'x-optional-body'

/** A route's body schema is `{ $ref: '<id>#' }`; nothing is coerced, dropped or filled in. */
const validatorCompiler: FastifySchemaCompiler<BodySchema> = ({ schema, httpPart }) => {
  if (httpPart === 'body') return bodyValidator(schema)
  let compiled: ValidateFunction | undefined
  const most = mostOf(schema)
  return (value) => {
    // Not before it is needed: there is one for nearly every route, and a start waits for none.
    compiled ??= query.compile(most === null ? schema : withoutMost(schema))
    if (!compiled(value)) return { error: new SvcError('invalid', explain(compiled.errors ?? [])) }
    const vast = vastField(value)
    if (vast !== null) return { error: new SvcError('invalid', `${vast} must be at most 2^53`) }
    const page = value as { limit?: number }
    if (most !== null && page.limit !== undefined) page.limit = Math.min(most, page.limit)
    return { value }
  }
}

interface BodySchema {
  $ref?: string
  [OPTIONAL]?: true
  properties?: Readonly<Record<string, { readonly maximum?: number } | undefined>>
}

/**
 * Rows of a page at most; null: the list says no such number, or is paged by `offset`, where who goes on by the limit it
 * asked for would pass over rows, so that a larger one is refused.
 */
const mostOf = ({ properties = {} }: BodySchema): number | null =>
  properties.offset ? null : (properties.limit?.maximum ?? null)

/** The same where a `limit` may be larger. */
function withoutMost({ properties = {}, ...schema }: BodySchema): object {
  const { maximum: _, ...limit } = properties.limit!
  return { ...schema, properties: { ...properties, limit } }
}

function bodyValidator(schema: BodySchema): ReturnType<FastifySchemaCompiler<BodySchema>> {
  const id = schema.$ref?.replace(/#$/, '')
  if (!id) throw new Error('a body schema must be a $ref')
  return (value) => {
    // Of a body that is not sent the fields that are required are named.
    const isAbsent = value === null || value === undefined
    const fault =
      check(id, value ?? {}) ??
      (isAbsent && !schema[OPTIONAL] ? 'the body is empty; it must be a JSON object' : null)
    return fault ? { error: new SvcError('invalid', fault) } : { value }
  }
}

/** A number in a query that no bound of ajv catches: it reads Infinity as an integer, beyond every maximum. */
function vastField(value: unknown): string | null {
  const found = Object.entries(value as object).find(
    ([, one]) => typeof one === 'number' && Math.abs(one) > Number.MAX_SAFE_INTEGER,
  )
  return found?.[0] ?? null
}

const shapes = new WeakMap<object, ReturnType<typeof shapeOf>>()

/** Writes an answer as its schema has it: a field that is not in it does not leave. */
export function shaping(schema: object): (answer: unknown) => string {
  // Not before it is needed, as above.
  let shape: ReturnType<typeof shapeOf> | undefined
  return (answer) => {
    if (!shape) {
      shape = shapes.get(schema) ?? shapeOf(schema)
      shapes.set(schema, shape)
    }
    return JSON.stringify(shape(answer))
  }
}

/** Those a route may name; those of tools are for models and the other door. */
const schemas = Object.defineProperties(
  {},
  Object.fromEntries(
    schemaIds
      .filter((id) => !/^(mcp|ask|telemetry)-call-/.test(id))
      .map((id) => [id, { enumerable: true, get: () => schemaOf(id) }]),
  ),
) as Readonly<Record<string, object>>

/**
 * What Fastify checks bodies with and writes answers by. The schemas are given as they are: added one by one, Fastify
 * copies all of them again for each of 300 routes, a tenth of the processor time of a start.
 */
export const schemaController = {
  bucket: () => ({
    add: () => {
      throw new Error('schemas are in schemas/, not added to the server')
    },
    getSchema: (id: string) => schemas[id],
    getSchemas: () => schemas,
  }),
  compilersFactory: {
    buildValidator: () => validatorCompiler,
    buildSerializer:
      () =>
      ({ schema }: { schema: object }) =>
        shaping(schema),
  },
}

/** `{ $ref }` to a body schema. */
export const body = (id: string) => ({ $ref: `${id}#` })

/** The same of a body that need not be sent: the handler then gets none. */
export const optionalBody = (id: string) => ({ $ref: `${id}#`, [OPTIONAL]: true as const })

/**
 * What a route answers, for the API document: the $id of a schema, a list of such, or texts and schemas by media
 * type; null as a schema is text of that type.
 */
export type Answer = string | { listOf: string } | { media: Readonly<Record<string, string | null>> }

/**
 * Answers of a route for the API document; answers are written by them, too (shaping). Refusals are added there
 * (document/refusals.ts): they follow from what the route takes and who may call it.
 */
export const answers = (status: number, answer: Answer) => ({
  [status]: { description: DONE[status] ?? 'Done.', ...contentOf(answer) },
})

const DONE: Readonly<Record<number, string>> = {
  201: 'Made.',
  202: 'Taken.',
  405: 'Not with this method.',
  503: 'Stopping.',
}

function contentOf(answer: Answer): Record<string, unknown> {
  if (typeof answer === 'string') return { content: { [JSON_MEDIA]: { schema: body(answer) } } }
  if ('listOf' in answer)
    return { content: { [JSON_MEDIA]: { schema: { type: 'array', items: body(answer.listOf) } } } }
  return { content: mediaOf(answer.media) }
}

const JSON_MEDIA = 'application/json'

/** Of a type without a schema there is text, or where it is no text, bytes. */
const mediaOf = (media: Readonly<Record<string, string | null>>) =>
  Object.fromEntries(
    Object.entries(media).map(([type, id]) => [type, { schema: id === null ? plain(type) : body(id) }]),
  )

const plain = (type: string) => ({
  type: 'string',
  ...(/protobuf|octet-stream/.test(type) ? { format: 'binary' } : {}),
})

/**
 * What a route takes whose body is read as bytes, for the API document: schemas by media type, null as in
 * Answer. Nothing is checked by them.
 */
export const takes = (media: Readonly<Record<string, string | null>>) => ({ [TAKES]: mediaOf(media) })

/** The same where nothing may be sent. */
export const mayTake = (media: Readonly<Record<string, string | null>>) => ({
  ...takes(media),
  [TAKES_NOTHING_TOO]: true,
})

/** Headers a route reads beyond those of every request, for the API document: names of document/headers.ts. */
export const headers = (...names: readonly HeaderName[]) => ({ [HEADERS]: names })

/** Marks of a route that the API document reads and leaves out. */
export const TAKES = 'x-takes'
export const TAKES_NOTHING_TOO = 'x-takes-nothing-too'
export const HEADERS = 'x-headers'

/** Whether the schema of a body is of one that may be absent. */
export const isOptional = (schema: unknown): boolean =>
  typeof schema === 'object' && schema !== null && OPTIONAL in schema

/** Whether a call of the API document takes no body. @param schema that of its route */
export const isBodiless = (schema: unknown): boolean =>
  typeof schema === 'object' &&
  schema !== null &&
  'operationId' in schema &&
  !('body' in schema || TAKES in schema)

/** Query string fields, none of them unknown. */
export const fields = (properties: Record<string, unknown>, required: string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
