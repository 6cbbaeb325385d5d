/**
 * From an item to events ready to be stored: the connector's mapping, then labels and time.
 *
 * A flat plan is what the kernel does with the items of a source: a plan of plain fields at the top of an item. A source
 * that asks for more (nested fields, patterns, numbers, keys) has none, and is read item by item.
 */

import type { Label } from '../../../schemas/types.ts'
import type { IngestCall } from '../../calls.ts'
import { fail, SvcError } from '../../errors.ts'
import type { FlatMapping, Item, MappedEvent, MappingConnector } from '../../sources/connectors/connector.ts'
import type { Told } from '../figures.ts'
import { headsOf, Projection } from './json-project.ts'
import { compileLabels } from './label.ts'
import { type KnownLabels, type PackedEvents, Packer, type PreparedEvent } from './packed.ts'
import { type Rejected, type SplitItem, splitBody, withLines } from './split.ts'
import { CLOCKS_MS, type EventTime, parseEventTime } from './time.ts'

/** Labels and fields at most, and bytes of their names and constants, so that a plan has a fixed place. */
const FIELDS_MAX = 64
export const PLAN_BYTES = 32_768
const NOTHING = -1

export interface FlatLabel {
  name: string
  /** Place in `fields`; -1: `value` is its constant. */
  field: number
  value: string
}

export interface FlatPlan {
  fields: string[]
  labels: FlatLabel[]
  firstIsEntity: boolean
  type: { field: number; fixed: string }
  /** Place in `fields`; -1: none. */
  time: number
  /** Literal text, or the place of a field. */
  text: (string | number)[]
  /** Bodies that came with one of these headers are read item by item. */
  unlessHeaders: readonly string[]
}

/** Printable ASCII: what is copied into a text as it is. */
const PRINTABLE = /^[\x20-\x7e]*$/

/** @returns the plan, or null where the source asks for more than the kernel does. */
function flatPlanOf(mapping: FlatMapping | null, labels: readonly Label[]): FlatPlan | null {
  if (!mapping) return null
  const fields: string[] = []
  const place = (name: string): number => {
    const known = fields.indexOf(name)
    return known >= 0 ? known : fields.push(name) - 1
  }
  const primary = labels.find((label) => label.primary)
  const ordered = primary ? [primary, ...labels.filter((label) => label !== primary)] : labels
  const plan: FlatPlan = {
    fields,
    labels: ordered.map((label) =>
      'field' in label
        ? { name: label.name, field: place(label.field), value: '' }
        : { name: label.name, field: NOTHING, value: String(label.const) },
    ),
    firstIsEntity: primary !== undefined,
    type: {
      field: mapping.typeField === undefined ? NOTHING : place(mapping.typeField),
      fixed: mapping.type,
    },
    time: mapping.timeField === undefined ? NOTHING : place(mapping.timeField),
    text: mapping.text.map((part) => (typeof part === 'string' ? part : place(part.field))),
    unlessHeaders: mapping.unlessHeaders,
  }
  return isFlat(plan, labels) ? plan : null
}

