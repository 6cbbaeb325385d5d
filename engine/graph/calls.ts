/** The calls of the graph over one connection each: the writing one, and that of a reader. */
import { basename } from 'node:path'
import type { ProjectGraph } from '../../schemas/types.ts'
import type { BootCatalog, CatalogFiles } from '../declared/catalog/catalog.ts'
import type { Declared } from '../declared/declared.ts'
import { requireProject } from '../declared/skill-writes.ts'
import type { Snapshot } from '../log/steps.ts'
import type { ReadContext } from '../log/timeline/context.ts'
import { createLiveReader, fillGraph } from './activity.ts'
import { declaredGraph, type GraphCalls, type Positions, previewDraft, storedStructures } from './graph.ts'
import { narrowedGraph } from './replay.ts'

interface GraphCallsParts {
  declared: Declared
  positions: Positions
  ctx: ReadContext
  snapshot: Snapshot
  catalog: CatalogFiles
  boot: BootCatalog
}

/** All of them on the connection of `declared`. */
export function graphCalls(parts: GraphCallsParts): GraphCalls {
  const { declared, positions, catalog, boot, ctx, snapshot } = parts
  const graph = { declared, positions, isSynced: boot.sync ?? false }
  const catalogName = basename(boot.file ?? 'catalog.yaml')
  const structure = storedStructures(declared)
  const read = createLiveReader(ctx)
  const fill = (drawn: ProjectGraph) => fillGraph(drawn, read)
  return {
    projectGraph: (word, narrowed = false) =>
      snapshot(() => {
        const id = requireProject(declared, word)
        const filled = fill(declaredGraph(graph, id, structure(id)))
        return narrowed ? narrowedGraph(filled) : filled
      }),
    placeNodes: async (word, body) => {
      const id = requireProject(declared, word)
      positions.put(id, body.positions)
      return { positions: positions.of(id, structure(id).nodes) }
    },
    previewDraft: async (word, body, by) =>
      previewDraft({ ...graph, catalog, catalogName, fill }, requireProject(declared, word), body, by),
  }
}
