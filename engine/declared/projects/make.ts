/**
 * Hand-assembled projects (SPEC.md, Project lifecycle): made of objects that exist and belong to no
 * other project, which are adopted; nothing is created, and nothing goes with the project.
 */

import { kindWord } from '../../../schemas/kinds.ts'
import type { ObjectRef, ProjectReport, TemplateFile } from '../../../schemas/types.ts'
import { readersOf } from '../../documents/wiring.ts'
import { fail } from '../../errors.ts'
import { acceptedIn } from '../../log/lifecycle.ts'
import {
  type DeclaredKind,
  type Doc,
  type Edit,
  equal,
  type PartKind,
  partKinds,
} from '../../model/documents.ts'
import {
  CUSTOM_TEMPLATE,
  HANDOFF_COOLDOWN,
  newProjectId,
  ownerOf,
  type Planned,
  type ProjectDoc,
  partsOf,
  projectOf,
  putProject,
  renameAlone,
  takeFromDefault,
  usersOf,
  wiringOf,
  withHandoff,
  withoutParts,
  withUses,
  withWake,
} from '../../model/project.ts'
import { digestOf, type Said, saidOf, secretsOf } from './project-spec.ts'
import { leftPaused, wiresLost } from './remove.ts'
import { type KeptNames, planTemplate } from './templating.ts'

/** An object as a caller names it; kinds may be written with a space. */
interface GivenObject {
  kind: string
  name: string
}

/** @returns the id of the new project. @throws SvcError invalid; conflict when the name is taken */
export function stageCustom(
  edit: Edit,
  { objects, ...said }: Said & { objects: readonly GivenObject[] },
): string {
  const refs = readObjects(edit, objects)
  for (const { kind, name: object } of refs) {
    const owner = ownerOf(edit, kind, object)
    if (owner) refuseOwned(kind, object, projectOf(edit, owner))
  }
  const id = newProjectId(edit)
  putProject(edit, id, { ...saidOf(said), template: CUSTOM_TEMPLATE, uses: {} })
  adopt(edit, id, refs)
  return id
}

/** What belongs to another project is shared by a call of its own, once there is a project to share it with. */
function refuseOwned(kind: PartKind, name: string, { name: owner }: ProjectDoc): never {
  const way =
    kind === 'skill'
      ? `POST /api/projects/{id}/skills/${name}/use, or svc skills use`
      : 'PUT /api/projects/{id} with it among the objects'
  return fail(
    'invalid',
    `objects: ${kindWord(kind)} ${name} belongs to project ${owner}; make this project without it, and share it then by ${way}`,
    { field: 'objects' },
  )
}

/**
 * Makes these the objects of a custom project: the others are released, new ones adopted, or shared
 * where they belong to another project. Skills are no objects to those who name none (SPEC.md, Project: objects):
 * they stay as they are. Where the list names some, others leave, and those that no other project uses are deleted.
 * @param seen the project as the caller saw it, when that is known: what others added or released
 *   since stays added or released.
 */
export function stageObjects(
  edit: Edit,
  id: string,
  objects: readonly GivenObject[],
  seen?: ProjectDoc | null,
): ProjectReport {
  const refs = readObjects(edit, objects)
  const doc = projectOf(edit, id)
  const { uses } = seen ?? doc
  const wanted = new Set(refs.map(({ kind, name }) => `${kind}:${name}`))
  const governsSkills = refs.some(({ kind }) => kind === 'skill')
  const isLeftOut = ({ kind, name }: { kind: PartKind; name: string }) =>
    (kind !== 'skill' || governsSkills) && uses[kind]?.[name] && !wanted.has(`${kind}:${name}`)
  const needed = neededBy(edit, [...refs, ...partsOf(doc).filter((part) => !isLeftOut(part))])
  const left = partsOf(doc).filter((part) => isLeftOut(part) && !needed.has(`${part.kind}:${part.name}`))
  const gone = new Set(left.map(({ kind, name }) => `${kind}:${name}`))
  const isLast = ({ kind, name }: (typeof left)[number]) =>
    kind === 'skill' && usersOf(edit, kind, name).every((user) => user === id)
  const label = ({ kind, name }: { kind: PartKind; name: string }) => `${kind}:${name}`
  const deleted = left.filter(isLast).map(label)
  const paused = leftPaused(edit, id, left)
  const without = withoutParts(doc, (kind, name) => gone.has(`${kind}:${name}`))
  putProject(edit, id, without)
  const added = refs.filter(({ kind, name }) => !doc.uses[kind]?.[name] && !uses[kind]?.[name])
  adopt(edit, id, added)
  return {
    added: added.map(label),
    released: left.map(label).filter((one) => !deleted.includes(one)),
    ...(deleted.length ? { deleted } : {}),
    kept: partsOf(doc)
      .map(label)
      .filter((one) => !gone.has(one)),
    ...(paused.length ? { left_paused: paused } : {}),
    ...wiresLost(doc, without),
  }
}

