/** The columns of the body at work, an event after another. */
import { ABSENT, fieldStart, fieldStop, look, OTHERWISE, PLAIN, valueAt, valueSize } from './item'
import { beginLabels, labelOf, NO_ROOM } from './labels'
import { hasEntity, labelEnds, labels, ranges, text, textEnds, textLimit, times, ts } from './memory'
import {
  firstIsEntity,
  fixedType,
  fixedTypeSize,
  labelConst,
  labelConstSize,
  labelCount,
  labelField,
  labelName,
  partCount,
  partField,
  partSize,
  partText,
  timeField,
  typeField,
} from './plan'
import { QUOTE } from './scan'
import { plainTime } from './time'

/** All is read. */
export const DONE: u32 = 0
/** The item is the caller's to read. */
export const UNSURE: u32 = 1
/** The body has to be read otherwise: labels or texts have no room. */
export const FULL: u32 = 2

const SOURCE_NAME: u32 = 0
const TYPE_NAME: u32 = 1
const VALUE_BYTES_MAX: usize = 1024
const TYPE_BYTES_MAX: usize = 200
const TEXT_BYTES_MAX: usize = 4096
const SPACE: u8 = 0x20

let events: u32 = 0
let labelsUsed: u32 = 0
let textUsed: usize = 0
let timesUsed: u32 = 0
let source: u32 = 0
let earliest: f64 = 0
let latest: f64 = 0

/** @param sourceValue its id as text. @returns false where not even that label has room. */
export function beginColumns(sourceValue: usize, sourceSize: u32, notBefore: f64, notAfter: f64): bool {
  beginLabels()
  events = 0
  labelsUsed = 0
  textUsed = 0
  timesUsed = 0
  earliest = notBefore
  latest = notAfter
  source = labelOf(SOURCE_NAME, sourceValue, sourceSize)
  return source !== NO_ROOM
}

export function eventCount(): u32 {
  return events
}

export function labelsEnd(): u32 {
  return labelsUsed
}

export function textEnd(): u32 {
  return <u32>textUsed
}

/** Events whose time the caller reads. */
export function timeCount(): u32 {
  return timesUsed
}

/** The caller has added events itself. */
export function goOnFrom(event: u32, label: u32, textAt: u32): void {
  events = event
  labelsUsed = label
  textUsed = textAt
}

/** Adds the item that was read last; its bytes lie from `start` to `stop`. */
export function addItem(start: usize, stop: usize): u32 {
  let labelAt = labels + ((<usize>labelsUsed) << 2)
  store<u32>(labelAt, source)
  const type = typeLabel()
  if (type === 0) return UNSURE
  if (type === NO_ROOM) return FULL
  store<u32>(labelAt, type, 4)
  labelAt += 8
  let entity: u8 = 0
  for (let i: u32 = 0; i < labelCount; i++) {
    const id = labelAtPlan(i)
    if (id === NO_ROOM) return FULL
    if (id === OTHERWISE_LABEL) return UNSURE
    if (id === 0) continue
    if (i === 0 && firstIsEntity) entity = 1
    store<u32>(labelAt, id)
    labelAt += 4
  }
  const textTo = addText()
  if (textTo === 0) return UNSURE
  if (textTo === TEXT_FULL) return FULL
  const at = <usize>events
  store<f64>(ts + (at << 3), timeOf())
  store<u8>(hasEntity + at, entity)
  labelsUsed = <u32>((labelAt - labels) >> 2)
  store<u32>(labelEnds + (at << 2), labelsUsed)
  textUsed = textTo - text
  store<u32>(textEnds + (at << 2), <u32>textUsed)
  store<u32>(ranges + (at << 3), <u32>start)
  store<u32>(ranges + (at << 3), <u32>stop, 4)
  events++
  return DONE
}

/** 0 where it is not plain to see. */
function typeLabel(): u32 {
  if (typeField >= 0) {
    const kind = look(typeField)
    if (kind === OTHERWISE) return 0
    if (kind === PLAIN && valueSize > 0) {
      // Of longer texts, and of line breaks beyond ASCII, something changes.
      if (valueSize > TYPE_BYTES_MAX || !isAscii(valueAt, valueSize)) return 0
      return labelOf(TYPE_NAME, valueAt, valueSize)
    }
  }
  return labelOf(TYPE_NAME, fixedType, fixedTypeSize)
}

const OTHERWISE_LABEL: u32 = 0xfffffffe

/** The label's number; 0 where the item makes none. */
function labelAtPlan(i: u32): u32 {
  const field = labelField(i)
  if (field < 0) return labelOf(labelName(i), labelConst(i), labelConstSize(i))
  const kind = look(field)
  if (kind === OTHERWISE) return OTHERWISE_LABEL
  if (kind !== PLAIN || valueSize === 0) return 0
  // Spaces around it are the caller's to take off, and the sender is told of a value that is too long.
  if (load<u8>(valueAt) <= SPACE || load<u8>(valueAt + valueSize - 1) <= SPACE) return OTHERWISE_LABEL
  if (valueSize > VALUE_BYTES_MAX) return OTHERWISE_LABEL
  return labelOf(labelName(i), valueAt, valueSize)
}

const TEXT_FULL: usize = 1

/** Writes the text. @returns its end; 0 where it is not plain to see. */
function addText(): usize {
  const from = text + textUsed
  let to = from
  for (let i: u32 = 0; i < partCount; i++) {
    const field = partField(i)
    let part = partText(i)
    let size: usize = partSize(i)
    if (field >= 0) {
      const kind = look(field)
      if (kind === ABSENT) continue
      if (kind !== PLAIN || !isAscii(valueAt, valueSize)) return 0
      part = valueAt
      size = valueSize
    }
    if (to - from + size > TEXT_BYTES_MAX) return 0
    if (to + size + 16 > textLimit) return TEXT_FULL
    copyShort(to, part, size)
    to += size
  }
  // As String.trim, of ASCII without control characters.
  while (to > from && load<u8>(to - 1) === 0x20) to--
  if (to === from) return 0
  if (load<u8>(from) === 0x20) return 0
  return to
}

/** Copies 16 bytes at a time, past the end too: most values are shorter than a call is worth. */
function copyShort(to: usize, from: usize, size: usize): void {
  for (let at: usize = 0; at < size; at += 16) v128.store(to + at, v128.load(from + at))
}

function isAscii(at: usize, size: usize): bool {
  let i: usize = 0
  for (; i + 16 <= size; i += 16) if (i8x16.bitmask(v128.load(at + i)) !== 0) return false
  if (i === size) return true
  const rest = (1 << i32(size - i)) - 1
  return (i8x16.bitmask(v128.load(at + i)) & rest) === 0
}

/** NaN where it has none, or where the caller looks. */
function timeOf(): f64 {
  if (timeField < 0) return NaN
  const value = fieldStart(timeField)
  if (value === 0) return NaN
  const stop = fieldStop(timeField)
  if (load<u8>(value) === QUOTE) {
    const time = plainTime(value + 1, stop - value - 2)
    if (time >= earliest && time <= latest) return time
  }
  const entry = times + <usize>timesUsed * 12
  store<u32>(entry, events)
  store<u32>(entry, <u32>value, 4)
  store<u32>(entry, <u32>stop, 8)
  timesUsed++
  return NaN
}
