/**
 * Which file of the build each module goes into. A browser should load little for a page, in few requests, and the
 * build should have few files: modules that the same pages need lie together, and the smallest such sets are joined
 * with those whose pages lose least by it. Which those are is worked out anew by each build, always in the same way.
 */
import { type Graph, needsOf } from './needs.ts'

/** Files for all that is loaded on demand. With those of the shell, styles, workers and the docs the build has 30 at most. */
const FILES_MAX = 21
/** What a page may load besides the shell, bytes as packed (the console's brief, section 7). */
const BUDGET = 60_000
/** A first load has few requests, too: beyond so many files, each weighs as so many bytes. */
const FILES_FREE = 5
const FILES_FREE_OF_TWO = 7
const FILE_WEIGHS = 5_000
/** What most pages need goes with the shell, up to so many bytes: the brief has room for it there. */
const WITH_SHELL = 10_000
const MOST = 9

/**
 * What is loaded on demand, and together: whoever opens one page of a line opens the next without waiting. The paths
 * are of modules that are imported when needed; one that no line has is a file by itself.
 */
const TOGETHER: Readonly<Record<string, RegExp>> = {
  incidents: /pages\/(incidents|firings)\/|event-page/,
  looks: /explore-page|run-page|compare-page/,
  lists: /pages\/(deliveries|usage|traces)\/|runs-page/,
  keeping: /pages\/(changes|evals|help)\//,
  projects: /pages\/projects\/(findings|project|projects)-page/,
  sources: /pages\/sources\/(source|sources)-page/,
  parts: /pages\/(triggers|entities|mcp-servers)\/[\w-]+-page/,
  agents: /pages\/(agents|skills)\/[\w-]+-page/,
  asking: /pages\/ask\//,
  forms:
    /new-project-page|trigger-editor|agent-editor|delete-project|delete-source|rerun-dialog|import-tab|new-source-page|sources\/settings-tab/,
  settings: /pages\/(settings|connect)\//,
  setup: /pages\/setup\/|graph\/editor\/|what-if/,
  graph: /graph-tab/,
  replay: /replay-page/,
  seldom: /\/parts\/(?!code-editor|markdown-text)|login-page/,
}
const AREAS = Object.keys(TOGETHER)
/** Pages that open one of another area on top of themselves, as a trigger does its form. */
const ON_TOP: readonly [string, string][] = [
  ['parts', 'forms'],
  ['agents', 'forms'],
  ['projects', 'graph'],
]
/** What is loaded at once, as bits of areas. */
const AT_ONCE: readonly number[] = [
  ...AREAS.map((_, area) => 1 << area),
  ...ON_TOP.map((areas) => areas.reduce((mask, area) => mask | (1 << AREAS.indexOf(area)), 0)),
]

const COMMENTS = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm
/** What a letter of source takes once packed, of packages and of ours: measured over the whole build (2026-11-26). */
const PACKED = { package: 0.146, own: 0.185 }

/** Modules that go into one file. */
interface Group {
  ids: string[]
  /** As packed, about. */
  bytes: number
  /** Areas that load it, a bit each: those that need something in it, or a group that imports of it. */
  areas: number
  /** Groups it imports of. */
  needs: Set<Group>
}

interface Files {
  /** In the order in which the bundler may fill them: what others import of comes first. */
  names: string[]
  /** Which of them a module goes into. */
  of: Map<string, number>
}

/** Groups for the bundler. @param main id of the module that begins @param page of the HTML, which goes with it */
export function chunkGroups(main: string, page: string) {
  let files: Files | null = null
  return Array.from({ length: FILES_MAX + 2 }, (_, at) => ({
    name: (id: string, graph: Graph): string | null => {
      files ??= filesOf(main, graph)
      const isFirst = id === page || id.includes('vite/modulepreload-polyfill')
      const file = isFirst ? SHELL : id.includes('rolldown/runtime') ? BASE : files.of.get(id)
      return file === at ? files.names[at]! : null
    },
    debugName: `file ${at}`,
    priority: FILES_MAX + 2 - at,
  }))
}

const BASE = 0
const SHELL = 1

function filesOf(main: string, graph: Graph): Files {
  const roots = rootsOf(main, graph)
  const shell = roots.get(main)!
  const { groups, first } = withShell(groupsOf(roots, shell, graph))
  const files: Files = { names: ['base', 'shell'], of: new Map() }
  // Packages change more seldom than our modules, and stay in browsers over an upgrade.
  for (const id of [...shell, ...first])
    files.of.set(id, id.includes('node_modules') && !id.endsWith('.css') ? BASE : SHELL)
  for (const group of inOrder(joinedBest(groups))!) {
    for (const id of group.ids) files.of.set(id, files.names.length)
    const only = AREAS.find((_, bit) => group.areas === 1 << bit)
    files.names.push(only ?? `shared${files.names.length - 1}`)
  }
  return files
}

