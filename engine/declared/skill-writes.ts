/**
 * Skills of projects (SPEC.md, Skills; Skill lifecycle), each write one change-set: made or uploaded
 * by a project, used by others, edited for all of them, deleted with the last that uses it.
 */

import type { ProjectSkill, Skill, SkillRemoved, SkillSpec, SkillSummary } from '../../schemas/types.ts'
import { checkSkillName, normaliseSkill, readSkillFile, writeSkillFile } from '../documents/skill.ts'
import { fail } from '../errors.ts'
import type { Database } from '../log/store/handle.ts'
import type { Edit, StoredOf } from '../model/documents.ts'
import { findProject, projectOf, putProject, usersOf, withoutParts } from '../model/project.ts'
import { iso } from '../model/units.ts'
import { type Declared, joinProject, type WriteBy } from './declared.ts'

/** Every skill of the instance, without bodies. */
export function listSkills({ kinds, projects }: Declared): SkillSummary[] {
  const names = new Map(kinds.project.list().map((stored) => [stored.key, stored.name]))
  const usersOf = projects.usersOfAll()
  return kinds.skill.list().map((stored) => ({
    name: stored.name,
    description: specOf(stored).description,
    used_by: usersOf('skill', stored.name).map((id) => ({ id, name: names.get(id) ?? id })),
    updated_at: iso(stored.updatedAt),
    size: Buffer.byteLength(specOf(stored).body),
  }))
}

/** @throws SvcError not_found */
export function listProjectSkills(declared: Declared, word: string): ProjectSkill[] {
  const project = requireProject(declared, word)
  const loadedBy = skillLoads(declared.store.db, project, declared.clock.now())
  return declared.kinds.skill
    .list()
    .filter(({ name }) => declared.projects.users('skill', name).includes(project))
    .map((stored) => ({
      name: stored.name,
      description: specOf(stored).description,
      updated_at: iso(stored.updatedAt),
      size: Buffer.byteLength(specOf(stored).body),
      loaded_by: loadedBy(stored.name),
    }))
}

/** @throws SvcError not_found, also for a skill only other projects use */
export function getProjectSkill(declared: Declared, word: string, name: string): Skill {
  const project = requireProject(declared, word)
  const stored = declared.kinds.skill.find(name)
  if (!stored || !declared.projects.users('skill', name).includes(project))
    return fail('not_found', `project ${projectName(declared, project)} uses no skill named ${name}`)
  return present(stored)
}

/** The skill as a SKILL.md file. @throws SvcError not_found */
export function skillFile(declared: Declared, word: string, name: string): string {
  return writeSkillFile(getProjectSkill(declared, word, name))
}

/** @throws SvcError invalid; not_found; conflict when the name is on the instance */
export function createSkill(
  declared: Declared,
  word: string,
  body: { name?: unknown; description?: unknown; body?: unknown },
  by: WriteBy,
): Skill {
  const name = checkSkillName(body.name)
  const spec = normaliseSkill(body)
  declared.changes.commit(by, (edit) => {
    const project = find(edit, word)
    if (edit.has('skill', name))
      fail('conflict', `a skill named ${name} is on the instance; use it in this project instead`, {
        field: 'name',
      })
    edit.put('skill', name, { ...spec })
    joinProject(edit, 'skill', name, project, true)
  })
  return present(declared.kinds.skill.find(name)!)
}

/** Creates or replaces by name, and has the project use it. `created`: the name was new. @throws SvcError invalid */
export function uploadSkill(declared: Declared, word: string, file: Uint8Array, by: WriteBy): Skill {
  const given = readSkillFile(file)
  const name = checkSkillName(given.name)
  const spec = normaliseSkill(given)
  const { result } = declared.changes.commit(by, (edit) => {
    const project = find(edit, word)
    const isNew = !edit.has('skill', name)
    edit.put('skill', name, { ...spec })
    if (!usersOf(edit, 'skill', name).includes(project)) joinProject(edit, 'skill', name, project, isNew)
    return isNew
  })
  return { ...present(declared.kinds.skill.find(name)!), created: result }
}

