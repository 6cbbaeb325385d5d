/** What the stages of an import share. */

import type { FieldsOf } from '../../../schemas/fields-of.ts'
import { kindWord, SECTION_OF } from '../../../schemas/kinds.ts'
import { didYouMean } from '../../../schemas/near-names.ts'
import { andMore } from '../../../schemas/problem-words.ts'
import type { Catalog, CatalogProblem } from '../../../schemas/types.ts'
import { AGENT_SECRETS, type GivenAgent, normaliseAgent, normaliseHandoffs } from '../../documents/agent.ts'
import { conflictSentence, entityConflicts, normaliseEntity } from '../../documents/entity.ts'
import { MCP_SERVER_SECRETS, normaliseMcpServer } from '../../documents/mcp-server.ts'
import { normaliseSkill } from '../../documents/skill.ts'
import { normaliseTrigger } from '../../documents/trigger.ts'
import { isNeeded, refuseInDraft } from '../../documents/wiring.ts'
import { fail, SvcError } from '../../errors.ts'
import { pathText } from '../../gitops/tree.ts'
import { restOf, STAND_IN_NAME, withoutDependents } from '../../gitops/update.ts'
import { documentOf, type Edit, equal, type NamedKind, type PartKind } from '../../model/documents.ts'
import { MASK } from '../../model/plan.ts'
import {
  CUSTOM_TEMPLATE,
  DEFAULT_TEMPLATE,
  defaultProject,
  HANDOFF_COOLDOWN,
  NOTED,
  type Pausable,
  type ProjectDoc,
  projectOf,
  projectsOf,
  putProject,
  type Stopped,
  usersOf,
} from '../../model/project.ts'
import {
  hasMaskedSecret,
  isReference,
  type SecretNames,
  secretParts,
  withAddressSecrets,
} from '../../net/address-secrets.ts'
import { defaultPoll } from '../../sources/config-secrets.ts'
import {
  addressFields,
  configFaults,
  hasConnector,
  secretFields,
  validateConfig,
} from '../../sources/connectors/index.ts'
import type { Declared } from '../declared.ts'
import type { Templates } from '../projects/present.ts'
import { pauseProject, resumeProject } from '../projects/remove.ts'
import { type Locate, type Path, referencesIn } from './texts.ts'

export interface ImportRun {
  declared: Declared
  edit: Edit
  catalog: Catalog
  prune: boolean
  /** Parts and projects that pruning leaves, such as triggers:slow, since another catalog owns them. */
  spared: ReadonlySet<string>
  /** What the file declares in entries that break a rule of their own, such as triggers:slow: they are not staged. */
  faulty: ReadonlySet<string>
  /** Ids of projects that pruning deletes: what they own is free for those that the file puts it in. */
  doomed: ReadonlySet<string>
  /** Runs `fn`; what it throws becomes a problem at `path`. @returns undefined then. */
  at<T>(path: Path, fn: () => T): T | undefined
}

/** An entry of a section of parts. */
export type Entry = { name: string; project?: string; projects?: string[] }

/** What was thrown at a place of the file, as a problem there. */
export function problemOf(error: SvcError, path: Path, locate: Locate): CatalogProblem {
  const field = error.extra.field
  const inner = field ? [...path, ...pathOf(field)] : path
  return { ...locate(inner), path: pathText(path), message: error.message }
}

/** Runs a step; what it throws becomes a problem at its path, once. */
export const collecting = (problems: CatalogProblem[], locate: Locate): ImportRun['at'] => {
  const told = new Set<string>()
  return (path, fn) => {
    try {
      return fn()
    } catch (error) {
      if (!(error instanceof SvcError)) throw error
      const problem = problemOf(error, path, locate)
      const text = JSON.stringify(problem)
      if (!told.has(text)) problems.push(problem)
      told.add(text)
      return undefined
    }
  }
}

/** Faults of one part that are told at most. */
const FAULTS_OF_PART = 50

