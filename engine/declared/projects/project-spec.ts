/** Projects as documents: the rules that hold whoever writes one, and how they are stored: a row each, secret parameters sealed. */

import { createHash } from 'node:crypto'
import { didYouMean } from '../../../schemas/near-names.ts'
import { escapeLine } from '../../../schemas/plain-text.ts'
import type { Wiring } from '../../../schemas/types.ts'
import { fail } from '../../errors.ts'
import { advance, firstSnapshot, renameInHistory } from '../../log/lifecycle.ts'
import type { Database } from '../../log/store/handle.ts'
import {
  type DeclaredKind,
  type Doc,
  differences,
  documentOf,
  type Edit,
  equal,
  partKinds,
  type Stored,
  type Stroke,
} from '../../model/documents.ts'
import {
  CUSTOM_TEMPLATE,
  DEFAULT_NAME,
  DEFAULT_TEMPLATE,
  PROJECT_ID,
  type ProjectDoc,
  withWiring,
} from '../../model/project.ts'
import { parseDuration } from '../../model/units.ts'
import { maskNamed, openFields, type SecretNames, sealFields } from '../../net/address-secrets.ts'
import type { Secrets } from '../../net/secrets.ts'
import { type ProjectQueries, type ProjectRow, projectQueries } from './present.ts'

const NAME_MAX = 80
const GOAL_MAX = 200
const DESCRIPTION_MAX = 4_000
/** Fields that whoever writes a project gives. */
const WRITTEN = ['name', 'template', 'goal', 'description', 'params', 'uses', 'wakes', 'handoffs']
/** With those that are the service's own, as a document that is read has them. */
const FIELDS = new Set([...WRITTEN, 'plan', 'stopped', 'paused', 'draft', 'setup'])

/**
 * @param now the name that the project has: it may keep it. @returns the name, trimmed.
 * @throws SvcError invalid
 */
export function checkProjectName(name: unknown, now?: string): string {
  const text = typeof name === 'string' ? name.trim() : ''
  if (text === '' || text.length > NAME_MAX || hasControl(text))
    return fail('invalid', `name must be 1 to ${NAME_MAX} characters without control characters`, {
      field: 'name',
    })
  const fault = text === now ? null : (hiddenFault(text) ?? nameFault(text))
  return fault === null ? text : fail('invalid', fault, { field: 'name' })
}

/** Marks that nobody sees show a name in another order than it is. */
const hiddenFault = (name: string): string | null =>
  escapeLine(name) === name
    ? null
    : `name must not have characters that nobody sees, such as marks of direction: it is ${escapeLine(name)}`

/**
 * Why a project could not be told apart by a name: calls take its id or its name, so that a name with the form of an id
 * would be another project's, there now or brought back later; one path of the API is not a project; and Default is made
 * by svc itself, maybe later.
 * @returns null: nothing keeps it from being one
 */
export function nameFault(name: string): string | null {
  if (PROJECT_ID.test(name))
    return 'name must not have the form of the id of a project (uc_ and 10 hex digits), as it would be taken for one'
  if (name === 'templates')
    return 'name must not be templates: /api/projects/templates are the templates, so the project could not be read by it'
  if (name === DEFAULT_NAME)
    return 'name must not be Default: so svc itself calls the project of all that is in no other'
  return null
}

/** @returns the goal, trimmed; undefined when it is blank. @throws SvcError invalid */
export function checkGoal(goal: unknown): string | undefined {
  if (goal === undefined) return undefined
  const text =
    typeof goal === 'string' ? goal.trim() : fail('invalid', 'goal must be text', { field: 'goal' })
  if (text.length > GOAL_MAX || hasControl(text))
    fail('invalid', `goal must be one line of at most ${GOAL_MAX} characters`, { field: 'goal' })
  return text || undefined
}

/** @returns the description, trimmed; undefined when it is blank. @throws SvcError invalid */
export function checkDescription(description: unknown): string | undefined {
  if (description === undefined) return undefined
  const text =
    typeof description === 'string'
      ? description.trim()
      : fail('invalid', 'description must be text', { field: 'description' })
  if (text.length > DESCRIPTION_MAX)
    fail('invalid', `description must have at most ${DESCRIPTION_MAX} characters`, { field: 'description' })
  return text || undefined
}

/** What people say of a project. */
export interface Said {
  name: string
  goal?: string | undefined
  description?: string | undefined
}

