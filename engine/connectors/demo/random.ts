/** Chance that is none: the same for the same words, on every machine. */

/** @returns numbers from 0 to below 1 (mulberry32), begun by a hash (FNV-1a, 32 bits) of a text */
export function chanceOf(seed: string): () => number {
  let state = 0x811c9dc5
  for (let i = 0; i < seed.length; i++) state = Math.imul(state ^ seed.charCodeAt(i), 0x01000193)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** One of a list. */
export const pick = <T>(chance: () => number, list: readonly T[]): T =>
  list[Math.floor(chance() * list.length)]!