/** What parts cannot do without, as kind:name: sources that triggers read, and MCP servers that agents ask. */
function neededBy(edit: Edit, parts: readonly { kind: PartKind; name: string }[]): Set<string> {
  return new Set(
    parts.flatMap(({ kind, name }) => {
      const doc: Doc | undefined = edit.get(kind, name)
      if (kind === 'trigger') return ((doc?.sources ?? []) as string[]).map((source) => `source:${source}`)
      if (kind === 'agent') return ((doc?.mcp_servers ?? []) as string[]).map((one) => `mcp_server:${one}`)
      return []
    }),
  )
}

/** Objects join a project; those that are nobody's belong to it, and leave the Default project. */
function adopt(edit: Edit, id: string, refs: readonly { kind: PartKind; name: string }[]): void {
  const owned = refs.map(({ kind, name }) => ({ kind, name, owned: ownerOf(edit, kind, name) === null }))
  putProject(edit, id, withUses(projectOf(edit, id), owned))
  takeFromDefault(
    edit,
    id,
    new Set(owned.filter((ref) => ref.owned).map(({ kind, name }) => `${kind}:${name}`)),
  )
}

function readObjects(edit: Edit, objects: readonly GivenObject[]): { kind: PartKind; name: string }[] {
  const seen = new Set<string>()
  return objects.map(({ kind: word, name }, i) => {
    const field = `objects[${i}]`
    if (word === 'view')
      fail('invalid', `${field}.kind view is gone: a trigger takes sources and filters`, { field })
    const kind = (word === 'mcp server' ? 'mcp_server' : word) as ObjectRef['kind']
    if (!edit.has(kind, name)) fail('invalid', `${field}: no ${kindWord(kind)} is named ${name}`, { field })
    if (seen.has(`${kind}:${name}`))
      fail('invalid', `${field} lists ${kindWord(kind)} ${name} twice`, { field })
    seen.add(`${kind}:${name}`)
    return { kind, name }
  })
}

/*
 * Template projects (SPEC.md, Project lifecycle; Ownership of template-project objects): a template
 * plans objects from parameters; making the project applies the plan all or nothing, and a repair puts
 * back what a hand edited or deleted.
 */

export interface TemplateWorld {
  edit: Edit
  kinds: Record<PartKind, DeclaredKind>
  /** Checks a planned spec and gives its canonical form; nothing that is stored is kept in it. */
  normalise(kind: PartKind, name: string, spec: Doc): Doc
  /** States of a project's planned objects now, by kind:key. */
  states(project: string): ReadonlyMap<string, string>
  /** A keyed hash of a text, in hex: equal texts are recognised, and none is given away. */
  fingerprint(text: string): string
  /** The recorded document of a part that was deleted, sealed; undefined: none is recorded. */
  lastDeleted(kind: PartKind, name: string): string | undefined
}

type PlannedObject = { kind: PartKind; key: string; name: string; spec: Doc }
type Plan = NonNullable<ProjectDoc['plan']>

/** Stages a new project with everything its template plans. @returns its id. @throws SvcError */
export function stageTemplated(
  world: TemplateWorld,
  file: TemplateFile,
  { params, ...said }: Said & { params: Record<string, unknown> },
): string {
  const { edit } = world
  const id = newProjectId(edit)
  putProject(edit, id, { ...saidOf(said), template: file.key, params, uses: {} })
  const planned = planTemplate(file, params)
  const plan: Plan = {}
  for (const object of planned.objects as PlannedObject[]) stagePlanned(world, id, object, plan)
  stageWiring(edit, id, planned, plan)
  return id
}

/** Names of what a new plan leaves as it is: what a hand edited, deleted, or made before the project. */
function keptNames({ plan }: ProjectDoc, states: ReadonlyMap<string, string>): KeptNames {
  return (kind, key) => {
    const state = states.get(`${kind}:${key}`)
    const isKept = state === 'customized' || state === 'missing' || state === 'adopted'
    return isKept ? plan?.[kind]?.[key]?.name : undefined
  }
}

/**
 * Stages one planned object as the plan says.
 * @param word its key, or kind:key
 * @throws SvcError not_found; wrong_state when it is as planned; conflict
 */
