/**
 * Hand-assembled projects (SPEC.md, Project lifecycle): made of objects that exist and belong to no
 * other project, which are adopted; nothing is created, and nothing goes with the project.
 */
import type { ObjectRef, ProjectReport } from '../../schemas/types.ts'
import { kindWord, type PartKind } from '../changes/declared.ts'
import type { Edit } from '../changes/edit.ts'
import { fail } from '../errors.ts'
import {
  CUSTOM_TEMPLATE,
  DEFAULT_TEMPLATE,
  newProjectId,
  ownerOf,
  type ProjectDoc,
  partsOf,
  projectOf,
  projectsOf,
  putProject,
  withoutParts,
  withUses,
} from '../wiring/project-doc.ts'

import { type Said, saidOf } from './project-spec.ts'

/** An object as a caller names it; kinds may be written with a space. */
export interface GivenObject {
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
    if (owner)
      fail(
        'invalid',
        `objects: ${kindWord(kind)} ${object} belongs to project ${projectOf(edit, owner).name}; share it from there, or release it first`,
        { field: 'objects' },
      )
  }
  const id = newProjectId(edit)
  putProject(edit, id, { ...saidOf(said), template: CUSTOM_TEMPLATE, uses: {} })
  adopt(edit, id, refs)
  return id
}

/**
 * Makes these the objects of a custom project: the others are released, new ones adopted, or shared
 * where they belong to another project.
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
  const released = partsOf(doc).filter(
    ({ kind, name }) => uses[kind]?.[name] && !wanted.has(`${kind}:${name}`),
  )
  const gone = new Set(released.map(({ kind, name }) => `${kind}:${name}`))
  putProject(
    edit,
    id,
    withoutParts(doc, (kind, name) => gone.has(`${kind}:${name}`)),
  )
  const added = refs.filter(({ kind, name }) => !doc.uses[kind]?.[name] && !uses[kind]?.[name])
  adopt(edit, id, added)
  return {
    added: added.map(({ kind, name }) => `${kind}:${name}`),
    released: released.map(({ kind, name }) => `${kind}:${name}`),
    kept: partsOf(doc)
      .map(({ kind, name }) => `${kind}:${name}`)
      .filter((label) => !gone.has(label)),
  }
}

/** Objects join a project; those that are nobody's belong to it, and leave the Default project. */
function adopt(edit: Edit, id: string, refs: readonly { kind: PartKind; name: string }[]): void {
  const owned = refs.map(({ kind, name }) => ({ kind, name, owned: ownerOf(edit, kind, name) === null }))
  putProject(edit, id, withUses(projectOf(edit, id), owned))
  const taken = new Set(owned.filter((ref) => ref.owned).map(({ kind, name }) => `${kind}:${name}`))
  if (taken.size === 0) return
  for (const [other, doc] of projectsOf(edit))
    if (other !== id && doc.template === DEFAULT_TEMPLATE) leaveDefault(edit, other, id, taken)
}

/** What wired an adopted object in the Default project comes along, so that nothing stops working. */
function leaveDefault(edit: Edit, defaultId: string, id: string, taken: ReadonlySet<string>): void {
  const doc = projectOf(edit, defaultId)
  let mine: ProjectDoc = projectOf(edit, id)
  for (const [trigger, agents] of Object.entries(doc.wakes ?? {}))
    for (const [agent, wake] of Object.entries(agents))
      if (taken.has(`trigger:${trigger}`) && taken.has(`agent:${agent}`))
        mine = { ...mine, wakes: { ...mine.wakes, [trigger]: { ...mine.wakes?.[trigger], [agent]: wake } } }
  for (const [agent, verdicts] of Object.entries(doc.handoffs ?? {}))
    if (taken.has(`agent:${agent}`)) mine = { ...mine, handoffs: { ...mine.handoffs, [agent]: verdicts } }
  putProject(edit, id, mine)
  putProject(
    edit,
    defaultId,
    withoutParts(doc, (kind, name) => taken.has(`${kind}:${name}`)),
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
