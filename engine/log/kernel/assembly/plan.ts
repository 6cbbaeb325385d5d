/**
 * A source's plan, as the caller wrote it into memory: which fields of an item are looked at and what
 * becomes of them. Words of 4 bytes; a field is its place in the list, or -1 for none.
 */

const FIELD_BYTES: usize = 12
const LABEL_BYTES: usize = 16
const PART_BYTES: usize = 12

let fieldNames: usize = 0
/** First field of a hash, plus one. */
let heads: usize = 0
export let labelCount: u32 = 0
let labelsAt: usize = 0
/** Whether the first label is the entity. */
export let firstIsEntity: bool = false
export let typeField: i32 = -1
export let fixedType: usize = 0
export let fixedTypeSize: u32 = 0
export let timeField: i32 = -1
export let partCount: u32 = 0
let partsAt: usize = 0

export function takePlan(plan: usize): void {
  heads = load<u32>(plan)
  fieldNames = load<u32>(plan, 4)
  labelCount = load<u32>(plan, 8)
  labelsAt = load<u32>(plan, 12)
  firstIsEntity = load<u32>(plan, 16) !== 0
  typeField = load<i32>(plan, 20)
  fixedType = load<u32>(plan, 24)
  fixedTypeSize = load<u32>(plan, 28)
  timeField = load<i32>(plan, 32)
  partCount = load<u32>(plan, 36)
  partsAt = load<u32>(plan, 40)
}

/** As kernel.ts has it, which fills `heads`. */
function hashOf(name: usize, size: usize): usize {
  return (<usize>load<u8>(name) * 7 + <usize>load<u8>(name + size - 1) * 3 + size) & 0xff
}

/** The field of a name, or -1. */
export function fieldOf(name: usize, size: usize): i32 {
  if (size === 0) return -1
  let number = <i32>load<u8>(heads + hashOf(name, size))
  while (number !== 0) {
    const field = fieldNames + <usize>(number - 1) * FIELD_BYTES
    if (load<u32>(field, 4) === <u32>size && memory.compare(load<u32>(field), name, size) === 0)
      return number - 1
    number = load<i32>(field, 8)
  }
  return -1
}

export function labelName(i: u32): u32 {
  return load<u32>(labelsAt + <usize>i * LABEL_BYTES)
}

/** The field a label is read from; -1: it is a constant. */
export function labelField(i: u32): i32 {
  return load<i32>(labelsAt + <usize>i * LABEL_BYTES, 4)
}

export function labelConst(i: u32): usize {
  return load<u32>(labelsAt + <usize>i * LABEL_BYTES, 8)
}

export function labelConstSize(i: u32): u32 {
  return load<u32>(labelsAt + <usize>i * LABEL_BYTES, 12)
}

/** The field a part of the text is read from; -1: it is literal. */
export function partField(i: u32): i32 {
  return load<i32>(partsAt + <usize>i * PART_BYTES)
}

export function partText(i: u32): usize {
  return load<u32>(partsAt + <usize>i * PART_BYTES, 4)
}

export function partSize(i: u32): u32 {
  return load<u32>(partsAt + <usize>i * PART_BYTES, 8)
}