export function stageRepair(
  world: TemplateWorld,
  id: string,
  file: TemplateFile,
  word: string,
): PlannedObject {
  const { edit } = world
  const doc = projectOf(edit, id)
  const states = world.states(id)
  const wanted = findPlanned(doc, file, word)
  const state = states.get(`${wanted.kind}:${wanted.key}`)
  if (state !== 'missing' && state !== 'customized')
    fail(
      'wrong_state',
      `${kindWord(wanted.kind)} ${wanted.name} is ${state ?? 'not planned'}; only one that is missing or customized is repaired`,
      { state: state ?? 'none', accepts: acceptedIn('ownership', state ?? 'none') },
    )
  const keptOf = keptNames(doc, states)
  const isWanted = (kind: string, key: string) => kind === wanted.kind && key === wanted.key
  const kept: KeptNames = (kind, key) => (isWanted(kind, key) ? undefined : keptOf(kind, key))
  const planned = planTemplate(file, doc.params ?? {}, kept)
  const object = (planned.objects as PlannedObject[]).find(({ kind, key }) => isWanted(kind, key))!
  const { kind, key, name } = object
  const owner = ownerOf(edit, kind, name)
  if (owner && owner !== id)
    fail('conflict', `${kindWord(kind)} ${name} belongs to project ${projectOf(edit, owner).name} now`)
  if (edit.has(kind, name) && !doc.uses[kind]?.[name])
    fail(
      'conflict',
      `another ${kindWord(kind)} is named ${name} and is no part of project ${doc.name}; rename or delete that one to have the planned one again`,
    )
  const renames = new Renames()
  const was = doc.plan?.[kind]?.[key]?.name
  if (was !== undefined && was !== name && !renameAlone(edit, id, kind, was, name)) {
    if (doc.uses[kind]?.[was]) retire(world, id, kind, was)
    renames.add(kind, was, name)
  }
  putRepaired(world, object)
  const plan = structuredClone(projectOf(edit, id).plan ?? {})
  note(plan, kind, key, plannedAs(world, object))
  putProject(edit, id, { ...withUses(projectOf(edit, id), [{ kind, name, owned: true }]), plan })
  if (renames.isEmpty) wireAgain(edit, id, planned, kind, name)
  else {
    rewireParts(edit, id, renames)
    stageWiring(edit, id, planned, plan, renames.inWiringOf(doc))
  }
  return object
}

function findPlanned(doc: ProjectDoc, file: TemplateFile, word: string): PlannedObject {
  const objects = planTemplate(file, doc.params ?? {}).objects as PlannedObject[]
  return (
    objects.find(({ kind, key }) => `${kind}:${key}` === word) ??
    objects.find(({ key }) => key === word) ??
    fail('not_found', `project ${doc.name} plans no object with the key ${word}`, { field: 'key' })
  )
}

/** A source that was deleted comes back as the row it was, so that its producers keep their ingest URL. */
function putRepaired(world: TemplateWorld, object: PlannedObject): void {
  const { edit } = world
  const { kind, name, spec } = object
  const doc = world.normalise(kind, name, spec)
  if (kind === 'source' && !edit.has(kind, name)) {
    const sealed = world.lastDeleted(kind, name)
    const was = sealed === undefined ? undefined : (JSON.parse(sealed) as Doc)
    if (was?.connector === doc.connector) edit.revive(kind, name, sealed!)
    edit.put(kind, name, doc)
  } else edit.put(kind, name, keepPaused(edit, kind, name, doc))
}

/** Stages a planned object that is new in the plan; one of its name that is nobody's is adopted. */
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
  const planned = plannedAs(world, object)
  if (!exists) edit.put(kind, name, world.normalise(kind, name, object.spec))
  note(plan, kind, key, exists ? { ...planned, adopted: true } : planned)
  putProject(edit, id, withUses(projectOf(edit, id), [{ kind, name, owned: true }]))
  if (exists) takeFromDefault(edit, id, new Set([`${kind}:${name}`]))
}

/** A part leaves a project, with what is wired of it. */
function leave(edit: Edit, id: string, kind: PartKind, name: string): void {
  putProject(
    edit,
    id,
    withoutParts(projectOf(edit, id), (k, n) => k === kind && n === name),
  )
}

/** Takes away what the plan no longer has; what another project uses only leaves. @returns whether it is deleted */
function retire({ edit }: TemplateWorld, id: string, kind: PartKind, name: string): boolean {
  const isShared = usersOf(edit, kind, name).some((user) => user !== id)
  leave(edit, id, kind, name)
  if (!isShared) edit.remove(kind, name)
  return !isShared
}

