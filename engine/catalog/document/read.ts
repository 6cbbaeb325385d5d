/** A catalog file as text to a catalog, with every problem and its place. */
import type { Catalog, CatalogProblem } from '../../../schemas/types.ts'
import { parseTree } from './parse.ts'
import { type Path, pathText } from './path.ts'
import { type Place, type Places, placesOf } from './places.ts'
import { shapeOf } from './shape.ts'
import type { TreeNode } from './tree.ts'
import { type Values, valuesOf } from './values.ts'

/** Problems told at most: beyond, the file is of another kind. */
const PROBLEMS_TOLD = 200

interface ReadCatalog {
  /** Null when there is a problem. `usecases` and `recipe` are read as `projects` and `template`. */
  catalog: Catalog | null
  /** The name the file carries. */
  name: string | null
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
  const { catalog, name, problems, locate } = readTree(text)
  return { catalog, name, problems, locate }
}

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
    return { catalog: null, said: null, name: null, problems, locate, root: null, values: null }
  }
  if (!root) return { catalog: {}, said: {}, name: null, problems: [], locate, root, values: null }
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
  return { catalog, said, name: shape?.name ?? null, problems, locate, root, values }
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
