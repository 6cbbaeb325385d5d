/** Calls about the graph of a project, and about drafts that change it. */
import * as calls from '../api/client/calls.ts'
import type { ChangeSetCreate, DraftPreviewRequest, GraphMoves } from '../schemas/types.ts'
import { ask } from './client.ts'

export const graphApi = {
  graph: (id: string, signal?: AbortSignal) => ask(calls.getProjectGraph, { id }, { signal }),
  /** Where people put nodes; the others are laid out. */
  moveNodes: (id: string, body: GraphMoves) => ask(calls.moveGraphNodes, { id, body }),
  /** What a draft would do; nothing is written. */
  preview: (id: string, body: DraftPreviewRequest, signal?: AbortSignal) =>
    ask(calls.previewDraft, { id, body }, { signal }),
  /** All of a draft in one transaction. */
  apply: (body: ChangeSetCreate) => ask(calls.applyChangeSet, { body }),
}

/** Under what is declared, so that a change of it reads the graph again. */
export const graphKeys = {
  graph: (project: string) => ['declared', 'projects', project, 'graph'],
} as const
