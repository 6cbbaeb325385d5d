/** What the stages of an import share. */
import type { Catalog, CatalogProblem } from '../../schemas/types.ts'
import type { PartKind } from '../changes/declared.ts'
import type { Edit } from '../changes/edit.ts'
import type { Declared } from '../declared/declared.ts'
import { fail, type SvcError } from '../errors.ts'
import {
  CUSTOM_TEMPLATE,
  DEFAULT_TEMPLATE,
  defaultProject,
  projectOf,
  projectsOf,
  putProject,
  usersOf,
} from '../wiring/project-doc.ts'

export type Path = (string | number)[]
export type Locate = (path: Path) => Pick<CatalogProblem, 'line' | 'column' | 'end_line' | 'end_column'>

export interface ImportRun {
  declared: Declared
  edit: Edit
  catalog: Catalog
  prune: boolean
  /** Runs `fn`; what it throws becomes a problem at `path`. @returns undefined then. */
  at<T>(path: Path, fn: () => T): T | undefined
}

/** An entry of a section of parts. */
export type Entry = { name: string; project?: string; projects?: string[] }

/** What was thrown at a place of the file, as a problem there. */
export function problemOf(error: SvcError, path: Path, locate: Locate): CatalogProblem {
  const field = error.extra.field
  const inner = field ? [...path, ...pathOf(field)] : path
  return { ...locate(inner), path: textOf(path), message: error.message }
}

/** labels[0].name as a path. */
function pathOf(field: string): Path {
  return field
    .split(/[.[\]]/)
    .filter(Boolean)
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part))
}

/** triggers[2].sources, as problems name a place. */
export const textOf = (path: Path): string =>
  path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${part}` : part),
    '',
  )

export const isTemplate = (key: string | undefined): boolean =>
  key !== undefined && key !== CUSTOM_TEMPLATE && key !== DEFAULT_TEMPLATE

/** By name, as in a file, or by id. @throws SvcError invalid */
export function projectNamed(edit: Edit, word: string): string {
  const projects = projectsOf(edit)
  for (const [id, doc] of projects) if (doc.name === word || id === word) return id
  // The Default project is in no file: it is made with the first part outside a project, here or just now.
  if (![...projects.values()].some(({ template }) => template === DEFAULT_TEMPLATE)) {
    const id = defaultProject(edit)
    if (projectOf(edit, id).name === word) return id
  }
  return fail('invalid', `no project is named ${word}, here or in the file`)
}

/** What belongs to a project is no longer held by the Default one. */
export function leaveDefault(edit: Edit, kind: PartKind, name: string, owner: string): void {
  for (const id of usersOf(edit, kind, name)) {
    const doc = projectOf(edit, id)
    if (id === owner || doc.template !== DEFAULT_TEMPLATE) continue
    const { [name]: _gone, ...left } = doc.uses[kind] ?? {}
    putProject(edit, id, { ...doc, uses: { ...doc.uses, [kind]: left } })
  }
}
