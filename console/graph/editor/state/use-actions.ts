/**
 * What can be done in the editor, by name. The canvas, the side panel and the list call the same
 * functions, so that the same action makes the same step wherever it is taken.
 */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { GraphEdge } from '../../../../schemas/types.ts'
import { declared, dkeys } from '../../../declared-client.ts'
import { notifications } from '../../../lib/notices.ts'
import { type Copied, copied, pasteCopies, pasteShared } from '../../draft/clipboard.ts'
import { connect } from '../../draft/connect.ts'
import { operationsOf, type Step } from '../../draft/draft.ts'
import { changeHandoff, disconnect, switchWake } from '../../draft/edges.ts'
import { findEdge, findNode, nodeId, type PartKind, type PartRef, partOf } from '../../draft/ids.ts'
import {
  addExisting,
  addNew,
  deleteParts,
  editPart,
  joinsOf,
  leaveProject,
  type Place,
  pausePart,
} from '../../draft/parts.ts'
import type { Fields } from '../../draft/values.ts'
import type { Connection } from '../../types.ts'
import { secretFieldsOf, useConnectors, useReadSpecs } from './specs.ts'
import type { Editor } from './use-editor.ts'

export interface Actions {
  connect(connection: Connection, cooldown?: string): boolean
  /** Nodes leave the project, connections are taken away. */
  remove(ids: readonly string[]): Promise<void>
  deleteParts(ids: readonly string[]): boolean
  switchWake(edge: GraphEdge, enabled: boolean): boolean
  changeHandoff(edge: GraphEdge, change: { verdict?: string; cooldown?: string }): boolean
  addExisting(parts: readonly PartRef[], at?: Place | null): boolean
  addNew(part: PartRef, spec: Fields, at?: Place | null): boolean
  edit(part: PartRef, before: Fields, after: Fields): boolean
  pause(part: PartRef, event: 'pause' | 'resume'): boolean
  /** As it would be copied; null, which is said: there is no part among them. */
  selection(ids: readonly string[]): Copied | null
  copy(ids: readonly string[]): Promise<void>
  /** @returns ids of what was pasted */
  paste(found: Copied, how: 'share' | 'copy'): Promise<string[]>
  /** Ids of all parts there are, in every project and in the draft. */
  taken: ReadonlySet<string>
  /** Parts that are not in the project. */
  free: readonly FreeRow[]
}

export interface FreeRow extends PartRef {
  what: string
  usedBy: readonly { id: string; name: string }[]
  verdicts: readonly string[]
}

const RESOURCES = [
  ['sources', 'source'],
  ['triggers', 'trigger'],
  ['agents', 'agent'],
  ['tools', 'mcp_server'],
  ['skills', 'skill'],
] as const

/** Every part there is, with the projects that use it. @param version of the instance: others make and delete parts, too */
function useParts(enabled: boolean, version: number): FreeRow[] {
  const { data } = useQuery({
    queryKey: ['declared', 'resources', version],
    queryFn: declared.resources,
    enabled,
    placeholderData: keepPreviousData,
  })
  return RESOURCES.flatMap(([field, kind]) =>
    (data?.[field] ?? []).map(({ name, what, used_by, verdicts = [] }) => ({
      kind,
      name,
      what,
      usedBy: used_by,
      verdicts,
    })),
  )
}

/** The Default project, where parts are that no other has. */
function useMovesFrom(enabled: boolean): (part: FreeRow) => string | null {
  const { data = [] } = useQuery({ queryKey: dkeys.projects, queryFn: declared.projects, enabled })
  return ({ kind, name, usedBy }) => {
    const [only, ...others] = usedBy
    const home = data.find((project) => project.id === only?.id)
    if (others.length > 0 || !home?.default) return null
    const { wakes, handoffs } = home.wiring
    const isWired =
      (kind === 'trigger' && wakes.some(({ trigger }) => trigger === name)) ||
      (kind === 'agent' &&
        (wakes.some(({ agent }) => agent === name) ||
          handoffs.some(({ agent, to }) => agent === name || to === name)))
    return isWired ? null : home.id
  }
}

let lastCopied = ''
/** What was last copied here, for a browser that does not let the clipboard be read. */
export const lastCopiedText = (): string => lastCopied

