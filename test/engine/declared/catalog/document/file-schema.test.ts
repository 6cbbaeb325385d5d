import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { catalogFileSchema } from '../../../../../engine/gitops/update.ts'
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

  it('takes a value of the catalog where a number, a switch, a duration or a comparison stands', () => {
    const file = (cooldown: unknown, predicate: string, enabled: unknown) => ({
      triggers: [
        {
          ...{ name: 't', sources: ['a'], cooldown, max_late: '1h' },
          condition: { aggregate: 'count', predicate, window: '5m' },
        },
      ],
      agents: [
        { name: 'a', prompt: 'Look.', enabled, run_budget_usd: enabled === true ? 2 : '((values.budget))' },
      ],
    })
    expect(validate(file('5m', '> 5', true))).toBe(true)
    expect(validate(file('((values.wait))', '> ((values.errors))', '((values.on))'))).toBe(true)
    expect(validate(file('soon', '> 5', true))).toBe(false)
    expect(validate(file('5m', 'many', true))).toBe(false)
    expect(validate(file('5m', '> 5', 'yes'))).toBe(false)
  })
})
