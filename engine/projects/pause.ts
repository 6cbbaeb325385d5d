/**
 * Pausing a project stops what wakes its agents, and its triggers unless another running project
 * uses them; its sources only on request. What was stopped is noted, and resuming restores exactly
 * that (SPEC.md, Project lifecycle).
 */
import type { Edit } from '../changes/edit.ts'
import { refuseEvent } from '../lifecycle/advance.ts'
import {
  NOTED,
  type Pausable,
  projectOf,
  projectsOf,
  putProject,
  type Stopped,
  usersOf,
} from '../wiring/project-doc.ts'

/** @throws SvcError wrong_state when it does not run */
export function pauseProject(edit: Edit, id: string, sources: boolean): void {
  const doc = projectOf(edit, id)
  if (doc.draft || doc.paused) refuseEvent('project', doc.name, doc.draft ? 'draft' : 'paused', 'pause')
  const stopped: Stopped = { wakes: {}, triggers: {}, sources: {} }
  const wakes = Object.fromEntries(
    Object.entries(doc.wakes ?? {}).map(([trigger, agents]) => [
      trigger,
      Object.fromEntries(
        Object.entries(agents).map(([agent, wake]) => {
          if (wake.enabled) stopped.wakes![trigger] = { ...stopped.wakes![trigger], [agent]: true }
          return [agent, { enabled: false }]
        }),
      ),
    ]),
  )
  for (const kind of sources ? (['trigger', 'source'] as const) : (['trigger'] as const))
    for (const name of Object.keys(doc.uses[kind] ?? {}))
      if (stop(edit, kind, name, id)) stopped[NOTED[kind]]![name] = true
  putProject(edit, id, { ...doc, wakes, stopped, paused: true })
}

/** @throws SvcError wrong_state when it is not paused */
export function resumeProject(edit: Edit, id: string): void {
  const doc = projectOf(edit, id)
  if (!doc.paused) refuseEvent('project', doc.name, edit.stored('project', id)?.state ?? 'running', 'resume')
  const { stopped, paused: _paused, ...rest } = doc
  const wakes = structuredClone(doc.wakes ?? {})
  for (const [trigger, agents] of Object.entries(stopped?.wakes ?? {}))
    for (const agent of Object.keys(agents))
      if (wakes[trigger]?.[agent]) wakes[trigger][agent] = { enabled: true }
  putProject(edit, id, { ...rest, wakes })
  for (const kind of ['trigger', 'source'] as const)
    for (const name of Object.keys(doc.uses[kind] ?? {}))
      if (stopped?.[NOTED[kind]]?.[name] || takeNote(edit, id, kind, name)) start(edit, kind, name)
}

/** Pauses a part unless it is paused, or another running project uses it. @returns whether it did. */
function stop(edit: Edit, kind: Pausable, name: string, id: string): boolean {
  const part = edit.get(kind, name)
  if (!part || part.paused) return false
  const isNeeded = usersOf(edit, kind, name).some((user) => user !== id && !projectOf(edit, user).paused)
  if (isNeeded) return false
  edit.put(kind, name, { ...part, paused: true })
  return true
}

function start(edit: Edit, kind: Pausable, name: string): void {
  const part = edit.get(kind, name)
  if (!part?.paused) return
  const { paused: _paused, ...doc } = part
  edit.put(kind, name, doc)
}

/**
 * A shared part is stopped by the last of its projects to pause; the first to resume needs it again,
 * whichever noted it. @returns whether another project had noted it; its note is taken away.
 */
function takeNote(edit: Edit, id: string, kind: Pausable, name: string): boolean {
  for (const [other, doc] of projectsOf(edit)) {
    const noted = doc.stopped?.[NOTED[kind]]
    if (other === id || !noted?.[name]) continue
    const { [name]: _taken, ...left } = noted
    putProject(edit, other, { ...doc, stopped: { ...doc.stopped, [NOTED[kind]]: left } })
    return true
  }
  return false
}
