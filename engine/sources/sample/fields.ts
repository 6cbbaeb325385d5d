/** The Fields view: which fields and labels recent events really carry, and with what values. */
import type { FieldCoverage, FieldsResult, Label, LabelCoverage } from '../../../schemas/types.ts'
import type { ConnectorDefinition } from '../../connectors/connector.ts'
import { lookup } from '../../ingest/field.ts'
import { parseItem } from '../../ingest/split.ts'
import { contextReader, isObject } from './payload-context.ts'
import { Tallies, type Tally } from './tally.ts'

const FIELDS_MAX = 300
/** Names counted; payloads whose keys are data would otherwise fill memory. */
const NAMES_MAX = 5_000
const DEPTH_MAX = 4

export interface RecentEvent {
  raw: Uint8Array
  labels: Record<string, string | number>
  entity: { label: string; value: string } | null
}

/**
 * Coverage of payload fields and labels over recent events: the key first, then what labels read,
 * then the rest by coverage. Fields the connector provides are listed even where no event has them.
 */
export function coverFields(
  connector: ConnectorDefinition,
  config: Record<string, unknown>,
  recent: readonly RecentEvent[],
): FieldsResult {
  const labels = (config.labels ?? []) as Label[]
  const read = new Map(labels.flatMap((label) => ('field' in label ? [[label.field, label] as const] : [])))
  const named = [...new Set([...connector.provides.map((field) => field.name), ...read.keys()])]
  const fields = new Tallies(named, NAMES_MAX)
  const carried = new Tallies(
    labels.map((label) => label.name),
    NAMES_MAX,
  )
  const keys = new Set(labels.filter((label) => label.primary).map((label) => label.name))
  const contextOf = contextReader(connector, config)
  for (const event of recent) {
    const payload = parseItem(event.raw)
    const found = namedFields(named, read, contextOf(payload), event)
    eachField(payload, '', 1, (name, value) => {
      if (!found.has(name)) found.set(name, value)
    })
    for (const [name, value] of found) fields.add(name, value)
    for (const [name, value] of Object.entries(event.labels)) carried.add(name, value)
    if (event.entity) keys.add(event.entity.label)
  }
  const sampled = recent.length
  return {
    sampled,
    fields: fields
      .all()
      .map(([name, tally]) => fieldCoverage(name, tally, sampled, connector, read.get(name)))
      .sort(byRole)
      .slice(0, FIELDS_MAX),
    labels: carried
      .all()
      .map(([name, tally]): LabelCoverage => ({ name, is_key: keys.has(name), ...tally.summary(sampled) }))
      .sort(byRole),
  }
}

/** Values of the fields that are named by the connector or by a label, as labels look them up. */
function namedFields(
  named: readonly string[],
  read: ReadonlyMap<string, Label>,
  context: Record<string, unknown>,
  event: RecentEvent,
): Map<string, unknown> {
  const found = new Map<string, unknown>()
  for (const name of named) {
    const value = lookup(context, name) ?? labelValue(read.get(name), event)
    if (value !== undefined && value !== null && !isObject(value)) found.set(name, value)
  }
  return found
}

/** A field that is not stored, such as a header, is seen through a label that takes it as it is. */
function labelValue(label: Label | undefined, event: RecentEvent): unknown {
  if (label === undefined || !('field' in label) || label.pattern !== undefined || label.map !== undefined)
    return undefined
  return event.labels[label.name]
}

function fieldCoverage(
  name: string,
  tally: Tally,
  sampled: number,
  connector: ConnectorDefinition,
  label: Label | undefined,
): FieldCoverage {
  const provided = connector.provides.find((field) => field.name === name)
  return {
    name,
    help: provided?.help ?? '',
    primary_default: provided?.primary ?? false,
    is_label: label !== undefined,
    is_key: label?.primary ?? false,
    ...tally.summary(sampled),
  }
}

interface Ranked {
  name: string
  is_key: boolean
  is_label?: boolean
  coverage: number
}

function byRole(a: Ranked, b: Ranked): number {
  return (
    Number(b.is_key) - Number(a.is_key) ||
    Number(b.is_label ?? false) - Number(a.is_label ?? false) ||
    b.coverage - a.coverage ||
    (a.name < b.name ? -1 : 1)
  )
}

/**
 * Calls `each` for scalars and lists by dotted name, of four parts at most; null counts as absent, as
 * it does for labels.
 */
function eachField(
  value: unknown,
  prefix: string,
  depth: number,
  each: (name: string, value: unknown) => void,
): void {
  if (value === null) return
  if (!isObject(value)) {
    each('value', value)
    return
  }
  for (const [key, inner] of Object.entries(value)) {
    const name = prefix === '' ? key : `${prefix}.${key}`
    if (!isObject(inner)) {
      if (inner !== null) each(name, inner)
    } else if (depth < DEPTH_MAX) eachField(inner, name, depth + 1, each)
  }
}