/** Stages a part. Where it is at fault nothing of it is, and the rest is looked at without that: each fault is told. */
export function stageOrTell<T extends Entry>(
  { at, edit }: Pick<ImportRun, 'at' | 'edit'>,
  kind: NamedKind,
  index: number,
  entry: T,
  stage: (entry: T) => void,
): void {
  const section = SECTION_OF[kind]
  const before = edit.get(kind, entry.name)
  /** Of lists that entries were taken out of, which of the file's are left. */
  const left = new Map<string, number[]>()
  let given: Fields | null = { ...entry }
  for (let n = 0; given && n < FAULTS_OF_PART; n++) {
    const fault = thrownBy(() => stage(given as T))
    if (given.name === STAND_IN_NAME) edit.remove(kind, STAND_IN_NAME)
    if (!fault && n === 0) return
    if (before) edit.put(kind, entry.name, before)
    else edit.remove(kind, entry.name)
    if (!fault) return
    const [field, place] = pathOf(fault.extra.field ?? '')
    const name = String(field)
    const list: unknown = given[name]
    const kept = left.get(name) ?? (Array.isArray(list) ? [...list.keys()] : [])
    at([section, index], () => {
      throw withPlaces(fault, name, kept)
    })
    if (Array.isArray(list) && typeof place === 'number' && list.length > 1) {
      left.set(name, kept.toSpliced(place, 1))
      given = withoutDependents(section, { ...given, [name]: list.toSpliced(place, 1) }, [name])
    } else if (name === 'name' && given.name !== STAND_IN_NAME) given = { ...given, name: STAND_IN_NAME }
    else given = name !== 'name' && name in given ? restOf(section, given, [[name]]) : null
  }
}

function thrownBy(run: () => void): SvcError | null {
  try {
    run()
    return null
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    return error
  }
}

/** A fault of an entry of a list with the index that it has in the file. */
function withPlaces({ code, message, extra }: SvcError, list: string, kept: readonly number[]): SvcError {
  const placed = (text: string) =>
    text.replace(/(\w+)\[(\d+)\]/g, (whole, name, n) =>
      name === list ? `${name}[${kept[Number(n)] ?? n}]` : whole,
    )
  return new SvcError(code, placed(message), extra.field ? { ...extra, field: placed(extra.field) } : extra)
}

/** @throws SvcError invalid, with the first problem as its message and all of them beside it. */
export function refuse(problems: readonly CatalogProblem[]): void {
  const [first] = problems
  if (!first) return
  const at = `line ${first.line}${first.path ? `, ${first.path}` : ''}`
  fail('invalid', `${at}: ${first.message}${andMore(problems)}`, { problems: [...problems] })
}

/** labels[0].name as a path. */
function pathOf(field: string): Path {
  return field
    .split(/[.[\]]/)
    .filter(Boolean)
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part))
}

export const isTemplate = (key: string | undefined): boolean =>
  key !== undefined && key !== CUSTOM_TEMPLATE && key !== DEFAULT_TEMPLATE

/** Where a name is looked for. */
type Known = Pick<ImportRun, 'edit' | 'catalog' | 'faulty'>

/** Whether the file declares something, be it at fault: that is told where it is declared, and absent it is not. */
const isInFile = ({ catalog, faulty }: Known, kind: NamedKind | 'project', name: string): boolean =>
  faulty.has(`${SECTION_OF[kind]}:${name}`) ||
  ((catalog[SECTION_OF[kind]] ?? []) as { name?: string }[]).some((entry) => entry.name === name)

/**
 * By name, as in a file, or by id: one that parts are put in.
 * @returns undefined where the file has it, and it is at fault
 * @throws SvcError invalid; wrong_state for a draft
 */
export function projectNamed(run: Known, word: string): string | undefined {
  const { edit } = run
  const projects = projectsOf(edit)
  for (const [id, doc] of projects) {
    if (doc.name !== word && id !== word) continue
    return doc.draft ? refuseInDraft(doc) : id
  }
  if (isInFile(run, 'project', word)) return undefined
  // The Default project is in no file: it is made with the first part outside a project, here or just now.
  if (![...projects.values()].some(({ template }) => template === DEFAULT_TEMPLATE)) {
    const id = defaultProject(edit)
    if (projectOf(edit, id).name === word) return id
  }
  const names = [...projects.values()].map(({ name }) => name)
  return fail('invalid', `no project is named ${word}, here or in the file${didYouMean(word, names)}`)
}

