/** The calls of the graph over one connection each: the writing one, and that of a reader. */
import { basename } from 'node:path'
import type { ProjectGraph } from '../../schemas/types.ts'
import type { BootCatalog } from '../catalog/boot.ts'
import type { CatalogFiles } from '../catalog/catalog.ts'
import type { Declared } from '../declared/declared.ts'
import { requireProject } from '../declared/skill-writes.ts'
import type { Snapshot } from '../snapshot.ts'
import type { ReadContext } from '../timeline/context.ts'
import { projectGraphCall } from './call-names.ts'
import { previewDraft } from './draft/preview.ts'
import { declaredGraph } from './graph.ts'
import { createLiveReader } from './live/activity.ts'
import { fillGraph } from './live/fill.ts'
import type { GraphCalls, GraphPort } from './ports.ts'
import type { Positions } from './positions.ts'
import { storedStructures } from './stored-world.ts'

export interface GraphCallsParts {
  declared: Declared
  positions: Positions
  ctx: ReadContext
  snapshot: Snapshot
  catalog: CatalogFiles
  boot: BootCatalog
}

/** All of them on the connection of `declared`. */
export function graphCalls(parts: GraphCallsParts): GraphCalls & GraphPort {
  const { declared, positions, catalog, boot, ctx, snapshot } = parts
  const graph = { declared, positions, isSynced: boot.sync ?? false }
  const catalogName = basename(boot.file ?? 'catalog.yaml')
  const structure = storedStructures(declared)
  const read = createLiveReader(ctx)
  const fill = (drawn: ProjectGraph) => fillGraph(drawn, read)
  const port: GraphPort = {
    declaredGraph: async (word) => {
      const id = requireProject(declared, word)
      return declaredGraph(graph, id, structure(id))
    },
    fillGraph: (drawn) => snapshot(() => fill(drawn)),
  }
  return {
    ...port,
    ...projectGraphCall(port),
    placeNodes: async (word, body) => {
      const id = requireProject(declared, word)
      positions.put(id, body.positions)
      return { positions: positions.of(id, structure(id).nodes) }
    },
    previewDraft: async (word, body, by) =>
      previewDraft({ ...graph, catalog, catalogName, fill }, requireProject(declared, word), body, by),
  }
}

/** @param snapshot of the connection of `ctx`. */
export function graphReads(ctx: ReadContext, snapshot: Snapshot): Pick<GraphPort, 'fillGraph'> {
  const read = createLiveReader(ctx)
  return { fillGraph: (graph) => snapshot(() => fillGraph(graph, read)) }
}