/** The entry of a plan for an object as it is planned. */
function plannedAs({ normalise, kinds, fingerprint }: TemplateWorld, object: PlannedObject): Planned {
  const { kind, name, spec } = object
  const doc = normalise(kind, name, spec)
  const secrets = secretsOf(doc, kinds[kind].mask(doc), fingerprint)
  return { name, digest: digestOf(kinds[kind].mask(doc)), ...(secrets ? { secrets } : {}) }
}

/** A document as it is put in place of another, which may be paused. */
function keepPaused(edit: Edit, kind: PartKind, name: string, doc: Doc): Doc {
  const now: Doc | undefined = edit.get(kind, name)
  return now?.paused ? { ...doc, paused: true } : doc
}

/** Enters an object in a plan. */
function note(plan: Plan, kind: PartKind, key: string, planned: Planned): void {
  plan[kind] = { ...plan[kind], [key]: planned }
}

/*
 * Parts that a new plan makes under another name: whatever referred to one refers to its successor, so
 * that nothing that stays is unwired (SPEC.md, Ownership of template-project objects).
 */

class Renames {
  private readonly names = new Map<string, string>()

  add(kind: PartKind, from: string, to: string): void {
    this.names.set(`${kind}:${from}`, to)
  }

  get isEmpty(): boolean {
    return this.names.size === 0
  }

  /** The name a part has now. */
  now(kind: PartKind, name: string): string {
    return this.names.get(`${kind}:${name}`) ?? name
  }

  /** What a project wires and has of it, and what a pause stopped, under the new names. */
  inWiringOf(doc: ProjectDoc): ProjectDoc {
    const trigger = (name: string) => this.now('trigger', name)
    const agent = (name: string) => this.now('agent', name)
    const source = (name: string) => this.now('source', name)
    const { wakes, handoffs, stopped, uses } = doc
    return {
      ...doc,
      uses: { ...uses, trigger: rekey(uses.trigger, trigger), agent: rekey(uses.agent, agent) },
      wakes: rekey(wakes, trigger, (agents) => rekey(agents, agent)),
      handoffs: rekey(handoffs, agent, (verdicts) => rekey(verdicts, same, (to) => rekey(to, agent))),
      ...(stopped
        ? {
            stopped: {
              wakes: rekey(stopped.wakes, trigger, (agents) => rekey(agents, agent)),
              triggers: rekey(stopped.triggers, trigger),
              sources: rekey(stopped.sources, source),
            },
          }
        : {}),
    }
  }
}

/** Triggers and agents of a project read and use renamed sources and MCP servers by their new names. */
function rewireParts(edit: Edit, id: string, renames: Renames): void {
  const { uses } = projectOf(edit, id)
  for (const name of Object.keys(uses.trigger ?? {})) {
    const doc = edit.get('trigger', name)
    if (!doc) continue
    const sources = doc.sources.map((source) => renames.now('source', source))
    edit.put('trigger', name, { ...doc, sources: unique(sources) })
  }
  for (const name of Object.keys(uses.agent ?? {})) {
    const doc = edit.get('agent', name)
    const { mcp_servers, tools } = doc ?? {}
    if (!doc || !mcp_servers?.length) continue
    const server = (other: string) => renames.now('mcp_server', other)
    edit.put('agent', name, {
      ...doc,
      mcp_servers: unique(mcp_servers.map(server)),
      ...(tools ? { tools: tools.map((row) => ({ ...row, server: server(row.server) })) } : {}),
    })
  }
}

const same = (name: string): string => name
const unique = (names: readonly string[]): string[] => [...new Set(names)]

function rekey<T>(
  all: Record<string, T> | undefined,
  rename: (name: string) => string,
  inner: (value: T) => T = (value) => value,
): Record<string, T> {
  return Object.fromEntries(Object.entries(all ?? {}).map(([name, value]) => [rename(name), inner(value)]))
}

/* The wiring of template projects: what the plan wires, and what a hand wired, which is kept. */

type TemplatePlan = ReturnType<typeof planTemplate>

/**
 * Wires what the plan wires; what is missing is not wired.
 * @param before the project until now, under the names its parts have now: its wires and switches stay, and what
 *   it did not wire of parts that it had was taken away by a hand.
 */
