/**
 * The kernel of the preparer: lines of JSON to columns, without a JavaScript object for any of them. It
 * does what is plain to see; wherever it is not, it stops at the line and its caller reads that one.
 */
import { addItem, beginColumns, DONE, goOnFrom, UNSURE } from './event'
import { readItem } from './item'
import { takePlan } from './plan'
import { NEWLINE, skipSpace } from './scan'

export { eventCount, labelsEnd, textEnd, timeCount } from './event'
export {
  entryName,
  entrySize,
  entryValue,
  forgetLabels,
  labelOf,
  learnLabel,
  newLabelCount,
  rememberedLabels,
} from './labels'
export { firstFree, placeColumns, placeLabels } from './memory'

const ITEM_BYTES_MAX: usize = 1048576

let position: usize = 0
let end: usize = 0
let linesMost: u32 = 0
let lines: u32 = 0

/**
 * @param plan of the source. @param from first byte of the lines. @param to past the last.
 * @param most lines taken.
 */
export function begin(
  plan: usize,
  sourceValue: usize,
  sourceSize: u32,
  from: usize,
  to: usize,
  most: u32,
  notBefore: f64,
  notAfter: f64,
): bool {
  takePlan(plan)
  position = from
  end = to
  lines = 0
  linesMost = most
  return beginColumns(sourceValue, sourceSize, notBefore, notAfter)
}

/** Where the line begins that is the caller's to read. */
export function lineStart(): usize {
  return position
}

/** Lines so far, those the caller refused among them. */
export function lineCount(): u32 {
  return lines
}

/** The caller has read the line at hand up to `to`, and added its events to the columns itself. */
export function skipLine(to: usize, event: u32, label: u32, textAt: u32): void {
  position = to
  lines++
  goOnFrom(event, label, textAt)
}

/** Reads lines until one is not plain to see, or there is none left. @returns DONE, UNSURE or FULL. */
export function run(): u32 {
  while (true) {
    let p = position
    while (p < end && isSpaceOrBreak(load<u8>(p))) p++
    position = p
    if (p >= end) return DONE
    if (lines === linesMost) return UNSURE
    const stop = readItem(p)
    if (stop === 0 || stop > end || stop - p > ITEM_BYTES_MAX) return UNSURE
    const past = skipSpace(stop)
    if (past < end && load<u8>(past) !== NEWLINE) return UNSURE
    const status = addItem(p, stop)
    if (status !== DONE) return status
    position = past
    lines++
  }
}

function isSpaceOrBreak(byte: u8): bool {
  return byte === 0x20 || byte === NEWLINE || byte === 0x0d || byte === 0x09
}