function isFlat({ fields, labels: planned, text }: FlatPlan, labels: readonly Label[]): boolean {
  const isPlain = labels.every(
    (label) =>
      label.type !== 'number' &&
      ('const' in label
        ? PRINTABLE.test(String(label.const)) && /^\S(?:.*\S)?$/.test(String(label.const))
        : !label.pattern && !label.map),
  )
  const bytes = [
    ...fields,
    ...text.filter((part) => typeof part === 'string'),
    ...planned.map((l) => l.value),
  ]
  return (
    isPlain &&
    planned.length <= FIELDS_MAX &&
    fields.length <= FIELDS_MAX &&
    // Dots reach into an item; and of a name with an escape the kernel sees other bytes.
    fields.every(
      (name) => name !== '' && name !== '__proto__' && PRINTABLE.test(name) && !/[."\\]/.test(name),
    ) &&
    text.length > 0 &&
    text.every((part) => typeof part === 'number' || PRINTABLE.test(part)) &&
    bytes.join('').length < PLAN_BYTES / 4
  )
}

const FIELD_WORDS = 3
const LABEL_WORDS = 4
const PART_WORDS = 3
const HEAD_WORDS = 11
const HASHES = 256

/**
 * The plan as the kernel reads it (assembly/plan.ts has the layout).
 * @param at address it will have. @param nameOf number of a label name.
 */
export function encodePlan(plan: FlatPlan, at: number, nameOf: (name: string) => number): Uint8Array {
  const { fields, labels, text } = plan
  const words =
    HEAD_WORDS + fields.length * FIELD_WORDS + labels.length * LABEL_WORDS + text.length * PART_WORDS
  const bytes = Buffer.alloc(PLAN_BYTES)
  let free = words * 4
  const word = (index: number, value: number) => bytes.writeInt32LE(value | 0, index * 4)
  /** Writes the address and size of a text. */
  const put = (index: number, value: string) => {
    word(index, at + free)
    const size = bytes.write(value, free, 'utf8')
    word(index + 1, size)
    free += size
  }
  const fieldsAt = HEAD_WORDS
  const labelsAt = fieldsAt + fields.length * FIELD_WORDS
  const partsAt = labelsAt + labels.length * LABEL_WORDS
  const headsAt = free
  free += HASHES
  fields.forEach((name, i) => {
    const index = fieldsAt + i * FIELD_WORDS
    put(index, name)
    const hash = headsAt + hashOf(name)
    word(index + 2, bytes[hash]!)
    bytes[hash] = i + 1
  })
  labels.forEach(({ name, field, value }, i) => {
    const index = labelsAt + i * LABEL_WORDS
    word(index, nameOf(name))
    word(index + 1, field)
    put(index + 2, value)
  })
  text.forEach((part, i) => {
    const index = partsAt + i * PART_WORDS
    word(index, typeof part === 'number' ? part : NOTHING)
    if (typeof part === 'string') put(index + 1, part)
  })
  const heads = [headsAt, fieldsAt * 4].map((offset) => at + offset)
  heads.push(labels.length, at + labelsAt * 4, plan.firstIsEntity ? 1 : 0, plan.type.field)
  heads.forEach((value, i) => {
    word(i, value)
  })
  put(6, plan.type.fixed)
  word(8, plan.time)
  word(9, text.length)
  word(10, at + partsAt * 4)
  return bytes.subarray(0, free)
}

/** Of a name's first and last character and its length; names are ASCII. */
function hashOf(name: string): number {
  return (name.charCodeAt(0) * 7 + name.charCodeAt(name.length - 1) * 3 + name.length) & (HASHES - 1)
}

/** Compiled for one source. */
export interface Prepare {
  /**
   * @param headers lower-case names; undefined where the connector does not look at them.
   * @param index place of the item in its body. @param nowMs epoch ms.
   * @throws Error when the connector fails on the item: a fault of ours, which costs that item alone.
   */
  (item: Item, headers: Record<string, string> | undefined, index: number, nowMs: number): PreparedEvent[]
  /** What is looked at of an item; null: all of it. */
  projection: Projection | null
  /** What the kernel does with items; null: it is of no use. */
  plan: FlatPlan | null
  /** Whether an item is split into what is stored. */
  isSplit: boolean
}

const PRACTICE: [string, string] = ['practice', 'true']

/** Compiles a source, once. @param config validated, secrets opened. @param name of the source, if it has one. */
export function compileSource(
  connector: MappingConnector,
  config: Record<string, unknown>,
  name?: string,
): Prepare {
  const labels = (config.labels ?? []) as Label[]
  const map = connector.compile(config, name)
  const resolve = compileLabels(labels)
  const prepare = (
    item: Item,
    headers: Record<string, string> | undefined,
    index: number,
    nowMs: number,
  ): PreparedEvent[] =>
    map(item, headers, index, nowMs).map((event): PreparedEvent => {
      const { strings, hasEntity, numbers, tooLong } = resolve(
        event.context,
        event.stamped,
        event.entityLabel,
      )
      const { ts, claimed, unknown } = timeOf(event, nowMs)
      return {
        eventType: event.eventType,
        text: event.text,
        ts,
        claimed,
        ...(unknown === undefined ? {} : { unknownTime: unknown }),
        ...(tooLong === undefined ? {} : { tooLong }),
        ...(event.reader === undefined ? {} : { reader: event.reader }),
        strings,
        hasEntity,
        numbers,
        dedupeKey: event.dedupeKey ?? null,
        raw: event.raw ?? null,
      }
    })
  return Object.assign(prepare, {
    projection: projectionOf(connector, config, labels),
    plan: flatPlanOf(connector.flat?.(config) ?? null, labels),
    isSplit: connector.splits?.(config) ?? false,
  })
}

/** When what it tells of was over, where that has come; else when it happened. */
function timeOf({ eventTime, endTime }: MappedEvent, nowMs: number): EventTime {
  const began = parseEventTime(eventTime, nowMs)
  const end = parseEventTime(endTime, nowMs)
  // An end ahead is a plan: clocks differ by less. What began after it is on again.
  const isOver = end.ts !== null && end.ts <= nowMs + CLOCKS_MS && end.ts >= (began.ts ?? end.ts)
  return isOver ? end : began
}

/** The same for events of practice: labelled as such, and never a duplicate of a real one. */
export function practised(prepare: Prepare): Prepare {
  const labelled = (...of: Parameters<Prepare>): PreparedEvent[] =>
    prepare(...of).map((event) => ({
      ...event,
      strings: [...event.strings.filter(([name]) => name !== PRACTICE[0]), PRACTICE],
      dedupeKey: null,
    }))
  return Object.assign(labelled, { projection: prepare.projection, plan: null, isSplit: prepare.isSplit })
}

function projectionOf(
  connector: MappingConnector,
  config: Record<string, unknown>,
  labels: readonly Label[],
): Projection | null {
  const own = connector.fields?.(config)
  if (!own) return null
  const read = labels.flatMap((label) => ('field' in label ? [label.field] : []))
  return Projection.of([...own, ...read].flatMap(headsOf))
}

/* From the bytes of a body to packed events: split, mapped, labelled. Pure, so that any thread can. */

/** Events of one body, as many as it may have items: an item may hold a list of them. */
const EVENTS_MAX = 100_000

export interface PreparedBody {
  events: PackedEvents
  rejected: Rejected[]
  /** Events whose time was too far off to be used, and that of the first. */
  skewed: Told
  /** Events whose time is in no form that is known, and what the first of them gave. */
  untimed: Told
  /** Events without a label since its value is too long, and the label of the first. */
  tooLong: Told
  /** Events that something else reads better, and what reads the first. */
  reader: Told
}

/** Nothing yet. */
export const noneTold = (): Told => ({ count: 0, sample: '' })

export interface PrepareParts {
  known: KnownLabels
  /** Logs a fault of ours and gives the error to answer with. */
  onFault(error: Error): SvcError
}

/**
 * @param call.headers lower-case names; undefined where the connector does not look at them.
 * @param nowMs epoch ms.
 * @returns rejected items by their place in this body.
 * @throws SvcError invalid, too_large: the body is refused whole.
 */
export function prepareBody(
  source: { id: number; prepare: Prepare },
  body: Uint8Array,
  call: Pick<IngestCall, 'headers' | 'itemsBefore'>,
  nowMs: number,
  { known, onFault }: PrepareParts,
): PreparedBody {
  const { prepare } = source
  const packer = new Packer(source.id, body, known)
  const refused: Rejected[] = []
  const notes = notesOfEvents()
  let taken = 0
  const map = mapperOf(prepare, call, nowMs, onFault)
  const visit = (item: SplitItem): void => {
    const events = map(item)
    const at = item.at === undefined ? {} : { at: item.at }
    for (const error of item.refusals ?? []) refused.push({ index: item.index, error, ...at })
    if (typeof events === 'string') {
      refused.push({ index: item.index, error: events, ...at })
      return
    }
    taken += events.length
    if (taken > EVENTS_MAX)
      fail('too_large', `the body holds more than ${EVENTS_MAX} events; send it in parts`)
    for (const event of events) {
      noteEvent(notes, event)
      packer.add(event, item.range)
    }
  }
  const rejected = [...splitBody(body, visit, prepare.projection, undefined, prepare.isSplit), ...refused]
  const inOrder = rejected.sort((a, b) => a.index - b.index)
  return { events: packer.finish(), rejected: withLines(body, inOrder), ...notes }
}

/** What is to be told of the events of a body. */
type Notes = Pick<PreparedBody, 'skewed' | 'untimed' | 'tooLong' | 'reader'>

/** Nothing is to be told yet. */
export const notesOfEvents = (): Notes => ({
  ...{ skewed: noneTold(), untimed: noneTold(), tooLong: noneTold(), reader: noneTold() },
})

/** Counts what is to be told of one event more. */
export function noteEvent(notes: Notes, event: PreparedEvent): void {
  noteTime(notes, event)
  noteLabels(notes, event)
}

/** The same of its time alone. */
export function noteTime(notes: Notes, event: Pick<PreparedEvent, 'claimed' | 'unknownTime'>): void {
  if (event.claimed !== null) tell(notes.skewed, event.claimed)
  if (event.unknownTime !== undefined) tell(notes.untimed, event.unknownTime)
}

/** The same of all but its time. */
export function noteLabels(notes: Notes, event: PreparedEvent): void {
  if (event.tooLong !== undefined) tell(notes.tooLong, event.tooLong)
  if (event.reader !== undefined) tell(notes.reader, event.reader)
}

/** Counts one more. @param sample what it says */
function tell(told: Told, sample: string): void {
  if (told.count++ === 0) told.sample = sample
}

/** The events of an item, or why it is refused. */
export type MapItem = (item: SplitItem) => PreparedEvent[] | string

/** @param call.headers lower-case names. @param nowMs epoch ms. */
export function mapperOf(
  prepare: Prepare,
  { headers, itemsBefore = 0 }: Pick<IngestCall, 'headers' | 'itemsBefore'>,
  nowMs: number,
  onFault: PrepareParts['onFault'],
): MapItem {
  return (item) => {
    try {
      return prepare(item, headers, itemsBefore + item.index, nowMs)
    } catch (error) {
      return (error instanceof SvcError ? error : onFault(error as Error)).message
    }
  }
}
