/**
 * Many texts as one catalog: what a folder, several files and what they include declare, with the changes and values
 * of one environment. Pure: texts come in, and a reader for what they include; a document comes out that knows where
 * each value was written.
 */
import { ownField } from '../../schemas/fields-of.ts'
import { articleOf, kindOfSection, kindWord, SECTION_OF } from '../../schemas/kinds.ts'
import type { Catalog } from '../../schemas/types.ts'
import { MOVED_KEY, moveFaults, movesOf } from './moved.ts'
import {
  type CatalogText,
  EnvironmentValues,
  type FilePlace,
  type FileProblem,
  fieldOf,
  inOrder,
  type MapValue,
  mapAt,
  placeOf,
  placeText,
  plain,
  problemAt,
  readValue,
  type Spot,
  spotAt,
  type Told,
  textIn,
  type Value,
  withoutMade,
} from './nodes.ts'
import { identityOf, isExtra, SECTIONS, type Section, titleOf } from './render.ts'
import { bounded, rootBreaches, shapeOf, soundOf } from './shape.ts'
import { type Path, pathText, sizeFault } from './tree.ts'

/** Files that are put together at most, and their characters. */
const FILES_MAX = 10_000
const CHARACTERS_MAX = 64 * 1024 * 1024

/** Texts that were given together, such as a folder. */
export interface Root {
  /** What the instance remembers their parts by, where no file says `catalog`. */
  name: string
  files: readonly CatalogText[]
}

export interface ComposeInput {
  roots: readonly Root[]
  /** The files that `include` names in the file `from`. @throws Error that says why there are none */
  read?(from: string, path: string): CatalogText[]
  /** The environment that is chosen; null: none, the catalog as it is. */
  environment?: string | null
  /** Files of the environment that lie elsewhere. */
  overlays?: readonly CatalogText[]
}

/** The parts of one owner, as the API takes them. */
export interface OwnedCatalog {
  name: string
  /** Whether a file carries the name under `catalog`. */
  isNamed: boolean
  /** Compact JSON. */
  text: string
}

/** A list entry of a file that the daemon does not read, such as a test. */
export interface Beside {
  value: Value
  file: string
}

/** An entry of the catalog with the files that say it. */
export interface ComposedPart {
  section: Section
  /** What it is told apart by. */
  identity: string | null
  /** The same as the files write it: a name may come of a value of the environment. */
  written: string | null
  owner: string
  /** Paths: where it is declared, then the files of the environment that change it, each before what wins over it. */
  files: readonly string[]
}

export interface Composed {
  /** All that is declared; null with a problem. */
  catalog: Catalog | null
  /**
   * The same by owner, in the order in which the sections of `catalog` have their entries; with a problem empty, but where
   * only entries have any: an instance tells what else is wrong.
   */
  owned: OwnedCatalog[]
  problems: FileProblem[]
  warnings: FileProblem[]
  /** Tests of the files, and what they say under `lint`. */
  tests: Beside[]
  lint: Beside[]
  /** Files of rules of a team's own. */
  rules: Beside[]
  files: readonly CatalogText[]
  /** In the order in which the sections of `catalog` have their entries. */
  parts: readonly ComposedPart[]
  /** Whether it is one text that says all by itself, as an instance reads it. */
  isPlain: boolean
  /** Environments that the files have. */
  environments: string[]
  /** Whether all of them can be read and none has the environment that is chosen. */
  lacksEnvironment: boolean
  /** Where what is at a path of `catalog` was written. */
  locate(path: Path, isKey?: boolean): FilePlace
}

/** Of the names of kinds in files of one part. */
const KINDS: Readonly<Record<string, Section>> = { ...SECTION_OF, 'mcp server': 'mcp_servers' }

/** Keys of a file of one part that are no field of it. */
const BESIDE = ['kind', 'catalog', 'environment', 'tests', 'lint', 'include', 'values', MOVED_KEY]

/** Keys of a file that an instance does not read. */
const MANY = ['kind', 'include', 'environment', 'values']

interface Owner {
  name: string
  isNamed: boolean
}

/** A line of what moved. */
interface Moved {
  owner: Owner
  line: Value
}

interface Part {
  section: Section
  entry: MapValue
  owner: Owner
  /** The name that it is told apart by; null: it has none. */
  identity: string | null
  files: string[]
  /** Whether a file of the environment made it, which may have been meant to change one. */
  isAdded?: boolean
}

/** A text that was read. */
interface File {
  of: CatalogText
  root: Root
  value: MapValue
  environment: string | null
  /** What includes it; null: it was given. */
  by: File | null
}

