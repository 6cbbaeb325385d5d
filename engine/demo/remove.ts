/**
 * The demo taken away whole, in the caller's transaction: first as an edit, so that whatever holds what is declared
 * in memory reads it again, then every row that it left. What somebody else's parts use is refused by the edit.
 */
import type { DemoRemoved } from '../../schemas/types.ts'
import type { Declared } from '../declared/declared.ts'
import type { WriteBy } from '../declared/write.ts'
import { planRemoval, stageRemoval } from '../projects/remove.ts'
import { DEMO_SETTING } from '../settings/demo-key.ts'
import type { Settings } from '../settings/settings.ts'
import type { Database } from '../store/handle.ts'
import type { EventRemoval } from '../store/remove.ts'
import { parseEventId } from '../timeline/present.ts'
import { partsOf, projectOf } from '../wiring/project-doc.ts'
import { DEMO_AGENT, DEMO_FILE, DEMO_PARTS } from './catalog.ts'
import type { DemoState } from './state.ts'

export interface RemovalParts {
  declared: Declared
  settings: Settings
  events: EventRemoval
}

/** @throws SvcError conflict: something else uses a part of it */
export function removeAll(
  { declared, settings, events }: RemovalParts,
  state: DemoState,
  by: WriteBy,
): DemoRemoved {
  const { db } = declared.store
  const runs = runsOf(db, state)
  const removed = events.ofSources(state.sources) + events.byId(findingEvents(db, runs))
  const findings = emptyFindings(db, state)
  undeclare(declared, state, findings, by)
  const incidents = removeRecords(db, state, runs)
  removeRows(db, state, [...state.sources, ...findings.map(({ id }) => id)])
  settings.put(DEMO_SETTING, undefined)
  return { ok: true, events: removed, incidents, runs: runs.length }
}

interface NamedRow {
  id: number
  name: string
}

/** As an edit: the project with the parts of the demo; what else is in it goes to the Default project. */
function undeclare(
  declared: Declared,
  { project }: DemoState,
  findings: readonly NamedRow[],
  by: WriteBy,
): void {
  const parts = [...DEMO_PARTS, ...findings.map(({ name }) => ({ kind: 'source' as const, name }))]
  const own = new Set(parts.map(({ kind, name }) => `${kind}:${name}`))
  declared.changes.commit({ ...by, why: 'Remove demo' }, (edit) => {
    if (edit.has('project', project)) {
      const held = partsOf(projectOf(edit, project)).map(({ kind, name }) => `${kind}:${name}`)
      const picked = held.filter((part) => own.has(part))
      stageRemoval(edit, project, planRemoval(edit, project, new Set(), picked))
    }
    for (const { kind, name } of parts.reverse()) edit.remove(kind, name)
  })
}

/** The source of findings that was made for it, where nobody else's are in it. */
function emptyFindings(db: Database, { findings }: DemoState): NamedRow[] {
  return db
    .prepare<[number | null], NamedRow>(
      "SELECT id, name FROM sources WHERE id = ? AND events = 0 AND state <> 'deleted'",
    )
    .all(findings)
}

/** Of its agent, and of its project alone: what other agents found there, too. */
function runsOf(db: Database, { project }: DemoState): string[] {
  return db
    .prepare<[string, string, string], string>(
      `SELECT id FROM runs WHERE agent = ? OR (id IN (SELECT run_id FROM run_projects WHERE project = ?)
         AND id NOT IN (SELECT run_id FROM run_projects WHERE project <> ?))`,
    )
    .pluck()
    .all(DEMO_AGENT, project, project)
}

function findingEvents(db: Database, runs: readonly string[]): number[] {
  return db
    .prepare<[string], string>(
      'SELECT event_id FROM runs WHERE event_id IS NOT NULL AND id IN (SELECT value FROM json_each(?))',
    )
    .pluck()
    .all(JSON.stringify(runs))
    .flatMap((id) => parseEventId(id) ?? [])
}

