/**
 * Where things lie in the kernel's memory; its caller (kernel.ts) lays it out. Addresses are bytes.
 */

// What is remembered of labels.
/** u32 by hash: number of an entry plus one; 0 is free. */
export let slots: usize = 0
export let slotMask: u32 = 0
export let entries: usize = 0
export let entriesMax: u32 = 0
/** Bytes of values, one after another. */
export let values: usize = 0
export let valuesEnd: usize = 0

/** Columns of the body at work; each has room for the most items and labels it can hold. */
export let ts: usize = 0
export let labels: usize = 0
export let labelEnds: usize = 0
export let hasEntity: usize = 0
export let text: usize = 0
export let textLimit: usize = 0
export let textEnds: usize = 0
export let ranges: usize = 0
/** Entries that are new in this body, by place. */
export let newEntries: usize = 0
/** Items whose time the caller reads: item, start and end of its bytes. */
export let times: usize = 0

export function placeLabels(
  slotsAt: usize,
  slotCount: u32,
  entriesAt: usize,
  most: u32,
  valuesAt: usize,
  valueBytes: u32,
): void {
  slots = slotsAt
  slotMask = slotCount - 1
  entries = entriesAt
  entriesMax = most
  values = valuesAt
  valuesEnd = valuesAt + valueBytes
}

export function placeColumns(
  tsAt: usize,
  labelsAt: usize,
  labelEndsAt: usize,
  hasEntityAt: usize,
  textAt: usize,
  textBytes: u32,
  textEndsAt: usize,
  rangesAt: usize,
  newEntriesAt: usize,
  timesAt: usize,
): void {
  ts = tsAt
  labels = labelsAt
  labelEnds = labelEndsAt
  hasEntity = hasEntityAt
  text = textAt
  textLimit = textAt + textBytes
  textEnds = textEndsAt
  ranges = rangesAt
  newEntries = newEntriesAt
  times = timesAt
}

/** The first address that is the caller's to lay out. */
export function firstFree(): usize {
  return __heap_base
}
