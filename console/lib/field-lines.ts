/** Changed lists of a plan, by their entries. */
import type { FieldChange } from '../../schemas/types.ts'
import { fieldName, fieldText, valueText } from './fields.ts'

/**
 * A changed field as people read it, with a line for each entry of a list that comes, goes or changes.
 * @example fieldLines({ path: '/sources', from: ['app'], to: ['app', 'web'] }) // ['sources: adds web']
 */
export function fieldLines(field: FieldChange, kind = ''): string[] {
  const { path, from, to } = field
  const [was, is] = [from ?? [], to ?? []]
  if (!Array.isArray(was) || !Array.isArray(is) || was.length + is.length === 0)
    return [fieldText(field, kind)]
  const [before, after] = [entriesOf(was), entriesOf(is)]
  // Which entry became which is not to be told.
  if (before.size < was.length || after.size < is.length) return [fieldText(field, kind)]
  const told = [
    ...[...after].flatMap(([key, entry]) => {
      if (!before.has(key)) return [`adds ${entryText(entry)}`]
      return changesOf(before.get(key), entry).map((change) => `${key}: ${change}`)
    }),
    ...[...before].flatMap(([key, entry]) => (after.has(key) ? [] : [`takes out ${entryText(entry)}`])),
  ]
  const lines = told.length ? told : [`in another order: ${[...after.keys()].join(', ')}`]
  return lines.map((line) => `${fieldName(path)}: ${line}`)
}

/** Entries by what they are called: by their name, else by all that they say. */
const entriesOf = (list: readonly unknown[]): Map<string, unknown> =>
  new Map(list.map((entry) => [namedEntry(entry)?.name ?? entryText(entry), entry]))

const namedEntry = (entry: unknown): { name: string } | null =>
  typeof entry === 'object' && entry !== null && typeof (entry as { name?: unknown }).name === 'string'
    ? (entry as { name: string })
    : null

/** What an entry of a list says: "service (field service, primary)". */
function entryText(entry: unknown): string {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return valueText(entry)
  const { name, ...rest } = entry as Record<string, unknown>
  // A filter.
  if ('op' in rest) return [rest.field, rest.op, rest.value].map((one) => valueText(one)).join(' ')
  const fields = Object.entries(rest).map(([key, value]) =>
    value === true ? wordsOf(key) : `${wordsOf(key)} ${valueText(value)}`,
  )
  if (typeof name !== 'string') return fields.join(', ')
  return fields.length ? `${name} (${fields.join(', ')})` : name
}

/** What differs between two entries of one name. */
function changesOf(was: unknown, is: unknown): string[] {
  const [before, after] = [was ?? {}, is ?? {}] as Record<string, unknown>[]
  return [...new Set([...Object.keys(before!), ...Object.keys(after!)])].flatMap((key) => {
    const [from, to] = [valueText(before![key]), valueText(after![key])]
    return from === to ? [] : [`${wordsOf(key)} ${from} → ${to}`]
  })
}

const wordsOf = (key: string): string => key.replaceAll('_', ' ')
