/** Bodies are checked by the schemas' own validator, so every door says the same of a fault. */
import { Ajv, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import { SvcError } from '../../engine/index.ts'
import { annotationKeywords, check, explain } from '../../schemas/index.ts'

/** Query strings and path parameters are text; numbers and booleans in them are read as such. */
const query = new Ajv({ coerceTypes: 'array', useDefaults: true, removeAdditional: false, allErrors: true })
for (const keyword of annotationKeywords) query.addKeyword(keyword)

/** A route's body schema is `{ $ref: '<id>#' }`; nothing is coerced, dropped or filled in. */
export const validatorCompiler: FastifySchemaCompiler<{ $ref?: string }> = ({ schema, httpPart }) => {
  if (httpPart === 'body') {
    const id = schema.$ref?.replace(/#$/, '')
    if (!id) throw new Error('a body schema must be a $ref')
    return (value) => {
      // A body that is not sent is one that says nothing: what is required is then named.
      const fault = check(id, value ?? {})
      return fault ? { error: new SvcError('invalid', fault) } : { value }
    }
  }
  let compiled: ValidateFunction | undefined
  return (value) => {
    // Not before it is needed: there is one for nearly every route, and a start waits for none.
    compiled ??= query.compile(schema)
    return compiled(value) ? { value } : { error: new SvcError('invalid', explain(compiled.errors ?? [])) }
  }
}

/** `{ $ref }` to a body schema. */
export const body = (id: string) => ({ $ref: `${id}#` })

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