/** Puts texts together. Every problem is told with its file, line and column. */
export function compose(input: ComposeInput): Composed {
  return new Composition(input).run()
}

class Composition {
  private readonly told: Told = { problems: [], warnings: [] }
  private readonly values = new EnvironmentValues(this.told)
  private readonly files: File[] = []
  private readonly texts: CatalogText[] = []
  private readonly owners = new Map<string, Owner>()
  private readonly folders = new Map<string, Owner>()
  private readonly parts: Part[] = []
  private readonly known = new Map<string, Part>()
  private readonly moved: Moved[] = []
  private isPlain = true
  private lacksEnvironment = false
  /** Problems of entries that are left out of what is put together. */
  private leftOut = 0
  private readonly beside = { tests: [] as Beside[], lint: [] as Beside[], rules: [] as Beside[] }

  constructor(private readonly input: ComposeInput) {}

  run(): Composed {
    const { environment = null } = this.input
    this.load()
    for (const file of this.files) this.nameFolder(file)
    const base = this.files.filter((file) => file.environment === null)
    const environments = [...new Set(this.files.flatMap((file) => file.environment ?? []))].sort()
    const overlays = this.files.filter(
      (file) => file.environment !== null && (file.environment === environment || this.isOverlay(file)),
    )
    if (environment !== null && overlays.length === 0) {
      this.lacksEnvironment = this.told.problems.length === 0
      this.unknownEnvironment(environment, environments)
    }
    for (const file of base) this.declare(file)
    for (const file of overlays) this.applyOverlay(file)
    this.resolve(environment)
    return this.composed(environments)
  }

  private isOverlay(file: File): boolean {
    return this.input.overlays?.some(({ path }) => path === file.of.path) ?? false
  }

  private unknownEnvironment(name: string, known: readonly string[]): void {
    const there = known.length ? `there are ${known.join(', ')}` : 'no file has one'
    const message = `no file says environment: ${name}; ${there}`
    this.told.problems.push({ file: '', line: 1, column: 1, path: '', message })
  }

  /* Reading */

  private load(): void {
    const seen = new Set<string>()
    let characters = 0
    const take = (of: CatalogText, root: Root, by: File | null = null): void => {
      if (seen.has(of.path)) return
      seen.add(of.path)
      characters += of.text.length
      if (seen.size > FILES_MAX || characters > CHARACTERS_MAX) {
        if (this.told.problems.some(({ path }) => path === 'files')) return
        const bound = `at most ${FILES_MAX} files of ${CHARACTERS_MAX / 1024 / 1024} MiB together are read`
        this.told.problems.push({ ...problemAt({ of, start: 0, end: 0 }, bound), path: 'files' })
        return
      }
      this.texts.push(of)
      const { value, problems, merges } = readValue(of)
      if (merges || this.texts.length > 1) this.isPlain = false
      this.told.problems.push(...problems)
      if (value === null || (value.kind === 'scalar' && value.value === null)) return
      if (value.kind !== 'map') {
        this.told.problems.push(
          problemAt(value.spot, `the file must be a map of sections: ${SECTIONS.join(', ')}`),
        )
        return
      }
      if (value.fields.has('rules')) {
        this.beside.rules.push({ value, file: of.path })
        return
      }
      if (MANY.some((key) => value.fields.has(key))) this.isPlain = false
      const file = { of, root, value, environment: this.environmentOf(value), by }
      this.files.push(file)
      for (const included of this.included(of, value)) take(included, root, file)
    }
    for (const root of this.input.roots) for (const of of root.files) take(of, root)
    const [first = { name: 'catalog', files: [] }] = this.input.roots
    for (const of of this.input.overlays ?? []) {
      take(of, first)
      const file = this.files.find((one) => one.of.path === of.path)
      if (file) file.environment ??= this.input.environment ?? of.path
    }
  }

  private environmentOf(value: MapValue): string | null {
    const field = value.fields.get('environment')
    if (!field) return null
    const name = plain(field.value)
    if (typeof name === 'string' && /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(name)) return name
    this.told.problems.push(
      problemAt(field.value.spot, 'environment must be a name: letters, digits, dots, dashes, underscores'),
    )
    return ''
  }