/** The same without what is not said. */
export function saidOf({ name, goal, description }: Said): Pick<ProjectDoc, 'name' | 'goal' | 'description'> {
  return { name, ...(goal ? { goal } : {}), ...(description ? { description } : {}) }
}

/**
 * A project document given whole, as in a change-set. What a template planned and what a pause
 * stopped are the service's own and stay as they are.
 * @throws SvcError invalid
 */
export function normaliseProject(edit: Edit, id: string, given: Doc): Doc {
  const unknown = Object.keys(given).find((field) => !FIELDS.has(field))
  if (unknown)
    fail(
      'invalid',
      `${unknown} is not a field of a project${didYouMean(unknown, WRITTEN)}; there are ${WRITTEN.join(', ')}`,
      { field: unknown },
    )
  const now = edit.get('project', id)
  if (!now)
    fail(
      'not_found',
      `no project has the id or name ${id}; projects are made by POST /api/projects, or svc projects create`,
    )
  const doc: Partial<ProjectDoc> = documentOf('project', given)
  if (doc.template !== undefined && doc.template !== now.template)
    fail('invalid', `template must stay ${now.template}`, { field: 'template' })
  const { plan, stopped, paused, draft, setup, template } = now
  const goal = checkGoal(doc.goal)
  const description = checkDescription(doc.description ?? now.description)
  const next: ProjectDoc = {
    name: checkProjectName(doc.name ?? now.name, now.name),
    template,
    ...(goal ? { goal } : {}),
    ...(description ? { description } : {}),
    ...(doc.params ? { params: doc.params } : {}),
    uses: usesOf(doc.uses ?? now.uses),
    ...wiredOf(doc),
    ...(plan ? { plan } : {}),
    ...(stopped ? { stopped } : {}),
    ...(paused ? { paused } : {}),
    ...(draft ? { draft } : {}),
    ...(setup ? { setup } : {}),
  }
  return { ...next }
}

/**
 * Wakes and handoffs by name, as the document has them, or as whole lists, as the wiring is told.
 * @throws SvcError invalid
 */
function wiredOf(doc: Partial<ProjectDoc>): Pick<ProjectDoc, 'wakes' | 'handoffs'> {
  const wiring = { wakes: wiredRows(doc.wakes, 'wakes'), handoffs: wiredRows(doc.handoffs, 'handoffs') }
  for (const { cooldown } of wiring.handoffs) if (cooldown) parseDuration(cooldown, 'handoffs')
  const { wakes, handoffs } = withWiring({ name: '', template: '', uses: {} }, wiring)
  return {
    ...(Object.keys(wakes ?? {}).length ? { wakes } : {}),
    ...(Object.keys(handoffs ?? {}).length ? { handoffs } : {}),
  } as Pick<ProjectDoc, 'wakes' | 'handoffs'>
}

/** What names a row, in the order in which a document nests it, and what it says. */
const WIRED = {
  wakes: { names: ['trigger', 'agent'], says: ['enabled', 'stopped'], type: 'boolean' },
  handoffs: { names: ['agent', 'verdict', 'to'], says: ['cooldown'], type: 'string' },
} as const
const WIRED_FORM =
  'wakes must be {trigger: {agent: {enabled: true or false}}} or a list of {trigger, agent, enabled}, and handoffs {agent: {verdict: {agent: {cooldown}}}} or a list of {agent, verdict, to, cooldown}'

function wiredRows<K extends keyof typeof WIRED>(given: unknown, field: K): Wiring[K] {
  const { names, type } = WIRED[field]
  const says: readonly string[] = WIRED[field].says
  const refuse = () => fail('invalid', WIRED_FORM, { field })
  const isRow = (row: Doc): boolean =>
    names.every((name) => typeof row[name] === 'string') &&
    Object.keys(row).every((key) => says.includes(key) || names.some((name) => name === key)) &&
    says.every((key) => row[key] === undefined || typeof row[key] === type)
  const fieldsOf = (value: unknown): Doc =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Doc) : refuse()
  const flat = (value: unknown, [name, ...rest]: readonly string[]): Doc[] =>
    name === undefined
      ? [fieldsOf(value)]
      : Object.entries(fieldsOf(value)).flatMap(([key, entry]) =>
          flat(entry, rest).map((row) => ({ ...row, [name]: key })),
        )
  const rows = Array.isArray(given) ? given.map(fieldsOf) : flat(given ?? {}, names)
  return (rows.every(isRow) ? rows : refuse()) as object as Wiring[K]
}

