/** Writes of projects (SPEC.md, Projects), each one change-set. */

import { kindWord } from '../../../schemas/kinds.ts'
import { didYouMean } from '../../../schemas/near-names.ts'
import type {
  CrewProject,
  Project,
  ProjectCreate,
  ProjectDeleted,
  ProjectReport,
  ProjectUpdate,
  Wiring,
} from '../../../schemas/types.ts'
import { fail } from '../../errors.ts'
import { acceptedBy, advance, refuseEvent } from '../../log/lifecycle.ts'
import type { Database } from '../../log/store/handle.ts'
import { type DeclaredKind, type Doc, Edit, type PartKind } from '../../model/documents.ts'
import {
  CUSTOM_TEMPLATE,
  DEFAULT_TEMPLATE,
  findProject,
  isSaidOff,
  type ProjectDoc,
  projectOf,
  projectsOf,
  putProject,
  withWiring,
} from '../../model/project.ts'
import { type Declared, requireParamCredentials, type WriteBy } from '../declared.ts'
import { normaliseNew } from '../operations.ts'
import { requireProject } from '../skill-writes.ts'
import { mintForNew } from '../source-writes.ts'
import {
  stageCustom,
  stageObjects,
  stageRepair,
  stageReplan,
  stageTemplated,
  type TemplateWorld,
} from './make.ts'
import { presentProject } from './present.ts'
import {
  checkDescription,
  checkGoal,
  checkProjectName,
  isHandMade,
  nameFault,
  saidOf,
} from './project-spec.ts'
import {
  pauseProject,
  planRemoval,
  purgeRecords,
  type Removal,
  resumeProject,
  stageRemoval,
  withoutNotes,
} from './remove.ts'
import { checkParams } from './templating.ts'

/** Makes a project from a template or from objects, all or nothing. @throws SvcError invalid; conflict */
export function createProject(declared: Declared, body: ProjectCreate, by: WriteBy): Project {
  requireParamCredentials(declared, body.template ?? body.recipe, body.params)
  return declared.store.tx(() => {
    const { result, plan } = declared.changes.commit(by, (edit) => stageProject(declared, edit, body))
    return { ...projectNamed(declared, result), ...mintForNew(declared, plan, by) }
  })
}

/** Stages a new project. @returns its id. */
export function stageProject(declared: Declared, edit: Edit, body: ProjectCreate): string {
  const said = { goal: checkGoal(body.goal), description: checkDescription(body.description) }
  const template =
    body.template ?? body.recipe ?? fail('invalid', 'template is required', { field: 'template' })
  if (template === CUSTOM_TEMPLATE) {
    if (!body.name?.trim()) fail('invalid', 'name is required for a custom project', { field: 'name' })
    refuseParams(body.params)
    return stageCustom(edit, {
      name: freeName(edit, checkProjectName(body.name)),
      ...said,
      objects: body.objects ?? [],
    })
  }
  const file =
    (template === DEFAULT_TEMPLATE ? undefined : declared.templates.get(template)) ??
    fail(
      'invalid',
      `template: no template has the key ${template}${didYouMean(
        template,
        declared.templates.all().map(({ key }) => key),
      )}`,
      { field: 'template' },
    )
  if (body.objects?.length) fail('invalid', 'objects are for a custom project', { field: 'objects' })
  const params = checkParams(file, body.params ?? {}, {}, declared.env)
  const name = body.name?.trim() ? freeName(edit, checkProjectName(body.name)) : unusedName(edit, file.title)
  return stageTemplated(worldOf(declared, edit), file, { name, ...said, params })
}

/** None are said by an empty object, as it is read. */
function refuseParams(params: Record<string, unknown> = {}): void {
  if (Object.keys(params).length)
    fail('invalid', 'params: a custom project has no parameters', { field: 'params' })
}

/** Re-plans a template project, or changes the objects of a custom one. @throws SvcError */
export function updateProject(
  declared: Declared,
  word: string,
  body: ProjectUpdate,
  by: WriteBy,
): Project & { report: ProjectReport } {
  return declared.store.tx(() => {
    const { result, plan } = declared.changes.commit(by, (edit) => {
      const id = requireIn(edit, word)
      return { id, report: stageProjectUpdate(declared, edit, id, body, by.base) }
    })
    const keys = mintForNew(declared, plan, by)
    return { ...projectNamed(declared, result.id), report: result.report, ...keys }
  })
}