  private included(of: CatalogText, value: MapValue): CatalogText[] {
    const include = fieldOf(value, 'include')
    if (!include) return []
    const entries = include.kind === 'list' ? include.items : [include]
    return entries.flatMap((entry) => {
      const path = entry.kind === 'scalar' ? entry.value : undefined
      if (typeof path !== 'string' || path === '') {
        this.told.problems.push(problemAt(entry.spot, 'include is a path, or a list of paths'))
        return []
      }
      if (!this.input.read) {
        this.told.problems.push(problemAt(entry.spot, `${path} cannot be included here`))
        return []
      }
      try {
        return this.input.read(of.path, path)
      } catch (error) {
        this.told.problems.push(problemAt(entry.spot, (error as Error).message))
        return []
      }
    })
  }

  /* Owners */

  /** `catalog` in the file catalog.yaml of a folder names what is in the folder; in any other file that file. */
  private nameFolder({ of, value }: File): void {
    const name = textIn(value, 'catalog')
    if (name !== undefined && /(^|\/)catalog\.ya?ml$/.test(of.path))
      this.folders.set(folderOf(of.path), this.owner(name, true))
  }

  /** Whatever folder the command runs in: what is included from beside a catalog goes with what includes it. */
  private ownerOf({ of, root, value, by }: File): Owner {
    const own = textIn(value, 'catalog')
    if (own !== undefined) return this.owner(own, true)
    for (let folder = folderOf(of.path); ; folder = folderOf(folder)) {
      const named = this.folders.get(folder)
      if (named) return named
      // What is above the folder that the command runs in is not below it.
      if (folder === '' || /(^|\/)\.\.$/.test(folder)) break
    }
    return by ? this.ownerOf(by) : this.owner(root.name, false)
  }

  private owner(name: string, isNamed: boolean): Owner {
    const known = this.owners.get(name)
    if (known) {
      known.isNamed ||= isNamed
      return known
    }
    const owner = { name, isNamed }
    this.owners.set(name, owner)
    return owner
  }

  /* Parts */

  private declare(file: File): void {
    const owner = this.ownerOf(file)
    const values = fieldOf(file.value, 'values')
    if (values) this.values.declare(values)
    this.moves(file, owner)
    for (const [section, entry] of this.entriesOf(file)) {
      const identity = entry.kind === 'map' ? identityIn(section, entry) : null
      if (entry.kind !== 'map') this.told.problems.push(problemAt(entry.spot, 'must be a map of fields'))
      else this.add({ section, entry, owner, identity, files: [file.of.path] })
    }
  }

  /** What a file says that moved holds for the whole of its owner. */
  private moves({ value }: File, owner: Owner): void {
    const list = fieldOf(value, MOVED_KEY)
    if (list?.kind === 'list') for (const line of list.items) this.moved.push({ owner, line })
    else if (list && plain(list) !== null)
      this.told.problems.push(problemAt(list.spot, 'must be a list of entries', [MOVED_KEY]))
  }

  private add(part: Part): void {
    const key = `${part.section} ${part.identity}`
    const other = part.identity === null ? undefined : this.known.get(key)
    if (other) {
      const at = nameSpot(part.entry)
      const title = titleOf(part.section, plain(part.entry) as Record<string, unknown>)
      const owners =
        other.owner === part.owner
          ? ''
          : `: of the catalogs ${other.owner.name} and ${part.owner.name} one can own it`
      this.leftOut++
      this.told.problems.push(
        problemAt(at, `${title} is already defined at ${placeText(nameSpot(other.entry))}${owners}`),
      )
      return
    }
    this.known.set(key, part)
    this.parts.push(part)
  }

  private applyOverlay(file: File): void {
    const owner = this.ownerOf(file)
    const values = fieldOf(file.value, 'values')
    if (values) this.values.setAll(values)
    this.moves(file, owner)
    for (const [section, patch] of this.entriesOf(file)) {
      if (patch.kind !== 'map') {
        this.told.problems.push(problemAt(patch.spot, 'must be a map of fields'))
        continue
      }
      const identity = identityIn(section, patch)
      const base = identity === null ? undefined : this.known.get(`${section} ${identity}`)
      if (isRemoval(patch)) this.remove(section, identity, base, patch)
      else if (base) {
        base.entry = patched(base.entry, patch)
        base.files.push(file.of.path)
      } else this.add({ section, entry: patch, owner, identity, files: [file.of.path], isAdded: true })
    }
  }

  private remove(section: Section, identity: string | null, base: Part | undefined, patch: MapValue): void {
    if (!base) {
      const title = titleOf(section, plain(patch) as Record<string, unknown>)
      this.told.problems.push(
        problemAt(nameSpot(patch), `${title} is not in the catalog, and cannot be removed`),
      )
      return
    }
    this.known.delete(`${section} ${identity}`)
    this.parts.splice(this.parts.indexOf(base), 1)
  }

