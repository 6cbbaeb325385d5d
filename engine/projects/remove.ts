/**
 * Deleting a project: a template's objects go with it unless another project uses them; a custom
 * project's objects are released and stay; a draft has nothing (SPEC.md, Project lifecycle). What
 * guided setup made goes as what a template made.
 */
import { type PartKind, partKinds } from '../changes/declared.ts'
import type { Edit } from '../changes/edit.ts'
import { fail } from '../errors.ts'
import {
  DEFAULT_TEMPLATE,
  defaultProject,
  partsOf,
  projectOf,
  putProject,
  usersOf,
  withUses,
} from '../wiring/project-doc.ts'
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
  const removal: Removal = { deletes: [], releases: [], shared: [] }
  for (const part of parts) {
    const { kind, name } = part
    const others = usersOf(edit, kind, name).filter((user) => user !== id)
    if (others.length) removal.shared.push({ kind, name, projects: others })
    else if (goes(part)) removal.deletes.push({ kind, name })
    else removal.releases.push({ kind, name })
  }
  return removal
}

/** Stages it: the project goes first, so that nothing still refers to what is deleted. */
export function stageRemoval(edit: Edit, id: string, removal: Removal): void {
  const doc = projectOf(edit, id)
  edit.remove('project', id)
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
