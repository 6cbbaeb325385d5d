/** The graph of a project as it is declared: what happened in it is filled in by activity.ts. */

import { basename } from 'node:path'
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'
import type {
  ChangePlan,
  DraftPreview,
  DraftPreviewRequest,
  DraftProblem,
  GraphMoves,
  GraphNode,
  GraphPosition,
  GraphPositions,
  GraphPositionsWrite,
  MergeConflict,
  Operation,
  ProjectGraph,
} from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import type { BootCatalog, CatalogFiles } from '../declared/catalog/catalog.ts'
import type { Declared, WriteBy } from '../declared/declared.ts'
import { stageOperation } from '../declared/operations.ts'
import { requireProject } from '../declared/skill-writes.ts'
import { fail, SvcError } from '../errors.ts'
import { openSettings } from '../log/settings.ts'
import type { Snapshot } from '../log/steps.ts'
import type { Database, StoreHandle } from '../log/store/handle.ts'
import type { ReadContext } from '../log/timeline/context.ts'
import type { Edit, PartKind } from '../model/documents.ts'
import {
  destinationOf,
  type GraphDestination,
  type GraphStructure,
  type GraphWorld,
  positionsKey,
  type SubscriptionRow,
  structureOf,
} from '../model/graph.ts'
import { healthOf } from '../sources/health.ts'
import { driftsOf } from '../sources/sources.ts'
import { createLiveReader, fillGraph } from './activity.ts'
import { narrowedGraph } from './replay.ts'

interface GraphParts {
  declared: Declared
  positions: Positions
  /** The catalog file is imported at every start. */
  isSynced: boolean
}

/** @param id of a live project. @param structure of it, as it is stored. */
function declaredGraph(
  { declared, positions, isSynced }: GraphParts,
  id: string,
  { nodes, edges }: GraphStructure,
): ProjectGraph {
  const { kinds, changes, clock } = declared
  const stored = kinds.project.find(id)!
  const healthy = sourceHealth(declared)
  return {
    project: {
      id,
      name: stored.name,
      status: stored.state === 'paused' ? 'paused' : stored.state === 'draft' ? 'draft' : 'active',
      version: stored.changeSet,
    },
    version: changes.version(),
    at: new Date(clock.now()).toISOString(),
    nodes: nodes.map(healthy).map((node) => withDrift(declared, node)),
    edges,
    positions: positions.of(id, nodes),
    source_of_truth: isSynced ? 'file' : 'instance',
  }
}

/** A label it depends on does not come: it is drawn as something to look at. */
function withDrift(declared: Declared, node: GraphNode): GraphNode {
  const { kind, name, health, state } = node
  if (health === 'attention' || state === 'missing') return node
  if (kind !== 'source' && kind !== 'trigger' && kind !== 'agent') return node
  const [reason] = driftsOf(declared, kind, name)
  return reason === undefined ? node : { ...node, health: 'attention', reason }
}

/** What only the writer knows of a source: whether it can take events at all. */
function sourceHealth({ sources }: Declared): (node: GraphNode) => GraphNode {
  const { queries, live, polls, credentials } = sources.store
  const storageReason = sources.store.storageReason()
  return (node) => {
    if (node.kind !== 'source') return node
    const row = queries.byName(node.name)
    const source = row && live.byId(row.id)
    // One that a draft makes is not live yet.
    if (!row || !source) return node
    const { status, reason } = healthOf(row, source, storageReason, polls.find(row.id), credentials)
    return status === 'error' || status === 'refused' ? { ...node, health: 'attention', reason } : node
  }
}

/* What is declared now as the world of a graph. */

/** Projects whose structure is kept. */
const KEPT = 50

/**
 * The structure of projects as they are stored. It is asked every two seconds, and kept until something
 * declared or subscribed is another: all else that it is made of changes with a change-set. Not inside a
 * rehearsal, whose change-set gives its number back.
 */
