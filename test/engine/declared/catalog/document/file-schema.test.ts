import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { describeConnectorSchemas } from '../../../../../engine/sources/connectors/index.ts'
import { catalogFileSchema } from '../../../../../schemas/catalog-file.ts'

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
    expect(validate({ 'x-labels': [], sources: [] })).toBe(true)
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
  it('knows a file of one part: its fields, and what may stand beside them', () => {
    const trigger = { kind: 'trigger', name: 't', sources: ['a'], condition: { event: 'any' } }
    expect(validate(trigger)).toBe(true)
    expect(validate({ ...trigger, tests: [], catalog: 'shop', lint: { 'trigger-unused': 'off' } })).toBe(true)
    expect(validate({ ...trigger, cooldwn: '5m' })).toBe(false)
    expect(validate({ kind: 'trigger', name: 't', sources: ['a'] })).toBe(false)
    expect(validate({ ...trigger, kind: 'triger' })).toBe(false)
    expect(validate({ ...trigger, triggers: [] })).toBe(false)
    expect(validate({ ...trigger, 'x-labels': [] })).toBe(true)
    const source = (config: object) => ({ kind: 'source', name: 's', connector: 'webhook', config })
    expect(validate(source({ event_type: 'deploy' }))).toBe(true)
    expect(validate(source({ colour: 'red' }))).toBe(false)
    expect(validate({ kind: 'mcp server', name: 'm', url: 'https://example.com/mcp' })).toBe(true)
  })

  it('knows a file of an environment, which says of each part what it changes alone', () => {
    const inProd = (entry: object) => ({ environment: 'prod', triggers: [{ name: 't', ...entry }] })
    expect(validate(inProd({ cooldown: '1h' }))).toBe(true)
    expect(validate(inProd({ condition: { window: '10m' }, filters: null }))).toBe(true)
    expect(validate({ ...inProd({ remove: true }), values: { errors: 5 } })).toBe(true)
    expect(validate({ ...inProd({}), 'x-labels': [] })).toBe(true)
    expect(validate(inProd({ cooldwn: '1h' }))).toBe(false)
    expect(validate(inProd({ cooldown: 'soon' }))).toBe(false)
    expect(validate({ environment: 'prod', triggers: [{ cooldown: '1h' }] })).toBe(false)
    expect(validate({ environment: 'prod', triggerz: [] })).toBe(false)
    expect(validate({ triggers: [{ name: 't', cooldown: '1h' }] }), 'without one it is a whole part').toBe(
      false,
    )
  })
})
