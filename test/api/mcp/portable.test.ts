/**
 * What is listed, as the function calling of models takes it (issue 16, C.2 and C.3): by the converters
 * of the official SDKs where there are any, else by a table of the published rules.
 */
import { transformJSONSchema } from '@anthropic-ai/sdk/lib/transform-json-schema'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { toStrictJsonSchema } from 'openai/lib/transform'
import { describe, expect, it } from 'vitest'
import { listed, toolsFor } from '../../../api/mcp/call-tool.ts'
import { shownSchema, taken } from '../../../api/mcp/forms.ts'
import { tools } from '../../../api/mcp/tools/index.ts'
import { toolSchema } from '../../../schemas/tools.ts'
import type { Identity } from '../../../schemas/types.ts'

type Json = Record<string, unknown>
const shown = tools.map((tool) => [tool.name, listed(tool)] as const)

/** Every schema within one, with its place; not the names of properties. */
function* within(schema: Json, at = '#'): Generator<[string, Json]> {
  yield [at, schema]
  for (const [name, one] of Object.entries((schema.properties ?? {}) as Json))
    yield* within(one as Json, `${at}/${name}`)
  if (schema.items) yield* within(schema.items as Json, `${at}/items`)
  for (const [i, one] of ((schema.anyOf ?? []) as Json[]).entries()) yield* within(one, `${at}/anyOf/${i}`)
}

/**
 * "All fields must be required … it is possible to emulate an optional parameter by using a union type with
 * null" (platform.openai.com/docs/guides/structured-outputs): what the helper asks its callers to have done.
 */
function withNulls(schema: Json): Json {
  const {
    properties,
    required = [],
    items,
  } = schema as { properties?: Json; required?: string[]; items?: Json }
  if (items) return { ...schema, items: withNulls(items) }
  if (!properties) return schema
  const all = Object.entries(properties).map(([name, given]) => {
    const one = withNulls(given as Json)
    if (required.includes(name)) return [name, one]
    const { description, ...rest } = one
    return [name, { description, anyOf: [rest, { type: 'null' }] }]
  })
  return { ...schema, properties: Object.fromEntries(all), required: Object.keys(properties) }
}

/** Fields of Schema, and its types (ai.google.dev/api/caching#Schema, read 2026-11-22). */
const GEMINI = {
  fields: new Set(
    'type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum additionalProperties'.split(
      ' ',
    ),
  ),
  types: new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']),
  /** "Must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64." */
  name: /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/,
  formats: new Set(['date-time', 'enum', 'float', 'double', 'int32', 'int64']),
}

/** Name of a tool (docs.anthropic.com/en/api/messages, tools.name). */
const ANTHROPIC_NAME = /^[a-zA-Z0-9_-]{1,128}$/

/** Patterns that are not listed, and how the description of an argument says what they ask for. */
const WORDS: Record<string, RegExp> = {
  '^[^\\r\\n]*$': /one line/i,
  '^[a-z][a-z0-9_-]{0,39}$': /one lowercase word/i,
  '^[A-Za-z0-9_]{1,64}$': /^label/i,
  '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$': /letters, digits, dots, dashes or underscores/,
  '^[0-9]+(\\.[0-9]+)?(s|m|h|d)$': /\b\d+[mh]\b/,
  '^evt_[0-9]{1,15}$': /such as evt_42/,
  '^(findings|agent:.{1,100})$': /findings: .* agent:<name>/,
}

