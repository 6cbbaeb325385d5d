/** Projects that are paused while a file is staged: it speaks of what runs when they do. */
import type { Catalog, CatalogProblem } from '../../../schemas/types.ts'
import type { Edit } from '../../model/documents.ts'
import {
  DEFAULT_TEMPLATE,
  NOTED,
  type Pausable,
  type ProjectDoc,
  projectsOf,
  putProject,
  type Stopped,
} from '../../model/project.ts'
import { pauseProject, resumeProject } from '../projects/remove.ts'
import { collecting, type Locate, refuse } from './import-run.ts'

/** Of the projects that a file lists, whether it pauses them; the Default one is never paused. */
export const pausedIn = (catalog: Catalog): Map<string, boolean> =>
  new Map(
    (catalog.projects ?? [])
      .filter(({ template }) => template !== DEFAULT_TEMPLATE)
      .map(({ name, paused }) => [name ?? '', paused === true]),
  )

/** What a project had stopped while it was paused. */
export interface Paused {
  sources: boolean
  notes: Stopped
}

/**
 * Projects that are paused run while the file is staged, so that it speaks of what runs when they
 * do; they are paused again at the end, which changes nothing by itself.
 */
export function resumePaused(edit: Edit): Map<string, Paused> {
  const paused = new Map<string, Paused>()
  for (const [id, { paused: isPaused, stopped }] of projectsOf(edit)) {
    const sources = Object.keys(stopped?.sources ?? {}).length > 0
    if (isPaused) paused.set(id, { sources, notes: stopped ?? {} })
  }
  for (const id of paused.keys()) resumeProject(edit, id)
  // A note of a project that goes would be handed to one that is paused below, of a part that the file itself pauses.
  edit.saysNotes = true
  return paused
}

/**
 * Pauses projects at the end of a staging.
 * @param paused as they were. @param isPaused whether one is to be. @throws SvcError invalid with every problem
 */
export function pauseAgain(
  edit: Edit,
  paused: ReadonlyMap<string, Paused>,
  isPaused: (id: string, doc: ProjectDoc) => boolean,
  catalog: Catalog,
  locate: Locate,
): void {
  const problems: CatalogProblem[] = []
  const at = collecting(problems, locate)
  const places = new Map((catalog.projects ?? []).map(({ name }, i) => [name, i]))
  // Those that stop sources last: a source is stopped once no other project that runs needs it.
  const stops = (id: string) => Number(paused.get(id)?.sources ?? false)
  const ordered = [...projectsOf(edit)].sort(
    ([a, { name: first }], [b, { name: second }]) => stops(a) - stops(b) || (first < second ? -1 : 1),
  )
  for (const [id, doc] of ordered)
    if (isPaused(id, doc) && !doc.draft)
      at(['projects', places.get(doc.name) ?? 0], () =>
        pauseProject(edit, id, paused.get(id)?.sources ?? false),
      )
  refuse(problems)
  for (const [id, { notes }] of paused) returnNotes(edit, id, notes)
}

/** Of a part that paused projects share, that one keeps the note which had it: else it would go to and fro. */
function returnNotes(edit: Edit, id: string, notes: Stopped): void {
  for (const kind of Object.keys(NOTED) as Pausable[])
    for (const name of Object.keys(notes[NOTED[kind]] ?? {})) {
      const noted = [...projectsOf(edit)].find(([, { stopped }]) => stopped?.[NOTED[kind]]?.[name])
      const doc = edit.get('project', id)
      if (!noted || noted[0] === id || !doc?.paused || !doc.uses[kind]?.[name]) continue
      const [other, from] = noted
      const { [name]: _taken, ...left } = from.stopped![NOTED[kind]]!
      putProject(edit, other, { ...from, stopped: { ...from.stopped, [NOTED[kind]]: left } })
      const kept = { ...doc.stopped?.[NOTED[kind]], [name]: true as const }
      putProject(edit, id, { ...doc, stopped: { ...doc.stopped, [NOTED[kind]]: kept } })
    }
}
