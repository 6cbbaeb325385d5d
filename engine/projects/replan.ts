/**
 * A template project planned again with new parameters: only the difference is applied. What a hand
 * edited or deleted stays as it is, under its name, and is wired with what the new plan makes.
 */

import type { ProjectReport, TemplateFile } from '../../schemas/types.ts'
import type { Doc } from '../changes/declared.ts'
import { type PartKind, partKinds } from '../changes/declared.ts'
import type { Edit } from '../changes/edit.ts'
import { equal } from '../changes/fields.ts'
import { planTemplate } from '../templates/index.ts'
import { readersOf } from '../wiring/complete.ts'
import { type ProjectDoc, projectOf, putProject } from '../wiring/project-doc.ts'
import { Renames, rewireParts } from './renames.ts'
import { stageWiring } from './template-wiring.ts'
import {
  keepPaused,
  keptNames,
  leave,
  note,
  type Plan,
  type PlannedObject,
  plannedAs,
  retire,
  stagePlanned,
  type TemplateWorld,
} from './templated.ts'

type Report = Required<Pick<ProjectReport, 'created' | 'updated' | 'kept' | 'deleted'>>

interface Replan {
  world: TemplateWorld
  id: string
  /** The project until now. */
  before: ProjectDoc
  states: ReadonlyMap<string, string>
  plan: Plan
  renames: Renames
  report: Report
}

/** Re-plans with new parameters and stages only the difference. @throws SvcError invalid; conflict */
export function stageReplan(
  world: TemplateWorld,
  id: string,
  file: TemplateFile,
  params: Record<string, unknown>,
): ProjectReport {
  const { edit } = world
  const before = projectOf(edit, id)
  const states = world.states(id)
  const report: Report = { created: [], updated: [], kept: [], deleted: [] }
  const replan: Replan = { world, id, before, states, plan: {}, renames: new Renames(), report }
  const planned = planTemplate(file, params, keptNames(before, states))
  const objects = planned.objects as PlannedObject[]
  putProject(edit, id, { ...before, params })
  for (const object of objects) stageObject(replan, object)
  rewireParts(edit, id, replan.renames)
  dropUnplanned(replan, new Set(objects.map(({ kind, key }) => `${kind}:${key}`)))
  stageWiring(edit, id, planned, replan.plan, replan.renames.inWiringOf(before))
  return report
}

function stageObject(replan: Replan, object: PlannedObject): void {
  const { world, before, states, plan, report } = replan
  const { edit } = world
  const { kind, key, name } = object
  const was = before.plan?.[kind]?.[key]
  const state = states.get(`${kind}:${key}`)
  if (was && (state === 'customized' || state === 'missing' || state === 'adopted')) {
    note(plan, kind, key, { ...was, ...plannedAs(world, object) })
    report.kept.push(`${kind}:${name}`)
  } else if (was && was.name === name) {
    const doc = keepPaused(edit, kind, name, world.normalise(kind, name, object.spec))
    // Documents are compared with their secrets: one that changed is a change like any other.
    const changed = !equal(doc, edit.get(kind, name))
    if (changed) edit.put(kind, name, doc)
    note(plan, kind, key, plannedAs(world, object))
    ;(changed ? report.updated : report.kept).push(`${kind}:${name}`)
  } else {
    if (was) replace(replan, object, was.name)
    else stagePlanned(world, replan.id, object, plan)
    report.created.push(`${kind}:${name}`)
  }
}

/** The plan makes an object under another name: that of before goes, and a pause of it stays. */
function replace({ world, id, plan, renames, report }: Replan, object: PlannedObject, was: string): void {
  const { edit } = world
  const { kind, name } = object
  const before: Doc | undefined = edit.get(kind, was)
  const isPaused = before?.paused === true
  const isNew = !edit.has(kind, name)
  if (retire(world, id, kind, was)) report.deleted.push(`${kind}:${was}`)
  stagePlanned(world, id, object, plan)
  if (isPaused && isNew) edit.put(kind, name, { ...edit.require(kind, name), paused: true })
  renames.add(kind, was, name)
}

/** What the plan no longer has goes, those first that refer to others. */
function dropUnplanned({ world, id, before, states, report }: Replan, stays: ReadonlySet<string>): void {
  const { edit } = world
  for (const kind of [...partKinds].reverse())
    for (const [key, { name }] of Object.entries(before.plan?.[kind] ?? {})) {
      const state = states.get(`${kind}:${key}`)
      if (stays.has(`${kind}:${key}`) || state === 'missing') continue
      if (state === 'adopted') leave(edit, id, kind, name)
      // A part that a hand made or edited still refers to it, and would break or lose it without a word.
      else if (isReferredTo(edit, kind, name)) report.kept.push(`${kind}:${name}`)
      else if (retire(world, id, kind, name)) report.deleted.push(`${kind}:${name}`)
    }
}

function isReferredTo(edit: Edit, kind: PartKind, name: string): boolean {
  if (kind === 'source') return readersOf(edit, name).length > 0
  if (kind !== 'mcp_server') return false
  return [...edit.all('agent').values()].some((doc) => ((doc.mcp_servers ?? []) as string[]).includes(name))
}