/** @param isEditing nothing else needs what is read here */
export function useActions(editor: Editor, isEditing: boolean): Actions {
  const { graph, act, made, draft } = editor
  const operations = draft ? operationsOf(draft) : []
  const connectors = useConnectors(isEditing)
  const readSpecs = useReadSpecs()
  const parts = useParts(isEditing, editor.live.version)
  const movesFrom = useMovesFrom(isEditing)
  const secrets = (kind: PartKind, spec: Fields) => secretFieldsOf(kind, spec, connectors)
  const taken = new Set([...parts.map(nodeId), ...graph.nodes.map(({ id }) => id), ...made])
  const selection = (ids: readonly string[]): Copied | null => {
    const found = copied(graph, ids)
    if (!found) notifications.show({ message: 'Select parts to copy first.' })
    return found
  }
  const free = parts.filter((part) => !findNode(graph, nodeId(part)))
  return {
    taken,
    free,
    connect: (connection, cooldown) => act(() => connect(graph, connection, cooldown)),
    remove: async (ids) => {
      act(await removal(editor, ids, (agents) => readSpecs(agents, operations)).catch(refusing))
    },
    deleteParts: (ids) => act(() => deleteParts(graph, ids)),
    switchWake: (edge, enabled) => act(() => switchWake(graph, edge, enabled)),
    changeHandoff: (edge, change) => act(() => changeHandoff(graph, edge, change)),
    addExisting: (refs, at = null) =>
      act(() => {
        const joining = refs.map(({ kind, name }) => {
          const row = free.find((one) => one.kind === kind && one.name === name)
          return { kind, name, ...(row && { movesFrom: movesFrom(row), verdicts: row.verdicts }) }
        })
        return addExisting(graph, joining, at)
      }),
    addNew: (part, spec, at = null) =>
      act(() => addNew(graph, part, spec, { secretFields: secrets(part.kind, spec), at })),
    edit: (part, before, after) => act(() => editPart(part, before, after, secrets(part.kind, after))),
    pause: (part, event) => act(() => pausePart(part, event)),
    selection,
    copy: async (ids) => {
      const found = selection(ids)
      if (!found) return
      lastCopied = JSON.stringify(found)
      // Without leave to write there, a paste in this tab still has it.
      await navigator.clipboard?.writeText(lastCopied).catch(() => undefined)
      notifications.show({
        message: `${found.parts.length === 1 ? 'One part is' : `${found.parts.length} parts are`} copied.`,
      })
    },
    paste: async (found, how) => {
      if (how === 'share') {
        const joins = joinsOf(parts.filter((part) => found.parts.some((one) => nodeId(one) === nodeId(part))))
        return act(() => pasteShared(graph, found, joins)) ? found.parts.map(nodeId) : []
      }
      const absent = found.parts.find((part) => !taken.has(nodeId(part)))
      if (absent) return refuse(act, `${absent.name} does not exist here, so it cannot be copied.`)
      const specs = await readSpecs(found.parts, operations).catch((error: Error) => error)
      if (specs instanceof Error) return refuse(act, specs.message)
      const declaredOf = (part: PartRef) => {
        const { spec } = specs.get(nodeId(part))!
        return { spec, secretFields: secrets(part.kind, spec) }
      }
      const pasted = pasteCopies(graph, found, declaredOf, taken)
      if (!act(() => pasted.step)) return []
      const bare = found.parts.filter(
        (part, i) => specs.get(nodeId(part))!.configured.length || pasted.secretless.includes(pasted.ids[i]!),
      )
      if (bare.length)
        notifications.show({
          color: 'yellow',
          title: 'Secrets are not copied',
          message: `Type those of ${bare.map(({ name }) => name).join(', ')} in the copies.`,
          autoClose: 15_000,
        })
      return pasted.ids
    },
  }
}

function refuse(act: Editor['act'], why: string): string[] {
  act(refusing(new Error(why)))
  return []
}

/** For `act`, which tells it: what parts declare could not be read, or they cannot be pasted. */
const refusing = (error: Error) => (): never => {
  throw error
}

type ReadAgents = (agents: readonly PartRef[]) => ReturnType<ReturnType<typeof useReadSpecs>>

/** Makes the step that takes nodes and connections away: what agents may call has to be read before. */
async function removal(
  { graph, made }: Editor,
  ids: readonly string[],
  readAgents: ReadAgents,
): Promise<() => Step | null> {
  const nodes = ids.filter((id) => findNode(graph, id))
  const edges = ids
    .flatMap((id) => findEdge(graph, id) ?? [])
    // The connections of a node go with it.
    .filter(({ from, to }) => !nodes.includes(from) && !nodes.includes(to))
  const users = edges.filter(({ kind }) => kind === 'uses').flatMap(({ from }) => partOf(from) ?? [])
  const specs = await readAgents(users)
  const toolsOf = (agent: string) => {
    const tools = specs.get(`agent:${agent}`)?.spec.tools
    return Array.isArray(tools) ? tools : []
  }
  return () => {
    const cut = edges.length ? disconnect(graph, edges, toolsOf) : null
    const left = nodes.length ? leaveProject(graph, nodes, made) : null
    if (!cut || !left) return cut ?? left
    return {
      label: `${left.label}; ${cut.label}`,
      said: `${left.said} ${cut.said}`,
      operations: [...left.operations, ...cut.operations],
    }
  }
}