/** @throws SvcError not_found when none has that name */
export function shareSkill(declared: Declared, word: string, name: string, by: WriteBy): Skill {
  declared.changes.commit(by, (edit) => {
    const project = find(edit, word)
    edit.require('skill', name)
    if (!usersOf(edit, 'skill', name).includes(project)) joinProject(edit, 'skill', name, project, false)
  })
  return present(declared.kinds.skill.find(name)!)
}

/** Changes description, body or both for every project that uses it. @throws SvcError not_found; invalid; conflict */
export function updateSkill(
  declared: Declared,
  word: string,
  name: string,
  body: { name?: unknown; description?: unknown; body?: unknown },
  by: WriteBy,
): Skill {
  const { description, body: text } = getProjectSkill(declared, word, name)
  if (body.name !== undefined && body.name !== name)
    fail(
      'invalid',
      'name must equal the name in the path; rename the skill by POST /api/skills/{name}/rename, or svc skills rename',
      { field: 'name' },
    )
  const spec = normaliseSkill({
    description: body.description === undefined ? description : body.description,
    body: body.body === undefined ? text : body.body,
  })
  declared.changes.commit(by, (edit) => edit.put('skill', name, { ...spec }, by.base))
  return present(declared.kinds.skill.find(name)!)
}

/** The project no longer uses it; with no other that does, it is deleted. @throws SvcError not_found; conflict */
export function removeSkill(declared: Declared, word: string, name: string, by: WriteBy): SkillRemoved {
  const { result } = declared.changes.commit(by, (edit) => {
    const project = find(edit, word)
    const users = usersOf(edit, 'skill', name)
    if (!users.includes(project))
      fail('not_found', `project ${projectOf(edit, project).name} uses no skill named ${name}`)
    edit.requireSeen('skill', name, by.base)
    const isIt = (kind: string, other: string) => kind === 'skill' && other === name
    putProject(edit, project, withoutParts(projectOf(edit, project), isIt))
    return users.filter((id) => id !== project)
  })
  return { ok: true, removed: name, deleted: result.length ? null : name, kept_for: result }
}

/** @throws SvcError not_found */
export function requireProject({ kinds }: Declared, word: string): string {
  const byId = kinds.project.find(word)
  const found = byId ?? kinds.project.list().find((stored) => stored.name === word)
  return found?.key ?? fail('not_found', `no project has the id or name ${word}`)
}

function find(edit: Edit, word: string): string {
  return findProject(edit, word) ?? fail('not_found', `no project has the id or name ${word}`)
}

const projectName = ({ kinds }: Declared, id: string): string => kinds.project.find(id)?.name ?? id
const specOf = (stored: StoredOf<'skill'>): SkillSpec => stored.doc

function present(stored: StoredOf<'skill'>): Skill {
  const { description, body } = specOf(stored)
  return {
    name: stored.name,
    description,
    body,
    updated_at: iso(stored.updatedAt),
    version: stored.changeSet,
  }
}

/* Which agents loaded the skills of a project lately (SPEC.md, Skill: loaded_by, last 7 days). */

const WINDOW_MS = 7 * 86_400_000

/**
 * @param project id
 * @param now epoch ms
 * @returns names of agents whose runs for the project loaded a skill in the last seven days, sorted
 */
export function skillLoads(db: Database, project: string, now: number): (skill: string) => string[] {
  const rows = db
    .prepare<[string, number], { skill: string; agent: string }>(
      `SELECT DISTINCT s.value AS skill, r.agent FROM run_projects p JOIN runs r ON r.id = p.run_id,
         json_each(r.skills) s
       WHERE p.project = ? AND r.skills <> '[]' AND coalesce(r.finished_at, r.started_at) > ?
       ORDER BY r.agent`,
    )
    .all(project, now - WINDOW_MS)
  return (skill) => rows.flatMap((row) => (row.skill === skill ? [row.agent] : []))
}
