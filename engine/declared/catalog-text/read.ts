/** A catalog file as text to a catalog, with every problem and its place. */
import type { Catalog, CatalogMoved, CatalogProblem } from '../../../schemas/types.ts'
import { shapeOf } from './shape.ts'
import { childAt, MAX_BYTES, MAX_DEPTH, type Path, parseTree, pathText, type TreeNode } from './tree.ts'
import { type Values, valuesOf } from './values.ts'

/** Problems told at most: beyond, the file is of another kind. */
const PROBLEMS_TOLD = 200

interface ReadCatalog {
  /** Null when there is a problem. `usecases` and `recipe` are read as `projects` and `template`. */
  catalog: Catalog | null
  /** The name the file carries. */
  name: string | null
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
    return { catalog, name, moved, problems: [], locate }
  }
  const { catalog, name, moved, problems, locate } = readTree(text)
  return { catalog, name, moved, problems, locate }
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

/** As readCatalog, with the tree. */
export function readTree(text: string): Reading {
  const { root, faults } = parseTree(text)
  const places = placesOf(text, root)
  const locate = (path: Path) => places.of(path)
  if (faults.length) {
    const problems = faults.map(({ start, end, message }) => ({
      ...places.at(start, end),
      path: '',
      message,
    }))
    return { catalog: null, said: null, name: null, moved: [], problems, locate, root: null, values: null }
  }
  if (!root) return { catalog: {}, said: {}, name: null, moved: [], problems: [], locate, root, values: null }
  const values = valuesOf(root, (offset) => places.at(offset, offset).line)
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
  return {
    catalog,
    said,
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

function told(problems: CatalogProblem[]): CatalogProblem[] {
  return problems.sort((a, b) => a.line - b.line || a.column - b.column).slice(0, PROBLEMS_TOLD)
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