/**
 * Whether what refers to a part can use it: one that is not staged is at fault, or comes later.
 * @param field that names it. @throws SvcError invalid where it is neither here nor in the file, with the name that is
 *   close, if one is
 */
export function isPartThere(run: Known, kind: NamedKind, name: string, field = ''): boolean {
  if (run.edit.has(kind, name)) return true
  if (isInFile(run, kind, name)) return false
  return fail('invalid', noneNamed(run, kind, name), field ? { field } : {})
}

function noneNamed({ edit, catalog }: Known, kind: NamedKind, name: string): string {
  const inFile = (catalog[SECTION_OF[kind]] ?? []) as { name: string }[]
  const known = [...edit.all(kind).keys(), ...inFile.map((entry) => entry.name)]
  return `no ${kindWord(kind)} is named ${name}${didYouMean(name, known)}`
}

/**
 * Tells each fault of a source's config at the field it is about.
 * @returns the fields of it that have one
 */
export function tellConfigFaults(
  { at }: Pick<ImportRun, 'at'>,
  index: number,
  connector: string,
  config: Fields,
): ReadonlySet<unknown> {
  const found = configFaults(connector, config)
  for (const { path, message } of found)
    at(['sources', index, 'config', ...path], () => fail('invalid', message))
  return new Set(found.map(({ path: [field] }) => field))
}

/** What belongs to a project is no longer held by the Default one, unless that is `named` beside it. */
export function leaveDefault(
  edit: Edit,
  kind: PartKind,
  name: string,
  owner: string,
  named: readonly string[] = [],
): void {
  for (const id of usersOf(edit, kind, name)) {
    const doc = projectOf(edit, id)
    if (id === owner || doc.template !== DEFAULT_TEMPLATE) continue
    if (named.includes(doc.name) || named.includes(id)) continue
    const { [name]: _gone, ...left } = doc.uses[kind] ?? {}
    putProject(edit, id, { ...doc, uses: { ...doc.uses, [kind]: left } })
  }
}

/*
 * Where a catalog may hold secrets: which fields those are is said by connectors, parts and templates. An
 * address is a place of its own where it has secrets in it.
 */

type Fields = Record<string, unknown>
type Section = 'sources' | 'agents' | 'mcp_servers' | 'projects'

/** A secret that is given, by the entry it is in. */
export interface SecretPlace {
  section: Section
  index: number
  name: string
  /** Within the entry, such as config, signature_secret. */
  inner: string[]
  value: string
  /** Whether the value is an address with secrets in it, and not a secret itself. */
  isAddress: boolean
}

export const pathOfPlace = ({ section, index, inner }: SecretPlace): Path => [section, index, ...inner]

/** Whether a value is a secret in plain text: neither blank, nor a reference, nor the mask of one. */
export const isPlain = (value: string): boolean => value !== '' && value !== MASK && !isReference(value)

/** Whether a place holds a secret in plain text. */
export const isPlainAt = ({ value, isAddress }: SecretPlace): boolean =>
  isAddress ? secretParts(value).length > 0 : isPlain(value)

/** The value of a place with its secret, or those in its address, put as `by` says. */
export const hiddenAt = ({ value, isAddress }: SecretPlace, by: () => string): string =>
  isAddress ? withAddressSecrets(value, by) : by()

