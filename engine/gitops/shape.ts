/**
 * A catalog file read: from text to a catalog, with every problem and its place, by the rules that need no other
 * knowledge than the file (SPEC.md, Catalog YAML): the schemas of its entries, names given once, one word for projects.
 */
import { faults } from '../../schemas/index.ts'
import { countWords } from '../../schemas/plain-words.ts'
import { countProblems } from '../../schemas/problem-words.ts'
import type { Catalog, CatalogMoved, CatalogProblem } from '../../schemas/types.ts'
import { MOVED_KEY, movesOf } from './moved.ts'
import {
  type Entry,
  identityOf,
  inTodaysWords,
  isEntry,
  isExtra,
  NAME_KEY,
  SECTIONS,
  type Section,
  titleOf,
} from './render.ts'
import { childAt, MAX_BYTES, MAX_DEPTH, type Path, parseTree, pathText, type TreeNode } from './tree.ts'
import { type Values, valuesOf } from './values.ts'

/** A rule that is broken at a path; `isKey`: the key itself is what is wrong. */
interface Breach {
  path: Path
  message: string
  isKey?: boolean
}

const SCHEMAS: Record<Exclude<Section, 'wiring'>, string> = {
  sources: 'catalog-source.json',
  triggers: 'catalog-trigger.json',
  agents: 'catalog-agent.json',
  mcp_servers: 'catalog-mcp-server.json',
  projects: 'catalog-project.json',
  skills: 'catalog-skill.json',
  entities: 'catalog-entity.json',
}

/**
 * @param file the value of the whole file. @param lineOf the line of what is at a path
 * @returns the catalog in today's words without what moved, which is beside it; the name the file carries, and every
 *   rule it breaks
 */
export function shapeOf(
  file: unknown,
  lineOf: (path: Path) => number,
): { catalog: Catalog; name: string | null; moved: CatalogMoved[]; breaches: Breach[] } {
  if (file === null || file === undefined) return { catalog: {}, name: null, moved: [], breaches: [] }
  if (!isEntry(file))
    return {
      catalog: {},
      name: null,
      moved: [],
      breaches: [{ path: [], message: `the file must be a map of sections: ${SECTIONS.join(', ')}` }],
    }
  const breaches: Breach[] = [...rootBreaches(file), ...manyFileBreaches(file)]
  if (file.usecases != null && file.projects != null)
    breaches.push({
      path: ['usecases'],
      isKey: true,
      message: 'usecases is the old word for projects; give one of the two',
    })
  const found: [Section, unknown[]][] = []
  for (const section of SECTIONS) {
    const word =
      section === 'projects' && file.projects == null && file.usecases != null ? 'usecases' : section
    const entries = file[word]
    // A section whose entries are all commented out is as good as absent.
    if (entries === null || entries === undefined) continue
    if (!Array.isArray(entries)) breaches.push({ path: [word], message: 'must be a list of entries' })
    else {
      breaches.push(...entries.flatMap((entry, i) => breachesOf(section, word, entry, i)))
      breaches.push(...repeated(section, word, entries, lineOf))
      found.push([section, word === 'usecases' ? entries.map(inTodaysWords) : entries])
    }
  }
  const name = typeof file.catalog === 'string' ? file.catalog : null
  const moved = movedIn(file, breaches)
  return { catalog: Object.fromEntries(found) as Catalog, name, moved, breaches }
}

/** What a file says under `moved`; what is wrong with it joins the breaches. */
function movedIn({ [MOVED_KEY]: list }: Entry, breaches: Breach[]): CatalogMoved[] {
  if (list === null || list === undefined) return []
  if (!Array.isArray(list)) {
    breaches.push({ path: [MOVED_KEY], message: 'must be a list of entries' })
    return []
  }
  const found = list.flatMap((line: unknown, i): Breach[] =>
    isEntry(line)
      ? schemaFaults('catalog-moved.json', line).map((breach) => ({
          ...breach,
          path: [MOVED_KEY, i, ...breach.path],
        }))
      : [{ path: [MOVED_KEY, i], message: 'must be a map of fields' }],
  )
  if (found.length === 0) found.push(...movesOf(list as CatalogMoved[]).faults)
  breaches.push(...found)
  return found.length ? [] : (list as CatalogMoved[])
}

