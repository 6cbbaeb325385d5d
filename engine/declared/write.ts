/** What every write of a part shares: where it joins, whether its name is free, what is answered. */

import { kindWord } from '../../schemas/kinds.ts'
import type { PartDeleted, PartMoved, PartWritten } from '../../schemas/types.ts'
import type { Authoring, Committed } from '../documents/change-sets.ts'
import { checkSkillName } from '../documents/skill.ts'
import { fail } from '../errors.ts'
import { refuseEvent } from '../log/lifecycle.ts'
import { WHERE } from '../model/credentials.ts'
import { type Doc, type Edit, isPart, type NamedKind, type PartKind } from '../model/documents.ts'
import {
  DEFAULT_TEMPLATE,
  defaultProject,
  findProject,
  projectOf,
  projectsOf,
  putProject,
  usersOf,
  withUses,
} from '../model/project.ts'
import { connectorOf } from '../sources/connectors/index.ts'
import type { Declared } from './declared.ts'

/** A write as a door hands it over: who and why, and the version its writer saw. */
export interface WriteBy extends Authoring {
  /** From If-Match; absent: the last write wins. */
  base?: number | undefined
  /** The instance is secured: each new source that events are sent to gets an ingest key, told once. */
  mintKeys?: boolean | undefined
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

const articled = (kind: NamedKind): string => `${kind === 'entity' ? 'an' : 'a'} ${kindWord(kind)}`

/** One rule for the names of all parts but skills. @throws SvcError invalid */
export function checkName(kind: NamedKind, name: string): void {
  if (!NAME.test(name))
    fail(
      'invalid',
      `name of ${articled(kind)} must be 1 to 64 letters, digits, dots, dashes or underscores, beginning with a letter or digit`,
      { field: 'name' },
    )
}

/** The project a body names, by id or name; none: Default. @throws SvcError invalid */
export function joiningProject(edit: Edit, word: string | undefined): string {
  if (!word) return defaultProject(edit)
  return (
    findProject(edit, word) ?? fail('invalid', `project: no project is named ${word}`, { field: 'project' })
  )
}

/** Stages a new part in a project, to which it belongs. @throws SvcError conflict when the name is taken */
export function stageNew(edit: Edit, kind: PartKind, name: string, doc: Doc, project: string): void {
  if (edit.has(kind, name)) fail('conflict', `a ${kindWord(kind)} named ${name} exists`, { field: 'name' })
  edit.put(kind, name, doc)
  joinProject(edit, kind, name, project, true)
}

/** A part joins a project; it belongs to it when it is new there. */
export function joinProject(edit: Edit, kind: PartKind, name: string, project: string, owned: boolean): void {
  const doc = projectOf(edit, project)
  const belongs = owned && doc.template !== DEFAULT_TEMPLATE
  putProject(edit, project, withUses(doc, [{ kind, name, owned: belongs }]))
}

/**
 * Stages the edit of a part. `project`, when given and not its own, then uses it too.
 * @throws SvcError not_found; invalid when the name in the body is another
 */
export function stageEdit(
  edit: Edit,
  kind: PartKind,
  name: string,
  body: { name?: string | undefined; project?: string | undefined },
  doc: Doc,
  base: number | undefined,
): void {
  edit.require(kind, name)
  if (body.name !== undefined && body.name !== name)
    fail('invalid', `name must equal the name in the path: a ${kindWord(kind)} is not renamed`, {
      field: 'name',
    })
  edit.put(kind, name, doc, base)
  if (!body.project) return
  const project = joiningProject(edit, body.project)
  if (!usersOf(edit, kind, name).includes(project)) joinProject(edit, kind, name, project, false)
}

/** The answer of a create or update. */
export function written(
  declared: Declared,
  kind: PartKind,
  name: string,
  committed: Committed<unknown>,
): PartWritten {
  return {
    ok: true,
    name,
    project: makerOf(declared, kind, name),
    version: declared.kinds[kind].find(name)?.changeSet ?? 0,
    change_set: committed.changeSet,
    ...withWarnings(committed),
  }
}

/** What should be known of a write although it is allowed. */
export const withWarnings = ({ plan: { warnings } }: Committed<unknown>): { warnings?: string[] } =>
  warnings ? { warnings } : {}

/** The project a part belongs to, else the first that uses it. */
export function makerOf({ kinds, projects }: Declared, kind: PartKind, name: string): string | null {
  const users = projects.users(kind, name)
  const owner = users.find((id) => {
    const uses = kinds.project.find(id)?.doc.uses as
      | Record<string, Record<string, { owned?: true }>>
      | undefined
    return uses?.[kind]?.[name]?.owned
  })
  return owner ?? users[0] ?? null
}

/** Everything a committed edit deleted, as kind:name. */
export function deletedBy({ plan }: Committed<unknown>): string[] {
  return plan.changes
    .filter(({ action, kind }) => action === 'delete' && kind !== 'project')
    .map(({ kind, name }) => `${kind}:${name}`)
}

/** The answer of a delete. */
export function deleted(committed: Committed<unknown>, more: Partial<PartDeleted> = {}): PartDeleted {
  return { ok: true, deleted: deletedBy(committed), change_set: committed.changeSet ?? 0, ...more }
}

/** Pauses or resumes a part. @throws SvcError not_found; wrong_state */
export function movePart(
  declared: Declared,
  kind: 'source' | 'trigger',
  name: string,
  event: 'pause' | 'resume',
  by: WriteBy,
): PartMoved {
  declared.changes.commit(by, (edit) => stagePaused(edit, kind, name, event))
  const stored = declared.kinds[kind].find(name)!
  return { ok: true, state: stored.state, version: stored.changeSet }
}

/** Stages `paused` of a part. @throws SvcError not_found; wrong_state when it is so already */
export function stagePaused(
  edit: Edit,
  kind: 'source' | 'trigger',
  name: string,
  event: 'pause' | 'resume',
): void {
  const { paused: was, ...doc } = edit.require(kind, name)
  const paused = event === 'pause'
  if (Boolean(was) === paused) refuseEvent(kind, name, paused ? 'paused' : 'active', event)
  edit.put(kind, name, paused ? { ...doc, paused: true } : doc)
}

/* Another name for a part: what is kept of it, and all that refers to it, goes along. */

/** @throws SvcError not_found; invalid; conflict when the name is taken, or a template gave it its name */
export function renamePart(
  declared: Declared,
  kind: PartKind,
  from: string,
  to: string,
  by: WriteBy,
): PartWritten {
  const committed = declared.changes.commit(by, (edit) => stageRename(edit, kind, from, to))
  return written(declared, kind, to, committed)
}

/** Stages another name. @throws as renamePart */
export function stageRename(edit: Edit, kind: NamedKind, from: string, to: string): void {
  if (kind === 'skill') checkSkillName(to)
  else checkName(kind, to)
  const { connector } = edit.require(kind, from) as { connector?: string }
  if (kind === 'source' && connectorOf(String(connector)).internal === true)
    fail('conflict', `source ${from} is made by the service itself and keeps its name`)
  const maker = [...projectsOf(edit).values()].find(({ plan }) =>
    Object.values((isPart(kind) && plan?.[kind]) || {}).some(({ name }) => name === from),
  )
  if (maker)
    fail(
      'conflict',
      `${kindWord(kind)} ${from} has its name from the template of the project ${maker.name}, which would make it again`,
    )
  edit.rename(kind, from, to)
}

/* What a person or an agent writes names credentials that are there; a catalog may come before them. */

/**
 * @param before what was named until now: one that has gone since is not what this write is about.
 * @throws SvcError not_found
 */
export function requireCredential(declared: Declared, name: string | null, before: string | null): void {
  if (name === null || name === before || declared.sources.store.credentials.has(name)) return
  fail('not_found', `credential: no credential is named ${name}; add it under ${WHERE} first`, {
    field: 'credential',
  })
}

/** Parameters of a template that name credentials name some that are there. @throws SvcError not_found */
export function requireParamCredentials(
  declared: Declared,
  template: string | undefined,
  params: Readonly<Record<string, unknown>> = {},
): void {
  const file = template === undefined ? undefined : declared.templates.get(template)
  for (const [name, rules] of Object.entries(file?.params.properties ?? {})) {
    const given = params[name]
    if (rules['x-widget'] === 'credential' && typeof given === 'string' && given)
      requireCredential(declared, given, null)
  }
}
