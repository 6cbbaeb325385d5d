/** The graph of a project as callers see it, and which thread answers what of it. */
import type {
  DraftPreview,
  DraftPreviewRequest,
  GraphPositions,
  GraphPositionsWrite,
  ProjectGraph,
} from '../../schemas/types.ts'
import type { WriteBy } from '../declared/write.ts'

/** What a door calls. */
export interface GraphCalls extends GraphWrites {
  /**
   * A project as a graph with its live state.
   * @param narrowed as a key of the project may see it. @throws SvcError not_found
   */
  projectGraph(project: string, narrowed?: boolean): Promise<ProjectGraph>
}

/** What writes, and what rehearses a write. */
export interface GraphWrites {
  /** Replaces where people put nodes. @throws SvcError not_found */
  placeNodes(project: string, body: GraphPositionsWrite): Promise<GraphPositions>
  /** What a draft would do; nothing is written. @throws SvcError not_found */
  previewDraft(project: string, body: DraftPreviewRequest, by: WriteBy): Promise<DraftPreview>
}