/** Every secret field of a catalog that holds text, and every address with a secret, in the order of the file. */
export function secretPlaces(catalog: Catalog, templates: Pick<Templates, 'secretParams'>): SecretPlace[] {
  const found: SecretPlace[] = []
  const look = (section: Section, fieldsOf: (entry: Fields) => [string[], SecretNames]) =>
    (catalog[section] as Fields[] | undefined)?.forEach((entry, index) => {
      const [way, { secrets, addresses }] = fieldsOf(entry)
      const holder = way.reduce<unknown>((at, step) => (at as Fields | undefined)?.[step], entry)
      for (const field of [...secrets, ...addresses]) {
        const value = (holder as Fields | undefined)?.[field]
        if (typeof value !== 'string') continue
        const isAddress = !secrets.includes(field)
        if (isAddress && secretParts(value).length === 0 && !hasMaskedSecret(value)) continue
        found.push({ section, index, name: String(entry.name), inner: [...way, field], value, isAddress })
      }
    })
  look('sources', ({ connector }) => {
    const kind = String(connector)
    if (!hasConnector(kind)) return [['config'], { secrets: [], addresses: [] }]
    return [['config'], { secrets: secretFields(kind), addresses: addressFields(kind) }]
  })
  look('agents', () => [[], AGENT_SECRETS])
  look('mcp_servers', () => [[], MCP_SERVER_SECRETS])
  look('projects', ({ template, params }) => {
    const secrets = templates.secretParams(String(template))
    const addresses = Object.keys((params ?? {}) as Fields).filter((name) => !secrets.includes(name))
    return [['params'], { secrets, addresses }]
  })
  return found
}

/** A copy of a catalog with these values at those places; the catalog itself when there are none. */
export function withValues(catalog: Catalog, places: readonly [SecretPlace, string][]): Catalog {
  if (places.length === 0) return catalog
  const copy = structuredClone(catalog)
  for (const [{ section, index, inner }, value] of places) {
    const entry = copy[section]![index] as Fields
    const holder = inner.slice(0, -1).reduce<Fields>((at, step) => at[step] as Fields, entry)
    holder[inner.at(-1)!] = value
  }
  return copy
}

/** Of a name that two entities have both are told, each at its place in the file. */
export function tellEntityConflicts({ catalog, edit, at }: Pick<ImportRun, 'catalog' | 'edit' | 'at'>): void {
  const entries = catalog.entities ?? []
  if (entries.length === 0) return
  for (const conflict of entityConflicts(edit))
    for (const name of conflict.of) {
      const i = entries.findIndex((entry) => entry.name === name)
      if (i >= 0) at(['entities', i, 'is'], () => fail('invalid', conflictSentence(conflict)))
    }
}

/** What the templates of the projects that stay plan is named by their parameters. */
export function plannedBy({ edit }: Pick<ImportRun, 'edit'>): Set<string> {
  const planned = new Set<string>()
  for (const doc of projectsOf(edit).values())
    for (const [kind, entries] of Object.entries(doc.plan ?? {}))
      for (const { name } of Object.values(entries ?? {})) planned.add(`${kind}:${name}`)
  return planned
}

/**
 * Tells of each reference of the file to what pruning by it has just deleted: the file could not be applied again.
 * @param gone what was deleted, such as trigger:slow or project:Shop
 */
export function tellPruned(run: Known & Pick<ImportRun, 'at'>, gone: ReadonlySet<string>): void {
  if (gone.size === 0) return
  for (const { path, kind, name } of referencesIn(run.catalog))
    if (gone.has(`${kind}:${name}`))
      run.at(path, () =>
        kind === 'project' ? projectNamed(run, name) : fail('invalid', noneNamed(run, kind, name)),
      )
}

/*
 * Whether two entries of a catalog file say the same, however they are written: an absent field is
 * its default, a verdict may be a word, an ignored field says nothing.
 */

type SameEntry = Record<string, unknown>

/** @param section of the file. Entries that break a rule are only the same when they are equal. */
export function sameEntry(section: string, _name: string, before: unknown, after: unknown): boolean {
  if (equal(before, after)) return true
  const meaning = MEANINGS[section]
  if (!meaning) return false
  try {
    return equal(meaning(before as SameEntry), meaning(after as SameEntry))
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    return false
  }
}

