/**
 * Parts on the clipboard, as text: which parts, and the wiring among them. What they declare is read
 * when they are pasted, so that no field of theirs, secret or not, leaves the console this way.
 */
import type { Operation, ProjectGraph, ToolPolicy } from '../../../schemas/types.ts'
import { HANDOFF_COOLDOWN } from './connect.ts'
import type { Step } from './draft.ts'
import { called, findNode, nameOf, nodeId, type PartRef, partOf, patchProject } from './ids.ts'
import { composed, without } from './patch.ts'
import type { Fields } from './values.ts'

const FORMAT = 'svc-parts'
const VERSION = 1
const PARTS_MAX = 500

export interface Copied {
  format: typeof FORMAT
  version: typeof VERSION
  /** Project they were copied in, by id. */
  project: string
  parts: PartRef[]
  wakes: { trigger: string; agent: string; enabled: boolean }[]
  handoffs: { agent: string; verdict: string; to: string; cooldown: string }[]
}

/** What is selected, as the clipboard takes it; null when no part is. */
export function copied(graph: ProjectGraph, ids: readonly string[]): Copied | null {
  // What was undone since is not there; what is missing has nothing to copy.
  const isThere = (id: string): boolean => (findNode(graph, id)?.state ?? 'missing') !== 'missing'
  const parts = ids.filter(isThere).flatMap((id) => partOf(id) ?? [])
  if (parts.length === 0) return null
  const inside = graph.edges.filter(({ from, to }) => ids.includes(from) && ids.includes(to))
  return {
    format: FORMAT,
    version: VERSION,
    project: graph.project.id,
    parts,
    wakes: inside
      .filter(({ kind }) => kind === 'wakes')
      .map(({ from, to, enabled }) => ({ trigger: nameOf(from), agent: nameOf(to), enabled })),
    handoffs: inside
      .filter(({ kind }) => kind === 'hands_off')
      .map(({ from, to, verdict, cooldown }) => ({
        agent: nameOf(from),
        verdict: verdict ?? '',
        to: nameOf(to),
        cooldown: cooldown ?? HANDOFF_COOLDOWN,
      })),
  }
}

/** @returns what a text holds; null when it is not parts that were copied here. */
export function readCopied(text: string): Copied | null {
  try {
    const found = JSON.parse(text) as Partial<Copied> | null
    if (found?.format !== FORMAT || found.version !== VERSION || !Array.isArray(found.parts)) return null
    if (found.parts.length === 0 || found.parts.length > PARTS_MAX) return null
    const isPart = (part: PartRef) => typeof part?.name === 'string' && partOf(nodeId(part)) !== null
    if (!found.parts.every(isPart)) return null
    return { ...(found as Copied), wakes: found.wakes ?? [], handoffs: found.handoffs ?? [] }
  } catch {
    // Other text on the clipboard is none of ours.
    return null
  }
}

/** The same parts in this project, shared, with the wiring among them. */
export function pasteShared(
  graph: ProjectGraph,
  { parts, wakes, handoffs }: Copied,
  joins: NonNullable<Step['joins']> = {},
): Step {
  let patch: unknown = {}
  for (const part of parts)
    if (!findNode(graph, nodeId(part)))
      patch = composed(patch, { uses: { [part.kind]: { [part.name]: {} } } })
  patch = composed(patch, wiringPatch(wakes, handoffs))
  if (Object.keys(patch as object).length === 0) throw new Error('These parts are in the project already.')
  return {
    label: `Share ${wordsOf(parts)}`,
    said: `Pasted ${wordsOf(parts)}: shared with this project.`,
    operations: [patchProject(graph, patch as Record<string, unknown>)],
    joins,
  }
}

function wiringPatch(wakes: Copied['wakes'], handoffs: Copied['handoffs']): unknown {
  let patch: unknown = {}
  for (const { trigger, agent, enabled } of wakes)
    patch = composed(patch, { wakes: { [trigger]: { [agent]: { enabled } } } })
  for (const { agent, verdict, to, cooldown } of handoffs)
    patch = composed(patch, { handoffs: { [agent]: { [verdict]: { [to]: { cooldown } } } } })
  return patch
}