/** What begins, and what it and others load on demand, each with all modules it needs. */
function rootsOf(main: string, graph: Graph): Map<string, Set<string>> {
  const waiting = new Set([main])
  const found = new Map<string, Set<string>>()
  for (const root of waiting) {
    const seen = new Set([root])
    for (const id of seen) {
      for (const next of needsOf(id, graph)) seen.add(next)
      for (const next of graph.getModuleInfo(id)?.dynamicallyImportedIds ?? []) waiting.add(next)
    }
    found.set(root, seen)
  }
  return found
}

/** One group for the modules of the same areas. */
function groupsOf(roots: Map<string, Set<string>>, shell: Set<string>, graph: Graph): Group[] {
  const areasOf = new Map<string, number>()
  for (const [root, ids] of roots) {
    const area = AREAS.findIndex((name) => TOGETHER[name]!.test(root))
    if (ids === shell || area < 0) continue
    for (const id of ids) if (!shell.has(id)) areasOf.set(id, (areasOf.get(id) ?? 0) | (1 << area))
  }
  const groups = new Map<number, Group>()
  for (const [id, areas] of areasOf) {
    const group = groups.get(areas) ?? { ids: [], bytes: 0, areas, needs: new Set() }
    groups.set(areas, group)
    group.ids.push(id)
    const source = (graph.getModuleInfo(id)?.code ?? '').replace(COMMENTS, '')
    group.bytes += source.length * (id.includes('node_modules') ? PACKED.package : PACKED.own)
  }
  for (const [id, areas] of areasOf)
    for (const next of needsOf(id, graph)) {
      const other = groups.get(areasOf.get(next) ?? 0)
      if (other && other !== groups.get(areas)) groups.get(areas)!.needs.add(other)
    }
  return [...groups.values()]
}

/** Takes what most areas need, with what that needs. @returns the rest, and the modules that were taken */
function withShell(groups: Group[]): { groups: Group[]; first: string[] } {
  const left = new Set(groups)
  const first: Group[] = []
  let bytes = 0
  for (const group of [...groups].sort((a, b) => count(b.areas) - count(a.areas))) {
    const all = [group, ...neededBy([group])].filter((one) => left.has(one))
    const more = all.reduce((sum, one) => sum + one.bytes, 0)
    if (count(group.areas) < MOST || bytes + more > WITH_SHELL) continue
    bytes += more
    first.push(...all)
    for (const one of all) left.delete(one)
  }
  for (const group of left) for (const one of first) group.needs.delete(one)
  return { groups: [...left], first: first.flatMap(({ ids }) => ids) }
}

/** Of several ways to weigh what is loaded in vain, the one by which areas pass their budgets least. */
function joinedBest(groups: readonly Group[]): Group[] {
  const needed = AT_ONCE.map((mask) =>
    groups.reduce((sum, { areas, bytes }) => sum + (areas & mask ? bytes : 0), 0),
  )
  const tries = WEIGHINGS.map((weighing) =>
    new Placing(groups, joined(copied(groups), weighing), needed).settled(),
  )
  return tries.reduce((best, one) => (one.excess() < best.excess() ? one : best)).files()
}

/** Which file each group lies in, and what the areas load by that. */
class Placing {
  private readonly at: number[]
  private readonly needs: number[][]

  /** @param joined the same groups, joined to files @param needed bytes of what is loaded at once, were there a file for each group */
  constructor(
    private readonly groups: readonly Group[],
    private readonly joined: readonly Group[],
    private readonly needed: readonly number[],
  ) {
    const fileOf = new Map(joined.flatMap(({ ids }, file) => ids.map((id) => [id, file] as const)))
    const place = new Map(groups.map((group, i) => [group, i]))
    this.at = groups.map(({ ids }) => fileOf.get(ids[0]!)!)
    this.needs = groups.map(({ needs }) => [...needs].map((one) => place.get(one)!))
  }

  /** Puts each group where areas pass their budgets least, until no move gains. */
  settled(): this {
    let least = this.excess()
    for (let isMoving = true; isMoving; ) {
      isMoving = false
      for (const [i, was] of this.at.entries()) {
        let best = was
        for (const file of this.joined.keys()) {
          this.at[i] = file
          const excess = this.excess()
          if (excess < least - 1) [least, best, isMoving] = [excess, file, true]
        }
        this.at[i] = best
      }
    }
    return this
  }

  /** How far all areas are over their budgets of bytes and files, in bytes; infinite: files that import of each other. */
  excess(): number {
    const files = this.loaded()
    if (files === null) return Number.POSITIVE_INFINITY
    let sum = 0
    for (const [i, mask] of AT_ONCE.entries()) {
      const mine = files.filter(({ areas }) => areas & mask)
      const bytes = mine.reduce((all, one) => all + one.bytes, 0)
      const over = Math.max(0, bytes - Math.max(BUDGET, this.needed[i]!))
      const free = count(mask) > 1 ? FILES_FREE_OF_TWO : FILES_FREE
      // One that is far over costs more than several that are a little; the rest decides between equals.
      sum += over + over ** 2 / 20_000 + Math.max(0, mine.length - free) * FILE_WEIGHS + bytes / 50
    }
    return sum
  }

  /** The files as groups, with what they import of. */
  files(): Group[] {
    return this.loaded()!.filter(({ ids }) => ids.length > 0)
  }

