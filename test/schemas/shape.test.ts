/** 18 A1: answers are shaped by their schema; a field that is not in it does not leave. */
import { describe, expect, it } from 'vitest'
import { exampleOf, type Schema } from '../../api/http/document/examples.ts'
import { operations } from '../../engine/operations/index.ts'
import { check, schemaOf } from '../../schemas/index.ts'
import { shapeOf } from '../../schemas/shape.ts'

const PLANTED = 'nobody_declared_it'
/** Schemas of answers that are JSON. */
const ids = [
  ...new Set(
    operations.flatMap(({ answer }) => {
      if (typeof answer === 'string') return answer
      if ('schema' in answer) return answer.schema
      return 'listOf' in answer ? answer.listOf : []
    }),
  ),
]
const find = (ref: string): Schema => schemaOf(ref.replace(/#$/, '')) as Schema
const exampleFor = (id: string): unknown => exampleOf({ $ref: `${id}#` }, find, true)

/** The same with one more field in each object. */
const planted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(planted)
  if (typeof value !== 'object' || value === null) return value
  return {
    ...Object.fromEntries(Object.entries(value).map(([name, one]) => [name, planted(one)])),
    [PLANTED]: 's3cret',
  }
}
/** Without it: maps of names that people choose take any name. */
const cleared = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (name, one) => (name === PLANTED ? undefined : one)))

describe.each(ids)('an answer of %s', (id) => {
  const shape = shapeOf({ $ref: `${id}#` })

  it('that fits is given as it is', () => {
    const example = exampleFor(id)
    expect(shape(example)).toBe(example)
  })

  it('loses what its schema does not name, at every depth, and nothing else', () => {
    const example = exampleFor(id)
    const shaped = shape(planted(example))
    // A map of names that people choose keeps it, and may say that its value has another form.
    expect(check(id, shaped) ?? '').not.toContain('is not a known field')
    expect(cleared(shaped)).toEqual(cleared(example))
  })
})

describe('a shape', () => {
  it('takes what is no object as it is, and leaves what it was given unchanged', () => {
    const shape = shapeOf({ $ref: 'done.json#' })
    for (const value of [null, 3, 'text', undefined]) expect(shape(value)).toBe(value)
    const given = { ok: true, token: 's3cret' }
    expect(shape(given)).toEqual({ ok: true })
    expect(given).toHaveProperty('token')
  })

  it('of several forms takes the one that fits', () => {
    const shape = shapeOf({
      oneOf: [
        { type: 'object', properties: { kind: { const: 'a' }, x: {} }, additionalProperties: false },
        { type: 'object', properties: { kind: { const: 'b' }, y: {} }, additionalProperties: false },
      ],
    })
    expect(shape({ kind: 'b', x: 1, y: 2 })).toEqual({ kind: 'b', y: 2 })
    expect(shape({ kind: 'a', x: 1, y: 2 })).toEqual({ kind: 'a', x: 1 })
  })

  it('of a schema that leads back to itself goes as deep as the value', () => {
    const handed = (deeper: object[]) => ({ ...(exampleFor('run.json') as object), ...{ [PLANTED]: deeper } })
    expect(shapeOf({ $ref: 'run.json#' })(handed([{}]))).not.toHaveProperty(PLANTED)
  })
})