/** Stages an update of a project. @param base as for Edit.put. */
export function stageProjectUpdate(
  declared: Declared,
  edit: Edit,
  id: string,
  body: ProjectUpdate,
  base?: number,
): ProjectReport {
  const doc = projectOf(edit, id)
  if (doc.draft) refuseDraft(doc)
  if (doc.template === DEFAULT_TEMPLATE && (body.params || body.objects || body.name !== undefined))
    fail('invalid', 'of the Default project only the goal and the description can be changed')
  const goal = body.goal === undefined ? doc.goal : checkGoal(body.goal)
  const description = body.description === undefined ? doc.description : checkDescription(body.description)
  const { goal: _goal, description: _description, ...rest } = doc
  const name = body.name === undefined ? doc.name : checkProjectName(body.name, doc.name)
  const named = { ...rest, ...saidOf({ name, goal, description }) }
  if (isHandMade(doc)) {
    refuseParams(body.params)
    putProject(edit, id, named, base)
    const seen = base === undefined ? undefined : declared.changes.documentAt('project', id, base)
    return body.objects ? stageObjects(edit, id, body.objects, seen as ProjectDoc | null | undefined) : {}
  }
  if (body.objects)
    fail('invalid', 'objects: a template project has the objects its template plans', { field: 'objects' })
  if (!body.params) {
    putProject(edit, id, named, base)
    return {}
  }
  const file =
    declared.templates.get(doc.template) ??
    fail('conflict', `template ${doc.template} is not in this program`)
  const params = checkParams(file, body.params, doc.params ?? {}, declared.env)
  putProject(edit, id, { ...named, params }, base)
  return stageReplan(worldOf(declared, edit), id, file, projectOf(edit, id).params ?? {})
}

/** @throws SvcError not_found; wrong_state */
export function moveProject(
  declared: Declared,
  word: string,
  event: 'pause' | 'resume',
  sources: boolean,
  by: WriteBy,
): Project {
  const { result } = declared.changes.commit(by, (edit) => {
    const id = requireIn(edit, word)
    if (event === 'pause') pauseProject(edit, id, sources)
    else resumeProject(edit, id)
    return id
  })
  return projectNamed(declared, result)
}

/** Re-creates or resets one planned object. @throws SvcError not_found; invalid for a custom project */
export function repairProject(declared: Declared, word: string, key: string, by: WriteBy): Project {
  let done: string | null = null
  const compose = (edit: Edit): string => {
    const id = requireIn(edit, word)
    const doc = projectOf(edit, id)
    if (doc.draft) refuseEvent('project', doc.name, 'draft', 'repair')
    if (isHandMade(doc))
      fail(
        'invalid',
        `project ${doc.name} was made ${doc.setup ? 'by guided setup' : 'by hand'}, not from a template, so nothing in it is repaired`,
      )
    const file =
      declared.templates.get(doc.template) ??
      fail('conflict', `template ${doc.template} is not in this program`)
    const { kind, name } = stageRepair(worldOf(declared, edit), id, file, key)
    done = `project ${doc.name}: ${kindWord(kind)} ${name} repaired`
    return id
  }
  return declared.store.tx(() => {
    const { result, plan } = declared.changes.commit({ ...by, summary: () => done }, compose)
    return { ...projectNamed(declared, result), ...mintForNew(declared, plan, by) }
  })
}

/**
 * Replaces what wakes whom in a project, and who takes over. In a paused project every wake is off until it is resumed:
 * one that is said to be on is on then, one that is said to be off stays off, one of which nothing is said is as it was.
 * @throws SvcError not_found; invalid, also for a wire that is there twice; conflict
 */
export function wireProject(declared: Declared, word: string, wiring: Wiring, by: WriteBy): Project {
  refuseTwice(wiring)
  const { result } = declared.changes.commit(by, (edit) => {
    const id = requireIn(edit, word)
    const doc = projectOf(edit, id)
    if (doc.draft) refuseDraft(doc)
    const off = wiring.wakes.filter(isSaidOff)
    putProject(edit, id, withoutNotes(withWiring(doc, wiring), off), by.base)
    return id
  })
  return projectNamed(declared, result)
}

