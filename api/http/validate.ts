/** Bodies are checked by the schemas' own validator, so every door says the same of a fault. */
import { Ajv, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import { SvcError } from '../../engine/index.ts'
import { annotationKeywords, check, explain } from '../../schemas/index.ts'

/** Query strings and path parameters are text; numbers and booleans in them are read as such. */
const query = new Ajv({ coerceTypes: 'array', useDefaults: true, removeAdditional: false, allErrors: true })
for (const keyword of annotationKeywords) query.addKeyword(keyword)

/** Marks the schema of a body that may be absent. */
const OPTIONAL = 'x-optional-body'

/** A route's body schema is `{ $ref: '<id>#' }`; nothing is coerced, dropped or filled in. */
export const validatorCompiler: FastifySchemaCompiler<BodySchema> = ({ schema, httpPart }) => {
  if (httpPart === 'body') return bodyValidator(schema)
  let compiled: ValidateFunction | undefined
  return (value) => {
    // Not before it is needed: there is one for nearly every route, and a start waits for none.
    compiled ??= query.compile(schema)
    if (!compiled(value)) return { error: new SvcError('invalid', explain(compiled.errors ?? [])) }
    const vast = vastField(value)
    return vast === null ? { value } : { error: new SvcError('invalid', `${vast} must be at most 2^53`) }
  }
}

interface BodySchema {
  $ref?: string
  [OPTIONAL]?: true
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

/** `{ $ref }` to a body schema. */
export const body = (id: string) => ({ $ref: `${id}#` })

/** The same of a body that need not be sent: the handler then gets none. */
export const optionalBody = (id: string) => ({ $ref: `${id}#`, [OPTIONAL]: true as const })

/** Answers of a route for the API document; they are not used to write answers. */
export const answers = (status: number, id: string | null) => ({
  [status]:
    id === null
      ? { description: 'Done.', type: 'object', additionalProperties: true }
      : { description: 'Done.', $ref: `${id}#` },
  '4xx': { description: 'Refused; detail names the field and the rule.', $ref: 'problem.json#' },
})

/** Query string fields, none of them unknown. */
export const fields = (properties: Record<string, unknown>, required: string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
