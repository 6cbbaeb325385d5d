/**
 * What is remembered of labels: (name, value) → id, found by the bytes of the value. A label that has no
 * id yet gets a place in the list of new ones of the body at work; the id follows from the store.
 */
import { entries, entriesMax, newEntries, slotMask, slots, values, valuesEnd } from './memory'

/** From here on a number is a place in the list of new labels. */
const NEW_LABEL: u32 = 0x80000000
/** There is no room left. */
export const NO_ROOM: u32 = 0xffffffff

// An entry: hash u32, value u32, bytes u16, name u16, id u32 (0: none yet), body u32, place u32.
const ENTRY_BYTES: usize = 24

let entryCount: u32 = 0
let valuesAt: usize = 0
/** The body at work; entries with its number have a place in its list. */
let body: u32 = 0
let newCount: u32 = 0

export function forgetLabels(): void {
  memory.fill(slots, 0, (<usize>slotMask + 1) << 2)
  entryCount = 0
  valuesAt = values
}

export function rememberedLabels(): u32 {
  return entryCount
}

export function newLabelCount(): u32 {
  return newCount
}

export function beginLabels(): void {
  body++
  newCount = 0
}

/** Bytes at `at`, of which those from `count` (1 to 8) on are left out. */
function head(at: usize, count: usize): u64 {
  return load<u64>(at) & (<u64>0xffffffffffffffff >> ((<u64>(8 - count)) << 3))
}

function hashOf(name: u32, value: usize, size: usize): u32 {
  let hash: u64 = (<u64>name + 1) * 0x9e3779b97f4a7c15 + <u64>size
  let at = value
  let left = size
  while (left > 8) {
    hash = rotl(hash ^ load<u64>(at), 29) * 0xff51afd7ed558ccd
    at += 8
    left -= 8
  }
  if (left > 0) hash = rotl(hash ^ head(at, left), 29) * 0xff51afd7ed558ccd
  hash ^= hash >> 32
  hash *= 0xc4ceb9fe1a85ec53
  return <u32>(hash >> 32)
}

function isSame(a: usize, b: usize, size: usize): bool {
  let at: usize = 0
  while (size - at > 8) {
    if (load<u64>(a + at) !== load<u64>(b + at)) return false
    at += 8
  }
  return size === at || head(a + at, size - at) === head(b + at, size - at)
}

/** The id of a label, or its place among the new ones, or NO_ROOM. @param size of the value, at most 1,024. */
export function labelOf(name: u32, value: usize, size: usize): u32 {
  const hash = hashOf(name, value, size)
  let slot = hash & slotMask
  while (true) {
    const number = load<u32>(slots + ((<usize>slot) << 2))
    if (number === 0) break
    const entry = entries + <usize>(number - 1) * ENTRY_BYTES
    if (
      load<u32>(entry) === hash &&
      load<u16>(entry, 8) === <u16>size &&
      load<u16>(entry, 10) === <u16>name &&
      isSame(load<u32>(entry, 4), value, size)
    )
      return idOf(entry, number - 1)
    slot = (slot + 1) & slotMask
  }
  if (entryCount === entriesMax || valuesAt + size + 8 > valuesEnd) return NO_ROOM
  store<u32>(slots + ((<usize>slot) << 2), ++entryCount)
  const entry = entries + <usize>(entryCount - 1) * ENTRY_BYTES
  memory.copy(valuesAt, value, size)
  store<u32>(entry, hash)
  store<u32>(entry, <u32>valuesAt, 4)
  store<u16>(entry, <u16>size, 8)
  store<u16>(entry, <u16>name, 10)
  store<u32>(entry, 0, 12)
  store<u32>(entry, 0, 16)
  valuesAt += size
  return idOf(entry, entryCount - 1)
}

function idOf(entry: usize, number: u32): u32 {
  const id = load<u32>(entry, 12)
  if (id !== 0) return id
  if (load<u32>(entry, 16) === body) return NEW_LABEL | load<u32>(entry, 20)
  store<u32>(entry, body, 16)
  store<u32>(entry, newCount, 20)
  store<u32>(newEntries + ((<usize>newCount) << 2), number)
  return NEW_LABEL | newCount++
}

/** Where the value of an entry lies. */
export function entryValue(number: u32): usize {
  return load<u32>(entries + <usize>number * ENTRY_BYTES, 4)
}

export function entrySize(number: u32): u32 {
  return load<u16>(entries + <usize>number * ENTRY_BYTES, 8)
}

export function entryName(number: u32): u32 {
  return load<u16>(entries + <usize>number * ENTRY_BYTES, 10)
}

/** The store's id of an entry. */
export function learnLabel(number: u32, id: u32): void {
  store<u32>(entries + <usize>number * ENTRY_BYTES, id, 12)
}
