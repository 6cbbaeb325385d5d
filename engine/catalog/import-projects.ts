/** The projects of a catalog file: made by name, or brought in step. */
import type { CatalogProject } from '../../schemas/types.ts'
import type { PartKind } from '../changes/declared.ts'
import { stageProject, stageProjectUpdate } from '../declared/project-writes.ts'
import { fail } from '../errors.ts'
import { checkDescription, checkGoal, checkProjectName, saidOf } from '../projects/project-spec.ts'
import {
  CUSTOM_TEMPLATE,
  DEFAULT_TEMPLATE,
  defaultProject,
  newProjectId,
  ownerOf,
  projectOf,
  projectsOf,
  putProject,
  withUses,
} from '../wiring/project-doc.ts'
import { type ImportRun, leaveDefault } from './import-run.ts'

/** Stages the entries that `isDue`. */
export function stageProjects(run: ImportRun, isDue: (entry: CatalogProject) => boolean): void {
  run.catalog.projects?.forEach((entry, i) => {
    if (isDue(entry)) run.at(['projects', i], () => stageProjectEntry(run, entry))
  })
}

function stageProjectEntry(run: ImportRun, entry: CatalogProject): void {
  const { declared, edit } = run
  const { template, name, goal, description = '', params, objects } = entry
  if (!template) fail('invalid', 'template is required', { field: 'template' })
  if (template === DEFAULT_TEMPLATE) {
    stageProjectUpdate(declared, edit, defaultProject(edit), { goal: goal ?? '', description })
    return
  }
  const id = [...projectsOf(edit)].find(([, doc]) => doc.name === name)?.[0]
  if (id === undefined && template !== CUSTOM_TEMPLATE) {
    stageProject(declared, edit, {
      template,
      ...(name ? { name } : {}),
      ...(params ? { params } : {}),
      ...(goal ? { goal } : {}),
      description,
    })
    return
  }
  if (id !== undefined) {
    const doc = projectOf(edit, id)
    if (doc.template !== template)
      fail(
        'invalid',
        `template: project ${name} was made from ${doc.template}; delete it to make it from ${template}`,
        {
          field: 'template',
        },
      )
    // A file that is the source of truth says the goal, the description and the parameters whole.
    stageProjectUpdate(declared, edit, id, { goal: goal ?? '', description, ...(params ? { params } : {}) })
  }
  if (template === CUSTOM_TEMPLATE) stageCustom(run, id, entry, objects ?? [])
}

function stageCustom(
  run: ImportRun,
  known: string | undefined,
  { name, goal, description }: CatalogProject,
  objects: NonNullable<CatalogProject['objects']>,
): void {
  const { edit, prune } = run
  const id = known ?? newProjectId(edit)
  if (known === undefined) {
    const said = {
      name: checkProjectName(name),
      goal: checkGoal(goal),
      description: checkDescription(description),
    }
    putProject(edit, id, { ...saidOf(said), template: CUSTOM_TEMPLATE, uses: {} })
  }
  const refs = objects.map(({ kind: word, name: object, shared }, i) => {
    const kind = (word === 'mcp server' ? 'mcp_server' : word) as PartKind
    if (word === 'view')
      fail('invalid', 'views were removed in 1.38.0: a trigger reads sources itself, with filters', {
        field: `objects[${i}]`,
      })
    if (!edit.has(kind, object))
      fail('invalid', `no ${word} is named ${object}`, { field: `objects[${i}].name` })
    const owner = ownerOf(edit, kind, object)
    return { kind, name: object, owned: shared !== true && (owner === null || owner === id) }
  })
  let doc = projectOf(edit, id)
  if (prune) doc = { ...doc, uses: { ...(doc.uses.skill ? { skill: doc.uses.skill } : {}) } }
  putProject(edit, id, withUses(doc, refs))
  for (const ref of refs) if (ref.owned) leaveDefault(edit, ref.kind, ref.name, id)
}
