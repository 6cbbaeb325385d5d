/** The Fields view and label previews: what recent payloads really carry. */
import type {
  FieldCoverage,
  FieldsResult,
  Label,
  LabelCoverage,
  LabelsPreviewResult,
} from '../../schemas/types.ts'
import type { ConnectorDefinition } from '../connectors/connector.ts'
import { lookup } from '../ingest/field.ts'
import { compileLabels } from '../ingest/label.ts'
import { parseItem } from '../ingest/split.ts'

const FIELDS_MAX = 300
const DEPTH_MAX = 4
const VALUES_TOP = 8
const VALUE_MAX = 120
const PAIRS_TOP = 50

export interface RecentEvent {
  raw: Uint8Array
  labels: Record<string, string | number>
  entity: { label: string; value: string } | null
}

/** Counts of one field's values over the sample. */
class Tally {
  seen = 0
  readonly values = new Map<string, number>()

  add(value: unknown): void {
    this.seen++
    const text = (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, VALUE_MAX)
    this.values.set(text, (this.values.get(text) ?? 0) + 1)
  }

  top(): { value: string; events: number }[] {
    return [...this.values]
      .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
      .slice(0, VALUES_TOP)
      .map(([value, events]) => ({ value, events }))
  }
}

/** Coverage of payload fields and labels over recent events, keys first, then labels, then the rest. */
export function coverFields(
  connector: ConnectorDefinition,
  labels: readonly Label[],
  recent: readonly RecentEvent[],
): FieldsResult {
  const fields = new Map<string, Tally>(connector.provides.map((field) => [field.name, new Tally()]))
  const labelTallies = new Map<string, Tally>(labels.map((label) => [label.name, new Tally()]))
  const keys = new Set(labels.filter((label) => label.primary).map((label) => label.name))
  for (const event of recent) {
    const payload = parseItem(event.raw)
    for (const { name } of connector.provides)
      if (!Object.hasOwn(Object(payload), name) && lookup(payload, name) !== undefined)
        tally(fields, name).add(lookup(payload, name))
    eachField(payload, '', 1, (name, value) => tally(fields, name).add(value))
    for (const [name, value] of Object.entries(event.labels)) tally(labelTallies, name).add(value)
    if (event.entity) keys.add(event.entity.label)
  }
  const sampled = recent.length
  const read = new Map(
    labels.flatMap((label) => ('field' in label ? [[label.field, label]] : [])) as [string, Label][],
  )
  const covered = [...fields].map(([name, t]): FieldCoverage => {
    const provided = connector.provides.find((field) => field.name === name)
    const label = read.get(name)
    return {
      name,
      help: provided?.help ?? '',
      primary_default: provided?.primary ?? false,
      coverage: share(t.seen, sampled),
      distinct: t.values.size,
      is_label: label !== undefined,
      is_key: label?.primary ?? false,
      values: t.top(),
    }
  })
  covered.sort(
    (a, b) =>
      Number(b.is_key) - Number(a.is_key) ||
      Number(b.is_label) - Number(a.is_label) ||
      b.coverage - a.coverage ||
      (a.name < b.name ? -1 : 1),
  )
  const covering = [...labelTallies].map(
    ([name, t]): LabelCoverage => ({
      name,
      is_key: keys.has(name),
      coverage: share(t.seen, sampled),
      distinct: t.values.size,
      values: t.top(),
    }),
  )
  covering.sort(
    (a, b) => Number(b.is_key) - Number(a.is_key) || b.coverage - a.coverage || (a.name < b.name ? -1 : 1),
  )
  return { sampled, fields: covered.slice(0, FIELDS_MAX), labels: covering }
}

function tally(all: Map<string, Tally>, name: string): Tally {
  let found = all.get(name)
  if (!found) {
    found = new Tally()
    all.set(name, found)
  }
  return found
}

function share(seen: number, sampled: number): number {
  return sampled === 0 ? 0 : Math.round((seen / sampled) * 1000) / 1000
}

/** Calls `each` for scalars and lists, by dotted name. */
function eachField(
  value: unknown,
  prefix: string,
  depth: number,
  each: (name: string, value: unknown) => void,
): void {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    if (prefix === '') each('value', value)
    else if (value !== null) each(prefix, value)
    return
  }
  for (const [key, inner] of Object.entries(value)) {
    const name = prefix === '' ? key : `${prefix}.${key}`
    if (inner !== null && typeof inner === 'object' && !Array.isArray(inner) && depth < DEPTH_MAX)
      eachField(inner, name, depth + 1, each)
    else if (inner !== null) each(name, inner)
  }
}

/** What one label would make of payloads. */
export function previewLabel(
  connector: ConnectorDefinition | null,
  label: Label,
  payloads: readonly unknown[],
): LabelsPreviewResult {
  const resolve = compileLabels([label])
  const map = connector?.mode === 'push' ? connector.compile({}) : null
  const pairs = new Map<string, { from: string | null; to: string | number | null; events: number }>()
  let matched = 0
  for (const payload of payloads) {
    const context = map
      ? (map({ raw: new Uint8Array(), value: payload }, undefined, 0)[0]?.context ?? {})
      : (Object(payload) as Record<string, unknown>)
    const { strings, numbers } = resolve(context)
    const to = strings[0]?.[1] ?? numbers?.[label.name] ?? null
    if (to !== null) matched++
    const found = 'field' in label ? lookup(context, label.field) : label.const
    const from =
      found === undefined || found === null
        ? null
        : (typeof found === 'string' ? found : JSON.stringify(found)).slice(0, VALUE_MAX)
    const pair = pairs.get(`${from}\0${to}`)
    if (pair) pair.events++
    else pairs.set(`${from}\0${to}`, { from, to, events: 1 })
  }
  const all = [...pairs.values()].sort((a, b) => b.events - a.events)
  const distinct = (values: (string | number | null)[]) =>
    new Set(values.filter((value) => value !== null)).size
  return {
    sampled: payloads.length,
    matched,
    results: all.slice(0, PAIRS_TOP),
    distinct_before: distinct(all.map((p) => p.from)),
    distinct_after: distinct(all.map((p) => p.to)),
  }
}
