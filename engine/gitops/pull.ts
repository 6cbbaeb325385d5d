/**
 * What an instance says brought into the files that say it: each field where it lives, comments and order kept. Pure:
 * texts come in, and texts come out; what is written is put together again and compared before it is given out.
 */

import { createTwoFilesPatch, OMIT_HEADERS } from 'diff'
import { ownField } from '../../schemas/fields-of.ts'
import { isKind, kindOfSection, SECTION_OF } from '../../schemas/kinds.ts'
import type { Catalog, CatalogMoved } from '../../schemas/types.ts'
import { equal } from '../model/documents.ts'
import { nameOfEntry } from '../model/merge.ts'
import { MASK } from '../model/plan.ts'
import type { Composed, ComposedPart, ComposeInput } from './compose.ts'
import { lineOf, MOVED_KEY, type Move, movesOf, onwards, withMoves } from './moved.ts'
import type { CatalogText, FilePlace } from './nodes.ts'
import {
  CANONICAL,
  type Entry,
  entryLines,
  identityOf,
  inTodaysWords,
  isEntry,
  isExtra,
  orderedEntry,
  pairLines,
  SECTIONS,
  type Section,
} from './render.ts'
import { isCompact, type Reading, readTree, updateCatalog, updateFields } from './update.ts'

/** A file as it is to be; null: it says nothing any more, and goes. */
export interface PulledFile {
  path: string
  before: string | null
  after: string | null
}

/** A change of the instance that no file takes. */
export interface NotPulled extends FilePlace {
  path: string
  message: string
}

export interface Pulled {
  files: PulledFile[]
  notPulled: NotPulled[]
}

