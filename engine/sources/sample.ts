/**
 * The newest arrivals of a source, and what they are a sample of: the Fields view (which fields and labels they really
 * carry, and with what values), previews of labels, and a proposed mapping.
 */

import type {
  FieldCoverage,
  FieldsResult,
  Label,
  LabelCoverage,
  LabelsPreviewResult,
  ProposedRow,
  SourceProposal,
} from '../../schemas/types.ts'
import { fail } from '../errors.ts'
import { lookup } from '../log/ingest/json-project.ts'
import { compileLabels } from '../log/ingest/label.ts'
import { compileSource } from '../log/ingest/prepare.ts'
import { parseItem, type SplitItem, splitBody } from '../log/ingest/split.ts'
import { SOURCE_LABEL } from '../log/store/labels.ts'
import { firstPositions } from '../log/store/scan.ts'
import type { ReadContext } from '../log/timeline/context.ts'
import { presentRow } from '../log/timeline/present.ts'
import { isObject } from '../model/merge.ts'
import { isoOrNull } from '../model/units.ts'
import type { ConnectorDefinition, MappingConnector } from './connectors/connector.ts'
import { fitOf } from './connectors/preset.ts'
import { SENDER } from './connectors/webhook.ts'
import { type FoundRole, proposeMapping } from './propose.ts'

const FIELDS_MAX = 300
/** Names counted; payloads whose keys are data would otherwise fill memory. */
const NAMES_MAX = 5_000
const DEPTH_MAX = 4

