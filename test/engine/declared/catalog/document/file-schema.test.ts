import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { catalogFileSchema } from '../../../../../engine/declared/catalog-text/update.ts'
import { describeConnectorSchemas } from '../../../../../engine/sources/connectors/index.ts'

const schema = catalogFileSchema(describeConnectorSchemas())
const validate = new Ajv({ strict: false, allErrors: true }).compile(schema)

describe('the schema of the catalog file for editors', () => {
  it('is in one piece, with no keyword of our own', () => {
    const text = JSON.stringify(schema)
    expect(text).not.toMatch(/"x-|"tsType"|"\$ref":"(?!#\/definitions\/)/)
  })

  it('checks the config of a source by its connector', () => {
    const file = (connector: string, config: object) => ({ sources: [{ name: 'a', connector, config }] })
    expect(validate(file('webhook', { event_type: 'deploy' }))).toBe(true)
    expect(validate(file('webhook', { colour: 'red' }))).toBe(false)
    expect(validate(file('pigeon', {}))).toBe(false)
    expect(validate({ sorces: [] })).toBe(false)
  })
})
