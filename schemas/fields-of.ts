/** A type of a schema where a record of fields is wanted. */

/**
 * The fields of a type, as they are: TypeScript takes an interface for no record of fields, and this for one.
 * @example
 * const fields: Record<string, unknown> = trigger satisfies FieldsOf<TriggerSpec>
 */
export type FieldsOf<T> = { [F in keyof T]: T[F] }
