/**
 * Which file of the build each module goes into. A browser should load little for a page, in few requests, and the
 * build should have few files: modules that the same pages need lie together, and sets of them are put into files by
 * which pages load least in vain. Which those are is kept in split.json: a module more changes the file it is in, and
 * no other. `npm run split` works it out anew, where a page has grown over its budget (test/console/bundle.test.ts).
 */
import { type Graph, needsOf } from './needs.ts'
import { type AtOnce, count, FILES_MAX, type Group, inOrder, joined, packedBefore } from './placing.ts'

/** What most pages need goes with the shell, up to so many bytes: the brief has room for it there. */
const WITH_SHELL = 32_000
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
  keeping: /pages\/(changes|evals|help|login)\//,
  projects: /pages\/projects\/(findings|new-project|project|projects)-page/,
  sources: /pages\/sources\/(new-source|source|sources)-page/,
  triggers: /pages\/triggers\/[\w-]+-page/,
  parts: /pages\/(entities|mcp-servers)\/[\w-]+-page|pages\/connect\//,
  agents: /pages\/(agents|skills)\/[\w-]+-page/,
  asking: /pages\/ask\//,
  forms:
    /(trigger|agent)-editor|delete-(project|source)|rerun-dialog|import-tab|(new-source|source)-form|created-panel|not-planned|forms\/gone|discovery\/|sources\/settings-tab|pages\/maintenance\//,
  fields: /config-fields/,
  settings: /pages\/settings\//,
  setup: /pages\/setup\//,
  editing: /graph\/editor\/|what-if/,
  graph: /graph-tab/,
  replay: /replay-page|graph\/flows\//,
  panels: /replay\/panels\/|graph\/picture\//,
  seldom: /\/parts\/(?!code-editor|markdown-text)|send-snippets|home\/doors/,
}
const AREAS: readonly string[] = Object.keys(TOGETHER)
/** What a page may load besides the shell, and one with a drawing: the console's brief, section 7, less some. */
const PAGE = { bytes: 58_500, files: 4 }
const DRAWING = { bytes: 126_000, files: 6 }
/** More of them for each that is opened on top: of 15 requests the others are of the shell, and for data. */
const FILES_ON_TOP = 3
/** A page, and what it opens: forms, panels, the drawing. No page loads these first; what is opened may be as large as a page again. */
const ON_TOP: readonly [page: string, ...rest: string[]][] = [
  ['triggers', 'forms'],
  ['agents', 'forms'],
  ['sources', 'forms'],
  ['sources', 'fields'],
  ['projects', 'graph', 'editing'],
  ['replay', 'panels'],
]
const ALONE = AREAS.filter((area) => !ON_TOP.some(([, ...rest]) => rest.includes(area)))
const maskOf = (areas: readonly string[]): number =>
  areas.reduce((mask, area) => mask | (1 << AREAS.indexOf(area)), 0)
/** What is loaded at once, as bits of areas, and how much it may be. */
const AT_ONCE: readonly AtOnce[] = [
  ...ALONE.map((area) => ({ areas: maskOf([area]), ...(area === 'replay' ? DRAWING : PAGE) })),
  // The drawing is a tab: some of the page of its project is around it.
  { areas: maskOf(['graph']), ...DRAWING },
  { areas: maskOf(['projects', 'graph']), bytes: DRAWING.bytes + 14_000, files: DRAWING.files },
  ...ON_TOP.map((areas) => {
    const { bytes } = areas.includes('graph') || areas.includes('replay') ? DRAWING : PAGE
    return {
      areas: maskOf(areas),
      bytes: bytes + PAGE.bytes,
      files: PAGE.files + (areas.length - 1) * FILES_ON_TOP,
    }
  }),
]

const COMMENTS = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm
/** What a letter of source takes once packed, of packages and of ours, where it is not known: measured over the whole build (2026-11-26). */
const PACKED = { package: 0.156, own: 0.2 }

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
  const packed = packedBefore()
  if (packed)
    for (const group of groups)
      group.bytes = group.ids.reduce((sum, id) => sum + (packed[pathInProject(id, main)] ?? 0), 0)
  const files: Files = { names: ['base', 'shell'], of: new Map() }
  // Packages change more seldom than our modules, and stay in browsers over an upgrade.
  for (const id of [...shell, ...first])
    files.of.set(id, id.includes('node_modules') && !id.endsWith('.css') ? BASE : SHELL)
  for (const group of inOrder(joined(groups, AREAS, AT_ONCE))!) {
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

/** @param console path of a file in the folder of the console. @returns the same wherever the project lies */
export const pathInProject = (id: string, console: string): string =>
  id.replaceAll(console.slice(0, console.indexOf('/console/')), '')

const guessed = (id: string, code: string, main: string): number =>
  pathInProject(code, main).replace(COMMENTS, '').length *
  (id.includes('node_modules') ? PACKED.package : PACKED.own)

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
  const sorted = [...areasOf].sort(([a], [b]) => (a < b ? -1 : 1))
  const groups = new Map<number, Group>()
  for (const [id, areas] of sorted) {
    const group = groups.get(areas) ?? { ids: [], bytes: 0, areas, needs: new Set() }
    groups.set(areas, group)
    group.ids.push(id)
    group.bytes += guessed(id, graph.getModuleInfo(id)?.code ?? '', main)
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

/** Groups that these import of, and those in turn, without themselves. */
function neededBy(groups: readonly Group[]): Set<Group> {
  const found = new Set(groups.flatMap(({ needs }) => [...needs]))
  for (const group of found) for (const next of group.needs) found.add(next)
  for (const group of groups) found.delete(group)
  return found
}
