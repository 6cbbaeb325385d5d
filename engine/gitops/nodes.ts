/**
 * The values of a catalog text, each with the place where it was written. What several files say becomes one
 * document, and a value of it still knows its file, line and column.
 */
import type { CatalogProblem } from '../../schemas/types.ts'
import { type Places, placesOf } from '../declared/catalog-text/read.ts'
import { type Path, parseTree, pathText, type TreeNode } from '../declared/catalog-text/tree.ts'
import { isMerge, type Values, valuesOf } from '../declared/catalog-text/values.ts'

/** A text with the path that people know it by. */
export interface CatalogText {
  path: string
  text: string
}

/** Characters of a text, by offset. */
export interface Spot {
  of: CatalogText
  start: number
  end: number
}

export interface MapValue {
  kind: 'map'
  spot: Spot
  fields: Map<string, { key: Spot; value: Value }>
}

/** A value with its place; treat as immutable. */
export type Value =
  | { kind: 'scalar'; spot: Spot; value: unknown }
  | { kind: 'list'; spot: Spot; items: Value[] }
  | MapValue

/** A problem with the path of the file that it is in. */
export interface FileProblem extends CatalogProblem {
  file: string
}

export type FilePlace = Pick<FileProblem, 'file' | 'line' | 'column' | 'end_line' | 'end_column'>

const places = new WeakMap<CatalogText, Places>()

/** Line and column of a spot, both from 1. */
export function placeOf({ of, start, end }: Spot): FilePlace {
  const known = places.get(of) ?? placesOf(of.text, null)
  places.set(of, known)
  return { file: of.path, ...known.at(start, end) }
}

/** FILE:LINE:COLUMN, as sentences name a place. */
export function placeText(spot: Spot): string {
  const { file, line, column } = placeOf(spot)
  return `${file}:${line}:${column}`
}

/** A problem at a spot. @param path through the document, where there is one */
export const problemAt = (spot: Spot, message: string, path: Path = []): FileProblem => ({
  ...placeOf(spot),
  path: pathText(path),
  message,
})

interface ReadValue {
  value: Value | null
  problems: FileProblem[]
  /** Whether it has merge keys. */
  merges: boolean
}

const read = new WeakMap<CatalogText, ReadValue>()

/**
 * The value of a text, with merge keys merged; null for one that says nothing, or is no YAML. Who gives the same object
 * again gets what was read of it, such as of the files that a commit left alone.
 */
export function readValue(of: CatalogText): ReadValue {
  const known = read.get(of) ?? readAnew(of)
  read.set(of, known)
  return known
}

function readAnew(of: CatalogText): ReadValue {
  const { root, faults } = parseTree(of.text)
  const spotted = (start: number, end: number): Spot => ({ of, start, end })
  if (faults.length)
    return {
      value: null,
      merges: false,
      problems: faults.map(({ start, end, message }) => problemAt(spotted(start, end), message)),
    }
  if (!root) return { value: null, problems: [], merges: false }
  const values = valuesOf(root, (offset) => placeOf(spotted(offset, offset)).line, true)
  const problems = values.flaws.map(({ path, start, end, message }) =>
    problemAt(spotted(start, end), message, path),
  )
  // What grows beyond its bounds by its aliases is not written out.
  if (values.flaws.length) return { value: null, problems, merges: false }
  const grown = new Growth(of, values, problems)
  const value = grown.value(root, null)
  return { value: problems.length ? null : value, problems, merges: grown.merges }
}

/** Makes values of a tree. */
class Growth {
  merges = false

  constructor(
    private readonly of: CatalogText,
    private readonly values: Values,
    private readonly problems: FileProblem[],
  ) {}

  private spot({ start, end }: { start: number; end: number }): Spot {
    return { of: this.of, start, end }
  }

  /** @param key stands for a value that has no characters of its own */
  value(node: TreeNode, key: Spot | null): Value {
    const spot = node.start === node.end && key ? key : this.spot(node)
    if (node.kind === 'alias') return { ...this.value(this.values.targets.get(node)!, key), spot }
    if (node.kind === 'scalar') return { kind: 'scalar', spot, value: this.values.of.get(node) }
    const first = this.firstLine(spot)
    if (node.kind === 'seq')
      return { kind: 'list', spot: first, items: node.items.map((item) => this.value(item.value, null)) }
    const fields: MapValue['fields'] = new Map()
    const merged: MapValue['fields'] = new Map()
    for (const item of node.items) {
      const at = this.spot(item.key)
      const value = this.value(item.value, at)
      if (isMerge(item)) this.merge(merged, value, at)
      else fields.set(String(this.values.of.get(item.key)), { key: at, value })
    }
    for (const [name, field] of merged) if (!fields.has(name)) fields.set(name, field)
    return { kind: 'map', spot: first, fields }
  }

  /** Of several maps the first that has a field gives it (YAML 1.1, merge key). */
  private merge(merged: MapValue['fields'], value: Value, at: Spot): void {
    this.merges = true
    const maps = value.kind === 'list' ? value.items : [value]
    for (const map of maps) {
      if (map.kind !== 'map') {
        this.problems.push(problemAt(at, 'a merge key takes a map, or a list of maps'))
        return
      }
      for (const [name, field] of map.fields) if (!merged.has(name)) merged.set(name, field)
    }
  }

