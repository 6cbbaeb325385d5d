/** Changed lists of a plan, by their entries. */
import type { FieldChange } from '../../schemas/types.ts'
import { fieldName, fieldText, valueText } from './fields.ts'

/**
 * A changed field as people read it, with a line for each entry of a list that comes or goes.
 * @example fieldLines({ path: '/sources', from: ['app'], to: ['app', 'web'] }) // ['sources: adds web']
 */
export function fieldLines(field: FieldChange, kind = ''): string[] {
  const [was, is] = [field.from ?? [], field.to ?? []]
  const lists = Array.isArray(was) && Array.isArray(is) ? [was, is] : []
  const [before = [], after = []] = lists.map((list) => list.map(entryText))
  const told = (some: string[], others: string[], does: string) =>
    some.filter((text) => !others.includes(text)).map((text) => `${fieldName(field.path)}: ${does} ${text}`)
  const lines = [...told(after, before, 'adds'), ...told(before, after, 'takes out')]
  return lines.length ? lines : [fieldText(field, kind)]
}

/** What an entry of a list says: "service (field service, primary)". */
function entryText(entry: unknown): string {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return valueText(entry)
  const { name, ...rest } = entry as Record<string, unknown>
  // A filter.
  if ('op' in rest) return [rest.field, rest.op, rest.value].map((one) => valueText(one)).join(' ')
  const said = Object.entries(rest)
    .map(([key, value]) => key + (value === true ? '' : ` ${valueText(value)}`))
    .join(', ')
  return typeof name !== 'string' ? said : said ? `${name} (${said})` : name
}