/** What the root has beside lists, as the schema takes it: what is in them is looked at elsewhere. */
const MAPS: readonly string[] = ['values', 'lint']

/**
 * The schema knows the sections, and which of them a misspelt one is close to; and what names a file.
 * @param file the value of the root; of its sections nothing is looked at
 */
export function rootBreaches(file: Entry): Breach[] {
  const bare = Object.fromEntries(
    Object.entries(file)
      .filter(([key]) => !isExtra(key))
      .map(([key, value]) => [
        key,
        key === NAME_KEY || key === 'environment' ? value : MAPS.includes(key) ? {} : [],
      ]),
  )
  return faults('catalog.json', bare).map(({ path, message }) => ({
    path,
    message: path[0] === 'views' ? VIEWS_GONE : message,
    isKey: path[0] !== NAME_KEY,
  }))
}

/** What one text cannot say: other files are put together where the files are. */
function manyFileBreaches(file: Entry): Breach[] {
  return ['include', 'environment', 'values']
    .filter((key) => file[key] !== undefined)
    .map((key) => ({
      path: [key],
      isKey: true,
      message: `${key} is put together with the other files by "svc catalog plan" and "svc catalog apply", and at boot: this is one text alone`,
    }))
}

/** SPEC.md, Versioning 2: 1.38.0 removed views. Files from before it have the section, and triggers that name one. */
const VIEWS_GONE =
  'views were removed in 1.38.0: a trigger reads sources itself. Give its sources and, as filters, what the view selected, and take this out'

function breachesOf(section: Section, word: string, entry: unknown, i: number): Breach[] {
  const at = [word, i]
  if (!isEntry(entry)) return [{ path: at, message: 'must be a map of fields' }]
  const own = section === 'projects' ? projectBreaches(word, entry) : []
  return [...own, ...schemaBreaches(section, entry)].map((breach) => ({
    ...breach,
    path: [...at, ...breach.path],
  }))
}

function schemaBreaches(section: Section, entry: Entry): Breach[] {
  if (section === 'wiring')
    return schemaFaults('wake' in entry ? 'catalog-wake.json' : 'catalog-handoff.json', entry)
  return schemaFaults(SCHEMAS[section], entry)
}

function schemaFaults(id: string, value: Entry): Breach[] {
  return faults(id, value).map(({ path, message }) => ({
    path,
    message:
      id === SCHEMAS.triggers && path.length === 1 && /^views?$/.test(String(path[0]))
        ? VIEWS_GONE
        : withHint(id, message, path, value),
    isKey: message.includes('is not a known field'),
  }))
}

/** 1.0 and true are no text in YAML, which surprises. Where quotes would not be enough, the rule is told at once. */
function withHint(id: string, message: string, path: Path, value: Entry): string {
  if (!message.endsWith(' must be text')) return message
  const copy = structuredClone(value)
  const holder = path.slice(0, -1).reduce<unknown>((at, step) => (at as Entry)[step], copy) as Entry
  const field = path.at(-1)!
  const at = holder[field]
  if (typeof at !== 'number' && typeof at !== 'boolean') return message
  holder[field] = String(at)
  const still = faults(id, copy).find((fault) => pathText(fault.path) === pathText(path))
  return still?.message ?? `${message}; put it in quotes`
}

function projectBreaches(word: string, entry: Entry): Breach[] {
  const template = entry.template ?? entry.recipe
  const breaches: Breach[] = []
  if (entry.recipe !== undefined && word === 'projects')
    breaches.push({
      path: ['recipe'],
      isKey: true,
      message: 'recipe is the old word for template, under usecases',
    })
  if (entry.recipe !== undefined && entry.template !== undefined)
    breaches.push({
      path: ['recipe'],
      isKey: true,
      message: 'recipe is the old word for template; give one of the two',
    })
  if (template === undefined) breaches.push({ path: [], message: 'template is required' })
  else if (template !== 'default' && entry.name === undefined)
    breaches.push({ path: [], message: 'name is required' })
  return breaches
}