  /** Of a block over several lines its first: the rest would be noise in an editor. */
  private firstLine(spot: Spot): Spot {
    const line = this.of.text.slice(spot.start, spot.end).search(/[ \t]*\r?\n/)
    return line < 0 ? spot : { ...spot, end: spot.start + line }
  }
}

/** The plain value. */
export function plain(value: Value): unknown {
  if (value.kind === 'scalar') return value.value
  if (value.kind === 'list') return value.items.map(plain)
  return Object.fromEntries([...value.fields].map(([name, field]) => [name, plain(field.value)]))
}

/** A plain value as if it were written at a spot. */
export function valueAt(spot: Spot, of: unknown): Value {
  if (Array.isArray(of)) return { kind: 'list', spot, items: of.map((item) => valueAt(spot, item)) }
  if (typeof of !== 'object' || of === null) return { kind: 'scalar', spot, value: of }
  return mapAt(
    spot,
    Object.entries(of).map(([name, inner]) => [name, { key: spot, value: valueAt(spot, inner) }]),
  )
}

/** A map of these fields. */
export const mapAt = (
  spot: Spot,
  fields: Iterable<readonly [string, { key: Spot; value: Value }]>,
): MapValue => ({ kind: 'map', spot, fields: new Map(fields) })

/** The spot of what is at a path; where there is none, of what is nearest above it. @param isKey of its key */
export function spotAt(root: Value, path: Path, isKey = false): Spot {
  let at = root
  let spot = root.spot
  for (const step of path) {
    const next: { key: Spot | null; value: Value } | undefined =
      at.kind === 'map'
        ? at.fields.get(String(step))
        : at.kind === 'list' && at.items[Number(step)]
          ? { key: null, value: at.items[Number(step)]! }
          : undefined
    if (!next) return spot
    at = next.value
    spot = isKey && next.key ? next.key : at.spot
  }
  return spot
}

/** A field of a map; undefined: it has none, or the value is no map. */
export const fieldOf = (value: Value | undefined, name: string): Value | undefined =>
  value?.kind === 'map' ? value.fields.get(name)?.value : undefined

/** A field that is text; undefined otherwise. */
export function textIn(value: Value | undefined, name: string): string | undefined {
  const field = fieldOf(value, name)
  return field?.kind === 'scalar' && typeof field.value === 'string' ? field.value : undefined
}

/* Where an offset of a JSON text is: problems of catalogs that were put together come back with columns of their JSON. */

/** @param json well-formed. @returns the path of the value that begins at an offset, or that the offset is in */
function pathAtOffset(json: string, offset: number): (string | number)[] {
  const stack: { step: string | number | null; isList: boolean; isKey: boolean }[] = []
  for (let at = 0; at < offset; at++) {
    const top = stack.at(-1)
    const character = json[at]
    if (character === '"') {
      const start = at
      for (at++; json[at] !== '"' && at < json.length; at++) if (json[at] === '\\') at++
      if (top?.isKey) top.step = JSON.parse(json.slice(start, at + 1)) as string
    } else if (character === '{') stack.push({ step: null, isList: false, isKey: true })
    else if (character === '[') stack.push({ step: 0, isList: true, isKey: false })
    else if (character === '}' || character === ']') stack.pop()
    else if (character === ':' && top) top.isKey = false
    else if (character === ',' && top?.isList) top.step = Number(top.step) + 1
    else if (character === ',' && top) top.isKey = true
  }
  return stack.flatMap(({ step }) => step ?? [])
}

/** What was told of a text that was put together: by its words, and where in the text. */
type ToldOf = Pick<CatalogProblem, 'path'> & Partial<Pick<CatalogProblem, 'file' | 'line' | 'column'>>

/** The path of a problem in what was put together: as its words say, and as precisely as its column does. */
export function pathOfProblem(
  { owned }: { owned: readonly { name: string; text: string }[] },
  { path, file, line, column = 1 }: ToldOf,
): (string | number)[] {
  const at = Math.max(
    0,
    owned.findIndex(({ name }) => name === file),
  )
  const text = owned[at]?.text
  const within = text === undefined || line !== 1 ? [] : pathAtOffset(text, column - 1)
  // A conflict names its field within the part: only its column says where that is.
  if (path === '' || path.startsWith('/')) {
    const [section, index = 0, ...inner] = within
    if (section === undefined) return []
    const before = owned.slice(0, at).map((one) => JSON.parse(one.text) as Record<string, unknown[]>)
    const skipped = before.reduce((sum, one) => sum + (one[section]?.length ?? 0), 0)
    return [section, Number(index) + skipped, ...inner]
  }
  const steps = stepsOf(path)
  return steps.length >= 2 && within.length > steps.length
    ? [...steps.slice(0, 2), ...within.slice(2)]
    : steps
}

/** triggers[2].sources as steps. */
function stepsOf(path: string): (string | number)[] {
  const steps = /\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g
  return [...path.matchAll(steps)].map(([, index, quoted, word]) =>
    index !== undefined ? Number(index) : quoted !== undefined ? String(JSON.parse(quoted)) : word!,
  )
}