function storedStructures(declared: Declared): (id: string) => GraphStructure {
  const kept = new Map<string, { by: string; structure: GraphStructure }>()
  return (id) => {
    const doc = declared.kinds.project.find(id)!.doc
    const told = destinationsOf(declared.store.db, id, Object.keys(doc.uses.trigger ?? {}))
    const by = JSON.stringify([declared.changes.version(), told])
    const known = kept.get(id)
    if (known?.by === by) return known.structure
    const structure = structureOf(storedWorld(declared, id))
    kept.delete(id)
    if (kept.size >= KEPT) kept.delete(kept.keys().next().value!)
    kept.set(id, { by, structure })
    return structure
  }
}

/** @param id of a live project; inside a rehearsal, as the draft would have it */
function storedWorld({ kinds, projects, store }: Declared, id: string): GraphWorld {
  const doc = kinds.project.find(id)!.doc
  const names = new Map(projects.all().map((row) => [row.id, row.name]))
  return {
    id,
    doc,
    part: (kind, name) => kinds[kind].find(name)?.doc,
    sharedWith: (kind, name) =>
      projects
        .users(kind, name)
        .filter((user) => user !== id)
        .map((user) => ({ id: user, name: names.get(user) ?? user })),
    ownership: projects
      .plannedOf(id)
      .flatMap(({ kind, name, state }) =>
        state === 'customized' || state === 'missing' ? [{ kind: kind as PartKind, name, state }] : [],
      ),
    destinations: destinationsOf(store.db, id, Object.keys(doc.uses.trigger ?? {})),
  }
}

/** Addresses subscribed by the project, and by nobody's project to one of its triggers. */
function destinationsOf(db: Database, project: string, triggers: readonly string[]): GraphDestination[] {
  return db
    .prepare<[string, string], SubscriptionRow>(
      `SELECT id, trigger_name, masked, disabled_at FROM subscriptions
       WHERE removed_at IS NULL AND project = ?
       UNION ALL
       SELECT id, trigger_name, masked, disabled_at FROM subscriptions
       WHERE removed_at IS NULL AND project IS NULL AND trigger_name IN (SELECT value FROM json_each(?))`,
    )
    .all(project, JSON.stringify(triggers))
    .filter(({ trigger_name: trigger }) => trigger === null || triggers.includes(trigger))
    .map((row) => destinationOf(row))
}

/* The graph as a key of its own project may see it. */

/*
 * Where people put nodes. A setting of the instance and no part of what is declared: no change-set
 * has it, no catalog file, and it goes with its project.
 */

export interface Positions {
  /** Without those of nodes that are gone, sorted by node. */
  of(project: string, nodes: readonly { id: string }[]): GraphPosition[]
  /** Replaces all; of a node that is named twice the last one counts. */
  put(project: string, positions: readonly GraphPosition[]): void
  /** Puts some and forgets some; the others stay where they are. @param nodes of the project: beyond the most that is kept those of others go first */
  move(project: string, moves: GraphMoves, nodes: readonly { id: string }[]): void
  forget(project: string): void
}

/** Positions kept of a project at most, as many as are taken at once. */
const POSITIONS_MAX = 2_000

export function openPositions(store: StoreHandle, clock: Clock): Positions {
  const settings = openSettings(store, clock)
  const stored = (project: string) => settings.get<GraphPosition[]>(positionsKey(project)) ?? []
  const put = (project: string, positions: readonly GraphPosition[]): void => {
    const last = new Map(positions.map((position) => [position.node, position]))
    const sorted = [...last.values()].sort((a, b) => (a.node < b.node ? -1 : 1))
    settings.put(positionsKey(project), sorted.length ? sorted : undefined)
  }
  return {
    of: (project, nodes) => {
      const known = new Set(nodes.map(({ id }) => id))
      return stored(project)
        .filter(({ node }) => known.has(node))
        .sort((a, b) => (a.node < b.node ? -1 : 1))
    },
    put,
    move: (project, { put: moved = [], forget = [] }, nodes) => {
      const left = stored(project).filter(({ node }) => !forget.includes(node))
      const known = new Set([...nodes.map(({ id }) => id), ...moved.map(({ node }) => node)])
      const fits = left.length + moved.length <= POSITIONS_MAX
      put(project, [...left.filter(({ node }) => fits || known.has(node)), ...moved])
    },
    forget: (project) => settings.put(positionsKey(project), undefined),
  }
}