function repeated(
  section: Section,
  word: string,
  entries: unknown[],
  lineOf: (path: Path) => number,
): Breach[] {
  const first = new Map<string, number>()
  return entries.flatMap((entry, i) => {
    const identity = identityOf(section, entry)
    if (identity === null) return []
    const earlier = first.get(identity)
    if (earlier === undefined) {
      first.set(identity, i)
      return []
    }
    const named = section !== 'wiring' && (entry as Entry).name !== undefined
    const line = lineOf([word, earlier])
    const message = `${titleOf(section, entry as Entry)} is already defined at line ${line}`
    return [{ path: [word, i, ...(named ? ['name'] : [])], message }]
  })
}

/** What a file says beside what breaks a rule, where only entries break any. */
export interface Sound {
  /** Of an entry that breaks a rule what is left of it, where that is one. */
  catalog: Catalog
  /** By section: of each entry its index in the file. */
  indexes: Readonly<Record<string, readonly number[]>>
  /** By section: how many entries the file has. */
  counts: Readonly<Record<string, number>>
  /** What entries declare that are left out, such as triggers:slow. */
  faulty: ReadonlySet<string>
}

/**
 * The rest of a file with faults, to be looked at beside them. @param catalog what it says
 * @returns null where something is wrong that says nothing of which entries are sound
 */
export function soundOf(catalog: Catalog, breaches: readonly Pick<Breach, 'path'>[]): Sound | null {
  const bad = new Map<string, Path[]>()
  for (const { path } of breaches) {
    const [word, index, ...inner] = path
    const section = word === 'usecases' ? 'projects' : word
    if (typeof index !== 'number' || !SECTIONS.some((one) => one === section)) return null
    const key = `${section}:${index}`
    bad.set(key, [...(bad.get(key) ?? []), inner])
  }
  const faulty = new Set<string>()
  const indexes: Record<string, number[]> = {}
  const counts: Record<string, number> = {}
  const sections = Object.entries(catalog).map(([section, entries]): [string, unknown[]] => {
    const all = entries as unknown[]
    const sound = all.flatMap((entry, i) => {
      const paths = bad.get(`${section}:${i}`)
      const rest = paths ? restOf(section as Section, entry, paths) : entry
      const isLeftOut = rest === null || (isEntry(rest) && rest.name === STAND_IN_NAME)
      if (isLeftOut && isEntry(entry) && typeof entry.name === 'string')
        faulty.add(`${section}:${entry.name}`)
      return rest === null ? [] : [{ entry: rest, i }]
    })
    indexes[section] = sound.map(({ i }) => i)
    counts[section] = all.length
    return [section, sound.map(({ entry }) => entry)]
  })
  return { catalog: Object.fromEntries(sections) as Catalog, indexes, counts, faulty }
}

/** An entry without what is at fault in it, at these paths; null where that is no entry that can be looked at. */
export function restOf(section: Section, entry: unknown, paths: readonly Path[]): Entry | null {
  if (!isEntry(entry)) return null
  // All of them at once: with one of two the rest is no entry yet.
  const fields = new Set(paths.map(([field]) => field))
  const left = withoutDependents(
    section,
    Object.fromEntries(Object.entries(entry).filter(([field]) => !fields.has(field))),
    [...fields].map(String),
  )
  const isUnnamed = fields.has('name') && section !== 'projects' && section !== 'wiring'
  const rest = { ...STAND_INS[section], ...(isUnnamed ? { name: STAND_IN_NAME } : {}), ...left }
  const isLost = section === 'projects' && (fields.has('name') || fields.has(undefined))
  return left === null || isLost || schemaBreaches(section, rest).length ? null : rest
}

/**
 * Leaves out the fields of an entry that cannot be checked without a faulty field: checking them would report problems
 * that the file does not have. @param faulty names of the faulty fields. @returns null where no field can be checked
 */
export function withoutDependents<T extends Entry>(
  section: Section,
  entry: T,
  faulty: readonly string[],
): T | null {
  const found = faulty.map((field) => DEPENDENTS[section]?.[field] ?? [])
  if (found.includes('all')) return null
  const out = new Set(found.flat())
  return Object.fromEntries(Object.entries(entry).filter(([field]) => !out.has(field))) as T
}

