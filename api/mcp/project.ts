/** Which project a call is about: the key's own, the one that is named, or the only one there is. */
import type { ProjectCard } from '../../schemas/types.ts'
import * as calls from '../client/calls.ts'
import { type Context, ToolError } from './tool.ts'

/** What both a key of a project and one of the instance see of a project. */
export type ListedProject = Pick<ProjectCard, 'id' | 'name' | 'goal' | 'status' | 'template'> & {
  held_by?: string | null
  sources?: string[]
  triggers?: string[]
  skills?: string[]
  objects?: { kind: string; name: string; missing: boolean }[]
}

export async function listProjects({
  daemon,
  signal,
}: Pick<Context, 'daemon' | 'signal'>): Promise<ListedProject[]> {
  return (await daemon.ask(calls.listProjects, {}, signal)).projects
}

/** @param word id or name. @throws ToolError that lists the projects where it is not plain which. */
export async function projectOf(
  word: string | undefined,
  context: Pick<Context, 'daemon' | 'signal' | 'identity'>,
): Promise<{ id: string; name: string }> {
  const { identity } = context
  if (word === undefined && identity.project !== undefined)
    return { id: identity.project, name: identity.project_name ?? identity.project }
  const projects = await listProjects(context)
  if (word === undefined) {
    if (projects.length === 1) return projects[0]!
    throw new ToolError(
      projects.length === 0
        ? 'there is no project yet; one is made in the console or with svc projects'
        : `project must be named: ${thereAre(projects)}`,
      'project',
    )
  }
  const found = projects.find(({ id, name }) => id === word || name === word)
  if (found) return found
  throw new ToolError(`project ${word} is not known; ${thereAre(projects)}`, 'project')
}

/**
 * The same for a call about an entity: where several projects could be meant, the one whose incident of the entity is
 * not handled. @throws ToolError as projectOf does, where that is none or are several
 */
export async function projectAbout(
  word: string | undefined,
  { entity, label }: { entity: string; label?: string },
  context: Pick<Context, 'daemon' | 'signal' | 'identity'>,
): Promise<{ id: string; name: string }> {
  if (word !== undefined || context.identity.project !== undefined) return projectOf(word, context)
  const about = label === undefined ? entity : `${label}=${entity}`
  const [projects, { incidents }] = await Promise.all([
    listProjects(context),
    context.daemon.ask(calls.listIncidents, { entity: about, limit: 50 }, context.signal),
  ])
  const ids = new Set(incidents.map(({ project }) => project))
  const [only] = ids.size === 1 ? [...ids] : []
  return projects.find(({ id }) => id === only) ?? projectOf(word, context)
}

const NAMES_MAX = 20

/** "there are Shop, Default"; "there is none". */
function thereAre(projects: readonly { name: string }[]): string {
  if (projects.length === 0) return 'there is none'
  const names = projects.slice(0, NAMES_MAX).map(({ name }) => name)
  const more = projects.length > NAMES_MAX ? ` and ${projects.length - NAMES_MAX} more` : ''
  return `there are ${names.join(', ')}${more}`
}
