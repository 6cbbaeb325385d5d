/**
 * Which file of the build each module goes into. A browser should load little for a page, in few requests, and the
 * build should have few files: modules that the same pages need lie together, and sets of them are put into files by
 * which pages load least in vain. Which those are is kept in split.json: a module more changes the file it is in, and
 * no other. `npm run split` works it out anew, where a page has grown over its budget (test/console/bundle.test.ts).
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { type Graph, needsOf } from './needs.ts'

/** Files for all that is loaded on demand. With those of the shell, styles, workers and the docs the build has 30 at most. */
const FILES_MAX = 22
/**
 * What a page may load besides the shell, bytes. The console's brief (section 7) says 60 kB; sizes here are estimates, up
 * to 8 kB too small.
 */
const BUDGET = 52_000
/** A first load has few requests, too (15, says the brief): beyond so many files, each weighs as so many bytes. */
const FILES_FREE = 3
const FILE_WEIGHS = 4_000
/** A page with a form or a drawing on top has 15 with so many: one more is worse than any bytes. */
const FILES_OF_TWO = 7
const FILE_OF_TWO_WEIGHS = 40_000
/** What most pages need goes with the shell, up to so many bytes: the brief has room for it there. */
const WITH_SHELL = 30_000
const MOST = 6

/**
 * What is loaded on demand, and together: whoever opens one page of a line opens the next without waiting. The paths
 * are of modules that are imported when needed; one that no line has is a file by itself.
 */
