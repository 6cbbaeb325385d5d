/**
 * The values of a catalog text, each with the place where it was written. What several files say becomes one
 * document, and a value of it still knows its file, line and column.
 *
 * Values of an environment: declared in the catalog with a type and a default, set by the files of an environment,
 * and referred to as ((values.NAME)). Not `${NAME}`, which is a secret that the daemon reads when it needs it.
 */
import type { CatalogProblem } from '../../schemas/types.ts'
import { type Places, placesOf } from './shape.ts'
import { type Path, parseTree, pathText, type TreeNode } from './tree.ts'
import { isMerge, type Values, valuesOf } from './values.ts'

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

/** A problem with the path of the file that it is in; empty: it is of no file, but of what was asked for. */
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

/** How the problem of an undeclared value begins. */
const UNDECLARED = 'no file of the catalog declares a value'

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
  const grown = new Growth(of, values)
  const value = grown.value(root, null)
  return { value, problems, merges: grown.merges }
}

/** Makes values of a tree. */
class Growth {
  merges = false

  constructor(
    private readonly of: CatalogText,
    private readonly values: Values,
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
      if (isMerge(item)) this.merge(merged, value)
      else fields.set(String(this.values.of.get(item.key)), { key: at, value })
    }
    for (const [name, field] of merged) if (!fields.has(name)) fields.set(name, field)
    return { kind: 'map', spot: first, fields }
  }

  /** Of several maps the first that has a field gives it (YAML 1.1, merge key). */
  private merge(merged: MapValue['fields'], value: Value): void {
    this.merges = true
    for (const map of value.kind === 'list' ? value.items : [value])
      for (const [name, field] of map.kind === 'map' ? map.fields : [])
        if (!merged.has(name)) merged.set(name, field)
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
function valueAt(spot: Spot, of: unknown): Value {
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

type ValueType = 'text' | 'number' | 'integer' | 'switch' | 'list' | 'map'
const TYPES: readonly string[] = ['text', 'number', 'integer', 'switch', 'list', 'map']
const TYPE_WORDS: Record<ValueType, string> = {
  text: 'text',
  number: 'a number',
  integer: 'a whole number',
  switch: 'true or false',
  list: 'a list',
  map: 'a map',
}
const FIELDS = ['type', 'default', 'description', 'one_of', 'min', 'max']

interface Declaration {
  name: string
  key: Spot
  type: ValueType
  default: Value | undefined
  oneOf: unknown[] | null
  min: number | null
  max: number | null
  used: boolean
}

/** What is told while documents are put together. */
export interface Told {
  problems: FileProblem[]
  warnings: FileProblem[]
}

/** Of one reference; `!` writes it out as it is. */
const REFERENCE = /\(\((!?)\s*values\.([A-Za-z_][A-Za-z0-9_-]*)\s*\)\)/g
const WHOLE = new RegExp(`^${REFERENCE.source}$`)
/** Characters that all references may be written out as, as aliases of YAML may. */
const WRITTEN_MAX = 8 * 1024 * 1024

/** The values of one environment, and what refers to them. */
export class EnvironmentValues {
  private readonly declared = new Map<string, Declaration>()
  private readonly set = new Map<string, Value>()
  /** Characters of each value, which a reference to it is written out as. */
  private readonly sizes = new Map<Value, number>()
  private written = 0

  constructor(private readonly told: Told) {}

  /** Takes the `values` of a file of the catalog: each a default, or a map of type, default and rules. */
  declare(values: Value): void {
    if (values.kind !== 'map') {
      if (values.kind !== 'scalar' || values.value !== null)
        this.problem(values.spot, 'values must be a map of names to defaults, or to their type and rules')
      return
    }
    for (const [name, { key, value }] of values.fields) {
      const known = this.declared.get(name)
      if (known) this.problem(key, `the value ${name} is already declared at ${placeText(known.key)}`)
      else if (!/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name))
        this.problem(key, 'the name of a value is letters, digits, dashes and underscores, a letter first')
      else this.take(name, key, value)
    }
  }

  private take(name: string, key: Spot, value: Value): void {
    const none = { name, key, oneOf: null, min: null, max: null, used: false }
    if (value.kind !== 'map') {
      this.declared.set(name, { ...none, type: typeOf(plain(value)), default: value })
      return
    }
    // What is wrong with it is told once, not again by each reference to it.
    this.declared.set(name, { ...none, type: 'map', default: value })
    const unknown = [...value.fields].find(([field]) => !FIELDS.includes(field))
    if (unknown) {
      this.problem(
        unknown[1].key,
        `${unknown[0]} is no rule of a value; there are ${FIELDS.join(', ')}. A default that is a map is given under default`,
      )
      return
    }
    const given = fieldOf(value, 'default')
    const type = fieldOf(value, 'type')
    const word = type ? plain(type) : given ? typeOf(plain(given)) : undefined
    if (typeof word !== 'string' || !TYPES.includes(word)) {
      this.problem(type?.spot ?? key, `type must be one of ${TYPES.join(', ')}`)
      return
    }
    const number = (field: string): number | null => {
      const at = fieldOf(value, field)
      const bound = at && plain(at)
      if (at && typeof bound !== 'number') this.problem(at.spot, `${field} must be a number`)
      return typeof bound === 'number' ? bound : null
    }
    const choice = fieldOf(value, 'one_of')
    if (choice && choice.kind !== 'list') this.problem(choice.spot, 'one_of must be a list')
    const oneOf = choice?.kind === 'list' ? (plain(choice) as unknown[]) : null
    const declaration: Declaration = {
      ...none,
      ...{ type: word as ValueType, default: given, oneOf, min: number('min'), max: number('max') },
    }
    this.declared.set(name, declaration)
    if (given) this.check(declaration, given)
  }

  /** Takes the `values` that a file of the environment sets; of two files the later one wins. */
  setAll(values: Value): void {
    if (values.kind !== 'map') {
      if (values.kind !== 'scalar' || values.value !== null)
        this.problem(values.spot, 'values of an environment must be a map of names to values')
      return
    }
    for (const [name, { key, value }] of values.fields) {
      const declaration = this.declared.get(name)
      if (!declaration) this.problem(key, `${UNDECLARED} ${name}${this.known()}`)
      else if (this.check(declaration, value)) this.set.set(name, value)
    }
  }

  /** A value with its references replaced; what is whole keeps its type, what is in a text becomes text. */
  resolve(value: Value): Value {
    if (value.kind === 'scalar') return this.scalar(value)
    if (value.kind === 'list') {
      const items = value.items.map((item) => this.resolve(item))
      return items.every((item, i) => item === value.items[i]) ? value : { ...value, items }
    }
    let changed = false
    const fields = new Map(
      [...value.fields].map(([name, field]) => {
        const inner = this.resolve(field.value)
        changed ||= inner !== field.value
        return [name, { ...field, value: inner }] as const
      }),
    )
    return changed ? { ...value, fields } : value
  }

  private scalar(scalar: Value & { kind: 'scalar' }): Value {
    const text = scalar.value
    if (typeof text !== 'string' || !text.includes('((')) return scalar
    const whole = WHOLE.exec(text)
    if (whole && !whole[1]) {
      const found = this.valueOf(whole[2]!, scalar.spot)
      return found && this.hasRoom(found, scalar.spot) ? valueAt(scalar.spot, plain(found)) : scalar
    }
    const written = text.replace(REFERENCE, (reference, escaped: string, name: string) => {
      if (escaped) return reference.replace('!', '')
      const found = this.valueOf(name, scalar.spot)
      const value = found ? plain(found) : ''
      if (typeof value === 'object') {
        this.problem(scalar.spot, `the value ${name} is no text or number, and can only stand alone`)
        return ''
      }
      return found && this.hasRoom(found, scalar.spot) ? String(value) : ''
    })
    return written === text ? scalar : { ...scalar, value: written }
  }

  private valueOf(name: string, spot: Spot): Value | null {
    const declaration = this.declared.get(name)
    if (!declaration) {
      this.problem(spot, `${UNDECLARED} ${name}${this.known()}`)
      return null
    }
    declaration.used = true
    return this.set.get(name) ?? declaration.default ?? null
  }

  /** Counts what a reference is written out as; where it is too much in all, that is told once. */
  private hasRoom(value: Value, spot: Spot): boolean {
    const size = this.sizes.get(value) ?? JSON.stringify(plain(value)).length
    this.sizes.set(value, size)
    const before = this.written
    this.written += size
    if (before <= WRITTEN_MAX && this.written > WRITTEN_MAX)
      this.problem(spot, 'with its values written out, the catalog is more than 8 MiB')
    return this.written <= WRITTEN_MAX
  }

  /** Tells what has no value in this environment, and what nothing refers to. */
  finish(environment: string | null): void {
    for (const { name, key, default: given, used } of this.declared.values()) {
      if (!given && !this.set.has(name))
        this.problem(
          key,
          environment === null
            ? `the value ${name} has no default: choose an environment that sets it (--env)`
            : `the value ${name} has no default, and the environment ${environment} does not set it`,
        )
      else if (!used) this.told.warnings.push(problemAt(key, `nothing refers to the value ${name}`))
    }
  }

  private check({ name, type, oneOf, min, max }: Declaration, value: Value): boolean {
    const given = plain(value)
    const is = typeOf(given)
    const fits = is === type || (type === 'number' && is === 'integer')
    const rule = !fits
      ? `must be ${TYPE_WORDS[type]}`
      : oneOf && !oneOf.some((one) => JSON.stringify(one) === JSON.stringify(given))
        ? `must be one of ${oneOf.map((one) => String(one)).join(', ')}`
        : typeof given === 'number' && min !== null && given < min
          ? `must be at least ${min}`
          : typeof given === 'number' && max !== null && given > max
            ? `must be at most ${max}`
            : null
    if (rule) this.problem(value.spot, `the value ${name} ${rule}`)
    return rule === null
  }

  private known(): string {
    const names = [...this.declared.keys()].sort()
    return names.length ? `; there are ${names.slice(0, 20).join(', ')}` : ''
  }

  private problem(spot: Spot, message: string): void {
    this.told.problems.push(problemAt(spot, message))
  }
}

function typeOf(value: unknown): ValueType {
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'boolean') return 'switch'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value === 'object' && value !== null ? 'map' : 'text'
}

/** In the order of the files. */
export function inOrder(problems: FileProblem[]): FileProblem[] {
  return problems.toSorted(
    (a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0) || a.line - b.line || a.column - b.column,
  )
}

/** Without follow-on problems: where a reference to an undeclared value is told, other problems at the same place are left out. */
export function withoutMade(problems: readonly FileProblem[]): FileProblem[] {
  const placeOf = ({ file, line, column }: FileProblem) => `${file}:${line}:${column}`
  const faulty = new Set(problems.filter(({ message }) => message.startsWith(UNDECLARED)).map(placeOf))
  return problems.filter((one) => one.message.startsWith(UNDECLARED) || !faulty.has(placeOf(one)))
}
