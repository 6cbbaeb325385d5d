/** Projects as they are read. */
import { lifecycles } from '../../../machines/index.ts'
import { accepts, type Snapshot } from '../../../machines/step.ts'
import { ownField } from '../../../schemas/fields-of.ts'
import type { Project, ProjectCard, ProjectObject, TemplateFile } from '../../../schemas/types.ts'
import type { Database } from '../../log/store/handle.ts'
import {
  type DeclaredKind,
  type Doc,
  type PartKind,
  partKinds,
  type StoredOf,
} from '../../model/documents.ts'
import { DEFAULT_TEMPLATE, type ProjectDoc, partsOf, wiringOf } from '../../model/project.ts'
import { maskAddresses, maskFields } from '../../net/address-secrets.ts'
import { readTemplates, secretParams, templateKeys } from './templating.ts'

interface PresentParts {
  kinds: Record<PartKind, DeclaredKind>
  queries: ProjectQueries
  templates: Templates
}

type UsersOf = (kind: string, name: string) => readonly string[]

const TITLES: Record<string, string> = { custom: 'Custom project', default: 'Default' }

/**
 * A project with its parts and wiring; secret parameters are blank.
 * @param usersOf ids of the projects that use a part
 */
export function presentProject(
  { queries, templates }: PresentParts,
  stored: StoredOf<'project'>,
  usersOf: UsersOf = queries.users,
): Project {
  const doc = stored.doc
  const row = queries.byId(stored.key)!
  const snapshot = JSON.parse(row.snapshot) as Snapshot
  const title =
    (doc.setup ? 'Guided setup' : ownField(TITLES, doc.template)) ??
    templates.get(doc.template)?.title ??
    doc.template
  const objects = objectsOf(queries, stored.key, doc, usersOf)
  return {
    id: stored.key,
    template: doc.template,
    template_title: title,
    recipe: doc.template,
    recipe_title: title,
    name: doc.name,
    goal: doc.goal ?? '',
    description: doc.description ?? '',
    params: blankSecrets(doc.params ?? {}, templates.secretParams(doc.template)),
    status: stored.state === 'paused' ? 'paused' : stored.state === 'draft' ? 'draft' : 'active',
    state: stored.state as Project['state'],
    accepts: acceptsOf(doc, snapshot),
    held_by: (snapshot.context as { held_by: Project['held_by'] }).held_by,
    default: doc.template === DEFAULT_TEMPLATE,
    objects,
    wiring: wiringOf(doc),
    counts: Object.fromEntries(
      partKinds.map((kind) => [kind, objects.filter((o) => o.kind === kind && !o.missing).length]),
    ),
    last_error: null,
    version: stored.changeSet,
    created_at: new Date(stored.createdAt).toISOString(),
    updated_at: new Date(stored.updatedAt).toISOString(),
  }
}

/** The Default project is there for what is made outside another, and is not deleted. */
const acceptsOf = ({ template }: ProjectDoc, snapshot: Snapshot): string[] =>
  accepts(lifecycles.project, snapshot).filter((event) => template !== DEFAULT_TEMPLATE || event !== 'delete')

/** A project as a key of its own sees it: no parameters, no wiring. */
export function presentCard(stored: StoredOf<'project'>): ProjectCard {
  const doc = stored.doc
  const names = (kind: PartKind) => Object.keys(doc.uses[kind] ?? {}).sort()
  return {
    id: stored.key,
    template: doc.template,
    name: doc.name,
    goal: doc.goal ?? '',
    status: stored.state === 'paused' ? 'paused' : stored.state === 'draft' ? 'draft' : 'active',
    created_at: new Date(stored.createdAt).toISOString(),
    sources: names('source'),
    triggers: names('trigger'),
    skills: names('skill'),
  }
}

function objectsOf(queries: ProjectQueries, id: string, doc: ProjectDoc, usersOf: UsersOf): ProjectObject[] {
  const planned = queries.plannedOf(id)
  const byName = new Map(planned.map((row) => [`${row.kind}:${row.name}`, row]))
  const present = partsOf(doc).map(({ kind, name }) =>
    objectOf(
      kind,
      name,
      byName.get(`${kind}:${name}`),
      usersOf(kind, name).filter((user) => user !== id),
    ),
  )
  const missing = planned
    .filter((row) => row.state === 'missing')
    .map((row) => objectOf(row.kind as PartKind, row.name, row, []))
  return [...present, ...missing.filter((o) => !present.some((p) => p.kind === o.kind && p.name === o.name))]
}

function objectOf(
  kind: PartKind,
  name: string,
  row: PlannedRow | undefined,
  sharedWith: string[],
): ProjectObject {
  const state = row && row.state !== 'none' ? row.state : 'used'
  return {
    kind,
    key: row?.key ?? name,
    name,
    state,
    customized: state === 'customized',
    missing: state === 'missing',
    shared_with: sharedWith,
    created_at: row ? new Date(row.created_at).toISOString() : null,
  }
}

/** A form shows a secret as an empty field; sent back blank, it is kept. */
function blankSecrets(params: Doc, names: readonly string[]): Record<string, unknown> {
  const masked = maskFields(params, names)
  return Object.fromEntries(
    Object.entries(masked).map(([name, value]) => [
      name,
      names.includes(name) && value !== params[name] ? '' : maskAddresses(value),
    ]),
  )
}

/* The SQL of projects: their rows, who uses what, and the objects of templates' plans. */

export interface ProjectRow {
  id: string
  name: string
  /** JSON; secret parameters sealed. */
  spec: string
  snapshot: string
  state: string
  change_set: number
  created_at: number
  updated_at: number
}