  /** The entries of a file by section, in today's words. */
  private entriesOf(file: File): [Section, Value][] {
    const { value, of } = file
    for (const field of ['tests', 'lint'] as const) {
      const found = fieldOf(value, field)
      if (found) this.beside[field].push({ value: found, file: of.path })
    }
    if (value.fields.has('kind')) return this.onePart(value)
    const name = value.fields.get('name')
    if (name) {
      const kinds = Object.keys(SECTION_OF).join(', ')
      this.told.problems.push(
        problemAt(name.key, `kind is missing: a file of one part says which it is, one of ${kinds}`),
      )
      return []
    }
    const said = Object.fromEntries([...value.fields].map(([key, field]) => [key, headOf(field.value)]))
    for (const { path, message, isKey } of rootBreaches(said))
      this.told.problems.push(problemAt(spotAt(value, path, isKey), message, path))
    const has = (section: string) => {
      const at = fieldOf(value, section)
      return at !== undefined && plain(at) !== null
    }
    if (has('usecases') && has('projects'))
      this.told.problems.push(
        problemAt(
          spotAt(value, ['usecases'], true),
          'usecases is the old word for projects; give one of the two',
        ),
      )
    return SECTIONS.flatMap((section) => {
      const isOld = section === 'projects' && !has('projects') && has('usecases')
      const list = fieldOf(value, isOld ? 'usecases' : section)
      if (!list || (list.kind === 'scalar' && list.value === null)) return []
      if (list.kind !== 'list') {
        this.told.problems.push(problemAt(list.spot, 'must be a list of entries', [section]))
        return []
      }
      return list.items.map((entry): [Section, Value] => [section, isOld ? inTodaysWords(entry) : entry])
    })
  }

  private onePart(value: MapValue): [Section, Value][] {
    const { value: kind, key } = value.fields.get('kind')!
    const section = ownField(KINDS, String(plain(kind)))
    if (!section) {
      this.told.problems.push(
        problemAt(
          kind.spot,
          `kind must be one of ${Object.keys(KINDS)
            .filter((one) => !one.includes(' '))
            .join(', ')}`,
        ),
      )
      return []
    }
    const fields = [...value.fields].filter(([name]) => !BESIDE.includes(name) && !isExtra(name))
    return [[section, mapAt(fields.length ? value.spot : key, fields)]]
  }

  /* The document */

  private resolve(environment: string | null): void {
    for (const part of this.parts) {
      const entry = this.values.resolve(part.entry) as MapValue
      if (entry !== part.entry) this.isPlain = false
      part.entry = entry
    }
    this.beside.tests = this.beside.tests.map(({ value, file }) => ({
      value: this.values.resolve(value),
      file,
    }))
    this.values.finish(environment)
  }

  private composed(environments: string[]): Composed {
    const owners = [...this.owners.values()]
    const used = owners.filter((owner) => owner.isNamed || this.parts.some((part) => part.owner === owner))
    const ordered = used.flatMap((owner) => this.parts.filter((part) => part.owner === owner))
    const moved = used.flatMap((owner) => this.moved.filter((line) => line.owner === owner))
    const spot: Spot = { of: this.texts[0] ?? { path: '', text: '' }, start: 0, end: 0 }
    const document = mapAt(spot, [...sectionsOf(spot, ordered), ...movedOf(spot, moved)])
    const locate = (path: Path, isKey = false) => placeOf(spotAt(document, path, isKey))
    const said = plain(document) as Record<string, unknown>
    const shape = shapeOf(said, () => 1)
    const isOfEntries = this.told.problems.length === this.leftOut && moved.length === 0
    const isSound = isOfEntries && soundOf(shape.catalog, shape.breaches) !== null
    for (const { path, message, isKey } of shape.breaches) {
      const why = / is required/.test(message) ? addedBy(ordered, path) : ''
      this.told.problems.push({ ...locate(path, isKey), path: pathText(path), message: `${message}${why}` })
    }
    for (const { path, message } of moveFaults(movesOf(shape.moved).moves, shape.catalog))
      this.told.problems.push({ ...locate(path), path: pathText(path), message })
    const problems = bounded(inOrder(withoutMade(this.told.problems)))
    const isWhole = problems.length === 0
    let owned =
      !isWhole && !isSound
        ? []
        : used.map((owner): OwnedCatalog => {
            const own = ordered.filter((part) => part.owner === owner)
            const lines = moved.filter((line) => line.owner === owner)
            const all = [...sectionsOf(spot, own), ...movedOf(spot, lines)]
            const body = plain(mapAt(spot, all)) as object
            const name = owner.isNamed ? { catalog: owner.name } : {}
            return { ...owner, text: JSON.stringify({ ...name, ...body }) }
          })
    const large = owned.flatMap(
      ({ name, text }) => sizeFault(text, `what the catalog ${name} declares`) ?? [],
    )
    if (large.length) owned = []
    problems.push(...large.map((message) => problemAt(spot, message)))
    const [first] = this.input.roots
    if ((isWhole || isSound) && large.length === 0 && owned.length === 0)
      owned.push({ name: first?.name ?? 'catalog', isNamed: false, text: '{}' })
    return {
      catalog: isWhole ? shape.catalog : null,
      owned,
      problems,
      warnings: inOrder(this.told.warnings),
      ...this.beside,
      files: this.texts,
      parts: ordered.map(({ section, entry, identity, owner, files }) => ({
        ...{ section, identity: identityIn(section, entry), written: identity, owner: owner.name, files },
      })),
      isPlain: this.isPlain && this.files.length === 1,
      environments,
      lacksEnvironment: this.lacksEnvironment,
      locate,
    }
  }
}

