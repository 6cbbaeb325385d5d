/** From a body of lines to packed events by the kernel. */
import { parseDigits } from '../ingest/json.ts'
import type { Projection } from '../ingest/json-project.ts'
import { type PackedEvents, type PreparedEvent, Sparse } from '../ingest/packed.ts'
import { addUntimed, type MapItem, type PreparedBody, type Untimed } from '../ingest/prepare.ts'
import { type LineReader, type Rejected, splitBody, withLines } from '../ingest/split.ts'
import { type EventTime, eventTimeSpan, parseEventTime } from '../ingest/time.ts'
import type { FlatPlan } from './flat-plan.ts'
import { type Columns, DONE, FULL, type Kernel, type NewLabels } from './kernel.ts'

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
  let skewed = 0
  const untimed: Untimed = { count: 0, sample: '' }
  const rejected: Rejected[] = []
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
      for (const { claimed, unknownTime } of events) {
        if (claimed !== null) skewed++
        if (unknownTime !== undefined) addUntimed(untimed, unknownTime)
      }
      packer.addLine(events, (item as Exclude<typeof item, string>).range, lineEnd)
    }
    skewed += packer.readTimes((json) => {
      const time = parseEventTime(parseDigits(json), nowMs)
      if (time.unknown !== undefined) addUntimed(untimed, time.unknown)
      return time
    })
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
  return { prepared: { events, rejected: withLines(body, rejected), skewed, untimed }, learn }
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
  readTimes(read: (json: string) => EventTime): number {
    const { times, ts } = this.columns
    const count = this.kernel.exports.timeCount()
    const words = new Uint32Array(this.kernel.copy(times, 12 * count))
    let unused = 0
    for (let i = 0; i < count; i++) {
      // Of three words each, which no type of an array of bytes can say.
      const [item, start, end] = words.subarray(3 * i, 3 * i + 3) as unknown as [number, number, number]
      const { ts: time, claimed } = read(this.kernel.view(start, end - start).toString())
      if (time !== null) this.kernel.view(ts, 8 * (item + 1)).writeDoubleLE(time, 8 * item)
      if (claimed === null) continue
      this.claimed.set(item, claimed)
      unused++
    }
    return unused
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