  private loaded(): Group[] | null {
    const files: Group[] = this.joined.map(() => ({ ids: [], bytes: 0, areas: 0, needs: new Set() }))
    for (const [i, { ids, bytes, areas }] of this.groups.entries()) {
      const file = files[this.at[i]!]!
      file.ids.push(...ids)
      file.bytes += bytes
      file.areas |= areas
      for (const next of this.needs[i]!)
        if (this.at[next] !== this.at[i]) file.needs.add(files[this.at[next]!]!)
    }
    const order = inOrder(files)
    if (order === null) return null
    for (const file of order.toReversed()) for (const next of file.needs) next.areas |= file.areas
    return files
  }
}

function copied(groups: readonly Group[]): Group[] {
  const copies = new Map(groups.map((group) => [group, { ...group, ids: [...group.ids] }]))
  for (const copy of copies.values()) copy.needs = new Set([...copy.needs].map((one) => copies.get(one)!))
  return [...copies.values()]
}

interface Weighing {
  /** How much more a byte weighs for an area that loads much already. */
  power: number
  /** Bytes, as which one more file counts. */
  fileCost: number
  /** Bytes of an area for which one weighs 1. */
  from: number
}

/** Those of fifty that did best, each half a second (2026-11-26). */
const WEIGHINGS: readonly Weighing[] = [
  { power: 1, fileCost: 4_000, from: 55_000 },
  { power: 1.5, fileCost: 2_000, from: 55_000 },
  { power: 2, fileCost: 4_000, from: 55_000 },
  { power: 3, fileCost: 2_000, from: 55_000 },
]

/** Joins two groups after another, those of least cost, until there are few enough. */
function joined(groups: Group[], { power, fileCost, from }: Weighing): Group[] {
  const left = new Set(groups)
  const needed = loadsOf(groups)
  while (left.size > FILES_MAX) {
    const weights = loadsOf(left).map(
      (bytes, area) => (bytes / Math.max(from, needed[area]! * 1.05)) ** power,
    )
    const below = new Map([...left].map((group) => [group, neededBy([group])]))
    const weigh = weigher(weights)
    // While there are many, the smallest are joined first: all pairs would take a build's time.
    const small = left.size > 80 ? [...left].sort((a, b) => a.bytes - b.bytes).slice(0, 6) : left
    let best: { one: Group; other: Group; cost: number } | null = null
    for (const one of small)
      for (const other of left) {
        if (one === other) continue
        const both = one.areas | other.areas
        let cost =
          one.bytes * weigh(both & ~one.areas) +
          other.bytes * weigh(both & ~other.areas) -
          fileCost * weigh(one.areas & other.areas)
        for (const next of new Set([...below.get(one)!, ...below.get(other)!]))
          if (next !== one && next !== other) cost += next.bytes * weigh(both & ~next.areas)
        if (best && cost >= best.cost) continue
        if (!isBetween(one, other, below) && !isBetween(other, one, below)) best = { one, other, cost }
      }
    if (best === null) break
    left.delete(best.other)
    join(best.one, best.other, left)
  }
  return [...left]
}

/** Bytes that each area loads. */
function loadsOf(groups: Iterable<Group>): number[] {
  const loads = AREAS.map(() => 0)
  for (const { areas, bytes } of groups)
    for (const area of loads.keys()) if (areas & (1 << area)) loads[area]! += bytes
  return loads
}

/** @returns gives the sum of the weights of the areas of a mask */
function weigher(weights: readonly number[]): (mask: number) => number {
  const known = new Map<number, number>()
  return (mask) => {
    const found = known.get(mask)
    if (found !== undefined) return found
    const sum = weights.reduce((all, weight, area) => (mask & (1 << area) ? all + weight : all), 0)
    known.set(mask, sum)
    return sum
  }
}

function join(one: Group, other: Group, left: Set<Group>): void {
  one.ids.push(...other.ids)
  one.bytes += other.bytes
  one.areas |= other.areas
  for (const next of other.needs) one.needs.add(next)
  for (const group of left) if (group.needs.delete(other)) group.needs.add(one)
  one.needs.delete(one)
  one.needs.delete(other)
  for (const next of neededBy([one])) next.areas |= one.areas
}

/** Groups that these import of, and those in turn, without themselves. */
function neededBy(groups: readonly Group[]): Set<Group> {
  const found = new Set(groups.flatMap(({ needs }) => [...needs]))
  for (const group of found) for (const next of group.needs) found.add(next)
  for (const group of groups) found.delete(group)
  return found
}

/** Whether the first needs the second through a third: as one file they would import of what imports of them. */
const isBetween = (first: Group, second: Group, below: ReadonlyMap<Group, ReadonlySet<Group>>): boolean =>
  [...first.needs].some((next) => next !== second && below.get(next)!.has(second))

/** Each before those that import of it; null: some import of each other. */
function inOrder(groups: readonly Group[]): Group[] | null {
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
function count(mask: number): number {
  let found = 0
  for (let left = mask; left !== 0; left &= left - 1) found += 1
  return found
}