const TOGETHER: Readonly<Record<string, RegExp>> = {
  incidents: /pages\/(incidents|firings)\/|event-page/,
  exploring: /explore-page/,
  runs: /run-page|compare-page/,
  lists: /pages\/(deliveries|usage|traces)\/|runs-page/,
  keeping: /pages\/(changes|evals|help)\//,
  projects: /pages\/projects\/(findings|new-project|project|projects)-page/,
  sources: /pages\/sources\/(new-source|source|sources)-page/,
  triggers: /pages\/triggers\/[\w-]+-page/,
  parts: /pages\/(entities|mcp-servers)\/[\w-]+-page/,
  agents: /pages\/(agents|skills)\/[\w-]+-page/,
  asking: /pages\/ask\//,
  forms:
    /(trigger|agent)-editor|delete-(project|source)|rerun-dialog|import-tab|(new-source|source)-form|created-panel|discovery\/|sources\/settings-tab/,
  settings: /pages\/(settings|connect)\//,
  setup: /pages\/setup\//,
  editing: /graph\/editor\/|what-if/,
  graph: /graph-tab/,
  replay: /replay-page|graph\/flows\//,
  panels: /replay\/panels\/|graph\/picture\//,
  seldom: /\/parts\/(?!code-editor|markdown-text)|login-page/,
}
const AREAS = Object.keys(TOGETHER)
/** Pages that open one of another area on top of themselves, as a trigger does its form. */
const ON_TOP: readonly [string, string][] = [
  ['triggers', 'forms'],
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
const PACKED = { package: 0.156, own: 0.2 }

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
  const { groups, first } = withShell(groupsOf(roots, main, graph))
  const files: Files = { names: ['base', 'shell'], of: new Map() }
  // Packages change more seldom than our modules, and stay in browsers over an upgrade.
  for (const id of [...shell, ...first])
    files.of.set(id, id.includes('node_modules') && !id.endsWith('.css') ? BASE : SHELL)
  for (const group of inOrder(joined(groups))!) {
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
function groupsOf(roots: Map<string, Set<string>>, main: string, graph: Graph): Group[] {
  const shell = roots.get(main)!
  const areasOf = new Map<string, number>()
  for (const [root, ids] of roots) {
    const area = AREAS.findIndex((name) => TOGETHER[name]!.test(root))
    if (ids === shell || area < 0) continue
    for (const id of ids) if (!shell.has(id)) areasOf.set(id, (areasOf.get(id) ?? 0) | (1 << area))
  }
  // The same files whatever folder it is built in: the graph has another order there, and modules that stand for others
  // have its path in them.
  const folder = main.slice(0, main.indexOf('/console/'))
  const sorted = [...areasOf].sort(([a], [b]) => (a < b ? -1 : 1))
  const groups = new Map<number, Group>()
  for (const [id, areas] of sorted) {
    const group = groups.get(areas) ?? { ids: [], bytes: 0, areas, needs: new Set() }
    groups.set(areas, group)
    group.ids.push(id)
    const source = (graph.getModuleInfo(id)?.code ?? '').replaceAll(folder, '').replace(COMMENTS, '')
    group.bytes += source.length * (id.includes('node_modules') ? PACKED.package : PACKED.own)
  }
  for (const [id, areas] of sorted)
    for (const next of needsOf(id, graph).sort()) {
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

const SPLIT = new URL('./split.json', import.meta.url)
/** Set by `npm run split`. */
const ANEW = 'SVC_CONSOLE_SPLIT'

/** Groups as files: as they are kept, or by which areas pass their budgets least, as far as half a minute finds them. */
function joined(groups: readonly Group[]): Group[] {
  const kept = process.env[ANEW] ? null : new Placing(groups, 1).asKept()
  if (kept) return kept.files()
  const tries = Array.from({ length: TRIES }, (_, n) => new Placing(groups, n + 1).settled())
  const best = tries.reduce((least, one) => (one.excess() < least.excess() ? one : least))
  if (process.env[ANEW]) best.keep()
  return best.files()
}

/** Of the groups of one build; the same in others as long as there are the same areas. */
const keyOf = ({ areas }: Group): string => AREAS.filter((_, bit) => areas & (1 << bit)).join(' ')

/** Each makes so many moves for a group, in 7 s, and one may lose so many bytes at first (2026-11-26). */
const TRIES = 4
const MOVES = 26_000
const LOSS = 25_000
/** Of these moves, groups that are needed by the same pages go together. */
const TOGETHER_OFTEN = 0.3

/** Which file each group lies in, and what the areas load by that; files and areas as bits. */
class Placing {
  private readonly at: Int8Array
  private readonly needs: number[][]
  private readonly budgets: number[]
  private readonly size: Float64Array
  private readonly areas: Int32Array
  private readonly below: Int32Array
  private readonly order: number[] = []

  /** @param groups to place: all in one file, where it begins. @param random where chance begins */
  constructor(
    private readonly groups: readonly Group[],
    private random: number,
  ) {
    const place = new Map(groups.map((group, i) => [group, i]))
    this.at = new Int8Array(groups.length)
    this.needs = groups.map(({ needs }) => [...needs].map((one) => place.get(one)!))
    this.size = new Float64Array(FILES_MAX)
    this.areas = new Int32Array(FILES_MAX)
    this.below = new Int32Array(FILES_MAX)
    this.budgets = AT_ONCE.map((mask) =>
      groups.reduce((sum, { areas, bytes }) => sum + (areas & mask ? bytes : 0), 0),
    ).map((needed) => Math.max(BUDGET, needed))
  }

  /** As they are kept; what is new goes where it costs least. @returns null: so files would import of each other */
  asKept(): this | null {
    const kept = JSON.parse(readFileSync(SPLIT, 'utf8')) as Record<string, number>
    const fresh: number[] = []
    for (const [i, group] of this.groups.entries()) {
      const file = kept[keyOf(group)]
      if (file === undefined) fresh.push(i)
      this.at[i] = file ?? 0
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
    const files = this.groups.map((group, i): [string, number] => [keyOf(group), this.at[i]!])
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
    const { size, areas } = this
    if (!this.load()) return Number.POSITIVE_INFINITY
    let sum = 0
    for (let i = 0; i < AT_ONCE.length; i += 1) {
      let [bytes, files] = [0, 0]
      for (let file = 0; file < size.length; file += 1)
        if (areas[file]! & AT_ONCE[i]! && size[file]! > 0) {
          bytes += size[file]!
          files += 1
        }
      const over = Math.max(0, bytes - this.budgets[i]!)
      const weight =
        count(AT_ONCE[i]!) > 1
          ? Math.max(0, files - FILES_OF_TWO) * FILE_OF_TWO_WEIGHS
          : Math.max(0, files - FILES_FREE) * FILE_WEIGHS
      // One that is far over costs more than several that are a little; the rest decides between equals.
      sum += over + over ** 2 / 20_000 + weight + bytes / 20
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

/** Groups that these import of, and those in turn, without themselves. */
function neededBy(groups: readonly Group[]): Set<Group> {
  const found = new Set(groups.flatMap(({ needs }) => [...needs]))
  for (const group of found) for (const next of group.needs) found.add(next)
  for (const group of groups) found.delete(group)
  return found
}

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
