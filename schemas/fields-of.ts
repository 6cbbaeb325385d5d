/** Passing a type of a schema as a record of fields, and reading a record by a name that others chose. */

/**
 * The fields of a type, as they are: TypeScript takes an interface for no record of fields, and this for one.
 * @example
 * const fields: Record<string, unknown> = trigger satisfies FieldsOf<TriggerSpec>
 */
export type FieldsOf<T> = { [F in keyof T]: T[F] }

/**
 * Reads a field by a name that a user or another system chose. `record[name]` would return what every object inherits
 * for names such as `constructor` and `toString`.
 * @returns undefined when the record itself has no such field
 * @example
 * ownField({ p1: 'critical' }, 'constructor') // undefined
 */
export const ownField = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined
