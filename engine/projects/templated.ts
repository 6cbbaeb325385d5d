/**
 * Template projects (SPEC.md, Project lifecycle; Ownership of template-project objects): a template
 * plans objects from parameters; making the project applies the plan all or nothing, an update only
 * the difference, and what a hand edited or deleted is kept as it is until it is repaired.
 */
import type { ProjectReport, TemplateFile } from '../../schemas/types.ts'
import { type DeclaredKind, type Doc, kindWord, type PartKind } from '../changes/declared.ts'
import type { Edit } from '../changes/edit.ts'
import { fail } from '../errors.ts'
import { acceptedIn } from '../lifecycle/advance.ts'
import { planTemplate } from '../templates/index.ts'
import {
  DEFAULT_TEMPLATE,
  newProjectId,
  ownerOf,
  type Planned,
  type ProjectDoc,
  projectOf,
  putProject,
  usersOf,
  withoutParts,
  withUses,
} from '../wiring/project-doc.ts'
import { withHandoff, withWake } from '../wiring/wires.ts'
import { digestOf } from './follow.ts'

export interface TemplateWorld {
  edit: Edit
  kinds: Record<PartKind, DeclaredKind>
  /** Checks a planned spec and gives its canonical form. */
  normalise(kind: PartKind, name: string, spec: Doc): Doc
  /** States of a project's planned objects now, by kind:key. */
  states(project: string): ReadonlyMap<string, string>
}

type PlannedObject = { kind: PartKind; key: string; name: string; spec: Doc }
type Plan = NonNullable<ProjectDoc['plan']>

/** Stages a new project with everything its template plans. @returns its id. @throws SvcError */
export function stageTemplated(
  world: TemplateWorld,
  file: TemplateFile,
  { name, goal, params }: { name: string; goal?: string | undefined; params: Record<string, unknown> },
): string {
  const { edit } = world
  const id = newProjectId(edit)
  putProject(edit, id, { name, template: file.key, ...(goal ? { goal } : {}), params, uses: {} })
  const planned = planTemplate(file, params)
  const plan: Plan = {}
  for (const object of planned.objects as PlannedObject[]) stagePlanned(world, id, object, plan)
  stageWiring(world, id, planned, plan)
  return id
}

/** Re-plans with new parameters and stages only the difference. */
export function stageReplan(
  world: TemplateWorld,
  id: string,
  file: TemplateFile,
  params: Record<string, unknown>,
): ProjectReport {
  const { edit } = world
  const before = projectOf(edit, id)
  const states = world.states(id)
  const planned = planTemplate(file, params)
  const plan: Plan = {}
  const report = {
    created: [] as string[],
    updated: [] as string[],
    kept: [] as string[],
    deleted: [] as string[],
  }
  putProject(edit, id, { ...before, params })
  for (const object of planned.objects as PlannedObject[]) {
    const { kind, key, name } = object
    const was = before.plan?.[kind]?.[key]
    const state = states.get(`${kind}:${key}`)
    const label = `${kind}:${was?.name ?? name}`
    if (was && (state === 'customized' || state === 'missing' || state === 'adopted')) {
      note(plan, kind, key, { ...was, digest: digestFor(world, object) })
      report.kept.push(label)
    } else if (was && was.name === name) {
      const doc = world.normalise(kind, name, object.spec)
      const changed = digestFor(world, object) !== was.digest || !edit.has(kind, name)
      if (changed) edit.put(kind, name, keepPaused(edit, kind, name, doc))
      note(plan, kind, key, { name, digest: digestFor(world, object) })
      ;(changed ? report.updated : report.kept).push(label)
    } else {
      if (was) retire(world, id, kind, was.name, report.deleted)
      stagePlanned(world, id, object, plan)
      report.created.push(`${kind}:${name}`)
    }
  }
  const stays = new Set((planned.objects as PlannedObject[]).map(({ kind, key }) => `${kind}:${key}`))
  for (const [kind, entries] of Object.entries(before.plan ?? {}))
    for (const [key, { name }] of Object.entries(entries ?? {}))
      if (!stays.has(`${kind}:${key}`)) {
        const state = states.get(`${kind}:${key}`)
        if (state === 'adopted') leave(edit, id, kind as PartKind, name)
        else if (state !== 'missing') retire(world, id, kind as PartKind, name, report.deleted)
      }
  stageWiring(world, id, planned, plan, before)
  return report
}

/** Stages one planned object as the plan says. @throws SvcError not_found; conflict when it is as planned */
export function stageRepair(world: TemplateWorld, id: string, file: TemplateFile, word: string): void {
  const { edit } = world
  const doc = projectOf(edit, id)
  const planned = planTemplate(file, doc.params ?? {})
  const objects = planned.objects as PlannedObject[]
  const object =
    objects.find(({ kind, key }) => `${kind}:${key}` === word) ??
    objects.find(({ key }) => key === word) ??
    fail('not_found', `project ${doc.name} plans no object with the key ${word}`, { field: 'key' })
  const { kind, key, name } = object
  const state = world.states(id).get(`${kind}:${key}`)
  if (state !== 'missing' && state !== 'customized')
    fail(
      'wrong_state',
      `${kindWord(kind)} ${name} is ${state ?? 'not planned'}; only one that is missing or customized is repaired`,
      { state: state ?? 'none', accepts: acceptedIn('ownership', state ?? 'none') },
    )
  const owner = ownerOf(edit, kind, name)
  if (owner && owner !== id)
    fail('conflict', `${kindWord(kind)} ${name} belongs to project ${projectOf(edit, owner).name} now`)
  edit.put(kind, name, keepPaused(edit, kind, name, world.normalise(kind, name, object.spec)))
  const plan = structuredClone(doc.plan ?? {})
  note(plan, kind, key, { name, digest: digestFor(world, object) })
  putProject(edit, id, { ...withUses(projectOf(edit, id), [{ kind, name, owned: true }]), plan })
  wireAgain(world, id, planned, kind, name)
}

function stagePlanned(world: TemplateWorld, id: string, object: PlannedObject, plan: Plan): void {
  const { edit } = world
  const { kind, key, name } = object
  const exists = edit.has(kind, name)
  const owner = exists ? ownerOf(edit, kind, name) : null
  if (owner && owner !== id)
    fail(
      'conflict',
      `${kindWord(kind)} ${name} belongs to project ${projectOf(edit, owner).name}; choose other parameters, or rename that one`,
    )
  const digest = digestFor(world, object)
  if (!exists) edit.put(kind, name, world.normalise(kind, name, object.spec))
  note(plan, kind, key, { name, digest, ...(exists ? { adopted: true as const } : {}) })
  putProject(edit, id, withUses(projectOf(edit, id), [{ kind, name, owned: true }]))
  if (exists) leaveDefault(edit, kind, name)
}

/** An adopted object leaves the Default project, which held it for want of another. */
function leaveDefault(edit: Edit, kind: PartKind, name: string): void {
  for (const id of usersOf(edit, kind, name))
    if (projectOf(edit, id).template === DEFAULT_TEMPLATE) leave(edit, id, kind, name)
}

function leave(edit: Edit, id: string, kind: PartKind, name: string): void {
  putProject(
    edit,
    id,
    withoutParts(projectOf(edit, id), (k, n) => k === kind && n === name),
  )
}

/** Takes away what the plan no longer has; what another project uses only leaves. */
function retire(world: TemplateWorld, id: string, kind: PartKind, name: string, deleted: string[]): void {
  const { edit } = world
  const isShared = usersOf(edit, kind, name).some((user) => user !== id)
  leave(edit, id, kind, name)
  if (isShared) return
  edit.remove(kind, name)
  deleted.push(`${kind}:${name}`)
}

/** Wires what the plan wires; of what was planned before, a hand's changes are kept, and what is missing is not wired. */
function stageWiring(
  { edit }: TemplateWorld,
  id: string,
  planned: ReturnType<typeof planTemplate>,
  plan: Plan,
  before?: ProjectDoc,
): void {
  let doc: ProjectDoc = { ...projectOf(edit, id), plan }
  for (const { trigger, agent, enabled } of planned.wakes)
    if (
      before?.wakes?.[trigger]?.[agent] === undefined &&
      edit.has('trigger', trigger) &&
      edit.has('agent', agent)
    )
      doc = withWake(doc, trigger, agent, (enabled ?? true) && !doc.paused)
  for (const { agent, verdict, to, cooldown } of planned.handoffs)
    if (
      before?.handoffs?.[agent]?.[verdict]?.[to] === undefined &&
      edit.has('agent', agent) &&
      edit.has('agent', to)
    )
      doc = withHandoff(doc, agent, verdict, to, cooldown ?? '30m')
  putProject(edit, id, doc)
}

/** A repaired trigger or agent is wired as the plan wires it. */
function wireAgain(
  world: TemplateWorld,
  id: string,
  planned: ReturnType<typeof planTemplate>,
  kind: PartKind,
  name: string,
): void {
  const touches = (...names: string[]) => (kind === 'trigger' || kind === 'agent') && names.includes(name)
  let doc = projectOf(world.edit, id)
  const isThere = (part: PartKind, other: string) => world.edit.has(part, other)
  for (const { trigger, agent, enabled } of planned.wakes)
    if (
      touches(trigger, agent) &&
      isThere('trigger', trigger) &&
      isThere('agent', agent) &&
      !doc.wakes?.[trigger]?.[agent]
    )
      doc = withWake(doc, trigger, agent, (enabled ?? true) && !doc.paused)
  for (const { agent, verdict, to, cooldown } of planned.handoffs)
    if (
      touches(agent, to) &&
      isThere('agent', agent) &&
      isThere('agent', to) &&
      !doc.handoffs?.[agent]?.[verdict]?.[to]
    )
      doc = withHandoff(doc, agent, verdict, to, cooldown ?? '30m')
  putProject(world.edit, id, doc)
}

function digestFor({ normalise, kinds }: TemplateWorld, { kind, name, spec }: PlannedObject): string {
  return digestOf(kinds[kind].mask(normalise(kind, name, spec)))
}

function keepPaused(edit: Edit, kind: PartKind, name: string, doc: Doc): Doc {
  return edit.get(kind, name)?.paused ? { ...doc, paused: true } : doc
}

function note(plan: Plan, kind: PartKind, key: string, planned: Planned): void {
  plan[kind] = { ...plan[kind], [key]: planned }
}