/** What is missing in an entry of an environment is most often the part that it was to change. */
function addedBy(ordered: readonly Part[], [section, index]: Path): string {
  const part = ordered.filter((one) => one.section === section)[Number(index)]
  if (!part?.isAdded) return ''
  const kind = kindWord(kindOfSection(part.section) ?? 'wire')
  return `: no file of the catalog declares ${articleOf(kind)} ${kind} ${part.identity} that the environment could change, so this declares it whole`
}

function folderOf(path: string): string {
  const end = path.lastIndexOf('/')
  return end <= 0 ? '' : path.slice(0, end)
}

const identityIn = (section: Section, entry: MapValue): string | null => {
  const scalars = [...entry.fields].flatMap(([name, { value }]) =>
    value.kind === 'scalar' ? [[name, value.value] as const] : [],
  )
  return identityOf(section, Object.fromEntries(scalars))
}

const nameSpot = (entry: MapValue): Spot => fieldOf(entry, 'name')?.spot ?? entry.spot

/** What the rules of the root look at: sections are looked at later, with their entries. */
const headOf = (value: Value): unknown =>
  value.kind === 'scalar' ? value.value : value.kind === 'list' ? [] : {}

function inTodaysWords(entry: Value): Value {
  if (entry.kind !== 'map' || !entry.fields.has('recipe') || entry.fields.has('template')) return entry
  return mapAt(
    entry.spot,
    [...entry.fields].map(([name, field]) => [name === 'recipe' ? 'template' : name, field]),
  )
}

const listAt = (spot: Spot, items: Value[]): Value => ({ kind: 'list', spot, items })

/** The sections of these parts, in the order of a catalog. */
function sectionsOf(spot: Spot, parts: readonly Part[]): [string, { key: Spot; value: Value }][] {
  return SECTIONS.flatMap((section) => {
    const entries = parts.filter((part) => part.section === section).map(({ entry }) => entry)
    const at = entries[0]?.spot ?? spot
    return entries.length ? [[section, { key: at, value: listAt(at, entries) }]] : []
  })
}

const movedOf = (spot: Spot, moved: readonly Moved[]): [string, { key: Spot; value: Value }][] => {
  const items = moved.map(({ line }) => line)
  return items.length ? [[MOVED_KEY, { key: spot, value: listAt(spot, items) }]] : []
}

/** Whether a text says what only `compose` reads; without it one file is taken as it is. */
export const needsComposing = (text: string): boolean =>
  /\b(include|values|environment|kind|rules)["']?\s*:|<<|\(\(/.test(text)

/* What an environment changes of an entry: maps field by field, all else whole. */

/**
 * @param patch fields that are maps go into those of the entry, null takes a field out, all else takes its place
 * @returns a new entry
 */
function patched(entry: MapValue, patch: MapValue): MapValue {
  const fields = new Map(entry.fields)
  for (const [name, field] of patch.fields) {
    const under = fields.get(name)
    if (field.value.kind === 'scalar' && field.value.value === null) fields.delete(name)
    else if (under?.value.kind === 'map' && field.value.kind === 'map')
      fields.set(name, { ...under, value: patched(under.value, field.value) })
    else fields.set(name, field)
  }
  return mapAt(entry.spot, fields)
}

/** Whether an entry of an environment takes the part out there. */
function isRemoval(patch: Value): boolean {
  const remove = fieldOf(patch, 'remove')
  return remove !== undefined && plain(remove) === true
}
