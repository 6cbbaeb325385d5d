/** A choice between maps that are schemas of their own, such as the kinds of conditions: which of them was meant. */
import { schemaOf } from './all.ts'
import { closest } from './near-names.ts'

/** What is looked at of an error of the validator: the schema that refused, and the data. */
interface Refused {
  schema?: unknown
  data?: unknown
}

export type Variant = { $id: string; required?: readonly string[]; properties?: Record<string, unknown> }

/** The variants of a choice between maps that are schemas of their own; null for any other choice. */
export function variantsOf({ schema, data }: Refused): Variant[] | null {
  if (!Array.isArray(schema) || data === null || typeof data !== 'object' || Array.isArray(data)) return null
  const refs = schema.map((one: { $ref?: string }) => one.$ref)
  if (!refs.every((one) => one !== undefined)) return null
  const variants = refs.map((one) => schemaOf(one) as Variant)
  return variants.every((one) => one.required?.length) ? variants : null
}

/**
 * The variant that was meant: the one most of whose required fields are there, of several the one that mistyped names
 * are close to; null: none is.
 */
export function meantBy({ data }: Refused, variants: readonly Variant[]): Variant | null {
  const present = (one: Variant) =>
    one.required!.filter((name) => Object.hasOwn(data as Record<string, unknown>, name)).length
  const unknown = ({ properties = {} }: Variant) =>
    Object.keys(data as object).filter((name) => !Object.hasOwn(properties, name))
  const close = (one: Variant) =>
    unknown(one).filter((name) => closest(name, Object.keys(one.properties ?? {})) !== undefined).length
  const meant = [...variants].sort((a, b) => present(b) - present(a) || close(b) - close(a))[0]!
  // What all of them have, such as a name, speaks for none.
  const shared = meant.required!.filter((name) => variants.every((one) => one.required!.includes(name)))
  const own = meant.required!.filter((name) => !shared.includes(name))
  const isVague = present({ ...meant, required: own }) === 0 && close(meant) === 0
  return present(meant) === 0 || isVague ? null : meant
}

/**
 * Where two variants are given at once, that a field of the one and one of the other exclude each other; null: it is one
 * variant, whatever else is wrong with it.
 */
export function rivalsIn({ data }: Refused, variants: readonly Variant[]): string | null {
  const whole = variants.filter((one) => one.required!.every((name) => Object.hasOwn(data as object, name)))
  const only = (one: Variant, other: Variant) =>
    one.required!.find((name) => !Object.hasOwn(other.properties ?? {}, name))
  for (const [i, one] of whole.entries())
    for (const other of whole.slice(i + 1)) {
      const [first, second] = [only(one, other), only(other, one)]
      if (first !== undefined && second !== undefined)
        return `${first} and ${second} exclude each other; give one of the two`
    }
  return null
}