export interface PlannedRow {
  id: number
  project: string
  kind: string
  key: string
  name: string
  /** JSON of the entry of the project's plan. */
  plan: string
  state: 'none' | 'planned' | 'customized' | 'missing' | 'adopted'
  created_at: number
}

export type ProjectQueries = ReturnType<typeof projectQueries>

/** The statements of projects, prepared once. */
export function projectQueries(db: Database) {
  const columns = 'id, name, spec, snapshot, state, change_set, created_at, updated_at'
  const all = db.prepare<[], ProjectRow>(
    `SELECT ${columns} FROM projects WHERE state <> 'deleted' ORDER BY name`,
  )
  const byId = db.prepare<[string], ProjectRow>(`SELECT ${columns} FROM projects WHERE id = ?`)
  const insert = db.prepare(
    'INSERT INTO projects (id, name, spec, snapshot, change_set, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const update = db.prepare(
    'UPDATE projects SET name = ?, spec = ?, change_set = ?, updated_at = ? WHERE id = ?',
  )
  const addUse = db.prepare('INSERT OR IGNORE INTO project_uses (project, kind, name) VALUES (?, ?, ?)')
  const dropUse = db.prepare('DELETE FROM project_uses WHERE project = ? AND kind = ? AND name = ?')
  const users = db
    .prepare<[string, string], string>(
      'SELECT project FROM project_uses WHERE kind = ? AND name = ? ORDER BY project',
    )
    .pluck()
  const allUses = db.prepare<[], { project: string; kind: string; name: string }>(
    'SELECT project, kind, name FROM project_uses ORDER BY project',
  )
  const plannedColumns = 'id, project, kind, key, name, plan, state, created_at'
  const planned = db.prepare<[], PlannedRow>(`SELECT ${plannedColumns} FROM planned_objects ORDER BY id`)
  const plannedOf = db.prepare<[string], PlannedRow>(
    `SELECT ${plannedColumns} FROM planned_objects WHERE project = ? ORDER BY id`,
  )
  const plannedNamed = db.prepare<[string, string], PlannedRow>(
    `SELECT ${plannedColumns} FROM planned_objects WHERE kind = ? AND name = ? ORDER BY id`,
  )
  const insertPlanned = db.prepare(
    'INSERT INTO planned_objects (project, kind, key, name, plan, snapshot, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const updatePlanned = db.prepare('UPDATE planned_objects SET name = ?, plan = ? WHERE id = ?')
  const dropPlanned = db.prepare('DELETE FROM planned_objects WHERE id = ?')
  return {
    all: () => all.all(),
    /** A deleted one included. */
    byId: (id: string) => byId.get(id),
    insert: (row: {
      id: string
      name: string
      spec: string
      snapshot: string
      changeSet: number
      at: number
    }) => insert.run(row.id, row.name, row.spec, row.snapshot, row.changeSet, row.at, row.at),
    update: (id: string, name: string, spec: string, changeSet: number, at: number) =>
      update.run(name, spec, changeSet, at, id),
    addUse: (project: string, kind: string, name: string) => addUse.run(project, kind, name),
    dropUse: (project: string, kind: string, name: string) => dropUse.run(project, kind, name),
    /** Ids of the live projects that use a part. */
    users: (kind: string, name: string) => users.all(kind, name),
    /** The same for a list of many parts, read once. */
    usersOfAll: () => {
      const byPart = new Map<string, string[]>()
      for (const { project, kind, name } of allUses.all()) {
        const part = `${kind}:${name}`
        const there = byPart.get(part)
        if (there) there.push(project)
        else byPart.set(part, [project])
      }
      return (kind: string, name: string): readonly string[] => byPart.get(`${kind}:${name}`) ?? []
    },
    planned: () => planned.all(),
    plannedOf: (project: string) => plannedOf.all(project),
    plannedNamed: (kind: string, name: string) => plannedNamed.all(kind, name),
    insertPlanned: (
      row: Omit<PlannedRow, 'id' | 'state' | 'created_at'> & { snapshot: string; at: number },
    ) =>
      Number(
        insertPlanned.run(row.project, row.kind, row.key, row.name, row.plan, row.snapshot, row.at)
          .lastInsertRowid,
      ),
    updatePlanned: (id: number, name: string, plan: string) => updatePlanned.run(name, plan, id),
    dropPlanned: (id: number) => dropPlanned.run(id),
  }
}

/* The templates of this program, by key (SPEC.md, Projects: templates). */

export interface Templates {
  /** In the order of their keys. */
  all(): TemplateFile[]
  get(key: string): TemplateFile | undefined
  /** Names of the secret parameters; none for a template that is gone or has no file. */
  secretParams(key: string): readonly string[]
}

/** Those shipped with svc do not change while it runs: all engines of a process share them, and change none. */
let shipped: Map<string, TemplateFile> | undefined
let keys: ReadonlySet<string> | undefined

/**
 * They are read when one that has a file is first asked for, because reading and checking them takes longer
 * than opening the store; the first list of projects that were made without one would wait for that. That those
 * shipped can be read is for the tests to say.
 */
export function openTemplates(): Templates {
  const files = (): Map<string, TemplateFile> => {
    shipped ??= readTemplates()
    return shipped
  }
  const get = (key: string): TemplateFile | undefined => {
    keys ??= new Set(templateKeys())
    return keys.has(key) ? files().get(key) : undefined
  }
  return {
    all: () => [...files().values()],
    get,
    secretParams: (key) => {
      const file = get(key)
      return file ? secretParams(file) : []
    },
  }
}
