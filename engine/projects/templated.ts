/**
 * Template projects (SPEC.md, Project lifecycle; Ownership of template-project objects): a template
 * plans objects from parameters; making the project applies the plan all or nothing, and a repair puts
 * back what a hand edited or deleted. Planning again is in replan.ts.
 */
import type { TemplateFile } from '../../schemas/types.ts'
import { type DeclaredKind, type Doc, kindWord, type PartKind } from '../changes/declared.ts'
import type { Edit } from '../changes/edit.ts'
import { fail } from '../errors.ts'
import { acceptedIn } from '../lifecycle/advance.ts'
import { type KeptNames, planTemplate } from '../templates/index.ts'
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
import { digestOf, secretsOf } from './planned-digest.ts'
import { type Said, saidOf } from './project-spec.ts'
import { Renames, rewireParts } from './renames.ts'
import { stageWiring, wireAgain } from './template-wiring.ts'

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

export type PlannedObject = { kind: PartKind; key: string; name: string; spec: Doc }
export type Plan = NonNullable<ProjectDoc['plan']>

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
export function keptNames({ plan }: ProjectDoc, states: ReadonlyMap<string, string>): KeptNames {
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
  const renames = new Renames()
  const was = doc.plan?.[kind]?.[key]?.name
  if (was !== undefined && was !== name) {
    if (edit.has(kind, was)) retire(world, id, kind, was)
    renames.add(kind, was, name)
  }
  putRepaired(world, object)
  const plan = structuredClone(doc.plan ?? {})
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
export function stagePlanned(world: TemplateWorld, id: string, object: PlannedObject, plan: Plan): void {
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
  if (exists) leaveDefault(edit, kind, name)
}

/** An adopted object leaves the Default project, which held it for want of another. */
function leaveDefault(edit: Edit, kind: PartKind, name: string): void {
  for (const id of usersOf(edit, kind, name))
    if (projectOf(edit, id).template === DEFAULT_TEMPLATE) leave(edit, id, kind, name)
}

/** A part leaves a project, with what is wired of it. */
export function leave(edit: Edit, id: string, kind: PartKind, name: string): void {
  putProject(
    edit,
    id,
    withoutParts(projectOf(edit, id), (k, n) => k === kind && n === name),
  )
}

/** Takes away what the plan no longer has; what another project uses only leaves. @returns whether it is deleted */
export function retire({ edit }: TemplateWorld, id: string, kind: PartKind, name: string): boolean {
  const isShared = usersOf(edit, kind, name).some((user) => user !== id)
  leave(edit, id, kind, name)
  if (!isShared) edit.remove(kind, name)
  return !isShared
}

/** The entry of a plan for an object as it is planned. */
export function plannedAs({ normalise, kinds, fingerprint }: TemplateWorld, object: PlannedObject): Planned {
  const { kind, name, spec } = object
  const doc = normalise(kind, name, spec)
  const secrets = secretsOf(doc, kinds[kind].mask(doc), fingerprint)
  return { name, digest: digestOf(kinds[kind].mask(doc)), ...(secrets ? { secrets } : {}) }
}

/** A document as it is put in place of another, which may be paused. */
export function keepPaused(edit: Edit, kind: PartKind, name: string, doc: Doc): Doc {
  const now: Doc | undefined = edit.get(kind, name)
  return now?.paused ? { ...doc, paused: true } : doc
}

/** Enters an object in a plan. */
export function note(plan: Plan, kind: PartKind, key: string, planned: Planned): void {
  plan[kind] = { ...plan[kind], [key]: planned }
}
