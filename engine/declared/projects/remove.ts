/**
 * Deleting a project: a template's objects go with it unless another project uses them; a custom
 * project's objects are released and stay; a draft has nothing (SPEC.md, Project lifecycle). What
 * guided setup made goes as what a template made.
 */

import type { Wiring } from '../../../schemas/types.ts'
import { readersOf, refuseRead, stopPart } from '../../documents/wiring.ts'
import { fail } from '../../errors.ts'
import { refuseEvent } from '../../log/lifecycle.ts'
import type { Database } from '../../log/store/handle.ts'
import { type Doc, type Edit, type PartKind, partKinds } from '../../model/documents.ts'
import {
  DEFAULT_TEMPLATE,
  defaultProject,
  NOTED,
  type Pausable,
  type ProjectDoc,
  partsOf,
  projectOf,
  projectsOf,
  putProject,
  type Stopped,
  usersOf,
  wiringOf,
  withUses,
} from '../../model/project.ts'
import { isHandMade } from './project-spec.ts'

interface Part {
  kind: PartKind
  name: string
}

export interface Removal {
  /** Deleted with the project. */
  deletes: Part[]
  /** Left in place. */
  releases: Part[]
  /** Left in place because other projects use them, by id. */
  shared: (Part & { projects: string[] })[]
  /** kind:name of what a pause of the project stopped, and nothing starts again by itself. */
  left_paused: string[]
  /** Its wiring of agents that stay, which goes with it whatever becomes of the parts. */
  unwired: Wiring
}

/**
 * What deleting a project takes and leaves.
 * @param picked kind:name of the objects to delete; absent: as its template says, and of a custom
 *   project none.
 * @throws SvcError invalid for the Default project, or a picked object that is not its own
 */
export function planRemoval(
  edit: Edit,
  id: string,
  adopted: ReadonlySet<string>,
  picked?: readonly string[],
): Removal {
  const doc = projectOf(edit, id)
  if (doc.template === DEFAULT_TEMPLATE)
    fail('invalid', 'the Default project cannot be deleted: it holds what is made outside another project')
  const parts = partsOf(doc)
  const mine = new Set(parts.map(({ kind, name }) => `${kind}:${name}`))
  const foreign = picked?.find((entry) => !mine.has(entry))
  if (foreign)
    fail('invalid', `delete: ${foreign} is not an object of project ${doc.name}`, { field: 'delete' })
  const goes = ({ kind, name, use }: (typeof parts)[number]): boolean => {
    if (kind === 'skill' && !picked) return true
    if (picked) return picked.includes(`${kind}:${name}`)
    return (!isHandMade(doc) || doc.setup === true) && use.owned === true && !adopted.has(`${kind}:${name}`)
  }
  const removal: Removal = {
    ...{ deletes: [], releases: [], shared: [], left_paused: [] },
    unwired: { wakes: [], handoffs: [] },
  }
  for (const part of parts) {
    const { kind, name } = part
    const others = usersOf(edit, kind, name).filter((user) => user !== id)
    if (others.length) removal.shared.push({ kind, name, projects: others })
    else if (goes(part)) removal.deletes.push({ kind, name })
    else removal.releases.push({ kind, name })
  }
  if (picked) refuseReadSources(edit, id, removal.deletes)
  removal.left_paused = leftPaused(edit, id, [...removal.releases, ...removal.shared])
  removal.unwired = unwiredBy(doc, removal.deletes)
  return removal
}

/** What wakes an agent that stays, and whom it hands over to, in a project that goes. */
function unwiredBy(doc: ProjectDoc, deletes: readonly Part[]): Wiring {
  const stays = (agent: string) => !deletes.some(({ kind, name }) => kind === 'agent' && name === agent)
  const { wakes, handoffs } = wiringOf(doc)
  return {
    wakes: wakes.filter(({ agent }) => stays(agent)),
    handoffs: handoffs.filter(({ agent }) => stays(agent)),
  }
}

/** Wires that a project had with parts that it let go of; nothing where there are none. */
export function wiresLost(before: ProjectDoc, after: ProjectDoc): { unwired?: Wiring } {
  const had = wiringOf(before)
  const lost = {
    wakes: had.wakes.filter(({ trigger, agent }) => !after.wakes?.[trigger]?.[agent]),
    handoffs: had.handoffs.filter(({ agent, verdict, to }) => !after.handoffs?.[agent]?.[verdict]?.[to]),
  }
  return lost.wakes.length + lost.handoffs.length ? { unwired: lost } : {}
}

