/** Calls about the graph of a project. */
import type { ProjectGraph } from '../schemas/types.ts'
import { call } from './client.ts'

export const graphApi = {
  graph: async (project: string, signal?: AbortSignal) =>
    (
      await call('GET', `/api/projects/${encodeURIComponent(project)}/graph`, undefined, signal)
    ).json() as Promise<ProjectGraph>,
}

/** Under what is declared, so that a change of it reads the graph again. */
export const graphKeys = {
  graph: (project: string) => ['declared', 'projects', project, 'graph'],
} as const