/** What a part declares, and which of its fields are secret (pointers). */
export interface Declared {
  spec: Fields
  secretFields: readonly string[]
}

export interface Pasted {
  step: Step
  /** Ids of the new parts. */
  ids: string[]
  /** Parts whose secrets were not copied, by their new id. */
  secretless: string[]
}

/**
 * Copies of the parts under names of their own, wired among themselves as the originals are. What a
 * copy refers to beyond them stays: a copied trigger watches the same source.
 * @param taken ids of all parts there are
 */
export function pasteCopies(
  graph: ProjectGraph,
  { parts, wakes, handoffs }: Copied,
  declaredOf: (part: PartRef) => Declared,
  taken: ReadonlySet<string>,
): Pasted {
  const names = freshNames(parts, taken)
  const renamed = (kind: PartRef['kind'], name: string) => names.get(nodeId({ kind, name })) ?? name
  const secretless: string[] = []
  const puts = parts.map((part): Operation => {
    const { spec, secretFields } = declaredOf(part)
    const open = secretFields.reduce((doc, path) => without(doc, path), spec)
    const name = renamed(part.kind, part.name)
    if (open !== spec) secretless.push(nodeId({ kind: part.kind, name }))
    return { op: 'put', kind: part.kind, name, spec: referring(open, renamed), project: graph.project.id }
  })
  const wiring = wiringPatch(
    wakes.map((wake) => ({
      ...wake,
      trigger: renamed('trigger', wake.trigger),
      agent: renamed('agent', wake.agent),
    })),
    handoffs.map((row) => ({ ...row, agent: renamed('agent', row.agent), to: renamed('agent', row.to) })),
  ) as Record<string, unknown>
  return {
    step: {
      label: `Copy ${wordsOf(parts)}`,
      said: `Pasted a copy of ${wordsOf(parts)}.`,
      // Sources and servers come first: those that refer to them are checked when all are there anyway.
      operations: [...puts, ...(Object.keys(wiring).length ? [patchProject(graph, wiring)] : [])],
    },
    ids: puts.map(nodeId),
    secretless,
  }
}

/** A spec that refers to the copies where it referred to what was copied. */
function referring(
  spec: Fields,
  renamed: (kind: PartRef['kind'], name: string) => string,
): Record<string, unknown> {
  const { sources, mcp_servers, tools } = spec as {
    sources?: string[]
    mcp_servers?: string[]
    tools?: ToolPolicy[]
  }
  return {
    ...spec,
    ...(sources ? { sources: sources.map((name) => renamed('source', name)) } : {}),
    ...(mcp_servers ? { mcp_servers: mcp_servers.map((name) => renamed('mcp_server', name)) } : {}),
    ...(tools
      ? { tools: tools.map((line) => ({ ...line, server: renamed('mcp_server', line.server) })) }
      : {}),
  }
}

/** "errors" becomes errors-2, and "errors-2" errors-3, or the next that is free. */
function freshNames(parts: readonly PartRef[], taken: ReadonlySet<string>): Map<string, string> {
  const names = new Map<string, string>()
  const used = new Set(taken)
  for (const part of parts) {
    const [, stem = part.name, n] = /^(.*?)(?:-(\d{1,4}))?$/.exec(part.name) ?? []
    for (let next = n ? Number(n) + 1 : 2; ; next++) {
      const tail = `-${next}`
      const name = stem.slice(0, 64 - tail.length) + tail
      if (used.has(nodeId({ kind: part.kind, name }))) continue
      used.add(nodeId({ kind: part.kind, name }))
      names.set(nodeId(part), name)
      break
    }
  }
  return names
}

const wordsOf = (parts: readonly PartRef[]): string =>
  parts.length === 1 ? called(parts[0]!) : `${parts.length} parts`
