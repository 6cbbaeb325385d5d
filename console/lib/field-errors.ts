/** Refusals of the API by the field they name, so that a form shows them where they are. */

/** `condition.predicate must …` begins with the path of its field. */
const PATH = /^([a-z_]+(?:\[\d+\])?(?:\.[a-z_]+(?:\[\d+\])?)*)(?::? )/

export type FieldErrors = Record<string, string>

/** @returns the sentences by their field's path, such as "condition.window" */
export function fieldErrors(error: Error | null): FieldErrors {
  const found: FieldErrors = {}
  for (const sentence of error?.message.split('; ') ?? []) {
    const path = /^no source is named/.test(sentence)
      ? 'sources'
      : /^an? [a-z ]+ named \S+ exists/.test(sentence)
        ? 'name'
        : PATH.exec(sentence)?.[1]
    if (path && !found[path]) found[path] = sentence
  }
  return found
}

/** The fault of a field or of anything below it: "filters[0]" for "filters[0].value", "notify.addresses" for its first. */
export function faultAt(errors: FieldErrors, path: string): string | undefined {
  const below = Object.keys(errors).find((at) => at === path || /^[.[]/.test(rest(at, path)))
  return below === path ? atField(path, errors[path]!) : below === undefined ? undefined : errors[below]
}

/** A sentence as it stands at its own field, whose label says the rest: the path is that of the API. */
export const atField = (path: string, sentence: string): string =>
  sentence.startsWith(`${path} `) ? `This${sentence.slice(path.length)}` : sentence

/** What follows a field in a path below it; nothing where it is not below. */
export const rest = (path: string, field: string): string =>
  path.startsWith(field) ? path.slice(field.length) : ''

/** What marks an input: its path, by which it is found, and its fault. */
export interface FaultMark {
  error: string | undefined
  'data-field': string
}

/** @returns the mark of the input at a path, to spread over it */
export const marksOf =
  (errors: FieldErrors) =>
  (path: string): FaultMark => ({ error: faultAt(errors, path), 'data-field': path })

/** The faults of fields below one: those of "params.service" as "service". */
export const faultsBelow = (errors: FieldErrors, field: string): FieldErrors =>
  Object.fromEntries(
    Object.entries(errors).flatMap(([path, fault]) =>
      rest(path, field).startsWith('.') ? [[rest(path, field).slice(1), fault]] : [],
    ),
  )

export const isGiven = (value: unknown): boolean =>
  typeof value === 'string' ? value.trim() !== '' : value !== undefined && value !== null

/**
 * Said at the field itself, which has the words of the form: those of its path are of calls and files.
 * @param needed fields that must not be blank @param below path of what has them @returns what to say at those that are
 */
export const blankFaults = (values: object, needed: readonly string[], below = ''): FieldErrors =>
  Object.fromEntries(
    needed
      .filter((field) => !isGiven((values as Record<string, unknown>)[field]))
      .map((field) => [below + field, 'This is required']),
  )
