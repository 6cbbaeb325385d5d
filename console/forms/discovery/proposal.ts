/** A proposed config against a source's draft: what it would change, and the draft with it taken over. */
import type { FieldChange, Label } from '../../../schemas/types.ts'
import { toDrafts, toLabels } from '../label-drafts.ts'
import type { SourceDraft } from '../source-draft.ts'

type Config = Record<string, unknown>

/** Fields the proposal changes, in its order, then labels one by one. What it says nothing of stays. */
export function changesOf(draft: SourceDraft, proposed: Config): FieldChange[] {
  const { labels, ...config } = proposed
  const fields = Object.entries(config)
    .filter(([name, value]) => !same(draft.config[name], value))
    .map(([name, to]) => changeOf(`/${name}`, draft.config[name], to))
  return hasLabels(labels) ? [...fields, ...labelChanges(toLabels(draft.labels), labels)] : fields
}

function labelChanges(before: readonly Label[], after: readonly Label[]): FieldChange[] {
  const byName = (labels: readonly Label[]) => new Map(labels.map((label) => [label.name, said(label)]))
  const [was, is] = [byName(before), byName(after)]
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((name) => was.get(name) !== is.get(name))
    .map((name) => changeOf(`/label ${name}`, was.get(name), is.get(name)))
}

const hasLabels = (labels: unknown): labels is Label[] => Array.isArray(labels) && labels.length > 0

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** A list the form has begun and nobody has filled in. */
const isBlank = (value: unknown): boolean =>
  Array.isArray(value) && value.every((entry) => JSON.stringify(entry) === '{}')

/** A label in a line. */
function said(label: Label): string {
  const value = 'field' in label ? label.field : JSON.stringify(label.const)
  return `${value}${label.type === 'number' ? ', a number' : ''}${label.primary ? ', the entity key' : ''}`
}

const changeOf = (path: string, from: unknown, to: unknown): FieldChange => ({
  path,
  ...(from === undefined || isBlank(from) ? {} : { from }),
  ...(to === undefined ? {} : { to }),
})

/** Whether a draft has all that must be given. */
export const isWhole = ({ config }: SourceDraft, required: readonly string[]): boolean =>
  required.every((name) => config[name] !== undefined && config[name] !== '')

/** Names of the tables that a discovery found, of which one has to be named; else none. */
export function tablesOf({ tables }: Config): string[] {
  if (!Array.isArray(tables)) return []
  return (tables as { name?: unknown }[]).map(({ name }) => name).filter((name) => typeof name === 'string')
}

/** The draft with the proposal in it; secrets that were typed, and fields it says nothing of, stay. */
export function takenOver(draft: SourceDraft, { labels, ...config }: Config): SourceDraft {
  return {
    config: { ...draft.config, ...config },
    labels: hasLabels(labels) ? toDrafts(labels) : draft.labels,
  }
}
