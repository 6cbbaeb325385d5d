/** Calls about the graph of a project, and about drafts that change it. */
import type {
  ChangeApplied,
  ChangeSetCreate,
  DraftPreview,
  DraftPreviewRequest,
  GraphPosition,
  ProjectGraph,
} from '../schemas/types.ts'
import { call } from './client.ts'

export const graphApi = {
  graph: async (project: string, signal?: AbortSignal) =>
    (
      await call('GET', `/api/projects/${encodeURIComponent(project)}/graph`, undefined, signal)
    ).json() as Promise<ProjectGraph>,
  /** Where people put nodes; the others are laid out. Replaces all of them. */
  putPositions: (project: string, positions: readonly GraphPosition[]) =>
    call('PUT', `/api/projects/${encodeURIComponent(project)}/graph/positions`, { positions }),
  /** What a draft would do; nothing is written. */
  preview: async (project: string, body: DraftPreviewRequest, signal?: AbortSignal) =>
    (
      await call('POST', `/api/projects/${encodeURIComponent(project)}/draft/preview`, body, signal)
    ).json() as Promise<DraftPreview>,
  /** All of a draft in one transaction. */
  apply: async (body: ChangeSetCreate) =>
    (await call('POST', '/api/change-sets', body)).json() as Promise<ChangeApplied>,
}

/** Under what is declared, so that a change of it reads the graph again. */
export const graphKeys = {
  graph: (project: string) => ['declared', 'projects', project, 'graph'],
} as const
