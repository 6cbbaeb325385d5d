import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { allSchemas, check } from '../../schemas/index.ts'

// They are compiled when they are first used, and not checked then.
describe('the schemas', () => {
  const ajv = new Ajv()

  it.each(allSchemas().map((schema) => [schema.$id, schema] as const))('%s is a schema', (id, schema) => {
    expect(ajv.validateSchema(schema), ajv.errorsText()).toBe(true)
    expect(() => check(id, null)).not.toThrow()
  })
})
