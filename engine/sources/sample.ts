/** The Fields view: which fields and labels recent events really carry, and with what values. */
import type {
  FieldCoverage,
  FieldsResult,
  Label,
  LabelCoverage,
  LabelsPreviewResult,
} from '../../schemas/types.ts'
import { lookup } from '../log/ingest/json-project.ts'
import { compileLabels } from '../log/ingest/label.ts'
import { parseItem } from '../log/ingest/split.ts'
import type { ConnectorDefinition } from './connectors/connector.ts'

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

/* A dry run of one label: what it would make of payloads, pair by pair. */

const PAIRS_TOP = 50
const VALUE_MAX = 120

type Pair = LabelsPreviewResult['results'][number]

/**
 * @param label without a fault (validateLabels).
 * @returns the most frequent pairs of payload value and label value, values cut to 120 characters.
 */
export function previewLabel(
  label: Label,
  payloads: readonly unknown[],
  contextOf: ContextOf,
): LabelsPreviewResult {
  const resolve = compileLabels([label])
  const pairs = new Map<string, Pair>()
  const before = new Set<string>()
  const after = new Set<string | number>()
  let matched = 0
  for (const payload of payloads) {
    const context = contextOf(payload)
    const { strings, numbers } = resolve(context)
    const to = strings[0]?.[1] ?? numbers?.[label.name] ?? null
    const from = textOf('field' in label ? lookup(context, label.field) : label.const)
    if (from !== null) before.add(from)
    if (to !== null) {
      after.add(to)
      matched++
    }
    const key = JSON.stringify([from, to])
    const pair = pairs.get(key)
    if (pair) pair.events++
    else pairs.set(key, { from: cut(from), to: cut(to), events: 1 })
  }
  return {
    sampled: payloads.length,
    matched,
    results: [...pairs.values()].sort((a, b) => b.events - a.events).slice(0, PAIRS_TOP),
    distinct_before: before.size,
    distinct_after: after.size,
  }
}

function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function cut<T>(value: T): T | string {
  return typeof value === 'string' ? value.slice(0, VALUE_MAX) : value
}

/* What labels can read of a stored payload: the same context its connector gave them at ingest. */

type ContextOf = (payload: unknown) => Record<string, unknown>

/**
 * Headers are not stored, so fields read from them are absent here.
 * @param config of the source, for what a connector reads depends on it.
 * @returns a function from a parsed payload to what label fields are looked up in.
 */
export function contextReader(connector: ConnectorDefinition, config: Record<string, unknown>): ContextOf {
  if (connector.mode === 'reference') return (payload) => (isObject(payload) ? payload : { value: payload })
  const map = connector.compile(config)
  const noBytes = new Uint8Array()
  return (payload) =>
    map({ raw: noBytes, value: payload, whole: () => payload }, undefined, 0)[0]?.context ?? {}
}

/** Whether it has named fields: a list has none. */
function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

/* Counts of names and their values over a sample of events. */

const VALUES_TOP = 8

interface Summary {
  /** Share of the sample that has it, 0 to 1. */
  coverage: number
  distinct: number
  /** The most frequent values, cut to 120 characters. */
  values: { value: string; events: number }[]
}

/** Counts of one name's values; `add` at most once per event. */
class Tally {
  private seen = 0
  private readonly values = new Map<string, number>()

  add(value: unknown): void {
    this.seen++
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    this.values.set(text, (this.values.get(text) ?? 0) + 1)
  }

  /** @param sampled how many events were looked at. */
  summary(sampled: number): Summary {
    const top = [...this.values].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, VALUES_TOP)
    return {
      // Four places tell one event of 2,000, the largest sample, from none and from all.
      coverage: sampled === 0 ? 0 : Math.round((this.seen / sampled) * 10_000) / 10_000,
      distinct: this.values.size,
      values: top.map(([value, events]) => ({ value: value.slice(0, VALUE_MAX), events })),
    }
  }
}

/** Tallies by name: the expected ones from the start, others as they come, up to a bound. */
class Tallies {
  private readonly byName: Map<string, Tally>

  constructor(
    expected: readonly string[],
    private readonly namesMax: number,
  ) {
    this.byName = new Map(expected.map((name) => [name, new Tally()]))
  }

  add(name: string, value: unknown): void {
    let tally = this.byName.get(name)
    if (!tally) {
      if (this.byName.size >= this.namesMax) return
      tally = new Tally()
      this.byName.set(name, tally)
    }
    tally.add(value)
  }

  all(): [string, Tally][] {
    return [...this.byName]
  }
}