/* The graph of a project as callers see it, and which thread answers what of it. */

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
  /** Moves some nodes, whatever becomes of the others meanwhile. @throws SvcError not_found */
  moveNodes(project: string, body: GraphMoves): Promise<GraphPositions>
  /** What a draft would do; nothing is written. @throws SvcError not_found */
  previewDraft(project: string, body: DraftPreviewRequest, by: WriteBy): Promise<DraftPreview>
}

/*
 * What a draft would do: its operations are applied as a change-set, what would then be is read, and
 * all of it is rolled back. Nothing is written, nothing that follows a commit runs.
 */

interface PreviewParts extends GraphParts {
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
    const renamed = draft.base === undefined ? [] : declared.changes.renames.since(draft.base)
    const outcome = applied(parts, draft, by)
    const nothing = {
      ...{ version, plan: null, problems: [], conflicts: [], graph: null, yaml: null },
      renamed: renamed.map(({ changeSet, kind, from, to }) => ({ change_set: changeSet, kind, from, to })),
    }
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

/* The catalog file before and after a draft, and the patch between the two. */

/** Lines around a change, as git has them. */
const CONTEXT = 3

/** @param path name of the file. @returns with a patch for `git apply`, empty when nothing differs */
function patchOf(path: string, before: string, after: string): NonNullable<DraftPreview['yaml']> {
  const patch =
    before === after
      ? ''
      : createTwoFilesPatch(`a/${path}`, `b/${path}`, before, after, undefined, undefined, {
          context: CONTEXT,
          headerOptions: FILE_HEADERS_ONLY,
        })
  return { path, before, after, patch }
}

/* The rules that a draft breaks, each with the operation that breaks it. */

/** Refusals of what was asked for; anything else is a fault, and no problem of the draft. */
const OF_THE_DRAFT: ReadonlySet<string> = new Set(['invalid', 'not_found', 'conflict', 'wrong_state'])

/** @returns the error as one of the draft. @throws what is none */
function refusalOf(error: unknown): SvcError {
  if (error instanceof SvcError && OF_THE_DRAFT.has(error.code)) return error
  throw error
}

/** @param operation its index; null: found once all were staged, and then it is looked for */
function problemOf(
  error: SvcError,
  operation: number | null,
  operations: readonly Operation[],
): DraftProblem {
  return {
    operation: operation ?? operationAbout(error, operations),
    field: fieldOf(error),
    // The index is a field of its own here.
    message: error.message.replace(/^operations\[\d+\](\.|: )/, ''),
  }
}

/** Whether a problem only follows from an operation that was refused before: what it was to make is not there. */
function followsFrom(error: SvcError, refused: readonly Operation[]): boolean {
  const missing = /(?:is named|has the id or name) ([^;]+)/.exec(error.message)?.[1]?.split(', ') ?? []
  return refused.some(({ name }) => missing.includes(name))
}

function operationAbout({ extra: { about } }: SvcError, operations: readonly Operation[]): number | null {
  if (operations.length === 1) return 0
  if (!about) return null
  const found = operations.findLastIndex(
    ({ kind, name }) => kind === about.kind && (name === about.name || kind === 'project'),
  )
  return found === -1 ? null : found
}

/** Rules of the schemas name the field first, and not beside the message. */
function fieldOf({ message, extra }: SvcError): string | null {
  const field = extra.field ?? /^([a-z_]+(?:[.[][\w.[\]/]+)?) (?:must|is|has) /.exec(message)?.[1]
  return field?.replace(/^operations\[\d+\]\.?/, '') || null
}

/* The calls of the graph over one connection each: the writing one, and that of a reader. */

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
    moveNodes: async (word, body) => {
      const id = requireProject(declared, word)
      const { nodes } = structure(id)
      positions.move(id, body, nodes)
      return { positions: positions.of(id, nodes) }
    },
    previewDraft: async (word, body, by) =>
      previewDraft({ ...graph, catalog, catalogName, fill }, requireProject(declared, word), body, by),
  }
}