const MEANINGS: Record<string, (entry: SameEntry) => unknown> = {
  sources: ({ name, connector, poll, config, paused, projects, prevent_destroy, sync }) => ({
    name,
    prevent_destroy: prevent_destroy ?? false,
    sync,
    connector,
    poll: poll ?? defaultPoll(String(connector)),
    config: validateConfig(String(connector), (config ?? {}) as SameEntry),
    paused: paused ?? false,
    projects: [...((projects ?? []) as string[])].sort(),
  }),
  triggers: ({ name, project, prevent_destroy, sync, ...spec }) => ({
    name,
    prevent_destroy: prevent_destroy ?? false,
    sync,
    project,
    ...normaliseTrigger(documentOf('trigger', spec)),
  }),
  agents: ({ name, project, trigger, handoffs, enabled, prevent_destroy, sync, ...spec }) => ({
    name,
    prevent_destroy: prevent_destroy ?? false,
    sync,
    project,
    trigger: trigger || undefined,
    enabled: Boolean(trigger && enabled),
    handoffs: normaliseHandoffs(String(name), (handoffs ?? []) as never),
    ...normaliseAgent(spec as FieldsOf<GivenAgent>),
  }),
  mcp_servers: ({ name, project, prevent_destroy, sync, ...spec }) => ({
    name,
    project,
    prevent_destroy: prevent_destroy ?? false,
    sync,
    ...normaliseMcpServer(spec as never),
  }),
  skills: ({ name, project, used_by, prevent_destroy, sync, ...spec }) => ({
    name,
    prevent_destroy: prevent_destroy ?? false,
    sync,
    project,
    used_by: ((used_by ?? []) as string[]).filter((user) => user !== project).sort(),
    ...normaliseSkill(spec),
  }),
  entities: ({ name, prevent_destroy, sync, ...spec }) => ({
    name,
    prevent_destroy: prevent_destroy ?? false,
    sync,
    ...normaliseEntity(spec),
  }),
  projects: ({ template, recipe, name, params, objects, goal, description, paused }) => ({
    template: template ?? recipe,
    name,
    params: params ?? {},
    goal: goal || undefined,
    description: description || undefined,
    paused: paused ?? false,
    objects: ((objects ?? []) as { kind: string; name: string; shared?: boolean }[])
      .map((ref) => `${ref.kind.replace(' ', '_')}:${ref.name}${ref.shared ? ' shared' : ''}`)
      .sort(),
  }),
  usecases: (entry) => MEANINGS.projects!(entry),
  wiring: ({ enabled, cooldown, verdict, wired, ...row }) => ({
    ...row,
    wired: wired ?? true,
    ...(verdict === undefined
      ? { enabled: enabled ?? true }
      : { verdict: String(verdict).toLowerCase(), cooldown: cooldown ?? HANDOFF_COOLDOWN }),
  }),
}

/* Projects that are paused while a file is staged: it speaks of what runs when they do. */

/** Of the projects that a file lists, whether it pauses them; the Default one is never paused. */
export const pausedIn = (catalog: Catalog): Map<string, boolean> =>
  new Map(
    (catalog.projects ?? [])
      .filter(({ template }) => template !== DEFAULT_TEMPLATE)
      .map(({ name, paused }) => [name ?? '', paused === true]),
  )

/** What a project had stopped while it was paused. */
export interface Paused {
  sources: boolean
  notes: Stopped
  /** kind:name of what it stopped that a running project used all the same: it stays stopped. */
  stays: ReadonlySet<string>
  /** Sources that took events although their project was paused with its sources: somebody resumed them. */
  resumed: readonly string[]
}

/**
 * Projects that are paused run while the file is staged, so that it speaks of what runs when they
 * do; they are paused again at the end, which changes nothing by itself.
 */
export function resumePaused(edit: Edit): Map<string, Paused> {
  const paused = new Map<string, Paused>()
  for (const [id, { paused: isPaused, stopped, uses }] of projectsOf(edit)) {
    if (!isPaused) continue
    const sources = Object.keys(stopped?.sources ?? {}).length > 0
    const stays = new Set<string>()
    for (const kind of Object.keys(NOTED) as Pausable[])
      for (const name of Object.keys(stopped?.[NOTED[kind]] ?? {}))
        if (isNeeded(edit, kind, name)) stays.add(`${kind}:${name}`)
    const resumed = sources
      ? Object.keys(uses.source ?? {}).filter(
          (name) => !edit.get('source', name)?.paused && !isNeeded(edit, 'source', name),
        )
      : []
    paused.set(id, { sources, notes: stopped ?? {}, stays, resumed })
  }
  for (const id of paused.keys()) resumeProject(edit, id)
  // A note of a project that goes would be handed to one that is paused below, of a part that the file itself pauses.
  edit.saysNotes = true
  return paused
}

