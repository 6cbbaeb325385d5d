/** Which files groups of modules are put into: as split.json has it, or by which pages load least in vain. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/** Files for all that is loaded on demand. With those of the shell, styles and workers the build has 30 at most. */
export const FILES_MAX = 25
/** A first load has few requests, too (15, says the brief): each file too many weighs as so many bytes over the budget. */
const FILE_WEIGHS = 100_000

/** What is loaded at once. */
export interface AtOnce {
  /** A bit each. */
  areas: number
  /** It may be so much, packed, in so many files. */
  bytes: number
  files: number
}

/** Modules that go into one file. */
export interface Group {
  ids: string[]
  /** As packed, about. */
  bytes: number
  /** Areas that load it, a bit each: those that need something in it, or a group that imports of it. */
  areas: number
  /** Groups it imports of. */
  needs: Set<Group>
}

const SPLIT = new URL('./split.json', import.meta.url)
/** Set by `npm run split`: the file of what each module takes, packed, which a build reads and writes. */
export const PACKED_FILE = process.env.CONSOLE_SPLIT

/** What modules took in the build before. @returns bytes by path in the project; null: files are not worked out anew */
export const packedBefore = (): Record<string, number> | null =>
  PACKED_FILE && existsSync(PACKED_FILE)
    ? (JSON.parse(readFileSync(PACKED_FILE, 'utf8')) as Record<string, number>)
    : null

/**
 * Groups as files: as they are kept, or by which areas pass their budgets least, as far as a minute finds them.
 * @param areas names of them, by bit
 */
export function joined(
  groups: readonly Group[],
  areas: readonly string[],
  atOnce: readonly AtOnce[],
): Group[] {
  const keys = groups.map((group) => areas.filter((_, bit) => group.areas & (1 << bit)).join(' '))
  const placing = (random: number) => new Placing(groups, keys, atOnce, random)
  const isAnew = packedBefore() !== null
  const kept = isAnew ? null : placing(1).asKept()
  if (kept) return kept.files()
  const tries = Array.from({ length: TRIES }, (_, n) => placing(n + 1).settled())
  const best = tries.reduce((least, one) => (one.excess() < least.excess() ? one : least))
  if (isAnew) best.keep()
  return best.files()
}

/** Each makes so many moves for a group, in 10 s, and one may lose so many bytes at first (2026-11-26). */
const TRIES = 8
const MOVES = 20_000
const LOSS = 25_000
/** Of these moves, groups that are needed by the same pages go together. */
const TOGETHER_OFTEN = 0.3

/** Which file each group lies in, and what the areas load by that; files and areas as bits. */
class Placing {
  private readonly at: Int8Array
  private readonly needs: number[][]
  private readonly size: Float64Array
  private readonly areas: Int32Array
  private readonly below: Int32Array
  private readonly order: number[] = []

  /** @param keys of the groups, the same in other builds. @param random where chance begins */
  constructor(
    /** All in one file, where it begins. */
    private readonly groups: readonly Group[],
    private readonly keys: readonly string[],
    private readonly atOnce: readonly AtOnce[],
    private random: number,
  ) {
    const place = new Map(groups.map((group, i) => [group, i]))
    this.at = new Int8Array(groups.length)
    this.needs = groups.map(({ needs }) => [...needs].map((one) => place.get(one)!))
    this.size = new Float64Array(FILES_MAX)
    this.areas = new Int32Array(FILES_MAX)
    this.below = new Int32Array(FILES_MAX)
  }

  /** As they are kept; what is new goes where it costs least. @returns null: so files would import of each other */
  asKept(): this | null {
    const kept = JSON.parse(readFileSync(SPLIT, 'utf8')) as Record<string, number>
    const fresh: number[] = []
    for (const [i, key] of this.keys.entries()) {
      const file = kept[key]
      const isKept = file !== undefined && file < FILES_MAX
      if (!isKept) fresh.push(i)
      this.at[i] = isKept ? file : 0
    }
    for (const i of fresh) {
      const costs = Array.from(this.size, (_, file) => {
        this.at[i] = file
        return this.excess()
      })
      this.at[i] = costs.indexOf(Math.min(...costs))
    }
    return Number.isFinite(this.excess()) ? this : null
  }

  /** Writes where each lies, for the builds to come. */
  keep(): void {
    const files = this.keys.map((key, i): [string, number] => [key, this.at[i]!])
    writeFileSync(SPLIT, `${JSON.stringify(Object.fromEntries(files.sort()), null, 2)}\n`)
  }

