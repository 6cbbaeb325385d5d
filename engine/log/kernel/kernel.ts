/**
 * The kernel's instance and its memory. The kernel (assembly/) reads lines of JSON into columns and finds
 * label ids by the bytes of a value, in WebAssembly, so that no string or object is made of an item.
 *
 * Memory, from the bottom: its own data; a plan; a text to be looked up; labels (slots, entries, values);
 * then the body at work and its columns, which the next one overwrites.
 */
import type { PackedEvents } from '../ingest/packed.ts'
import { encodePlan, type FlatPlan, PLAN_BYTES } from './flat-plan.ts'
import { KERNEL } from './kernel-bytes.ts'

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

export const DONE = 0
export const FULL = 2

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