/** Keys of a file of one part that are no field of it, before its fields and after them. */
const BEFORE: readonly string[] = ['kind', 'catalog', 'environment', 'include', 'values']
const AFTER: readonly string[] = ['tests', 'lint', MOVED_KEY]
const isBefore = (name: string): boolean => BEFORE.includes(name) || isExtra(name)
const VALUE = /\(\(\s*values\./

/**
 * Brings files to say a catalog.
 * @param composed the files put together, without a problem. @param current what they are to say, in their words
 * @param again puts changed files together. @returns no files where what came of it is not what was wanted
 */
export function pullInto(
  composed: Composed,
  current: Catalog,
  again: (files: readonly PulledFile[]) => Composed,
): Pulled {
  const named = renamedFiles(composed, current, again)
  const pulling = new Pulling(named.composed, named.current)
  const pulled = pulling.run()
  const files = joinedFiles(named.files, pulled.files)
  const after = files.length ? again(files) : composed
  const told = new Set(pulling.held)
  for (const section of SECTIONS) {
    const [is, wanted] = [entriesIn(after.catalog, section), entriesIn(pulling.current, section)]
    for (const name of new Set([...is.keys(), ...wanted.keys()]))
      if (!told.has(`${section} ${name}`) && !equal(is.get(name), wanted.get(name)))
        throw new Error(
          `what was pulled of ${section} ${name} does not say what the instance has: a fault of ours`,
        )
  }
  if (after.problems.length && files.length)
    throw new Error(`what was pulled cannot be read again: ${after.problems[0]!.message}`)
  return { files, notPulled: [...named.notPulled, ...pulled.notPulled] }
}

/** What was given to be put together, with files that changed in place of what they were. */
export function withFiles(texts: ComposeInput, changed: readonly PulledFile[]): ComposeInput {
  const now = new Map(changed.map(({ path, after }) => [path, after]))
  const replaced = (all: readonly CatalogText[]): CatalogText[] =>
    all.flatMap((of) => {
      const after = now.get(of.path)
      if (after === undefined) return of
      return after === null ? [] : { path: of.path, text: after }
    })
  const made = changed.flatMap(({ path, before, after }) =>
    before === null && after !== null ? { path, text: after } : [],
  )
  const [first, ...others] = texts.roots.map((root) => ({ ...root, files: replaced(root.files) }))
  const { read } = texts
  return {
    ...texts,
    roots: [{ ...first!, files: [...first!.files, ...made] }, ...others],
    ...(read ? { read: (from: string, path: string) => replaced(read(from, path)) } : {}),
    overlays: replaced(texts.overlays ?? []),
  }
}

/* What people gave another name in the instance has it in every file before the fields are looked at. */

/** The files in the names that the instance has, and what they are to say as far as a name could be written. */
interface Renamed {
  composed: Composed
  current: Catalog
  files: PulledFile[]
  notPulled: NotPulled[]
}

type Again = (files: readonly PulledFile[]) => Composed
type Named = Omit<Move, 'index'>

/** @param current its `moved` says which part of the files has another name in the instance */
function renamedFiles(composed: Composed, { moved = [], ...said }: Catalog, again: Again): Renamed {
  const declares = ({ kind, from }: Named) =>
    composed.parts.some(({ section, identity }) => section === SECTION_OF[kind] && identity === from)
  const moves = movesOf(moved).moves.filter(declares)
  if (moves.length === 0) return { composed, current: said, files: [], notPulled: [] }
  const whole = withNames(composed, moves, again)
  if (whole) return { ...whole, current: said, notPulled: [] }
  // One of them cannot be written: the others are, each by itself.
  let now: Pick<Renamed, 'composed' | 'files'> = { composed, files: [] }
  const stuck: Named[] = []
  for (const move of moves) {
    const next = withNames(now.composed, [move], (files) => again(joinedFiles(now.files, files)))
    if (next) now = { composed: next.composed, files: joinedFiles(now.files, next.files) }
    else stuck.push(move)
  }
  const current = withMoves(
    said,
    stuck.map(({ kind, from, to }) => ({ kind, from: to, to: from })),
  )
  return { ...now, current, notPulled: stuck.map((move) => notNamed(composed, move)) }
}

/** @returns null where a file cannot be written so, or says the old name still, such as by a value */
function withNames(
  composed: Composed,
  moves: readonly Named[],
  again: Again,
): Pick<Renamed, 'composed' | 'files'> | null {
  const homeOf = ({ kind, from }: Named) =>
    composed.parts.find(({ section, identity }) => section === SECTION_OF[kind] && identity === from)
      ?.files[0]
  const files: PulledFile[] = []
  for (const { path, text } of composed.files) {
    const own = moves.filter((move) => homeOf(move) === path)
    const after = renamedText(text, moves, own)
    if (after === null) return null
    if (after !== text) files.push({ path, before: text, after })
  }
  const now = again(files)
  const isSaid = ({ kind, to }: Named) =>
    now.parts.some(({ section, identity }) => section === SECTION_OF[kind] && identity === to)
  return now.problems.length === 0 && moves.every(isSaid) ? { composed: now, files } : null
}

/**
 * A file in the names that parts have now.
 * @param own of those that are told under `moved` in this file. @returns null where its form cannot be kept
 */
export function renamedText(text: string, moves: readonly Named[], own: readonly Named[]): string | null {
  const value: unknown = isCompact(text) ? JSON.parse(text) : readTree(text, true).values?.value
  if (!isEntry(value)) return text
  const kind = String(ownField(value, 'kind')).replace(' ', '_')
  const section = isKind(kind) ? SECTION_OF[kind] : null
  const { usecases, moved, ...said } = value
  const now = withMoves(
    (section
      ? { [section]: [said], tests: said.tests }
      : { ...said, projects: said.projects ?? usecases }) as Catalog,
    moves,
  ) as Entry
  const fields: Entry = section
    ? { ...((now[section] as Entry[])[0] as Entry), ...(said.tests ? { tests: now.tests } : {}) }
    : { ...said, ...now, ...(usecases === undefined ? {} : { usecases: now.projects }) }
  if (said.projects === undefined) delete fields.projects
  const lines = [...onwards(Array.isArray(moved) ? (moved as CatalogMoved[]) : [], moves), ...own.map(lineOf)]
  const told = lines.length ? { [MOVED_KEY]: lines } : {}
  const wanted = Object.fromEntries(
    [...Object.keys(value), MOVED_KEY].flatMap((key) => {
      const field = key === MOVED_KEY ? told[MOVED_KEY] : fields[key]
      return field === undefined ? [] : [[key, field]]
    }),
  )
  if (equal(wanted, value)) return text
  if (isCompact(text)) return JSON.stringify(wanted)
  const updated = updateFields(text, wanted)
  // A list that a file has not had yet is set apart from its sections as these are from each other.
  return moved === undefined && section === null && updated !== null
    ? updated.replace(/([^\n])(\r?\n)moved:/, '$1$2$2moved:')
    : updated
}

function notNamed(composed: Composed, { kind, from, to }: Named): NotPulled {
  const section = SECTION_OF[kind]
  const index = ((composed.catalog![section] ?? []) as Entry[]).findIndex((entry) => entry.name === from)
  return {
    ...composed.locate([section, index, 'name']),
    path: `${section}[${index}].name`,
    message: `is ${from} in the files and ${to} in the instance, and cannot be written where they say it, such as by a value: change it there by hand`,
  }
}

/** Changes of files, and those that came on top of them. */
function joinedFiles(first: readonly PulledFile[], then: readonly PulledFile[]): PulledFile[] {
  const before = new Map(first.map((file) => [file.path, file]))
  const changed = new Set(then.map(({ path }) => path))
  return [
    ...first.filter(({ path }) => !changed.has(path)),
    ...then.map((file) => ({ ...file, before: before.get(file.path)?.before ?? file.before })),
  ]
}

/** Lines around a change in a patch. */
const CONTEXT = 3

/** A file as a patch in git's own form (git-diff(1), "Generating patch text"), which patch(1) takes, too. */
export function patchOf({ path, before, after }: PulledFile): string {
  const [from, to] = [nameIn('a', path), nameIn('b', path)]
  // Behind a tab a name may have blanks in it.
  const named = (text: string | null, name: string) =>
    text === null ? '/dev/null' : `${name}${name.includes(' ') ? '\t' : ''}`
  const mode = before === null ? 'new file mode 100644\n' : after === null ? 'deleted file mode 100644\n' : ''
  const hunks = createTwoFilesPatch('', '', before ?? '', after ?? '', undefined, undefined, {
    context: CONTEXT,
    headerOptions: OMIT_HEADERS,
  })
  return `diff --git ${from} ${to}\n${mode}--- ${named(before, from)}\n+++ ${named(after, to)}\n${hunks}`
}

/** A name as git writes it: in quotes where it has some itself, or what is no text. */
function nameIn(side: string, path: string): string {
  if (!/["\\\p{Cc}]/u.test(path)) return `${side}/${path}`
  const escaped = path
    .replace(/["\\]/g, '\\$&')
    .replace(/\p{Cc}/gu, (one) => `\\${one.charCodeAt(0).toString(8).padStart(3, '0')}`)
  return `"${side}/${escaped}"`
}

const entriesIn = (catalog: Catalog | null, section: Section): Map<string | null, Entry> =>
  new Map(((catalog?.[section] ?? []) as Entry[]).map((entry) => [identityOf(section, entry), entry]))

/** One file that is changed: what it says, entry by entry, as it is written. */
interface OpenFile {
  path: string
  text: string
  reading: Reading
  /** Its only entry, where it is a file of one part. */
  part: Section | null
  said: Map<string, Entry>
  /** Entries in order, as `section identity`. */
  order: string[]
}

class Pulling {
  readonly current: Catalog
  /** `section identity` of what is not wholly written. */
  readonly held: string[] = []
  private readonly notPulled: NotPulled[] = []
  private readonly open = new Map<string, OpenFile | null>()
  private readonly made = new Map<string, string>()
  private readonly texts: ReadonlyMap<string, string>

  constructor(
    private readonly composed: Composed,
    current: Catalog,
  ) {
    this.current = current
    this.texts = new Map(composed.files.map(({ path, text }) => [path, text]))
  }

  run(): Pulled {
    const { composed } = this
    const counts = new Map<Section, number>()
    const known = new Set<string>()
    for (const part of composed.parts) {
      const index = counts.get(part.section) ?? 0
      counts.set(part.section, index + 1)
      known.add(`${part.section} ${part.identity}`)
      const before = (composed.catalog![part.section] as Entry[])[index]!
      this.part(part, [part.section, index], before)
    }
    for (const section of SECTIONS)
      for (const entry of (this.current[section] ?? []) as Entry[])
        if (!known.has(`${section} ${identityOf(section, entry)}`))
          this.add(section, orderedEntry(section, entry))
    const files = [...this.open.values()].flatMap((file) => (file ? this.written(file) : []))
    for (const [path, after] of this.made) files.push({ path, before: null, after })
    return { files, notPulled: this.notPulled }
  }

  private part(part: ComposedPart, path: (string | number)[], before: Entry): void {
    const key = `${part.section} ${part.identity}`
    const list = (this.current[part.section] ?? []) as Entry[]
    const index = list.findIndex((entry) => identityOf(part.section, entry) === part.identity)
    const wanted = index < 0 ? null : keepingSecrets(before, list[index]!)
    if (wanted !== null) {
      list[index] = wanted as Entry
      if (equal(before, wanted)) return
    }
    const files = part.files.map((file) => this.file(file))
    if (files.includes(null)) {
      this.hold(key, path, 'its file has a form that cannot be kept: change it there by hand')
      return
    }
    const written = `${part.section} ${part.written}`
    const layers = files.map((file) => file!.said.get(written)!)
    if (wanted === null) this.takeOut(part, written, files as OpenFile[])
    else {
      const writing = new Writing((inner, message) => this.hold(key, [...path, ...inner], message))
      const made = writing.layers(layers, before, wanted as Entry, [])
      files.forEach((file, i) => {
        file!.said.set(written, made[i]!)
      })
    }
  }

  /** A part that is gone is gone in every environment: an entry that changes it there would be all of a new one. */
  private takeOut(
    { section, files: paths }: ComposedPart,
    written: string,
    files: readonly OpenFile[],
  ): void {
    for (const file of files) file.said.delete(written)
    const isOf = ({ reading }: OpenFile) => (reading.values!.value as Entry).environment !== undefined
    // What an environment has alone, another may have, too, by itself.
    if (files.some((file, i) => i === 0 && isOf(file))) return
    for (const path of this.texts.keys()) {
      const other = paths.includes(path) || !this.mentions(path, section) ? null : this.file(path)
      if (other && isOf(other)) other.said.delete(written)
    }
  }

  /** Whether a file may change a part for an environment. */
  private mentions(path: string, section: Section): boolean {
    const text = this.texts.get(path)!
    return text.includes('environment') && (text.includes(section) || text.includes('kind'))
  }

  private hold(key: string, path: (string | number)[], message: string): void {
    this.held.push(key)
    const text = path
      .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
      .join('')
      .slice(1)
    this.notPulled.push({ ...this.composed.locate(path), path: text, message })
  }

  /** A file to change; null: its text cannot be edited. */
  private file(path: string): OpenFile | null {
    const known = this.open.get(path)
    if (known !== undefined) return known
    const opened = openFile(path, this.texts.get(path)!)
    this.open.set(path, opened)
    return opened
  }

  /** A new entry goes where its section lives: a file of its own where parts have one, else with the others. */
  private add(section: Section, entry: Entry): void {
    const key = `${section} ${identityOf(section, entry)}`
    const own = this.composed.parts.filter((part) => part.section === section).map(({ files }) => files[0]!)
    const all = this.composed.parts.map(({ files }) => files[0]!)
    const isSingle = (path: string) => this.file(path)?.part != null
    const shared = mostOf(own.filter((path) => !isSingle(path)))
    const [first] = this.composed.files
    const hasSingle = all.some(isSingle)
    const home =
      shared ?? (hasSingle && kindOfSection(section) ? null : mostOf(all.filter((path) => !isSingle(path))))
    const fallback = !hasSingle && this.composed.files.length === 1 ? first!.path : null
    const path = own.some(isSingle) ? null : (home ?? fallback)
    const file = path === null ? null : this.file(path)
    if (file && file.part === null) {
      file.said.set(key, entry)
      file.order.push(key)
      return
    }
    const folder = folderFor(section, own.filter(isSingle), all)
    const kind = kindOfSection(section)
    const name = kind
      ? `${String(entry.name ?? 'default').replace(/[^A-Za-z0-9_.-]+/g, '-')}.yaml`
      : `${section}.yaml`
    const target = this.free(`${folder}${name}`, kind === undefined)
    const text = kind
      ? [
          `kind: ${kind}`,
          ...Object.entries(entry).flatMap(([field, value]) => pairLines(field, value, 0, CANONICAL)),
        ]
      : [
          ...(this.made.get(target)?.trimEnd().split('\n') ?? [`${section}:`]),
          ...entryLines(section, entry, 2, CANONICAL),
        ]
    this.made.set(target, `${text.join('\n')}\n`)
  }

  /** A path that no file has. @param isShared whether a made one may be added to */
  private free(path: string, isShared: boolean): string {
    const isTaken = (one: string) => this.texts.has(one) || (!isShared && this.made.has(one))
    if (!isTaken(path)) return path
    for (let n = 2; ; n++) {
      const next = path.replace(/\.yaml$/, `-${n}.yaml`)
      if (!isTaken(next)) return next
    }
  }

  private written(file: OpenFile): PulledFile[] {
    const { path, text: before } = file
    const after = textOf(file)
    return after === before ? [] : [{ path, before, after }]
  }
}

/** The folder of a new file: where parts of its kind are; else a folder of their name beside the others. */
function folderFor(section: Section, own: readonly string[], all: readonly string[]): string {
  const folderOf = (path: string) => path.slice(0, path.lastIndexOf('/') + 1)
  const common = mostOf(own.map(folderOf))
  if (common !== undefined) return common
  const root = all.map(folderOf).toSorted((a, b) => a.length - b.length)[0] ?? ''
  const top = /(^|\/)(sources|triggers|agents|mcp_servers|projects|skills)\/$/.test(root)
    ? root.replace(/[^/]+\/$/, '')
    : root
  return `${top}${section}/`
}

function mostOf(paths: readonly string[]): string | undefined {
  const counts = new Map<string, number>()
  for (const path of paths) counts.set(path, (counts.get(path) ?? 0) + 1)
  return [...counts].toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))[0]?.[0]
}

function openFile(path: string, text: string): OpenFile | null {
  const reading = readTree(text, true)
  const value = reading.values?.value
  if (!reading.values || reading.values.flaws.length || !isEntry(value)) return null
  const kind = ownField(value, 'kind')
  const part = SECTIONS.find((section) => kindOfSection(section) === String(kind).replace(' ', '_')) ?? null
  const said = new Map<string, Entry>()
  if (part !== null) {
    const fields = Object.fromEntries(
      Object.entries(value).filter(([name]) => !isBefore(name) && !AFTER.includes(name)),
    )
    said.set(`${part} ${identityOf(part, fields)}`, fields)
  } else
    for (const section of SECTIONS)
      for (const entry of (value[section] ??
        (section === 'projects' ? value.usecases : null) ??
        []) as Entry[]) {
        const today = inTodaysWords(entry) as Entry
        said.set(`${section} ${identityOf(section, today)}`, today)
      }
  return { path, text, reading, part, said, order: [...said.keys()] }
}

/** @returns the text of a file that says its entries as they are now; null: it says nothing any more */
function textOf({ text, reading, part, said, order }: OpenFile): string | null {
  if (part !== null) {
    const [entry] = said.values()
    const value = reading.values!.value as Entry
    if (!entry) return null
    const beside = (isOne: (name: string) => boolean) =>
      Object.fromEntries(Object.entries(value).filter(([name]) => isOne(name)))
    const after = (name: string) => AFTER.includes(name)
    const fields = { ...beside(isBefore), ...orderedEntry(part, entry), ...beside(after) }
    const updated = updateFields(text, fields)
    if (updated === null)
      throw new Error(`${part} ${String(entry.name)} cannot be written in its file: a fault of ours`)
    return updated
  }
  const catalog: Record<string, Entry[]> = {}
  for (const section of SECTIONS) if (reading.said?.[section]) catalog[section] = []
  for (const key of order) {
    const entry = said.get(key)
    if (!entry) continue
    const section = key.slice(0, key.indexOf(' '))
    catalog[section] = [...(catalog[section] ?? []), entry]
  }
  return updateCatalog(text, catalog as Catalog, undefined, reading)
}

/** What a secret hides is no change: the file keeps what it has. */
function keepingSecrets(before: unknown, after: unknown): unknown {
  if (typeof after === 'string' && after.includes(MASK)) return before ?? after
  if (!isEntry(before) || !isEntry(after)) return after
  return Object.fromEntries(
    Object.entries(after).map(([name, value]) => [name, keepingSecrets(ownField(before, name), value)]),
  )
}

/* One entry over the files that say it: each field is written where it comes from. */

class Writing {
  constructor(private readonly report: (path: (string | number)[], message: string) => void) {}

  /**
   * @param layers what each file says of a map, as it is written; of two the later wins
   * @param before what comes of them, @param after what is to. @returns the layers as they are to be
   */
  layers(layers: readonly Entry[], before: Entry, after: Entry, path: (string | number)[]): Entry[] {
    const out = layers.map((layer) => ({ ...layer }))
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const [was, is] = [ownField(before, key), ownField(after, key)]
      if (equal(was, is)) continue
      this.field(out, key, { was, is }, [...path, key])
    }
    return out
  }

  private field(
    layers: Entry[],
    key: string,
    { was, is }: { was: unknown; is: unknown },
    path: (string | number)[],
  ): void {
    const at = layers.findLastIndex((layer) => Object.hasOwn(layer, key))
    if (is === undefined) {
      const isBelow = layers.slice(0, at).some((layer) => Object.hasOwn(layer, key))
      if (isBelow) layers[at]![key] = null
      else delete layers[Math.max(at, 0)]![key]
      return
    }
    if (at < 0) {
      layers[0]![key] = is
      return
    }
    const raw = layers[at]![key]
    const maps = layers.flatMap((layer, i) => (isEntry(ownField(layer, key)) ? [i] : []))
    if (isEntry(raw) && isEntry(was) && isEntry(is) && maps.length > 1) {
      const inner = this.layers(
        maps.map((i) => layers[i]![key] as Entry),
        was,
        is,
        path,
      )
      maps.forEach((i, n) => {
        layers[i]![key] = inner[n]
      })
      return
    }
    layers[at]![key] = this.value(raw, was, is, path)
  }

  /** A value as it is written, made to mean another; what comes of a value of the environment stays. */
  private value(raw: unknown, was: unknown, is: unknown, path: (string | number)[]): unknown {
    if (equal(was, is)) return raw
    if (typeof raw === 'string' && VALUE.test(raw)) {
      this.report(
        path,
        `is ${raw} in the file and ${JSON.stringify(is)} in the instance: change the value, or the file, by hand`,
      )
      return raw
    }
    if (isEntry(raw) && isEntry(was) && isEntry(is)) {
      const [merged] = this.layers([raw], was, is, path)
      return merged
    }
    if (Array.isArray(raw) && Array.isArray(was) && Array.isArray(is)) return this.list(raw, was, is, path)
    return is
  }

  private list(
    raw: readonly unknown[],
    was: readonly unknown[],
    is: readonly unknown[],
    path: (string | number)[],
  ): unknown[] {
    const taken = new Set<number>()
    const take = (found: number) => {
      if (found >= 0) taken.add(found)
      return found
    }
    const same = is.map((item) => take(was.findIndex((one, i) => !taken.has(i) && equal(one, item))))
    return is.map((item, n) => {
      const name = nameOfEntry(item)
      const found =
        same[n]! >= 0 || name === null
          ? same[n]!
          : take(was.findIndex((one, i) => !taken.has(i) && nameOfEntry(one) === name))
      return found < 0 ? item : this.value(raw[found], was[found], item, [...path, found])
    })
  }
}