  /**
   * Moves groups by chance, and takes ever fewer moves that lose (simulated annealing). Chance is the same for each
   * build, and so is what comes of it.
   */
  settled(): this {
    let now = this.excess()
    let [least, best] = [now, this.at.slice()]
    const moves = MOVES * this.groups.length
    for (let move = 0; move < moves; move += 1) {
      const loss = 1 + LOSS * (1 - move / moves) ** 2
      const [from, to, moved] = this.move()
      if (from === to) continue
      for (const i of moved) this.at[i] = to
      const next = this.excess()
      if (next <= now || (next < Number.POSITIVE_INFINITY && this.chance() < Math.exp((now - next) / loss))) {
        now = next
        if (now < least) [least, best] = [now, this.at.slice()]
      } else for (const i of moved) this.at[i] = from
    }
    this.at.set(best)
    return this
  }

  /** One group, or those of its file that all its areas need, to the file of another or to any. */
  private move(): [from: number, to: number, moved: number[]] {
    const { groups, at } = this
    const i = Math.floor(this.chance() * groups.length)
    const from = at[i]!
    const to =
      this.chance() < 0.5
        ? at[Math.floor(this.chance() * groups.length)]!
        : Math.floor(this.chance() * this.size.length)
    if (this.chance() > TOGETHER_OFTEN) return [from, to, [i]]
    const { areas } = groups[i]!
    const all = [...groups.keys()].filter((j) => at[j] === from && (groups[j]!.areas & areas) === areas)
    return [from, to, all]
  }

  /** From 0 to 1 (mulberry32). */
  private chance(): number {
    this.random = (this.random + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.random ^ (this.random >>> 15), 1 | this.random)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** How far all areas are over their budgets of bytes and files, in bytes; infinite: files that import of each other. */
  excess(): number {
    const { size, areas, atOnce } = this
    if (!this.load()) return Number.POSITIVE_INFINITY
    let sum = 0
    for (const one of atOnce) {
      let [bytes, files] = [0, 0]
      for (let file = 0; file < size.length; file += 1)
        if (areas[file]! & one.areas && size[file]! > 0) {
          bytes += size[file]!
          files += 1
        }
      const over = Math.max(0, bytes - one.bytes)
      const weight = Math.max(0, files - one.files) * FILE_WEIGHS
      // One that is far over costs more than several that are a little; the rest decides between equals.
      sum += over * 5 + over ** 2 / 2_000 + weight + bytes / 20
    }
    return sum
  }

  /** The files as groups, with what they import of. */
  files(): Group[] {
    const files: Group[] = Array.from(this.size, () => ({ ids: [], bytes: 0, areas: 0, needs: new Set() }))
    for (const [i, { ids, bytes, areas }] of this.groups.entries()) {
      const file = files[this.at[i]!]!
      file.ids.push(...ids)
      file.bytes += bytes
      file.areas |= areas
      for (const next of this.needs[i]!)
        if (this.at[next] !== this.at[i]) file.needs.add(files[this.at[next]!]!)
    }
    for (const file of inOrder(files)!.toReversed()) for (const next of file.needs) next.areas |= file.areas
    return files.filter(({ ids }) => ids.length > 0)
  }

  /** Works out what each file has, and who loads it. @returns false: files import of each other */
  private load(): boolean {
    const { at, groups, needs, size, areas, below, order } = this
    size.fill(0)
    areas.fill(0)
    below.fill(0)
    for (let i = 0; i < groups.length; i += 1) {
      const file = at[i]!
      size[file]! += groups[i]!.bytes
      areas[file]! |= groups[i]!.areas
      for (const next of needs[i]!) if (at[next] !== file) below[file]! |= 1 << at[next]!
    }
    order.length = 0
    let done = 0
    // What imports nothing that is left comes next; none such: they import of each other.
    while (order.length < size.length) {
      const before = order.length
      for (let file = 0; file < size.length; file += 1)
        if (!(done & (1 << file)) && (below[file]! & ~done) === 0) {
          order.push(file)
          done |= 1 << file
        }
      if (order.length === before) return false
    }
    for (let i = order.length - 1; i >= 0; i -= 1) {
      const file = order[i]!
      for (let left = below[file]!; left !== 0; left &= left - 1)
        areas[31 - Math.clz32(left & -left)]! |= areas[file]!
    }
    return true
  }
}

/** Each before those that import of it; null: some import of each other. */
export function inOrder(groups: readonly Group[]): Group[] | null {
  const order = new Set<Group>()
  const open = new Set<Group>()
  const add = (group: Group): boolean => {
    if (order.has(group)) return true
    if (open.has(group)) return false
    open.add(group)
    for (const next of group.needs) if (!add(next)) return false
    order.add(group)
    return true
  }
  return groups.every(add) ? [...order] : null
}

/** Bits that are set. */
export function count(mask: number): number {
  let found = 0
  for (let left = mask; left !== 0; left &= left - 1) found += 1
  return found
}
