/**
 * What a draft would do: its operations are applied as a change-set, what would then be is read, and
 * all of it is rolled back. Nothing is written, nothing that follows a commit runs.
 */
import type {
  ChangePlan,
  DraftPreview,
  DraftPreviewRequest,
  DraftProblem,
  MergeConflict,
  Operation,
  ProjectGraph,
} from '../../../schemas/types.ts'
import type { CatalogFiles } from '../../catalog/catalog.ts'
import type { Edit } from '../../changes/edit.ts'
import { stageOperation } from '../../declared/operations.ts'
import type { WriteBy } from '../../declared/write.ts'
import { fail, SvcError } from '../../errors.ts'
import { declaredGraph, type GraphParts } from '../graph.ts'
import { storedWorld } from '../stored-world.ts'
import { structureOf } from '../structure.ts'
import { patchOf } from './patch.ts'
import { followsFrom, problemOf, refusalOf } from './problems.ts'

export interface PreviewParts extends GraphParts {
  catalog: CatalogFiles
  /** Name of the catalog file, without its folder. */
  catalogName: string
  /** Fills in the live state. */
  fill(graph: ProjectGraph): ProjectGraph
}

type Outcome = { plan: ChangePlan } | { problems: DraftProblem[] } | { conflicts: MergeConflict[] }

/** @param project id of a live project. */
export function previewDraft(
  parts: PreviewParts,
  project: string,
  draft: DraftPreviewRequest,
  by: WriteBy,
): DraftPreview {
  const { declared, catalog } = parts
  return declared.store.rehearse(() => {
    const version = declared.changes.version()
    const stored =
      declared.kinds.project.find(project) ?? fail('not_found', `no project has the id or name ${project}`)
    const before = draft.yaml ? catalog.render() : null
    const outcome = applied(parts, draft, by)
    const nothing = { version, plan: null, problems: [], conflicts: [], graph: null, yaml: null }
    if (!('plan' in outcome)) return { ...nothing, ...outcome }
    const isThere = declared.kinds.project.find(project) !== undefined
    const graph = isThere ? drawn(parts, project) : null
    return {
      ...nothing,
      plan: outcome.plan,
      // The change-set of the rehearsal is none.
      graph: graph && { ...graph, version, project: { ...graph.project, version: stored.changeSet } },
      yaml: before === null ? null : patchOf(parts.catalogName, before, catalog.render()),
    }
  })
}

/** Read anew: what is kept of it is as it is stored. */
function drawn(parts: PreviewParts, project: string): ProjectGraph {
  const structure = structureOf(storedWorld(parts.declared, project))
  return parts.fill(declaredGraph(parts, project, structure))
}

function applied(
  { declared }: PreviewParts,
  { operations, base }: DraftPreviewRequest,
  by: WriteBy,
): Outcome {
  const found: DraftProblem[] = []
  try {
    const stage = (edit: Edit) => {
      found.push(
        ...stageAll(operations, (operation, at) => stageOperation(declared, edit, operation, base, at)),
      )
      // What is staged is not the whole draft: whether it fits together is not known.
      if (found.length) throw new SvcError('invalid', 'operations are refused')
    }
    return { plan: declared.changes.commit(by, stage).plan }
  } catch (error) {
    if (found.length) return { problems: found }
    const refusal = refusalOf(error)
    return refusal.extra.conflicts
      ? { conflicts: refusal.extra.conflicts }
      : { problems: [problemOf(refusal, null, operations)] }
  }
}

/** Each operation on its own, so that one answer has the problems of all. */
function stageAll(
  operations: readonly Operation[],
  stage: (operation: Operation, at: string) => void,
): DraftProblem[] {
  const refused: Operation[] = []
  return operations.flatMap((operation, i) => {
    try {
      stage(operation, `operations[${i}]`)
      return []
    } catch (error) {
      const refusal = refusalOf(error)
      const follows = followsFrom(refusal, refused)
      refused.push(operation)
      return follows ? [] : [problemOf(refusal, i, operations)]
    }
  })
}