/** Of the same wire twice the last would count without a word. @throws SvcError invalid */
function refuseTwice({ wakes, handoffs }: Wiring): void {
  const seen = new Set<string>()
  const once = (field: string, wire: string, said: string) => {
    if (seen.has(wire)) fail('invalid', `${field} says twice that ${said}`, { field })
    seen.add(wire)
  }
  wakes.forEach(({ trigger, agent }, i) => {
    once(`wakes[${i}]`, `wake ${trigger} ${agent}`, `${trigger} wakes ${agent}`)
  })
  handoffs.forEach(({ agent, verdict, to }, i) => {
    once(`handoffs[${i}]`, `handoff ${agent} ${verdict} ${to}`, `${agent} hands over to ${to} on ${verdict}`)
  })
}

/**
 * What a delete would take and leave.
 * @param picked as of the delete itself, which refuses the same
 * @throws SvcError not_found; invalid; conflict
 */
export function removalOf(
  declared: Declared,
  word: string,
  picked?: readonly string[],
): Removal & { keys: number; events: number } {
  const edit = new Edit(declared.kinds, () => undefined)
  const id = requireProject(declared, word)
  const removal = planRemoval(edit, id, adoptedIn(declared, id), picked)
  const events = removal.deletes
    .filter(({ kind }) => kind === 'source')
    .reduce((sum, { name }) => sum + (declared.sources.store.queries.byName(name)?.events ?? 0), 0)
  const keys = declared.keys.list().filter((key) => key.project === id && key.state === 'active').length
  return { ...removal, keys, events }
}

/** @throws SvcError not_found; invalid */
export function deleteProject(
  declared: Declared,
  word: string,
  { purgeEvents, picked }: { purgeEvents: boolean; picked: readonly string[] | undefined },
  by: WriteBy,
): ProjectDeleted {
  return declared.store.tx(() => {
    const id = requireProject(declared, word)
    const keysBefore = declared.keys
      .list()
      .filter((key) => key.project === id && key.state === 'active').length
    const ids = new Map(declared.sources.live().map((source) => [source.name, source.id]))
    const triggerIds = liveTriggerIds(declared.store.db)
    const { result: removal, changeSet } = declared.changes.commit(by, (edit) => {
      const planned = planRemoval(edit, id, adoptedIn(declared, id), picked)
      stageRemoval(edit, id, planned, by.base)
      return planned
    })
    const gone = removal.deletes.filter(({ kind }) => kind === 'source')
    const purged = purgeEvents ? gone.reduce((sum, { name }) => sum + declared.purge(ids.get(name)!), 0) : 0
    const triggers = removal.deletes.flatMap(({ kind, name }) =>
      kind === 'trigger' ? [triggerIds.get(name)!] : [],
    )
    const records = purgeEvents ? purgeRecords(declared.store.db, id, triggers) : { firings: 0, runs: 0 }
    const label = ({ kind, name }: { kind: PartKind; name: string }) => `${kind}:${name}`
    return {
      ok: true,
      deleted: removal.deletes.map(label),
      kept: [...removal.releases, ...removal.shared]
        .filter(({ kind }) => kind === 'source')
        .map(({ name }) => name),
      released: removal.releases.map(label),
      kept_shared: removal.shared.flatMap(({ kind, name, projects }) =>
        projects.map((project) => ({ kind, name, project })),
      ),
      left_paused: removal.left_paused,
      unwired: removal.unwired,
      purged_events: purged,
      purged_firings: records.firings,
      purged_runs: records.runs,
      revoked_keys: keysBefore,
      change_set: changeSet ?? 0,
    }
  })
}

const liveTriggerIds = (db: Database): Map<string, number> =>
  new Map(
    db.prepare("SELECT name, id FROM triggers WHERE state <> 'deleted'").raw().all() as [string, number][],
  )

/** A project by id or name, as it is read. @throws SvcError not_found */
export function projectNamed(declared: Declared, word: string): Project {
  const stored = declared.kinds.project.find(requireProject(declared, word))!
  return presentProject({ ...declared, queries: declared.projects }, stored)
}

/** The Default project first, then by name. */
export function listProjects(declared: Declared): Project[] {
  const usersOf = declared.projects.usersOfAll()
  const all = declared.kinds.project
    .list()
    .map((stored) => presentProject({ ...declared, queries: declared.projects }, stored, usersOf))
  return [...all.filter((project) => project.default), ...all.filter((project) => !project.default)]
}

function adoptedIn({ projects }: Declared, id: string): Set<string> {
  return new Set(
    projects
      .plannedOf(id)
      .filter(({ state }) => state === 'adopted')
      .map(({ kind, name }) => `${kind}:${name}`),
  )
}

