import { describe, expect, it } from 'vitest'
import { checkParams, type Params, secretParams } from '../../../../engine/declared/projects/templating.ts'
import { templateFrom } from './template-folder.ts'

const file = templateFrom(`key: watch
title: Watch
description: For the tests of parameters.
params:
  type: object
  required: [name, rows]
  properties:
    name: { type: string, pattern: '^[a-z]+$', minLength: 2, maxLength: 5, examples: [shop] }
    url: { type: string, default: 'http://localhost:9090', x-env: WATCH_URL }
    limit: { type: integer, minimum: 1, maximum: 10, default: 3, x-env: WATCH_LIMIT }
    ratio: { type: number }
    strict: { type: boolean, default: true }
    mode: { type: string, enum: [fast, slow] }
    token: { type: string, maxLength: 8, x-secret: true, x-env: WATCH_TOKEN }
    rows:
      type: array
      minItems: 1
      maxItems: 2
      items:
        type: object
        required: [id]
        properties:
          id: { type: string, minLength: 1 }
          branch: { type: string, default: main }
      examples: [[{ id: one }]]
objects:
  - { kind: agent, key: one, name: one, spec: { prompt: Look. } }
`)
const given: Params = { name: 'shop', rows: [{ id: 'a' }] }
const check = (params: Params, stored?: Params, env?: Record<string, string>) =>
  checkParams(file, { ...given, ...params }, stored, env)
const refused = (params: Params, message: string, field: string) =>
  expect(() => check(params)).toThrow(expect.objectContaining({ code: 'invalid', message, extra: { field } }))

describe('parameters of a project', () => {
  it('are filled with defaults, in the order of the template, without what is empty', () => {
    const params = check({ mode: '', ratio: null })
    expect(Object.entries(params)).toEqual([
      ['name', 'shop'],
      ['url', 'http://localhost:9090'],
      ['limit', 3],
      ['strict', true],
      ['rows', [{ id: 'a', branch: 'main' }]],
    ])
  })

  it('keep false and zero as they are', () => {
    expect(check({ strict: false, ratio: 0 })).toMatchObject({ strict: false, ratio: 0 })
  })

  it('take defaults from the environment, of their own type, before those of the file', () => {
    const env = { WATCH_URL: 'http://prom:9090', WATCH_LIMIT: '7' }
    expect(check({}, {}, env)).toMatchObject({ url: 'http://prom:9090', limit: 7 })
    expect(check({ url: 'http://mine', limit: 1 }, {}, env)).toMatchObject({ url: 'http://mine', limit: 1 })
    expect(() => check({}, {}, { WATCH_LIMIT: 'many' })).toThrow('params.limit must be a whole number')
  })

  it('leave out empty fields of entries, as forms send them', () => {
    expect(
      check({
        rows: [
          { id: 'a', branch: '' },
          { id: 'b', branch: 'dev' },
        ],
      }).rows,
    ).toEqual([
      { id: 'a', branch: 'main' },
      { id: 'b', branch: 'dev' },
    ])
  })

  it.each<[Params, string, string]>([
    [
      { prometheus: 1 },
      'params.prometheus is not a parameter of the template watch; there are name, url, limit, ratio, strict, mode, token, rows',
      'params.prometheus',
    ],
    [{ name: '' }, 'params.name is required', 'params.name'],
    [{ name: 'Shop' }, 'params.name must match ^[a-z]+$', 'params.name'],
    [{ name: 'a' }, 'params.name must have at least 2 characters', 'params.name'],
    [{ name: 'abcdef' }, 'params.name must have at most 5 characters', 'params.name'],
    [{ name: 7 }, 'params.name must be text', 'params.name'],
    [{ limit: '3' }, 'params.limit must be a whole number', 'params.limit'],
    [{ limit: 0 }, 'params.limit must be at least 1', 'params.limit'],
    [{ limit: 11 }, 'params.limit must be at most 10', 'params.limit'],
    [{ limit: 1.5 }, 'params.limit must be a whole number', 'params.limit'],
    [{ ratio: 'x' }, 'params.ratio must be a number', 'params.ratio'],
    [{ strict: 'true' }, 'params.strict must be true or false', 'params.strict'],
    [{ mode: 'medium' }, 'params.mode must be one of fast, slow', 'params.mode'],
    [{ rows: [] }, 'params.rows is required', 'params.rows'],
    [{ rows: {} }, 'params.rows must be a list', 'params.rows'],
    [
      { rows: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] },
      'params.rows must have at most 2 entries',
      'params.rows',
    ],
    [{ rows: [{ id: 'a' }, {}] }, 'params.rows[1].id is required', 'params.rows[1].id'],
    [
      { rows: [{ id: 'a', name: 'b' }] },
      'params.rows[0].name is not a known field; it has id, branch',
      'params.rows[0].name',
    ],
    [{ rows: ['a'] }, 'params.rows[0] must be an object', 'params.rows[0]'],
  ])('refuse %j, naming the parameter and the rule', refused)

  it('refuse names every object has', () => {
    expect(() => check({ constructor: 'x' })).toThrow('params.constructor is not a parameter')
    expect(() => check(JSON.parse('{"__proto__": "x"}'))).toThrow('params.__proto__ is not a parameter')
  })
})

describe('secret parameters', () => {
  it('are those the template marks', () => {
    expect(secretParams(file)).toEqual(['token'])
  })

  it('keep what is stored when they are blank or absent', () => {
    const stored = { ...check({}), token: 'old' }
    expect(check({ token: '' }, stored).token).toBe('old')
    expect(check({}, stored).token).toBe('old')
    expect(check({ token: '•'.repeat(8) }, stored).token).toBe('old')
    expect(check({ token: 'new' }, stored).token).toBe('new')
  })

  it('are entered again where the parameters name a new address', () => {
    const stored = { ...check({}), token: 'old' }
    const rows = [{ id: 'a', branch: 'https://other.example/x' }]
    for (const token of ['', '•'.repeat(8)])
      expect(() => check({ token, rows }, stored)).toThrow(
        expect.objectContaining({ message: 'params.token: enter it again: the address changed' }),
      )
    expect(check({ token: 'new', rows }, stored).token).toBe('new')
    expect(check({ rows }, { ...stored, rows }).token).toBe('old')
  })

  it('are cleared by null', () => {
    expect(check({ token: null }, { token: 'old' }, { WATCH_TOKEN: 'env' })).not.toHaveProperty('token')
  })

  it('come from the environment when nothing is stored', () => {
    expect(check({}, {}, { WATCH_TOKEN: 'env' }).token).toBe('env')
  })

  it('are not in the message when they are refused', () => {
    refused(
      { token: 'much-too-long-a-secret' },
      'params.token must have at most 8 characters',
      'params.token',
    )
  })

  it('are the only ones that are kept: the given parameters say all else', () => {
    expect(check({}, { limit: 9, mode: 'slow' })).toMatchObject({ limit: 3 })
    expect(check({}, { mode: 'slow' })).not.toHaveProperty('mode')
  })
})