function stageWiring(
  edit: Edit,
  id: string,
  planned: TemplatePlan,
  plan: NonNullable<ProjectDoc['plan']>,
  before?: ProjectDoc,
): void {
  let doc: ProjectDoc = { ...projectOf(edit, id), plan }
  if (before) doc = withWiresOf(before, doc)
  const isOpen = (kind: 'trigger' | 'agent', from: string, agent: string) =>
    hasEnds(doc, kind, from, agent) && !(before && hasEnds(before, kind, from, agent))
  for (const { trigger, agent, enabled } of planned.wakes)
    if (isOpen('trigger', trigger, agent)) doc = withPlannedWake(doc, trigger, agent, enabled)
  for (const { agent, verdict, to, cooldown } of planned.handoffs)
    if (isOpen('agent', agent, to)) doc = withHandoff(doc, agent, verdict, to, cooldown ?? HANDOFF_COOLDOWN)
  putProject(edit, id, doc)
}

/** A repaired trigger or agent is wired as the plan wires it. */
function wireAgain(edit: Edit, id: string, planned: TemplatePlan, kind: PartKind, name: string): void {
  if (kind !== 'trigger' && kind !== 'agent') return
  let doc = projectOf(edit, id)
  for (const { trigger, agent, enabled } of planned.wakes)
    if (
      (kind === 'trigger' ? trigger : agent) === name &&
      hasEnds(doc, 'trigger', trigger, agent) &&
      !doc.wakes?.[trigger]?.[agent]
    )
      doc = withPlannedWake(doc, trigger, agent, enabled)
  for (const { agent, verdict, to, cooldown } of planned.handoffs)
    if (
      kind === 'agent' &&
      (agent === name || to === name) &&
      hasEnds(doc, 'agent', agent, to) &&
      !doc.handoffs?.[agent]?.[verdict]?.[to]
    )
      doc = withHandoff(doc, agent, verdict, to, cooldown ?? HANDOFF_COOLDOWN)
  putProject(edit, id, doc)
}

/** Whether both ends of a wire are parts of a project: of their names there may be others elsewhere. */
const hasEnds = ({ uses }: ProjectDoc, kind: 'trigger' | 'agent', from: string, agent: string): boolean =>
  uses[kind]?.[from] !== undefined && uses.agent?.[agent] !== undefined

/** In a paused project a wake is off, and noted, so that resuming switches it on. */
function withPlannedWake(doc: ProjectDoc, trigger: string, agent: string, enabled = true): ProjectDoc {
  if (!doc.paused || !enabled) return withWake(doc, trigger, agent, enabled && !doc.paused)
  const { wakes } = doc.stopped ?? {}
  return {
    ...withWake(doc, trigger, agent, false),
    stopped: { ...doc.stopped, wakes: { ...wakes, [trigger]: { ...wakes?.[trigger], [agent]: true } } },
  }
}

/** Wires between parts that the project still has, and what its pause stopped of them. */
function withWiresOf(before: ProjectDoc, doc: ProjectDoc): ProjectDoc {
  const { trigger = {}, agent: agents = {} } = doc.uses
  const { wakes, handoffs } = wiringOf(before)
  let next = doc
  for (const { trigger: from, agent, enabled } of wakes)
    if (trigger[from] && agents[agent]) next = withWake(next, from, agent, enabled ?? false)
  for (const { agent, verdict, to, cooldown = HANDOFF_COOLDOWN } of handoffs)
    if (agents[agent] && agents[to]) next = withHandoff(next, agent, verdict, to, cooldown)
  return before.stopped ? { ...next, stopped: before.stopped } : next
}

/*
 * A template project planned again with new parameters: only the difference is applied. What a hand
 * edited or deleted stays as it is, under its name, and is wired with what the new plan makes.
 */

type Report = Required<Pick<ProjectReport, 'created' | 'updated' | 'renamed' | 'remade' | 'kept' | 'deleted'>>

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
  const states = world.states(id)
  const planned = planTemplate(file, params, keptNames(projectOf(edit, id), states))
  const objects = planned.objects as PlannedObject[]
  const renamed = objects.flatMap(({ kind, key, name: to }) => {
    const from = projectOf(edit, id).plan?.[kind]?.[key]?.name
    return from !== undefined && renameAlone(edit, id, kind, from, to) ? [{ kind, from, to }] : []
  })
  const before = projectOf(edit, id)
  const report: Report = { created: [], updated: [], renamed, remade: [], kept: [], deleted: [] }
  const replan: Replan = { world, id, before, states, plan: {}, renames: new Renames(), report }
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

/** The plan makes an object under another name, and it cannot be renamed: that of before goes, and a pause of it stays. */
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
  report.remade.push({ kind, from: was, to: name })
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