/** What was recorded while it was there. @returns how many incidents */
function removeRecords(db: Database, { triggers, project }: DemoState, runs: readonly string[]): number {
  const ofTriggers = JSON.stringify(triggers)
  const ofRuns = JSON.stringify(runs)
  const remove = (sql: string, ...values: string[]) => db.prepare(sql).run(...values).changes
  const firings = 'SELECT id FROM firings WHERE trigger_id IN (SELECT value FROM json_each(?))'
  remove(`DELETE FROM deliveries WHERE firing_id IN (${firings})`, ofTriggers)
  remove('DELETE FROM deliveries WHERE finding_of IN (SELECT value FROM json_each(?))', ofRuns)
  remove(`DELETE FROM setups WHERE id = ?`, project)
  for (const table of [
    'active_keys',
    'watched_keys',
    'key_bases',
    'trigger_schedules',
    'evaluations',
    'firings',
  ])
    remove(`DELETE FROM ${table} WHERE trigger_id IN (SELECT value FROM json_each(?))`, ofTriggers)
  const incidents = remove(
    'DELETE FROM incidents WHERE trigger_id IN (SELECT value FROM json_each(?))',
    ofTriggers,
  )
  for (const column of ['from_run', 'to_run'])
    remove(`DELETE FROM handoffs WHERE ${column} IN (SELECT value FROM json_each(?))`, ofRuns)
  remove('DELETE FROM model_usage WHERE run_id IN (SELECT value FROM json_each(?))', ofRuns)
  remove('DELETE FROM agent_tests WHERE agent = ?', DEMO_AGENT)
  remove('DELETE FROM incident_runs WHERE run_id IN (SELECT value FROM json_each(?))', ofRuns)
  remove('DELETE FROM runs WHERE id IN (SELECT value FROM json_each(?))', ofRuns)
  return incidents
}

/** What was declared, and the record of that. */
function removeRows(db: Database, state: DemoState, sources: readonly number[]): void {
  const { project, triggers, at } = state
  const remove = (sql: string, values: Record<string, string | number>) => db.prepare(sql).run(values)
  const names = DEMO_PARTS.map(({ kind, name }) => `${kind}:${name}`)
  const values = {
    ...{ project, at, agent: DEMO_AGENT, file: DEMO_FILE },
    sources: JSON.stringify(sources),
    triggers: JSON.stringify(triggers),
    names: JSON.stringify(names),
    objects: JSON.stringify([...names, `project:${project}`, ...findingNames(db, sources)]),
  }
  const ids = (name: string) => `(SELECT value FROM json_each(@${name}))`
  const named = `(kind || ':' || coalesce(name, key)) IN ${ids('objects')}`
  for (const table of ['polls', 'dedupe', 'documents', 'purges', 'keys'])
    remove(`DELETE FROM ${table} WHERE source_id IN ${ids('sources')}`, { sources: values.sources })
  remove(`DELETE FROM keys WHERE project = @project`, { project })
  remove('DELETE FROM subscriptions WHERE project = @project', { project })
  remove(`DELETE FROM project_uses WHERE project = @project`, { project })
  remove('DELETE FROM planned_objects WHERE project = @project', { project })
  remove(`DELETE FROM guarded_parts WHERE (kind || ':' || name) IN ${ids('names')}`, { names: values.names })
  remove('DELETE FROM catalog_files WHERE name = @file', { file: DEMO_FILE })
  remove(
    `DELETE FROM changes WHERE change_set IN (SELECT id FROM change_sets WHERE at >= @at)
       AND ((kind || ':' || key) IN ${ids('objects')} OR ${named})`,
    { at, objects: values.objects },
  )
  remove('DELETE FROM change_set_projects WHERE project = @project', { project })
  // Nothing is left in them.
  remove(
    `DELETE FROM change_set_projects WHERE change_set IN (SELECT id FROM change_sets WHERE at >= @at)
       AND change_set NOT IN (SELECT change_set FROM changes)`,
    { at },
  )
  const empty = 'SELECT id FROM change_sets WHERE at >= @at AND id NOT IN (SELECT change_set FROM changes)'
  remove(`UPDATE change_sets SET undone_by = NULL WHERE undone_by IN (${empty})`, { at })
  remove(`UPDATE change_sets SET undoes = NULL WHERE undoes IN (${empty})`, { at })
  remove(`DELETE FROM change_sets WHERE id IN (${empty})`, { at })
  remove(
    `DELETE FROM history WHERE at >= @at AND ((kind || ':' || object) IN ${ids('objects')}
       OR (kind = 'project' AND object = @shop))`,
    { at, objects: values.objects, shop: projectName(db, project) },
  )
  remove(`DELETE FROM sources WHERE id IN ${ids('sources')}`, { sources: values.sources })
  remove(`DELETE FROM triggers WHERE id IN ${ids('triggers')}`, { triggers: values.triggers })
  remove("DELETE FROM agents WHERE name = @agent AND state = 'deleted' AND created_at >= @at", {
    agent: DEMO_AGENT,
    at,
  })
  remove('DELETE FROM projects WHERE id = @project', { project })
}

const projectName = (db: Database, id: string): string =>
  (db.prepare('SELECT name FROM projects WHERE id = ?').pluck().get(id) as string | undefined) ?? id

const findingNames = (db: Database, sources: readonly number[]): string[] =>
  db
    .prepare<[string], string>(
      "SELECT 'source:' || name FROM sources WHERE connector = 'finding' AND id IN (SELECT value FROM json_each(?))",
    )
    .pluck()
    .all(JSON.stringify(sources))
