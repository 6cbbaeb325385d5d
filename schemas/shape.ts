/**
 * Values as a schema has them: a field that it does not name is left out, so that nothing leaves by an answer that
 * nobody declared. Nothing else is changed or checked; a value that has no such field is given back as it is.
 */
import { schemaOf } from './all.ts'

interface Schema {
  $ref?: string
  type?: string | readonly string[]
  const?: unknown
  enum?: readonly unknown[]
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
}
type Shape = (value: unknown) => unknown

/** By $id; null: every value is as it is. Made when it is first used. */
const known = new Map<string, Shape | null>()

/**
 * @param schema such as `{ $ref: 'trigger.json#' }`
 * @returns what leaves out the fields that the schema does not name
 * @example shapeOf({ $ref: 'done.json#' })({ ok: true, token: 's3cret' }) // { ok: true }
 */
export const shapeOf = (schema: object): Shape => compile(schema as Schema) ?? ((value) => value)

function compile(schema: Schema): Shape | null {
  if (schema.$ref !== undefined) return named(schema.$ref.replace(/#$/, ''))
  if (schema.properties || typeof schema.additionalProperties === 'object') return ofObject(schema)
  const variants = schema.anyOf ?? schema.oneOf
  if (variants) return ofChoice(variants)
  return schema.items ? ofList(schema.items) : null
}

function named(id: string): Shape | null {
  const found = known.get(id)
  if (found !== undefined) return found
  // A schema that leads back to itself finds this.
  let made: Shape | null = null
  known.set(id, (value) => (made ? made(value) : value))
  made = compile(schemaOf(id) as Schema)
  known.set(id, made)
  return made
}

function ofList(items: Schema): Shape | null {
  const one = compile(items)
  if (!one) return null
  return (value) => {
    if (!Array.isArray(value)) return value
    let changed: unknown[] | null = null
    value.forEach((item, i) => {
      const shaped = one(item)
      if (shaped === item) return
      changed ??= [...value]
      changed[i] = shaped
    })
    return changed ?? value
  }
}

function ofObject({ properties = {}, additionalProperties: rest }: Schema): Shape | null {
  const fields = new Map(Object.entries(properties).map(([name, field]) => [name, compile(field)]))
  const others = typeof rest === 'object' ? compile(rest) : null
  const isClosed = rest === false
  if (!isClosed && !others && [...fields.values()].every((field) => field === null)) return null
  return (value) => {
    if (!isRecord(value)) return value
    let changed: Record<string, unknown> | null = null
    for (const name of Object.keys(value)) {
      const known = fields.get(name)
      if (known === undefined && isClosed) {
        changed ??= { ...value }
        delete changed[name]
        continue
      }
      const shape = known === undefined ? others : known
      if (!shape) continue
      const field = value[name]
      const shaped = shape(field) ?? field
      if (shaped === field) continue
      changed ??= { ...value }
      changed[name] = shaped
    }
    return changed ?? value
  }
}

/** Of several forms the one that fits, and of these the one that leaves out least. */
function ofChoice(given: readonly Schema[]): Shape | null {
  const variants = given.map((one) => ({ form: found(one), shape: compile(one) }))
  if (variants.every(({ shape }) => shape === null)) return null
  const list = variants.find(({ form }) => form.items !== undefined || takes(form, 'array'))
  const maps = variants
    .filter(({ form }) => takes(form, 'object') || form.properties || form.anyOf || form.oneOf)
    .map(({ form, shape }) => ({ shape, fits: fitting(form), left: leaving(form) }))
  return (value) => {
    if (Array.isArray(value)) return list?.shape?.(value) ?? value
    if (!isRecord(value)) return value
    let best: { shape: Shape | null; isFit: boolean; left: number } | null = null
    for (const { shape, fits, left: leftOf } of maps) {
      const isFit = fits(value)
      if (best?.isFit && !isFit) continue
      const left = leftOf(value)
      if (best === null || isFit !== best.isFit || left < best.left) best = { shape, isFit, left }
    }
    return best?.shape?.(value) ?? value
  }
}

const found = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : found(schemaOf(schema.$ref.replace(/#$/, '')) as Schema)

const takes = ({ type }: Schema, name: string): boolean => [type].flat().includes(name)

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** As far as one look tells: what is required is there, and what is constant is as it is. */
function fitting({ required = [], properties = {} }: Schema): (value: Record<string, unknown>) => boolean {
  const fixed = Object.entries(properties).flatMap(([name, field]): [string, readonly unknown[]][] => {
    if (field.const !== undefined) return [[name, [field.const]]]
    return field.enum === undefined ? [] : [[name, field.enum]]
  })
  return (value) =>
    required.every((name) => value[name] !== undefined) &&
    fixed.every(([name, values]) => value[name] === undefined || values.includes(value[name]))
}

/** How many fields it would leave out. */
function leaving({ properties = {}, additionalProperties: rest }: Schema): (value: object) => number {
  if (rest !== false) return () => 0
  const known = new Set(Object.keys(properties))
  return (value) => {
    let left = 0
    for (const name of Object.keys(value)) if (!known.has(name)) left++
    return left
  }
}
