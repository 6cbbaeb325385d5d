/**
 * The kernel's instance and its memory. The kernel (log/kernel/assembly/) reads lines of JSON into columns and finds
 * label ids by the bytes of a value, in WebAssembly, so that no string or object is made of an item.
 *
 * Memory, from the bottom: its own data; a plan; a text to be looked up; labels (slots, entries, values);
 * then the body at work and its columns, which the next one overwrites.
 *
 * `prepareLines` makes packed events of a body of lines by it.
 */

import { parseDigits } from './json.ts'
import type { Projection } from './json-project.ts'
import { KERNEL } from './kernel-bytes.ts'
import { type PackedEvents, type PreparedEvent, Sparse } from './packed.ts'
import {
  encodePlan,
  type FlatPlan,
  type MapItem,
  noteLabels,
  notesOfEvents,
  noteTime,
  PLAN_BYTES,
  type PreparedBody,
} from './prepare.ts'
import { type LineReader, type Rejected, splitBody, withLines } from './split.ts'
import { type EventTime, eventTimeSpan, parseEventTime } from './time.ts'

/** What we use of WebAssembly: its types come with the DOM, which is not ours. */
interface WebAssemblyApi {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { exports: unknown }
}
// The types of Node leave it out.
const { Module, Instance } = (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly

interface Exports {
  memory: { buffer: ArrayBuffer; grow(pages: number): number }
  firstFree(): number
  placeLabels(
    slots: number,
    slotCount: number,
    entries: number,
    most: number,
    values: number,
    bytes: number,
  ): void
  placeColumns(...addresses: number[]): void
  forgetLabels(): void
  rememberedLabels(): number
  labelOf(name: number, value: number, size: number): number
  learnLabel(entry: number, id: number): void
  newLabelCount(): number
  entryName(entry: number): number
  entryValue(entry: number): number
  entrySize(entry: number): number
  begin(
    plan: number,
    source: number,
    sourceSize: number,
    from: number,
    to: number,
    most: number,
    notBefore: number,
    notAfter: number,
  ): number
  run(): number
  lineStart(): number
  lineCount(): number
  eventCount(): number
  labelsEnd(): number
  textEnd(): number
  timeCount(): number
  skipLine(to: number, events: number, labels: number, text: number): void
}

/** Labels remembered; past that all are forgotten at once, which costs one slow moment. */
const ENTRIES_MAX = 200_000
const ENTRY_BYTES = 24
const SLOTS = 524_288
const VALUES_BYTES = 16 * 1024 * 1024
/** A body whose labels could all be new begins with this much room. */
const ENTRIES_FREE = 50_000
const SCRATCH_BYTES = 4_096
const NAMES_MAX = 60_000
const PAGE = 65_536
/** Zeros past a body: they end every token. */
const PADDING = 64
/** Shortest line: {} and its break. */
const LINE_BYTES = 3
/** Beyond what the lines hold, for the literal parts of a template. */
const TEXT_SPARE = 65_536
const TIME_BYTES = 12

/** Names that are ours come first. */
const OWN_NAMES = ['@source', '@type']

const DONE = 0
const FULL = 2

/** The columns of the body at work. Views are of the memory as it is now. */
export interface Columns {
  body: number
  ts: number
  labels: number
  labelEnds: number
  hasEntity: number
  text: number
  textBytes: number
  textEnds: number
  ranges: number
  newEntries: number
  times: number
  labelsMost: number
}

/** Labels of one body that had no id: what it becomes is told later. */
export interface NewLabels {
  epoch: number
  entries: Uint32Array
}

export class Kernel {
  readonly exports: Exports
  private bytes: Buffer
  private readonly names = new Map<string, number>()
  private readonly plans = new WeakMap<FlatPlan, { epoch: number; encoded: Uint8Array }>()
  private readonly plan: number
  private readonly scratch: number
  private readonly arena: number
  /** Goes up when all labels are forgotten. */
  private epoch = 0

  constructor() {
    const module = new Module(Buffer.from(KERNEL, 'base64'))
    this.exports = new Instance(module, {}).exports as Exports
    this.plan = align(this.exports.firstFree(), 16)
    this.scratch = this.plan + PLAN_BYTES
    const slots = this.scratch + SCRATCH_BYTES
    const entries = slots + SLOTS * 4
    const values = entries + ENTRIES_MAX * ENTRY_BYTES
    this.arena = align(values + VALUES_BYTES, 16)
    this.bytes = Buffer.alloc(0)
    this.reserve(this.arena)
    this.exports.placeLabels(slots, SLOTS, entries, ENTRIES_MAX, values, VALUES_BYTES)
    this.forget()
  }

  /**
   * Copies a body in and begins with the lines of it. @param most items at most.
   * @returns the columns, or null where not even the source's own label has room.
   */
  begin(
    plan: FlatPlan,
    sourceId: number,
    body: Uint8Array,
    [start, end]: readonly [number, number],
    most: number,
    [notBefore, notAfter]: readonly [number, number],
  ): Columns | null {
    if (this.exports.rememberedLabels() > ENTRIES_MAX - ENTRIES_FREE || this.names.size > NAMES_MAX)
      this.forget()
    const columns = this.place(body, plan.labels.length + OWN_NAMES.length, most)
    this.write(plan)
    const source = this.put(String(sourceId))
    const from = columns.body + start
    const to = columns.body + end
    const hasRoom = this.exports.begin(this.plan, this.scratch, source, from, to, most, notBefore, notAfter)
    return hasRoom ? columns : null
  }

  /** The id of a label, or its place among the new ones. @returns null where there is no room. */
  label(name: string, value: string): number | null {
    const number = this.exports.labelOf(this.nameOf(name), this.scratch, this.put(value)) >>> 0
    return number === 0xffff_ffff ? null : number
  }

  /** A view of some memory, until more is reserved. */
  view(at: number, size: number): Buffer {
    return this.bytes.subarray(at, at + size)
  }

  /** A copy in a buffer of its own. */
  copy(at: number, size: number): ArrayBuffer {
    return this.exports.memory.buffer.slice(at, at + size)
  }

  /** The labels of the body at work that have no id, with what they are. */
  newLabels({ newEntries }: Columns): { named: PackedEvents['newLabels']; learn: NewLabels } {
    const { exports } = this
    const entries = new Uint32Array(this.copy(newEntries, 4 * exports.newLabelCount()))
    const names = [...this.names.keys()]
    const named = Array.from(entries, (entry): [string, string] => [
      names[exports.entryName(entry)]!,
      this.view(exports.entryValue(entry), exports.entrySize(entry)).toString(),
    ])
    return { named, learn: { epoch: this.epoch, entries } }
  }

  /** @param ids 0 where no stored event has the label. */
  learn({ epoch, entries }: NewLabels, ids: Uint32Array): void {
    if (epoch !== this.epoch) return
    for (const [i, entry] of entries.entries()) if (ids[i] !== 0) this.exports.learnLabel(entry, ids[i]!)
  }

  private forget(): void {
    this.epoch++
    this.exports.forgetLabels()
    this.names.clear()
    for (const name of OWN_NAMES) this.nameOf(name)
  }

  private nameOf(name: string): number {
    let number = this.names.get(name)
    if (number === undefined) {
      number = this.names.size
      this.names.set(name, number)
    }
    return number
  }

  /** Writes a text where it can be looked up. @returns its bytes. */
  private put(text: string): number {
    return this.bytes.write(text, this.scratch, SCRATCH_BYTES, 'utf8')
  }

  private write(plan: FlatPlan): void {
    let known = this.plans.get(plan)
    if (known?.epoch !== this.epoch) {
      known = { epoch: this.epoch, encoded: encodePlan(plan, this.plan, (name) => this.nameOf(name)) }
      this.plans.set(plan, known)
    }
    this.bytes.set(known.encoded, this.plan)
  }

  private place(body: Uint8Array, labelsEach: number, itemsMost: number): Columns {
    const most = Math.min(itemsMost, Math.ceil(body.length / LINE_BYTES) + 1)
    const labelsMost = most * labelsEach
    let free = this.arena
    const take = (size: number): number => {
      const at = free
      free = align(free + size, 16)
      return at
    }
    const textBytes = 2 * body.length + TEXT_SPARE
    const columns: Columns = {
      body: take(body.length + PADDING),
      ts: take(8 * most),
      labels: take(4 * labelsMost),
      labelEnds: take(4 * most),
      hasEntity: take(most),
      text: take(textBytes + PADDING),
      textBytes,
      textEnds: take(4 * most),
      ranges: take(8 * most),
      newEntries: take(4 * labelsMost),
      times: take(TIME_BYTES * most),
      labelsMost,
    }
    this.reserve(free)
    this.bytes.set(body, columns.body)
    this.bytes.fill(0, columns.body + body.length, columns.body + body.length + PADDING)
    const { ts, labels, labelEnds, hasEntity, text, textEnds, ranges, newEntries, times } = columns
    this.exports.placeColumns(
      ts,
      labels,
      labelEnds,
      hasEntity,
      text,
      textBytes,
      textEnds,
      ranges,
      newEntries,
      times,
    )
    return columns
  }

  private reserve(size: number): void {
    const { memory } = this.exports
    const missing = size - memory.buffer.byteLength
    if (missing > 0) memory.grow(Math.ceil(missing / PAGE))
    if (this.bytes.buffer !== memory.buffer) this.bytes = Buffer.from(memory.buffer)
  }
}

const align = (address: number, to: number): number => Math.ceil(address / to) * to

interface KernelBody {
  prepared: PreparedBody
  learn: NewLabels
}

/** Whether the kernel may read a body that came with these headers. */
export function suits(plan: FlatPlan, headers: Record<string, string> | undefined): boolean {
  return headers === undefined || !plan.unlessHeaders.some((name) => headers[name])
}

/**
 * @param map what the kernel leaves is mapped with. @param nowMs epoch ms. @param take gives the buffer of the columns.
 * @returns null where the body is no lines, or has more labels or text than the kernel takes.
 * @throws SvcError invalid, too_large: the body is refused whole.
 */
export function prepareLines(
  kernel: Kernel,
  { id, plan, projection }: { id: number; plan: FlatPlan; projection: Projection | null },
  body: Uint8Array,
  { map, nowMs, take }: { map: MapItem; nowMs: number; take?: (size: number) => Buffer },
): KernelBody | null {
  let packer: KernelPacker | undefined
  const notes = notesOfEvents()
  const rejected: Rejected[] = []
  const times: (Parameters<typeof noteTime>[1] & { item: number })[] = []
  const noted = (item: number, claimed: string | null, unknownTime: string | undefined): void => {
    if (claimed !== null || unknownTime !== undefined) times.push({ item, claimed, unknownTime })
  }
  const lines: LineReader = (whole, most, read) => {
    const columns = kernel.begin(plan, id, body, whole, most, eventTimeSpan(nowMs))
    if (!columns) throw new KernelFull()
    packer = new KernelPacker(kernel, columns, body, id)
    for (let status = kernel.exports.run(); status !== DONE; status = kernel.exports.run()) {
      if (status === FULL) throw new KernelFull()
      const at = kernel.exports.lineStart() - columns.body
      const { index, item, lineEnd } = read(at, kernel.exports.lineCount())
      const events = typeof item === 'string' ? item : map(item)
      if (typeof events === 'string') {
        rejected.push({ index, error: events, at })
        packer.addLine([], [0, 0], lineEnd)
        continue
      }
      const first = kernel.exports.eventCount()
      for (const [i, event] of events.entries()) {
        noteLabels(notes, event)
        noted(first + i, event.claimed, event.unknownTime)
      }
      packer.addLine(events, (item as Exclude<typeof item, string>).range, lineEnd)
    }
    packer.readTimes((json, item) => {
      const time = parseEventTime(parseDigits(json), nowMs)
      noted(item, time.claimed, time.unknown)
      return time
    })
    // Of several the first of the body is told: those that the kernel leaves to be read come after all lines.
    for (const time of times.sort((a, b) => a.item - b.item)) noteTime(notes, time)
    return rejected
  }
  try {
    splitBody(
      body,
      () => {
        throw new KernelFull()
      },
      projection,
      lines,
    )
  } catch (error) {
    if (error instanceof KernelFull) return null
    throw error
  }
  if (!packer) return null
  const { events, learn } = packer.finish(take)
  return { prepared: { events, rejected: withLines(body, rejected), ...notes }, learn }
}

/* The events of one body, packed by the kernel where it can and item by item where it cannot. */

/** Bytes of a character in UTF-8 at most. */
const CHARACTER_BYTES = 3

/** There is no room: the body is to be read another way. */
class KernelFull extends Error {}

class KernelPacker {
  private readonly ownRaws = new Sparse<Uint8Array>()
  private readonly numbers = new Sparse<string>()
  private readonly claimed = new Sparse<string>()
  private readonly dedupeKeys = new Sparse<string>()

  constructor(
    private readonly kernel: Kernel,
    private readonly columns: Columns,
    private readonly body: Uint8Array,
    private readonly sourceId: number,
  ) {}

  /**
   * Adds the events of the line the kernel stopped at, and has it go on past it.
   * @param range where the bytes of the item lie in the body. @param lineEnd where its line ends.
   * @throws KernelFull
   */
  addLine(events: readonly PreparedEvent[], range: readonly [number, number], lineEnd: number): void {
    const { exports } = this.kernel
    let item = exports.eventCount()
    let labelAt = exports.labelsEnd()
    let textAt = exports.textEnd()
    for (const event of events) {
      const labels = this.labelsOf(event)
      const textBytes = this.kernel.view(this.columns.text, this.columns.textBytes)
      if (labelAt + labels.length > this.columns.labelsMost) throw new KernelFull()
      if (textAt + event.text.length * CHARACTER_BYTES > textBytes.length) throw new KernelFull()
      for (const label of labels) this.word(this.columns.labels, labelAt++, label)
      textAt += textBytes.write(event.text, textAt)
      this.kernel.view(this.columns.ts, 8 * (item + 1)).writeDoubleLE(event.ts ?? Number.NaN, 8 * item)
      this.kernel.view(this.columns.hasEntity, item + 1)[item] = event.hasEntity ? 1 : 0
      this.word(this.columns.labelEnds, item, labelAt)
      this.word(this.columns.textEnds, item, textAt)
      this.word(this.columns.ranges, 2 * item, this.columns.body + range[0])
      this.word(this.columns.ranges, 2 * item + 1, this.columns.body + range[1])
      this.addRare(event, item++)
    }
    exports.skipLine(this.columns.body + lineEnd, item, labelAt, textAt)
  }

  /** Sets the times the kernel left open. @param read of a JSON value. @returns how many could not be used. */
  readTimes(read: (json: string, item: number) => EventTime): void {
    const { times, ts } = this.columns
    const count = this.kernel.exports.timeCount()
    const words = new Uint32Array(this.kernel.copy(times, 12 * count))
    for (let i = 0; i < count; i++) {
      // Of three words each, which no type of an array of bytes can say.
      const [item, start, end] = words.subarray(3 * i, 3 * i + 3) as unknown as [number, number, number]
      const { ts: time, claimed } = read(this.kernel.view(start, end - start).toString(), item)
      if (time !== null) this.kernel.view(ts, 8 * (item + 1)).writeDoubleLE(time, 8 * item)
      if (claimed !== null) this.claimed.set(item, claimed)
    }
  }

  /** @param take gives a buffer for all columns, which may be larger and begins them at its start. */
  finish(take = (size: number): Buffer => Buffer.allocUnsafeSlow(size)): {
    events: PackedEvents
    learn: NewLabels
  } {
    const { kernel, columns } = this
    const n = kernel.exports.eventCount()
    const labels = kernel.exports.labelsEnd()
    const text = kernel.exports.textEnd()
    // Those of eight bytes first, then of four, then of one: each is aligned.
    const sizes = [8 * n, 8 * n, 4 * n, 4 * n, 4 * labels, n, text]
    const all = take(sizes.reduce((sum, size) => sum + size, 0))
    let free = 0
    const copy = (from: number, size: number): [ArrayBuffer, number] => {
      all.set(kernel.view(from, size), free)
      free += size
      return [all.buffer as ArrayBuffer, free - size]
    }
    const ts = new Float64Array(...copy(columns.ts, 8 * n), n)
    const ranges = new Uint32Array(...copy(columns.ranges, 8 * n), 2 * n)
    for (let i = 0; i < ranges.length; i++) ranges[i]! -= columns.body
    const { named, learn } = kernel.newLabels(columns)
    const events: PackedEvents = {
      n,
      ts,
      ranges,
      labelEnds: new Uint32Array(...copy(columns.labelEnds, 4 * n), n),
      textEnds: new Uint32Array(...copy(columns.textEnds, 4 * n), n),
      labels: new Uint32Array(...copy(columns.labels, 4 * labels), labels),
      hasEntity: new Uint8Array(...copy(columns.hasEntity, n), n),
      text: new Uint8Array(...copy(columns.text, text), text),
      newLabels: named,
      body: this.body,
      ownRaws: this.ownRaws.finish(n),
      numbers: this.numbers.finish(n),
      claimed: this.claimed.finish(n),
      dedupeKeys: this.dedupeKeys.finish(n),
    }
    return { events, learn }
  }

  private labelsOf({ eventType, strings }: PreparedEvent): number[] {
    const labels: [string, string][] = [['@source', String(this.sourceId)], ['@type', eventType], ...strings]
    return labels.map(([name, value]) => {
      const label = this.kernel.label(name, value)
      if (label === null) throw new KernelFull()
      return label
    })
  }

  private addRare(event: PreparedEvent, item: number): void {
    if (event.raw) this.ownRaws.set(item, event.raw)
    if (event.numbers) this.numbers.set(item, JSON.stringify(event.numbers))
    if (event.claimed !== null) this.claimed.set(item, event.claimed)
    if (event.dedupeKey !== null) this.dedupeKeys.set(item, event.dedupeKey)
  }

  private word(column: number, index: number, value: number): void {
    this.kernel.view(column, 4 * (index + 1)).writeUInt32LE(value, 4 * index)
  }
}