export interface RecentEvent {
  raw: Uint8Array
  labels: Record<string, string | number>
  entity: { label: string; value: string } | null
  /** As it is shown. */
  row?: ProposedRow
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

/* The newest arrivals. */

/** Payload bytes looked at for a preview or the Fields view. */
const RECENT_BYTES = 16 * 1024 * 1024
const RECENT_PAGE = 50

/** Ids of the newest arrivals of a source, newest first. */
function newestIds(ctx: ReadContext, sourceId: number, limit: number): number[] {
  const labelId = ctx.dictionary.find(SOURCE_LABEL, String(sourceId))
  if (labelId === undefined) return []
  const query = {
    groups: [[labelId]],
    masked: [],
    from: Number.MIN_SAFE_INTEGER,
    to: Number.MAX_SAFE_INTEGER,
    afterId: -1,
    ceiling: Number.MAX_SAFE_INTEGER,
  }
  return firstPositions(ctx.index.all(), query, 'desc', limit, null).map((position) => position.id)
}

/** Names of the labels of the newest arrivals of a source, and which of them are numbers, newest first. */
export function carriedOf(
  ctx: ReadContext,
  sourceId: number,
  limit: number,
): { labels: string[]; numbers: string[]; entity: string | undefined }[] {
  ctx.names.refresh()
  return ctx.rows.read(newestIds(ctx, sourceId, limit), false).map((row) => {
    const { labels, entity } = presentRow(row, ctx.dictionary, ctx.names, 0)
    const numbers = Object.keys(labels).filter((name) => typeof labels[name] === 'number')
    return { labels: Object.keys(labels), numbers, entity: entity?.label }
  })
}

/** Newest arrivals of a source with payload, for previews and field coverage. */
export function recentOf(ctx: ReadContext, sourceId: number, limit: number): RecentEvent[] {
  ctx.names.refresh()
  const ids = newestIds(ctx, sourceId, limit)
  const recent: RecentEvent[] = []
  let bytes = 0
  // Read in pages up to a budget: 2,000 items of 1 MiB would not fit in memory.
  for (let from = 0; from < ids.length && bytes < RECENT_BYTES; from += RECENT_PAGE)
    for (const stored of ctx.rows.read(ids.slice(from, from + RECENT_PAGE), true)) {
      const row = presentRow(stored, ctx.dictionary, ctx.names, 0)
      recent.push({ raw: stored.raw!, labels: row.labels, entity: row.entity, row: storedRow(row) })
      bytes += stored.raw!.length
    }
  return recent
}

/** Of the source that has the name now: one that had it before is another. @throws SvcError not_found */
export function newestOf(
  ctx: ReadContext,
  sources: { requireByName(name: string): { id: number } },
  name: string,
  limit: number,
  now: number,
) {
  const { id } = sources.requireByName(name)
  ctx.names.refresh()
  const ids = newestIds(ctx, id, Math.min(500, Math.max(1, limit)))
  return ctx.rows.read(ids, false).map((row) => presentRow(row, ctx.dictionary, ctx.names, now))
}

/* A mapping proposed from payloads: what would be set, why, and what the same payloads read as before and after. */

/** Payloads a mapping is proposed from. */
export const PROPOSED_FROM = 200
const PROPOSED_BYTES = 2 * 1024 * 1024
const ROWS_MAX = 20
const ROW_TEXT_MAX = 500

interface ToPropose {
  connector: MappingConnector
  /** Newest first. A row is given where it is stored; else it is read with `config`. */
  events: readonly { raw: Uint8Array; row?: ProposedRow }[]
  /** The config as it is; of a new source it is empty. */
  config: Record<string, unknown>
  /** Fields that are set and stay. */
  known: Record<string, unknown>
  /** Why what came was refused, in a sentence; null: nothing was. */
  refused: string | null
  /** Nothing is proposed: only what `known` makes of the payloads is told. */
  isFixed: boolean
}

/** @param nowMs epoch ms. @throws SvcError invalid: there is nothing to propose from */
export function proposalOf(
  { connector, events, config, known, refused, isFixed }: ToPropose,
  nowMs: number,
): SourceProposal {
  if (events.length === 0)
    fail(
      'invalid',
      `nothing ${refused === null ? 'was received' : 'is stored'} yet: send an event, or give one as sample${refused === null ? '' : `. ${refused}`}`,
      { field: 'sample' },
    )
  // What the connector reads by itself, as it does deliveries told by their header, needs no mapping.
  const hasKey = ((config.labels ?? []) as Label[]).some((label) => label.primary)
  const isRead = ({ row }: { row?: ProposedRow }) => row !== undefined && row.entity !== null && !hasKey
  const open = events.filter((event) => !isRead(event))
  const payloads = within(PROPOSED_BYTES, open).map(({ raw }) => wholeOf(parseItem(raw), config.items_field))
  const found =
    isFixed || open.length === 0
      ? { config: known, roles: [] as FoundRole[], fields: proposeMapping(payloads, known, nowMs).fields }
      : proposeMapping(payloads, known, nowMs)
  const preset = isFixed || known.preset !== undefined ? undefined : presetFor(open, config.items_field)
  const rows = within(PROPOSED_BYTES, events.slice(0, ROWS_MAX)).map((event) => {
    const payload = wholeBytes(event.raw, config.items_field)
    const before = event.row ? [event.row] : rowsOf(connector, config, payload, nowMs)
    const after = isRead(event) ? before : rowsOf(connector, { ...config, ...found.config }, payload, nowMs)
    return { before, after }
  })
  return {
    connector: connector.kind,
    summary: summaryOf(events.length, events.length - open.length, found.roles) + lookOf(preset),
    proposed_config: { ...found.config },
    sampled: events.length,
    read_already: events.length - open.length,
    ...(preset === undefined ? {} : { preset }),
    roles: found.roles,
    payload_fields: found.fields,
    rows,
  }
}

/** The preset that fits what came, by its payloads and by what their headers told when they came. */
function presetFor(events: ToPropose['events'], items: unknown): SourceProposal['preset'] {
  const looked = within(PROPOSED_BYTES, events).map(({ raw, row }) => {
    const sender = row?.labels[SENDER]
    return { payload: wholeOf(parseItem(raw), items), ...(typeof sender === 'string' ? { sender } : {}) }
  })
  return looked.length === 0 ? undefined : fitOf(looked)
}

/** The first of them that fit; at least one. */
function within<T extends { raw: Uint8Array }>(bytes: number, events: readonly T[]): T[] {
  let left = bytes
  return events.filter(({ raw }, i) => {
    left -= raw.length
    return left >= 0 || i === 0
  })
}

/** Exactly what came, where nothing is to be put back. */
function wholeBytes(raw: Uint8Array, items: unknown): Uint8Array {
  const payload = parseItem(raw)
  const whole = wholeOf(payload, items)
  return whole === payload ? raw : Buffer.from(JSON.stringify(whole))
}

/** An entry of a list that was split is put back where it lay. */
function wholeOf(payload: unknown, items: unknown): unknown {
  if (typeof items !== 'string' || !isObject(payload) || !isObject(payload.envelope)) return payload
  const { envelope, ...entry } = payload
  const around = envelope as Record<string, unknown>
  const isInside = !Object.hasOwn(around, items)
  // A list inside another object, or inside text, is left as the entry it is.
  return isInside ? entry : { ...around, [items]: [entry] }
}

/** What a config makes of a payload; the time is null where it is that of arrival. */
function rowsOf(
  connector: MappingConnector,
  config: Record<string, unknown>,
  payload: Uint8Array,
  nowMs: number,
): ProposedRow[] {
  const prepare = compileSource(connector, config)
  const rows: ProposedRow[] = []
  const take = (item: SplitItem) => {
    for (const { eventType, text, ts, strings, hasEntity, numbers } of prepare(
      item,
      undefined,
      item.index,
      nowMs,
    ))
      rows.push(
        rowOf({
          event_type: eventType,
          text,
          ts: isoOrNull(ts),
          entity: hasEntity ? { label: strings[0]![0], value: strings[0]![1] } : null,
          labels: { ...Object.fromEntries(strings), ...numbers },
        }),
      )
  }
  splitBody(payload, take, prepare.projection)
  return rows.slice(0, ROWS_MAX)
}

const storedRow = ({
  event_time: at,
  ingested_at: arrived,
  ...row
}: ReturnType<typeof presentRow>): ProposedRow => rowOf({ ...row, ts: at === arrived ? null : at })

const rowOf = ({ event_type, text, ts, entity, labels }: ProposedRow): ProposedRow => ({
  event_type,
  text: text.slice(0, ROW_TEXT_MAX),
  ts,
  entity,
  labels,
})

const lookOf = (preset: SourceProposal['preset']): string =>
  preset === undefined ? '' : ` This looks like ${preset.label}: the preset ${preset.name} reads it.`

function summaryOf(sampled: number, read: number, roles: readonly FoundRole[]): string {
  const of = sampled === 1 ? 'one payload' : `${sampled} payloads`
  if (read === sampled)
    return `Read ${of}: the connector reads ${read === 1 ? 'it' : 'them'} without a mapping.`
  const told = (role: FoundRole['role'], word: string): string[] =>
    roles
      .filter((one) => one.role === role)
      .slice(0, 1)
      .map(
        ({ field, coverage }) =>
          `${word} ${field}${coverage < 1 ? ` (${Math.round(coverage * 100)} %)` : ''}`,
      )
  const found = [
    ...told('items', 'an event for each of'),
    ...told('entity', 'entity'),
    ...told('type', 'type'),
    ...told('time', 'time'),
    ...told('text', 'text'),
  ]
  return `Read ${of}: ${found.length ? found.join(', ') : 'no field was recognised; choose them by hand'}.`
}