describe('every tool', () => {
  it.each(shown)('%s passes the strict conversion of OpenAI', (name, { inputSchema }) => {
    expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    const strict = toStrictJsonSchema(withNulls(inputSchema) as never) as unknown as Json
    for (const [at, one] of within(strict)) {
      if (one.type !== 'object') continue
      expect(one.additionalProperties, at).toBe(false)
      expect(one.required, at).toEqual(Object.keys(one.properties as Json))
    }
  })

  it.each(shown)('%s passes the rules of Gemini for a declaration', (name, { inputSchema, description }) => {
    expect(name).toMatch(GEMINI.name)
    expect(description).toBeTruthy()
    for (const [at, one] of within(inputSchema)) {
      expect(
        Object.keys(one).filter((field) => !GEMINI.fields.has(field)),
        at,
      ).toEqual([])
      if (one.type === undefined) expect(one.anyOf, at).toBeDefined()
      else expect(GEMINI.types.has(String(one.type)), at).toBe(true)
      if (one.anyOf) expect(one.type, at).toBeUndefined()
      if (one.type === 'array') expect(one.items, at).toBeDefined()
      if (one.enum) expect(one.type, at).toBe('string')
      if (one.format) expect(GEMINI.formats.has(String(one.format)), at).toBe(true)
    }
  })

  it.each(shown)(
    '%s passes the conversion of Anthropic, and loses nothing by it',
    (name, { inputSchema }) => {
      expect(name).toMatch(ANTHROPIC_NAME)
      const before = [...within(inputSchema)].map(([at]) => at)
      const after = transformJSONSchema(inputSchema as never) as Json
      expect([...within(after)].map(([at]) => at)).toEqual(before)
      for (const [at, one] of within(after))
        if (one.type === 'object') expect(one.additionalProperties, at).toBe(false)
    },
  )
})

describe('the list', () => {
  it('takes 8,000 tokens at most, by o200k', () => {
    const tokens = encode(JSON.stringify({ tools: shown.map(([, one]) => one) })).length
    expect(tokens).toBeLessThanOrEqual(8_000)
  })

  it('issue 17, 2.3: takes 6,000 tokens at most for a read key, by o200k', () => {
    const identity = { id: 'key:1', name: 'reader', scopes: ['read'] } as unknown as Identity
    const offered = toolsFor(identity).map((tool) => listed(tool, identity))
    expect(encode(JSON.stringify({ tools: offered })).length).toBeLessThanOrEqual(6_000)
    expect(offered.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['changed', 'read', 'series', 'trace', 'get_event', 'document']),
    )
  })

  it.each(shown)(
    'has for %s every argument, its words, its choices and its bounds',
    (name, { inputSchema }) => {
      const full = toolSchema(name).input as Json
      const facts = (schema: Json) =>
        [...within(schema)]
          .filter(([at]) => at !== '#')
          .map(([at, one]) => [at, one.enum, one.minimum, one.maximum, one.default])
      const places = facts(full).map(([at]) => at)
      expect(facts(inputSchema).filter(([at]) => places.includes(at))).toEqual(facts(full))
      expect((inputSchema as Json).required ?? []).toEqual(full.required)
      expect(inputSchema).toMatchObject({ additionalProperties: false })
    },
  )

  it.each(shown)('says of %s in words what the check of a text asks for', (name) => {
    for (const [at, { pattern, description }] of within(toolSchema(name).input as Json))
      if (typeof pattern === 'string' && pattern !== '\\S') {
        expect(Object.keys(WORDS), at).toContain(pattern)
        expect(String(description), at).toMatch(WORDS[pattern]!)
      }
  })

  it.each(['event_id', 'finding_id', 'run_id', 'proposal_id', 'subscription_id', 'delivery_id'])(
    'has %s as the one name of that id',
    (id) => {
      const kind = id.replace('_id', '')
      for (const [name, { inputSchema }] of shown) {
        const fields = Object.keys((inputSchema as Json).properties as Json)
        // The finding of conclude and record_finding is its text.
        if (!/^(conclude|record_finding)$/.test(name)) expect(fields, name).not.toContain(kind)
        expect(fields, name).not.toContain('id')
      }
      expect(shown.some(([, one]) => id in ((one.inputSchema as Json).properties as Json))).toBe(true)
    },
  )
})

