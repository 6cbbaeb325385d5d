/** A type of a schema where a record of fields is wanted, and a field of a record by a name that others chose. */

/**
 * The fields of a type, as they are: TypeScript takes an interface for no record of fields, and this for one.
 * @example
 * const fields: Record<string, unknown> = trigger satisfies FieldsOf<TriggerSpec>
 */
export type FieldsOf<T> = { [F in keyof T]: T[F] }

/**
 * A field of its own, by a name that came from outside: of `constructor` and `toString`, which every object
 * inherits, a record has none unless they were written into it.
 * @returns undefined: it has none of that name.
 * @example
 * ownField({ p1: 'critical' }, 'constructor') // undefined
 */
export const ownField = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined
