/**
 * A catalog file read with every problem at its place: YAML errors, duplicate and unknown fields,
 * wrong types, broken rules, names given twice (SPEC.md, Catalog YAML).
 */
import {
  type Document,
  isAlias,
  isCollection,
  isNode,
  isScalar,
  LineCounter,
  type Node,
  parseAllDocuments,
  visit,
} from 'yaml'
import { faults } from '../../../schemas/index.ts'
import type { Catalog, CatalogProblem, CatalogProject } from '../../../schemas/types.ts'

type Path = readonly (string | number)[]
export type Place = Pick<CatalogProblem, 'line' | 'column' | 'end_line' | 'end_column'>

export interface ReadCatalog {
  /** Null when the file has a problem that hides its content. */
  catalog: Catalog | null
  problems: CatalogProblem[]
  /** Where a path is in the file; of one that is absent, where its nearest ancestor is. */
  locate(path: Path): Place
}

const TEXT_MAX = 8 * 1024 * 1024
const DEPTH_MAX = 100
const ALIASES_MAX = 100
const SECTIONS = ['sources', 'triggers', 'agents', 'mcp_servers', 'projects', 'usecases', 'skills'] as const

/** @param text of the file. */
export function readCatalog(text: string): ReadCatalog {
  if (text.length > TEXT_MAX) return refused('the file is larger than 8 MiB', () => START)
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, {
    lineCounter: lines,
    schema: 'core',
    merge: false,
    uniqueKeys: true,
    prettyErrors: false,
    stringKeys: true,
  })
  const at = (range: readonly [number, number, ...number[]]): Place => placeOf(lines, range)
  if (!Array.isArray(documents)) return { catalog: {}, problems: [], locate: () => START }
  const [doc, second] = documents
  if (!doc) return { catalog: {}, problems: [], locate: () => START }
  const locate = (path: Path): Place => at(nodeAt(doc.contents, path)?.range ?? [0, 0])
  const problems: CatalogProblem[] = []
  if (second)
    problems.push({
      ...at(second.range),
      path: '',
      message: 'the file holds several documents; a catalog is one',
    })
  for (const { pos, message, code } of [...doc.errors, ...doc.warnings])
    problems.push({ ...at(pos), path: '', message: yamlMessage(code, message) })
  problems.push(...structureProblems(doc, at))
  if (problems.length) return { catalog: null, problems, locate }
  let value: unknown
  try {
    value = doc.toJS({ maxAliasCount: ALIASES_MAX })
  } catch {
    return {
      catalog: null,
      problems: [
        { ...START, path: '', message: 'too many aliases: the file would be far larger than it looks' },
      ],
      locate,
    }
  }
  if (value === null || value === undefined) return { catalog: {}, problems: [], locate }
  problems.push(...ruleProblems(value, locate))
  if (problems.length) return { catalog: null, problems, locate }
  return { catalog: withoutOldWords(value as Catalog), problems, locate }
}

const START: Place = { line: 1, column: 1, end_line: 1, end_column: 1 }

function refused(message: string, locate: () => Place): ReadCatalog {
  return { catalog: null, problems: [{ ...START, path: '', message }], locate }
}

function placeOf(lines: LineCounter, [start, end]: readonly [number, number, ...number[]]): Place {
  const from = lines.linePos(start)
  const to = lines.linePos(Math.max(start, end))
  return {
    line: Math.max(1, from.line),
    column: Math.max(1, from.col),
    end_line: Math.max(1, to.line),
    end_column: Math.max(1, to.col),
  }
}

/** The node a path leads to, or the nearest that is there. */
function nodeAt(root: unknown, path: Path): Node | null {
  let node = isNode(root) ? root : null
  for (const key of path) {
    if (!isCollection(node)) return node
    const next = node.get(key, true)
    if (!isNode(next)) return node
    node = next
  }
  return node
}

function yamlMessage(code: string, message: string): string {
  if (code === 'DUPLICATE_KEY') return 'the same field is given twice'
  if (code === 'TAG_RESOLVE_FAILED') return 'tags are not allowed in a catalog'
  const first = message.split('\n')[0]!
  return `not valid YAML: ${first.charAt(0).toLowerCase()}${first.slice(1)}`
}

/** What YAML allows and a catalog does not: merge keys, custom tags, deep nesting, swarms of aliases. */
function structureProblems(
  doc: Document.Parsed,
  at: (range: readonly [number, number, ...number[]]) => Place,
): CatalogProblem[] {
  const problems: CatalogProblem[] = []
  let aliases = 0
  const add = (node: Node, message: string) =>
    problems.push({ ...at(node.range ?? [0, 0]), path: '', message })
  const anchors = new Set<string>()
  visit(doc, (_key, node, parents) => {
    if (problems.length >= 20) return visit.BREAK
    if (parents.length > 2 * DEPTH_MAX && isNode(node)) {
      add(node, `nested deeper than ${DEPTH_MAX}`)
      return visit.BREAK
    }
    if (isNode(node) && !isAlias(node) && node.anchor) anchors.add(node.anchor)
    if (isAlias(node) && !anchors.has(node.source)) add(node, `no value above is marked &${node.source}`)
    if (isAlias(node) && ++aliases === ALIASES_MAX + 1) add(node, `more than ${ALIASES_MAX} aliases`)
    if (isScalar(node) && node.value === '<<' && _key === 'key')
      add(node, 'merge keys are not allowed in a catalog')
    if (isNode(node) && !isAlias(node) && node.tag && !node.tag.startsWith('tag:yaml.org,2002:'))
      add(node, 'tags are not allowed in a catalog')
    return undefined
  })
  return problems
}

function ruleProblems(value: unknown, locate: (path: Path) => Place): CatalogProblem[] {
  const problems = faults('catalog.json', value).map(({ path, message }) => ({
    ...locate(path),
    path: pathText(path),
    message,
  }))
  if (problems.length) return problems
  const catalog = value as Catalog
  const add = (path: Path, message: string) =>
    problems.push({ ...locate(path), path: pathText(path), message })
  if (catalog.projects && catalog.usecases)
    add(['usecases'], 'usecases is the old word for projects; give one of the two')
  for (const section of SECTIONS) {
    const seen = new Map<string, number>()
    ;((catalog[section] ?? []) as { name?: string; template?: string; recipe?: string }[]).forEach(
      (entry, i) => {
        if (section === 'projects' && entry.recipe !== undefined)
          add([section, i, 'recipe'], 'recipe is the old word for template, under usecases')
        const name =
          entry.name ??
          (section === 'projects' || section === 'usecases'
            ? `@${entry.template ?? entry.recipe}`
            : undefined)
        if (name === undefined) return
        const first = seen.get(name)
        if (first !== undefined)
          add(
            [section, i, 'name'],
            `${entry.name ?? name} is already defined at line ${locate([section, first]).line}`,
          )
        else seen.set(name, i)
      },
    )
  }
  return problems
}

/** usecases with recipe are projects with template. */
function withoutOldWords({ usecases, ...catalog }: Catalog): Catalog {
  if (!usecases) return catalog
  const projects = usecases.map(
    ({ recipe, template, ...entry }): CatalogProject =>
      ({ ...((template ?? recipe) ? { template: template ?? recipe } : {}), ...entry }) as CatalogProject,
  )
  return { ...catalog, projects }
}

/** triggers[2].sources[0] */
const pathText = (path: Path): string =>
  path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${part}` : part),
    '',
  )