/** By field, the fields that are checked together with it. */
const DEPENDENTS: Readonly<Partial<Record<Section, Readonly<Record<string, readonly string[] | 'all'>>>>> = {
  sources: { config: 'all' },
  agents: { mcp_servers: ['tools'] },
  projects: { template: 'all' },
}

/** Has the place of a name that breaks its rule, or is another entry's, while the rest is looked at. */
export const STAND_IN_NAME = 'a-part-without-its-name'

/** What stands for a field that an entry needs, where it is absent or at fault and the others are looked at. */
const STAND_INS: Readonly<Partial<Record<Section, Entry>>> = {
  triggers: { condition: { event: 'any' } },
  agents: { prompt: 'prompt' },
  mcp_servers: { url: 'https://example.com' },
  skills: { description: 'description', body: 'body' },
}

/** Problems told at most: beyond, the file is of another kind. */
const PROBLEMS_TOLD = 200

interface ReadCatalog {
  /** Null when there is a problem. `usecases` and `recipe` are read as `projects` and `template`. */
  catalog: Catalog | null
  /** The name the file carries. */
  name: string | null
  /** What is left of it without what has a problem; null where there is none, or nothing can be told of the rest. */
  sound: Sound | null
  /** What it says that moved; nothing where that has a problem. */
  moved: readonly CatalogMoved[]
  /** In the order of the file. */
  problems: CatalogProblem[]
  /** Where the value at a path is; for one that is absent, what is nearest above it. */
  locate(path: Path): Place
}

/** A text read to the end, with what an edit of it needs. */
export interface Reading extends ReadCatalog {
  /** What the file says where it is YAML, also when rules of the catalog are broken; else null. */
  said: Catalog | null
  root: TreeNode | null
  values: Values | null
}

/**
 * Reads a catalog file. A text that is no YAML is told with the faults of its YAML alone: what its
 * fields are would be a guess.
 */
export function readCatalog(text: string): ReadCatalog {
  const compact = isCompact(text) ? shapeOf(JSON.parse(text), () => 1) : null
  if (compact && compact.breaches.length === 0) {
    const { catalog, name, moved } = compact
    // Where something is in such a text matters only where something else is wrong.
    let tree: Reading | null = null
    const locate = (path: Path) => {
      tree ??= readTree(text)
      return tree.locate(path)
    }
    return { catalog, sound: null, name, moved, problems: [], locate }
  }
  const { catalog, sound, name, moved, problems, locate } = readTree(text)
  return { catalog, sound, name, moved, problems, locate }
}

/**
 * Whether a text is JSON exactly as it is written by JSON.stringify, as several files that were put together are:
 * what it says is then known without looking for keys given twice and numbers that are cut, a hundred times faster.
 */
export function isCompact(text: string): boolean {
  if (!text.startsWith('{"') || text.includes('"__proto__"') || Buffer.byteLength(text) > MAX_BYTES)
    return false
  try {
    const value: unknown = JSON.parse(text)
    return JSON.stringify(value) === text && isShallow(value, MAX_DEPTH)
  } catch {
    // No JSON, or nested too deep: what reads YAML says so.
    return false
  }
}

const isShallow = (value: unknown, levels: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1)))

const NOTHING_READ = { catalog: null, said: null, sound: null, name: null, moved: [] }