function worldOf(declared: Declared, edit: Edit): TemplateWorld {
  return {
    edit,
    kinds: declared.kinds as Record<PartKind, DeclaredKind>,
    normalise: (kind, name, spec: Doc) => normaliseNew(kind, name, spec),
    fingerprint: (text) => declared.secrets.fingerprint(text),
    lastDeleted: (kind, name) => declared.changes.lastDeleted(kind, name),
    states: (project) =>
      new Map(declared.projects.plannedOf(project).map((row) => [`${row.kind}:${row.key}`, row.state])),
  }
}

function requireIn(edit: Edit, word: string): string {
  return findProject(edit, word) ?? fail('not_found', `no project has the id or name ${word}`)
}

/** @returns the name. @throws SvcError conflict when a project has it */
export function freeName(edit: Edit, name: string): string {
  for (const doc of projectsOf(edit).values())
    if (doc.name === name) fail('conflict', `a project named ${name} exists`, { field: 'name' })
  return name
}

/** @returns the title, or the first of "title 2", "title 3" that no project has and one may have. */
export function unusedName(edit: Edit, title: string): string {
  const names = new Set([...projectsOf(edit).values()].map((doc) => doc.name))
  let name = title
  for (let n = 2; names.has(name) || nameFault(name) !== null; n++) name = `${title} ${n}`
  return name
}

function refuseDraft(doc: ProjectDoc): never {
  return refuseEvent('project', doc.name, 'draft', 'update')
}

/* Who holds a project (SPEC.md, Project lifecycle: crew): a crew takes it, a person takes it over, either hands it back. */

export type Holding = 'hold' | 'takeover' | 'release'

/** So long a project that was released and not taken since is told of, for the crew that looks for it. */
const RELEASING_MS = 10 * 60_000

/** @throws SvcError not_found; wrong_state when somebody holds it, or nobody */
export function holdProject(declared: Declared, word: string, event: Holding, by: WriteBy): Project {
  const id = requireProject(declared, word)
  const { name } = declared.kinds.project.find(id)!
  const { db } = declared.store
  declared.store.tx(() => {
    const { snapshot } = declared.projects.byId(id)!
    const accepts = acceptedBy('project', snapshot)
    if (!accepts.includes(event)) refuseHolding(declared, id, name, accepts)
    advance(db, { kind: 'project', id, name }, event, by.caller, declared.clock.now())
  })
  return projectNamed(declared, id)
}

/** Its state alone does not say who holds it. @throws SvcError wrong_state */
function refuseHolding(declared: Declared, id: string, name: string, accepts: string[]): never {
  const { held_by, state } = projectNamed(declared, id)
  const moved = lastHolding(declared)(id)
  const since = moved ? ` (${whoMoved(moved)}) since ${new Date(moved.at).toISOString()}` : ''
  const held = held_by === null ? 'held by nobody' : `held by a ${held_by}${since}`
  return fail('wrong_state', `project ${name} (${state}) is ${held}; it accepts ${accepts.join(', ')}`, {
    state,
    accepts,
  })
}

interface Moved {
  event: string
  at: number
  actor: string
}

/**
 * When a project, by its id, was last taken or handed back, and by whom. The history goes by the name, which it follows:
 * what it has from before the project was made is of another that had the name.
 */
function lastHolding({ store, projects }: Declared): (id: string) => Moved | undefined {
  const last = store.db.prepare<[string, number], Moved>(
    `SELECT event, at, actor FROM history
     WHERE kind = 'project' AND object = ? AND event IN ('hold', 'takeover', 'release') AND at >= ?
     ORDER BY id DESC LIMIT 1`,
  )
  return (id) => {
    const row = projects.byId(id)
    return row && last.get(row.name, row.created_at)
  }
}

/** The history has the id of a credential before its name. */
const whoMoved = ({ actor }: Moved): string => actor.replace(/^\S+ /, '')

/** Projects that are held, and those just released that nobody has taken yet. */
export function heldProjects(declared: Declared): CrewProject[] {
  const last = lastHolding(declared)
  const now = declared.clock.now()
  return listProjects(declared).flatMap(({ id, name, held_by, status }): CrewProject[] => {
    const moved = last(id)
    const isReleasing = held_by === null && moved !== undefined && now - moved.at < RELEASING_MS
    if (held_by === null && !isReleasing) return []
    const state = isReleasing ? 'releasing' : 'held'
    const since = moved ? new Date(moved.at).toISOString() : null
    return [{ id, name, status, state, held_by, since, by: moved ? whoMoved(moved) : null }]
  })
}