/**
 * Pauses projects at the end of a staging.
 * @param paused as they were. @param isPaused whether one is to be. @throws SvcError invalid with every problem
 */
export function pauseAgain(
  edit: Edit,
  paused: ReadonlyMap<string, Paused>,
  isPaused: (id: string, doc: ProjectDoc) => boolean,
  catalog: Catalog,
  locate: Locate,
): void {
  const problems: CatalogProblem[] = []
  const at = collecting(problems, locate)
  const places = new Map((catalog.projects ?? []).map(({ name }, i) => [name, i]))
  // Those that stop sources last: a source is stopped once no other project that runs needs it.
  const stops = (id: string) => Number(paused.get(id)?.sources ?? false)
  const ordered = [...projectsOf(edit)].sort(
    ([a, { name: first }], [b, { name: second }]) => stops(a) - stops(b) || (first < second ? -1 : 1),
  )
  for (const [id, doc] of ordered)
    if (isPaused(id, doc) && !doc.draft)
      at(['projects', places.get(doc.name) ?? 0], () =>
        pauseProject(edit, id, paused.get(id)?.sources ?? false),
      )
  refuse(problems)
  for (const [id, { notes }] of paused) returnNotes(edit, id, notes)
  for (const [id, was] of paused) leaveAsWas(edit, id, was, catalog)
}

/**
 * A part that runs or stands still other than its project does, does so after the staging: a running project that uses
 * what this one stopped did not start it, and a source that somebody resumed goes on.
 */
function leaveAsWas(edit: Edit, id: string, { notes, stays, resumed }: Paused, catalog: Catalog): void {
  const noted = (kind: Pausable, name: string, isNoted: boolean) => {
    const doc = projectOf(edit, id)
    const { [name]: _was, ...others } = doc.stopped?.[NOTED[kind]] ?? {}
    const now: Record<string, true> = isNoted ? { ...others, [name]: true } : others
    putProject(edit, id, { ...doc, stopped: { ...doc.stopped, [NOTED[kind]]: now } })
  }
  const uses = (kind: Pausable, name: string) => {
    const doc = edit.get('project', id)
    return doc?.paused && doc.uses[kind]?.[name] ? edit.get(kind, name) : undefined
  }
  for (const kind of Object.keys(NOTED) as Pausable[])
    for (const name of Object.keys(notes[NOTED[kind]] ?? {})) {
      const part = uses(kind, name)
      if (!part || part.paused || !stays.has(`${kind}:${name}`)) continue
      edit.put(kind, name, { ...part, paused: true })
      noted(kind, name, true)
    }
  for (const name of resumed) {
    const part = uses('source', name)
    const isSaid = catalog.sources?.some((entry) => entry.name === name && entry.paused)
    if (!part?.paused || isSaid) continue
    const { paused: _paused, ...running } = part
    edit.put('source', name, running)
    noted('source', name, false)
  }
}

/** Of a part that paused projects share, that one keeps the note which had it: else it would go to and fro. */
function returnNotes(edit: Edit, id: string, notes: Stopped): void {
  for (const kind of Object.keys(NOTED) as Pausable[])
    for (const name of Object.keys(notes[NOTED[kind]] ?? {})) {
      const noted = [...projectsOf(edit)].find(([, { stopped }]) => stopped?.[NOTED[kind]]?.[name])
      const doc = edit.get('project', id)
      if (!noted || noted[0] === id || !doc?.paused || !doc.uses[kind]?.[name]) continue
      const [other, from] = noted
      const { [name]: _taken, ...left } = from.stopped![NOTED[kind]]!
      putProject(edit, other, { ...from, stopped: { ...from.stopped, [NOTED[kind]]: left } })
      const kept = { ...doc.stopped?.[NOTED[kind]], [name]: true as const }
      putProject(edit, id, { ...doc, stopped: { ...doc.stopped, [NOTED[kind]]: kept } })
    }
}
