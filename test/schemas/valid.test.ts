import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { allSchemas, check, explain, ruleFaults } from '../../schemas/index.ts'

// They are compiled when they are first used, and not checked then.
describe('the schemas', () => {
  const ajv = new Ajv()

  it.each(allSchemas().map((schema) => [schema.$id, schema] as const))('%s is a schema', (id, schema) => {
    expect(ajv.validateSchema(schema), ajv.errorsText()).toBe(true)
    expect(() => check(id, null)).not.toThrow()
  })
})

describe('what is said of a value that a list does not have', () => {
  it.each([
    [
      'request-agent-settings-write.json',
      { daily_cap: 'many' },
      'daily_cap must be a whole number or empty text',
    ],
    ['request-agent-settings-write.json', { daily_cap: 0 }, 'daily_cap must be at least 1'],
    ['request-tracing-write.json', { enabled: 'yes' }, 'enabled must be true or false or empty text'],
  ])('%s %j: never an empty list', (id, value, sentence) => {
    expect(check(id, value)).toBe(sentence)
  })

  it('names empty text and null where they are allowed, and says so where nothing is', () => {
    const fault = (allowedValues: unknown[]) =>
      explain([{ keyword: 'enum', instancePath: '/x', schemaPath: '#/enum', params: { allowedValues } }])
    expect([[''], ['a', '', null], []].map(fault)).toEqual([
      'x must be empty text',
      'x must be one of a, empty text, null',
      'x has no value that is allowed',
    ])
  })
})

describe('one fault is one sentence, which says the rule that was broken', () => {
  const mcp = (headers: unknown) => ({ name: 'm', url: 'http://m.test/mcp', headers })
  const schedule = (summary: unknown) => ({ name: 't', sources: ['s'], condition: { every: '1h', summary } })

  it.each([
    ['request-setup-save.json', { step: null }, 'step must be one of connect, try, done'],
    [
      'request-mcp-server-write.json',
      mcp({ 'bad header': 'x' }),
      'headers has a name that is not allowed, bad header: it must be the name of a header: letters, digits and dashes, 64 at most',
    ],
    ['request-mcp-server-write.json', mcp({ good: 1 }), 'headers.good must be text'],
    [
      'request-trigger-write.json',
      schedule({ baseline: 49 }),
      'condition.summary.baseline must be at most 48',
    ],
    [
      'request-trigger-write.json',
      schedule({ baselin: 4 }),
      'condition.summary.baselin is not a known field (did you mean baseline?)',
    ],
    ['request-trigger-write.json', schedule('full'), 'condition.summary must be rich'],
  ])('%s %j', (id, value, sentence) => {
    expect(check(id, value)).toBe(sentence)
  })
})

it('an entry of a list is named by its list and place where its path is told beside it, a field of it alone', () => {
  const schema = {
    type: 'object',
    properties: {
      tags: {
        type: 'array',
        items: { type: 'object', required: ['body'], properties: { n: { type: 'number' } } },
      },
    },
  }
  expect(ruleFaults(schema)({ tags: [5, {}, { body: '', n: '' }] })).toEqual([
    { path: ['tags', 0], message: 'tags[0] must be an object' },
    { path: ['tags', 1], message: 'body is required' },
    { path: ['tags', 2, 'n'], message: 'n must be a number' },
  ])
})