/** A source that was picked goes where the triggers that read it go, too. @throws SvcError conflict */
function refuseReadSources(edit: Edit, id: string, deletes: readonly Part[]): void {
  const triggers = new Set(deletes.flatMap(({ kind, name }) => (kind === 'trigger' ? [name] : [])))
  const { uses } = projectOf(edit, id)
  for (const { kind, name } of deletes) {
    if (kind !== 'source') continue
    const readers = readersOf(edit, name).filter((one) => !triggers.has(one))
    const isPickable = readers.every(
      (one) => uses.trigger?.[one] && usersOf(edit, 'trigger', one).length === 1,
    )
    const pick = readers.map((one) => `trigger:${one}`).join(',')
    refuseRead(
      edit,
      name,
      readers,
      isPickable ? `add ${pick} to delete, which deletes them too` : `leave source:${name} out of delete`,
    )
  }
}

/**
 * Of parts that leave a project: those that its pause stopped and that no other paused project uses, which would have
 * the note. They stay paused until somebody resumes them.
 * @returns kind:name of each
 */
export function leftPaused(
  edit: Edit,
  id: string,
  parts: readonly Part[],
  { stopped }: ProjectDoc = projectOf(edit, id),
): string[] {
  return parts.flatMap(({ kind, name }) => {
    if (kind !== 'trigger' && kind !== 'source') return []
    const part: Doc | undefined = edit.get(kind, name)
    const isNoted = stopped?.[NOTED[kind]]?.[name] && part?.paused === true
    const isHanded = usersOf(edit, kind, name).some((user) => user !== id && projectOf(edit, user).paused)
    return isNoted && !isHanded ? [`${kind}:${name}`] : []
  })
}

/**
 * Stages it: the project goes first, so that nothing still refers to what is deleted.
 * @param base version its writer saw. @throws SvcError conflict
 */
export function stageRemoval(edit: Edit, id: string, removal: Removal, base?: number): void {
  const doc = projectOf(edit, id)
  edit.remove('project', id, base)
  for (const { kind, name, projects } of removal.shared)
    if (doc.uses[kind]?.[name]?.owned) handOn(edit, kind, name, projects)
  for (const kind of [...partKinds].reverse())
    for (const part of removal.deletes) if (part.kind === kind) edit.remove(kind, part.name)
  // Other parts go to Default when nobody uses them; a skill does where it was left in place by choice.
  const skills = removal.releases.filter(({ kind }) => kind === 'skill')
  if (skills.length === 0) return
  const home = defaultProject(edit)
  putProject(edit, home, withUses(projectOf(edit, home), skills))
}

/** What belonged to the project belongs to the first other that uses it. */
function handOn(edit: Edit, kind: PartKind, name: string, projects: readonly string[]): void {
  const next = projects.find((id) => projectOf(edit, id).template !== DEFAULT_TEMPLATE)
  if (next) putProject(edit, next, withUses(projectOf(edit, next), [{ kind, name, owned: true }]))
}

/** kind:name,... as a query says it. @throws SvcError invalid */
export function readPicked(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined
  return text
    .split(',')
    .map((entry) => entry.trim().replace(/^mcp server:/, 'mcp_server:'))
    .filter(Boolean)
    .map((entry) =>
      /^(source|trigger|agent|mcp_server|skill):.+$/.test(entry)
        ? entry
        : fail('invalid', 'delete must be a list such as trigger:name,agent:name', { field: 'delete' }),
    )
}

/*
 * Firings and runs of a project that is deleted with what it recorded: they go in the transaction of the
 * delete. What runs cost stays, since usage and budgets are of a lifetime.
 */

/**
 * Removes the firings of triggers, with their deliveries and what was noted of them, and the runs that
 * are of no other project that is there. Runs that wait or are at work, and those that are examples of an agent, stay;
 * so do the firings of these: what they are about, and what its tests are told of.
 * @param triggers ids of the triggers that were deleted
 * @returns how many firings and runs are gone
 */
export function purgeRecords(
  db: Database,
  project: string,
  triggers: readonly number[],
): { firings: number; runs: number } {
  const ids = JSON.stringify(triggers)
  // A run that waits answers each firing that joined it.
  const firings = db
    .prepare<[string]>(
      `WITH staying AS (SELECT id, firing_id FROM runs WHERE ${IS_OPEN} OR id IN (SELECT run_id FROM agent_examples))
       DELETE FROM firings WHERE trigger_id IN (SELECT value FROM json_each(?))
         AND id NOT IN (SELECT firing_id FROM staying WHERE firing_id IS NOT NULL)
         AND id NOT IN (SELECT d.firing_id FROM deliveries d JOIN runs r ON r.id = d.run_id
                        WHERE d.firing_id IS NOT NULL AND r.${IS_OPEN})`,
    )
    .run(ids).changes
  for (const table of TRIGGER_TABLES)
    db.prepare<[string]>(`DELETE FROM ${table} WHERE trigger_id IN (SELECT value FROM json_each(?))`).run(ids)
  const isPurged = `NOT ${IS_OPEN} AND id NOT IN (SELECT run_id FROM agent_examples)
    AND id IN (SELECT run_id FROM run_projects WHERE project = @project)
    AND id NOT IN (SELECT run_id FROM run_projects WHERE project <> @project
      AND project IN (SELECT id FROM projects WHERE state <> 'deleted'))`
  const values = { project }
  db.prepare<typeof values>(
    `DELETE FROM handoffs WHERE state <> 'started' AND from_run IN (SELECT id FROM runs WHERE ${isPurged})`,
  ).run(values)
  const runs = db.prepare<typeof values>(`DELETE FROM runs WHERE ${isPurged}`).run(values).changes
  return { firings, runs }
}

