/** From a body of lines to packed events by the kernel. */
import { parseDigits } from '../json-digits.ts'
import type { Projection } from '../json-project.ts'
import { addUntimed, type MapItem, type PreparedBody, type Untimed } from '../prepare-body.ts'
import { type LineReader, type Rejected, splitBody, withLines } from '../split.ts'
import { eventTimeSpan, parseEventTime } from '../time.ts'
import type { FlatPlan } from './flat-plan.ts'
import { DONE, FULL, type Kernel, type NewLabels } from './kernel.ts'
import { KernelFull, KernelPacker } from './kernel-packer.ts'

export interface KernelBody {
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