/** As readCatalog, with the tree. @param merges whether merge keys (`<<`) are taken, as where many files are put together */
export function readTree(text: string, merges = false): Reading {
  const { root, faults } = parseTree(text)
  const places = placesOf(text, root)
  const locate = (path: Path) => places.of(path)
  if (faults.length) {
    const problems = faults.map(({ start, end, message }) => ({
      ...places.at(start, end),
      path: '',
      message,
    }))
    return { ...NOTHING_READ, problems, locate, root: null, values: null }
  }
  if (!root) return { ...NOTHING_READ, catalog: {}, said: {}, problems: [], locate, root, values: null }
  const values = valuesOf(root, (offset) => places.at(offset, offset).line, merges)
  const flaws = values.flaws.map(({ path, start, end, message }) => ({
    ...places.at(start, end),
    path: pathText(path),
    message,
  }))
  // What goes beyond its bounds is not looked at further: checking would expand it.
  const isBounded = !flaws.some(({ message }) => message.startsWith('with its aliases'))
  const shape = isBounded ? shapeOf(values.value, (path) => places.of(path).line) : null
  const problems = told([...flaws, ...(shape?.breaches ?? []).map((breach) => problemOf(places, breach))])
  const said = flaws.length || !shape ? null : shape.catalog
  const catalog = problems.length ? null : said
  const sound = problems.length && shape ? soundOf(shape.catalog, [...values.flaws, ...shape.breaches]) : null
  return {
    catalog,
    said,
    sound,
    name: shape?.name ?? null,
    moved: shape?.moved ?? [],
    problems,
    locate,
    root,
    values,
  }
}

function problemOf(
  places: Places,
  { path, message, isKey }: { path: Path; message: string; isKey?: boolean },
): CatalogProblem {
  return { ...(isKey ? places.ofKey(path) : places.of(path)), path: pathText(path), message }
}

/** In the order of the file, as many as are told. */
const told = (problems: readonly CatalogProblem[]): CatalogProblem[] =>
  bounded(problems.toSorted((a, b) => a.line - b.line || a.column - b.column))

/** The first problems; of the others their number, where the last of these is. What is bounded already may be among them. */
export function bounded<T extends CatalogProblem>(problems: readonly T[]): T[] {
  const shown = problems.filter(({ more }) => more === undefined).slice(0, PROBLEMS_TOLD)
  const more = countProblems(problems) - shown.length
  if (more === 0) return shown
  const last = { ...shown.at(-1)!, path: '', message: `and ${countWords(more, 'more problem')}`, more }
  return [...shown, last]
}

/* Offsets of a text as the lines and columns people read, both counted from 1. */

type Place = Required<Pick<CatalogProblem, 'line' | 'column' | 'end_line' | 'end_column'>>

/** Offsets to places in one text. Columns count UTF-16 units, as editors do. */
export interface Places {
  at(start: number, end: number): Place
  /**
   * The place of the value at `path`, or of what is nearest above it when there is none. Of a
   * collection over several lines it is the first line: the rest would only be noise in an editor.
   */
  of(path: Path): Place
  /** As `of`, the key of the last step instead of its value. */
  ofKey(path: Path): Place
}

/** Places in a text, of offsets and of paths through its tree. */
export function placesOf(text: string, root: TreeNode | null): Places {
  const starts = [0]
  for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) starts.push(i + 1)
  const lineOf = (offset: number): number => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (starts[middle]! <= offset) low = middle
      else high = middle - 1
    }
    return low
  }
  const at = (start: number, end: number): Place => {
    const line = lineOf(start)
    const last = lineOf(Math.max(start, end))
    return {
      line: line + 1,
      column: start - starts[line]! + 1,
      end_line: last + 1,
      end_column: Math.max(start, end) - starts[last]! + 1,
    }
  }
  const shown = (node: TreeNode): Place => {
    const isBlock = node.kind === 'map' || node.kind === 'seq'
    const lineEnd = text.slice(node.start, node.end).search(/[ \t]*\r?\n/)
    return at(node.start, isBlock && lineEnd >= 0 ? node.start + lineEnd : node.end)
  }
  const walk = (path: Path) => {
    let node = root
    let key: TreeNode | null = null
    for (const step of path) {
      const found = node && childAt(node, step)
      if (!found) break
      node = found.value
      key = found.key
    }
    return { node, key }
  }
  /** An empty value has no characters of its own: its key stands for it. */
  const placeOfValue = ({ node, key }: ReturnType<typeof walk>): Place => {
    if (!node) return at(0, 0)
    return node.start === node.end && key ? shown(key) : shown(node)
  }
  return {
    at,
    of: (path) => placeOfValue(walk(path)),
    ofKey: (path) => {
      const found = walk(path)
      return found.key ? shown(found.key) : placeOfValue(found)
    },
  }
}