describe('the forms of an argument', () => {
  const UTC = '2025-12-01T00:00:00.000Z'
  const schema = {
    type: 'object',
    properties: {
      selector: { type: 'object', description: 'Labels.', additionalProperties: { type: 'string' } },
      spec: { type: 'object', description: 'Spec.', additionalProperties: true },
      window: { type: 'string', pattern: '^[0-9]+m$' },
      note: { type: 'string' },
      n: { type: 'integer' },
      yes: { type: 'boolean' },
      from: { type: 'string', format: 'date-time' },
      to: { type: 'string', format: 'date-time' },
      event: { type: 'string', pattern: '^evt_[0-9]{1,15}$' },
      words: { type: 'array', items: { type: 'string' } },
      many: {
        type: 'array',
        items: {
          type: 'object',
          properties: { spec: { type: 'object' }, event: { type: 'string' } },
          additionalProperties: false,
        },
      },
    },
    required: ['selector'],
    additionalProperties: false,
  }

  it('are shown as a list, and as text', () => {
    expect(shownSchema(schema).properties).toMatchObject({
      selector: {
        type: 'array',
        description: 'Labels.',
        items: { properties: { label: { type: 'string' }, value: { type: 'string' } } },
      },
      spec: { type: 'string', description: 'Spec. A JSON object, as text.' },
      window: { type: 'string' },
    })
  })

  it.each<[string, Json, Json]>([
    ['a list', { selector: [{ label: 'a', value: 'b' }] }, { selector: { a: 'b' } }],
    ['a map', { selector: { a: 'b' } }, { selector: { a: 'b' } }],
    ['text', { spec: '{"a":[1]}' }, { spec: { a: [1] } }],
    ['an object', { spec: { a: [1] } }, { spec: { a: [1] } }],
    [
      'a number or a truth value as text',
      { n: '5', yes: 'true', window: '5' },
      { n: 5, yes: true, window: '5' },
    ],
    ['null for none', { window: null, note: null, spec: null }, {}],
    ['nothing for none', { window: '', note: '' }, { note: '' }],
    ['them within a list', { many: [{ spec: '{}', event: null }] }, { many: [{ spec: {} }] }],
    [
      'one text or JSON for a list',
      { words: 'a', many: '[{"event":"e"}]' },
      { words: ['a'], many: [{ event: 'e' }] },
    ],
    ['one entry or nothing for a list', { words: '', many: { event: 'e' } }, { many: [{ event: 'e' }] }],
    ['a list of one, or a number, for a text', { note: ['a'], window: 5 }, { note: 'a', window: '5' }],
    ['labels as an entity is written', { selector: 'a=b c' }, { selector: { a: 'b c' } }],
    ['labels as JSON', { selector: '{"a":"b"}' }, { selector: { a: 'b' } }],
    ['the number of an event for its id', { event: 42 }, { event: 'evt_42' }],
    ['Unix time', { from: 1764547200, to: '1764547200000' }, { from: UTC, to: UTC }],
    [
      'several texts, and a time without its zone, for the check to say',
      { note: ['a', 'b'], from: '2025-12-01T00:00' },
      { note: ['a', 'b'], from: '2025-12-01T00:00' },
    ],
    ['what is not known, for the check to say', { selector: null, x: null }, { selector: null, x: null }],
  ])('are taken as %s', (_what, given, args) => expect(taken(schema, given)).toEqual(args))

  it('keep every label, whatever it is called', () => {
    const selector = ['a', '__proto__'].map((label) => ({ label, value: 'b' }))
    expect(Object.keys(taken(schema, { selector }).selector as Json)).toEqual(['a', '__proto__'])
  })

  it.each<[string, Json, string]>([
    ['a list of others', { selector: ['a'] }, 'selector must be a list of {label, value}'],
    ['a word for labels', { selector: 'a' }, 'selector must be a list of {label, value}'],
    [
      'a label twice',
      { selector: ['x', 'y'].map((value) => ({ label: 'a', value })) },
      'selector has the label a twice',
    ],
    ['text that is no JSON', { spec: 'a: 1' }, 'spec must be an object, or the JSON text of one'],
    ['JSON that is no object', { many: [{ spec: '[]' }] }, 'many[0].spec must be an object'],
    ['JSON that nests without end', { spec: '['.repeat(100_000) }, 'spec must not nest more than'],
  ])('are refused as %s', (_what, given, sentence) => {
    expect(() => taken(schema, given)).toThrow(sentence)
  })
})