/** Of a run: it waits or is at work. */
const IS_OPEN = "state IN ('queued', 'running', 'parked')"

/** What triggers remember of their events beside firings. */
const TRIGGER_TABLES = [
  'active_keys',
  'active_alerts',
  'watched_keys',
  'key_bases',
  'trigger_schedules',
  'evaluations',
] as const

/*
 * Pausing a project stops what wakes its agents, and its triggers unless another running project
 * uses them; its sources only on request. What was stopped is noted, and resuming restores exactly
 * that (SPEC.md, Project lifecycle).
 */

/** @throws SvcError wrong_state when it does not run */
export function pauseProject(edit: Edit, id: string, sources: boolean): void {
  const doc = projectOf(edit, id)
  if (doc.draft || doc.paused) refuseEvent('project', doc.name, doc.draft ? 'draft' : 'paused', 'pause')
  const stopped: Stopped = { wakes: {}, triggers: {}, sources: {} }
  const wakes = Object.fromEntries(
    Object.entries(doc.wakes ?? {}).map(([trigger, agents]) => [
      trigger,
      Object.fromEntries(
        Object.entries(agents).map(([agent, wake]) => {
          if (wake.enabled) stopped.wakes![trigger] = { ...stopped.wakes![trigger], [agent]: true }
          return [agent, { enabled: false }]
        }),
      ),
    ]),
  )
  for (const kind of sources ? (['trigger', 'source'] as const) : (['trigger'] as const))
    for (const name of Object.keys(doc.uses[kind] ?? {}))
      if (stopPart(edit, kind, name, id)) stopped[NOTED[kind]]![name] = true
  putProject(edit, id, { ...doc, wakes, stopped, paused: true })
}

/** @throws SvcError wrong_state when it is not paused */
export function resumeProject(edit: Edit, id: string): void {
  const doc = projectOf(edit, id)
  if (!doc.paused) refuseEvent('project', doc.name, edit.stored('project', id)?.state ?? 'running', 'resume')
  const { stopped, paused: _paused, ...rest } = doc
  const wakes = structuredClone(doc.wakes ?? {})
  for (const [trigger, agents] of Object.entries(stopped?.wakes ?? {}))
    for (const agent of Object.keys(agents))
      if (wakes[trigger]?.[agent]) wakes[trigger][agent] = { enabled: true }
  putProject(edit, id, { ...rest, wakes })
  for (const kind of ['trigger', 'source'] as const)
    for (const name of Object.keys(doc.uses[kind] ?? {}))
      if (stopped?.[NOTED[kind]]?.[name] || takeNote(edit, id, kind, name)) start(edit, kind, name)
}

/**
 * What is switched off while its project is paused stays off: resuming has nothing of it to restore.
 * @param off wakes that somebody says are off
 */
export function withoutNotes(
  doc: ProjectDoc,
  off: readonly { trigger: string; agent: string }[],
): ProjectDoc {
  if (!doc.stopped?.wakes || off.length === 0) return doc
  const wakes = structuredClone(doc.stopped.wakes)
  for (const { trigger, agent } of off) delete wakes[trigger]?.[agent]
  return { ...doc, stopped: { ...doc.stopped, wakes } }
}

function start(edit: Edit, kind: Pausable, name: string): void {
  const part = edit.get(kind, name)
  if (!part?.paused) return
  const { paused: _paused, ...doc } = part
  edit.put(kind, name, doc)
}

/**
 * A shared part is stopped by the last of its projects to pause; the first to resume needs it again,
 * whichever noted it. @returns whether another project had noted it; its note is taken away.
 */
function takeNote(edit: Edit, id: string, kind: Pausable, name: string): boolean {
  for (const [other, doc] of projectsOf(edit)) {
    const noted = doc.stopped?.[NOTED[kind]]
    if (other === id || !noted?.[name]) continue
    const { [name]: _taken, ...left } = noted
    putProject(edit, other, { ...doc, stopped: { ...doc.stopped, [NOTED[kind]]: left } })
    return true
  }
  return false
}