function usesOf(uses: ProjectDoc['uses']): ProjectDoc['uses'] {
  if (typeof uses !== 'object' || uses === null)
    fail('invalid', 'uses must be {kind: {name: {}}}', { field: 'uses' })
  const unknown = Object.keys(uses).find((kind) => !(partKinds as readonly string[]).includes(kind))
  if (unknown) fail('invalid', `uses.${unknown} is not a kind of part`, { field: 'uses' })
  return Object.fromEntries(
    Object.entries(uses).map(([kind, names]) => [
      kind,
      Object.fromEntries(
        Object.entries(names ?? {}).map(([name, use]) => [name, use?.owned ? { owned: true as const } : {}]),
      ),
    ]),
  )
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const hasControl = (text: string): boolean => /[\u0000-\u001f\u007f]/.test(text)

/** Whether a project is made by hand: the Default one or a custom one. */
export const isHandMade = ({ template }: Pick<ProjectDoc, 'template'>): boolean =>
  template === CUSTOM_TEMPLATE || template === DEFAULT_TEMPLATE

/*
 * What a hand edit of a planned object is compared with: a digest of the document as it may be shown,
 * and a keyed hash of its secrets, which a plain digest would let be guessed.
 */

/** Hex SHA-256 of a part's document as it may be shown; whether it is paused does not count. */
export function digestOf(masked: Doc): string {
  const { paused: _paused, ...spec } = masked
  return createHash('sha256').update(stable(spec)).digest('hex')
}

/**
 * The secrets of a document, by a keyed hash in hex; undefined: it has none.
 * @param masked the same document as it may be shown.
 */
export function secretsOf(doc: Doc, masked: Doc, fingerprint: (text: string) => string): string | undefined {
  const hidden = differences(masked, doc)
  return hidden.length ? fingerprint(stable(hidden.map(({ path, to }) => [path, to]))) : undefined
}

/** JSON with its keys sorted: equal documents give equal text. */
function stable(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stable).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined)
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, entry]) => `${JSON.stringify(key)}:${stable(entry)}`)
    .join(',')}}`
}

export interface ProjectKindParts {
  db: Database
  secrets: Secrets
  /** Names of the parameters of a template that are secret. */
  secretParams(template: string): readonly string[]
}

/** Parts and wiring by name, down to where an entry begins. */
const SETS =
  /^\/(uses(\/[^/]+)?|plan(\/[^/]+)?|wakes(\/[^/]+)?|handoffs(\/[^/]+){0,2}|stopped(\/(triggers|sources|wakes(\/[^/]+)?))?)$/

export class ProjectKind implements DeclaredKind {
  readonly kind = 'project'
  private readonly queries: ProjectQueries

  constructor(private readonly parts: ProjectKindParts) {
    this.queries = projectQueries(parts.db)
  }

  find(key: string): Stored | undefined {
    const row = this.queries.byId(key)
    return row && row.state !== 'deleted' ? this.stored(row) : undefined
  }

  list(): Stored[] {
    return this.queries.all().map((row) => this.stored(row))
  }

  open(sealed: string): Doc {
    const { '@id': id, ...doc } = JSON.parse(sealed) as Record<string, unknown>
    return this.openParams(id as string, doc).doc
  }

  create(key: string, doc: Doc, stroke: Stroke, revive: string | null): string {
    const { queries } = this
    const sealed = this.sealParams(key, doc)
    const spec = JSON.stringify(withoutState(sealed))
    if (revive !== null && queries.byId(key)) {
      this.advance(key, doc, 'restore', stroke)
      queries.update(key, String(doc.name), spec, stroke.changeSet, stroke.at)
    } else {
      queries.insert({
        id: key,
        name: String(doc.name),
        spec,
        snapshot: firstSnapshot('project'),
        changeSet: stroke.changeSet,
        at: stroke.at,
      })
      this.advance(key, doc, firstEvent(doc), stroke)
    }
    if (doc.paused === true) this.advance(key, doc, 'pause', stroke)
    return sealedJson(key, sealed)
  }

  update(stored: Stored, doc: Doc, stroke: Stroke): string {
    const sealed = this.sealParams(stored.key, doc, {
      open: stored.doc,
      sealed: JSON.parse(stored.sealed) as Record<string, unknown>,
    })
    const spec = JSON.stringify(withoutState(sealed))
    this.queries.update(stored.key, String(doc.name), spec, stroke.changeSet, stroke.at)
    if (stored.name !== doc.name) renameInHistory(this.parts.db, 'project', stored.name, String(doc.name))
    const [wasDraft, isDraft] = [stored.doc.draft === true, doc.draft === true]
    if (wasDraft !== isDraft) this.advance(stored.key, doc, isDraft ? 'unapply' : 'apply', stroke)
    else if (!isDraft && declaresOther(stored.doc, doc)) this.advance(stored.key, doc, 'update', stroke)
    const isPaused = doc.paused === true
    if (isPaused !== (stored.state === 'paused'))
      this.advance(stored.key, doc, isPaused ? 'pause' : 'resume', stroke)
    return sealedJson(stored.key, sealed)
  }

  remove(stored: Stored, stroke: Stroke): void {
    this.advance(stored.key, stored.doc, 'delete', stroke)
    const { secrets } = this.secretsOf(stored.doc)
    const shown = (this.mask(stored.doc).params ?? {}) as Doc
    const params = Object.fromEntries(Object.entries(shown).filter(([name]) => !secrets.includes(name)))
    const spec = JSON.stringify({ ...withoutState(stored.doc), params })
    this.queries.update(stored.key, stored.name, spec, stroke.changeSet, stroke.at)
  }

  mask(doc: Doc): Doc {
    const { plan: _plan, ...shown } = doc
    if (!doc.params) return shown
    return { ...shown, params: maskNamed(doc.params as Doc, this.secretsOf(doc)) }
  }

  isSet(path: string): boolean {
    return SETS.test(path)
  }

  private advance(id: string, doc: Doc, event: string, { by, at }: Stroke): void {
    advance(this.parts.db, { kind: 'project', id, name: String(doc.name) }, event, by, at)
  }

  private stored(row: ProjectRow): Stored {
    const sealed = JSON.parse(row.spec) as Record<string, unknown>
    const { doc, unreadable } = this.openParams(row.id, sealed)
    const state = {
      ...(row.state === 'paused' ? { paused: true } : {}),
      ...(row.state === 'draft' ? { draft: true } : {}),
    }
    return {
      key: row.id,
      name: row.name,
      doc: { ...doc, ...state },
      sealed: sealedJson(row.id, { ...sealed, ...state }),
      changeSet: row.change_set,
      state: row.state,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      unreadable,
    }
  }

  private openParams(id: string, doc: Doc): { doc: Doc; unreadable: string[] } {
    if (!doc.params) return { doc, unreadable: [] }
    const { open, unreadable } = openFields(
      doc.params as Doc,
      this.secretsOf(doc),
      `projects/${id}`,
      this.parts.secrets,
    )
    return { doc: { ...doc, params: open }, unreadable }
  }

  private sealParams(id: string, doc: Doc, before?: { open: Doc; sealed: Doc }): Doc {
    if (!doc.params) return doc
    const params = sealFields(
      doc.params as Doc,
      this.secretsOf(doc),
      `projects/${id}`,
      this.parts.secrets,
      before && { open: (before.open.params ?? {}) as Doc, sealed: (before.sealed.params ?? {}) as Doc },
    )
    return { ...doc, params }
  }

  /** Any parameter may be an address, or hold some. */
  private secretsOf(doc: Doc): SecretNames {
    const secrets = this.parts.secretParams(String(doc.template))
    return {
      secrets,
      addresses: Object.keys((doc.params ?? {}) as Doc).filter((name) => !secrets.includes(name)),
    }
  }
}

/** A draft, a plan that is applied without one, or a project made in another way. */
const firstEvent = ({ draft, setup }: Doc): string =>
  draft === true ? 'draft' : setup === true ? 'apply' : 'create'

/** The machine holds these; the document only shows them. */
function withoutState(doc: Doc): Doc {
  const { paused: _paused, draft: _draft, ...spec } = doc
  return spec
}

/** Whether the project itself was edited, and not only paused or joined by a part. */
function declaresOther(before: Doc, after: Doc): boolean {
  const own = (doc: Doc): Partial<ProjectDoc> => {
    const { name, goal, description, params, wakes, handoffs } = documentOf('project', doc)
    return {
      name,
      ...(goal ? { goal } : {}),
      ...(description ? { description } : {}),
      ...(params ? { params } : {}),
      ...(wakes ? { wakes } : {}),
      ...(handoffs ? { handoffs } : {}),
    }
  }
  return after.paused === before.paused && !equal(own(before), own(after))
}

const sealedJson = (id: string, doc: Doc): string => JSON.stringify({ '@id': id, ...doc })
