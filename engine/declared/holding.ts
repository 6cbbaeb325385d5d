/** Who holds a project (SPEC.md, Project lifecycle: crew): a crew takes it, a person takes it over, either hands it back. */
import type { CrewProject, Project } from '../../schemas/types.ts'
import { advance } from '../lifecycle/advance.ts'
import type { Declared } from './declared.ts'
import { listProjects, projectNamed } from './project-writes.ts'
import { requireProject } from './skill-writes.ts'
import type { WriteBy } from './write.ts'

export type Holding = 'hold' | 'takeover' | 'release'

/** So long a project that was released and not taken since is told of, for the crew that looks for it. */
const RELEASING_MS = 10 * 60_000

/** @throws SvcError not_found; wrong_state when somebody holds it, or nobody */
export function holdProject(declared: Declared, word: string, event: Holding, by: WriteBy): Project {
  const id = requireProject(declared, word)
  const { name } = declared.kinds.project.find(id)!
  declared.store.tx(() =>
    advance(declared.store.db, { kind: 'project', id, name }, event, by.caller, declared.clock.now()),
  )
  return projectNamed(declared, id)
}

/** Projects that are held, and those just released that nobody has taken yet. */
export function heldProjects(declared: Declared): CrewProject[] {
  const { db } = declared.store
  const last = db.prepare<[string], { event: string; at: number; actor: string }>(
    `SELECT event, at, actor FROM history
     WHERE kind = 'project' AND object = ? AND event IN ('hold', 'takeover', 'release')
     ORDER BY id DESC LIMIT 1`,
  )
  const now = declared.clock.now()
  return listProjects(declared).flatMap(({ id, name, held_by, status }): CrewProject[] => {
    // A project that was renamed meanwhile has its history under its old name.
    const moved = last.get(name)
    const isReleasing = held_by === null && moved !== undefined && now - moved.at < RELEASING_MS
    if (held_by === null && !isReleasing) return []
    const state = isReleasing ? 'releasing' : 'held'
    const since = moved ? new Date(moved.at).toISOString() : null
    return [{ id, name, status, state, held_by, since, by: moved?.actor.replace(/^\S+ /, '') ?? null }]
  })
}
