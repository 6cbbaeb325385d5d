/** What is done to parts: added, made, edited, paused, taken out of the project, deleted. */
import type { GraphPosition, Operation, ProjectGraph } from '../../../schemas/types.ts'
import type { SecretField, Step } from './draft.ts'
import { wiringWithout } from './edges.ts'
import { called, findNode, nameOf, nodeId, type PartRef, partOf, patchProject, sentence } from './ids.ts'
import { composed, patchBetween, valueAt } from './patch.ts'
import { type Fields, nullsRemoved } from './values.ts'

export type Place = Pick<GraphPosition, 'x' | 'y'>

const placed = (id: string, at: Place | null): { places?: GraphPosition[] } =>
  at ? { places: [{ node: id, x: at.x, y: at.y }] } : {}

/** What the name of a part may be. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/
const SKILL_NAME = /^[a-z0-9-]{1,64}$/

/** Why a new part cannot have this name, in a sentence; null: it can. @param taken ids of all parts there are */
export function nameRefusal({ kind, name }: PartRef, taken: ReadonlySet<string>): string | null {
  if (name === '') return 'A name is needed.'
  if (kind === 'skill' && !SKILL_NAME.test(name)) return 'At most 64 lowercase letters, digits and dashes.'
  if (!NAME.test(name))
    return '1 to 64 letters, digits, dots, dashes or underscores, beginning with a letter or digit.'
  return taken.has(nodeId({ kind, name })) ? `${sentence(called({ kind, name }))} is there already.` : null
}

/** A part that is there, and where it was so far. */
export interface FreePart extends PartRef {
  /** The Default project, where it is in no other and nothing there is wired to it: it moves here. */
  movesFrom?: string | null
  /** Of an agent. */
  verdicts?: readonly string[]
}

/** What is known of parts that join, for a step: without it an agent could hand over only once the daemon has answered. */
export const joinsOf = (parts: readonly FreePart[]): NonNullable<Step['joins']> =>
  Object.fromEntries(
    parts.flatMap((part) => (part.verdicts?.length ? [[nodeId(part), { verdicts: part.verdicts }]] : [])),
  )

/** Parts that are there join the project: shared with those that use them, or moved out of Default. */
export function addExisting(graph: ProjectGraph, parts: readonly FreePart[], at: Place | null = null): Step {
  const absent = parts.filter((part) => !findNode(graph, nodeId(part)))
  if (absent.length === 0) throw new Error('These parts are in the project already.')
  let used: unknown = {}
  let leaves: unknown = {}
  for (const { kind, name, movesFrom } of absent) {
    used = composed(used, { uses: { [kind]: { [name]: movesFrom ? { owned: true } : {} } } })
    if (movesFrom) leaves = composed(leaves, { [movesFrom]: { uses: { [kind]: { [name]: null } } } })
  }
  const words = absent.length === 1 ? called(absent[0]!) : `${absent.length} parts`
  return {
    label: `Add ${words}`,
    said: `${sentence(words)} ${absent.length === 1 ? 'is' : 'are'} now in the project.`,
    operations: [
      patchProject(graph, used as Record<string, unknown>),
      ...Object.entries(leaves as Record<string, Record<string, unknown>>).map(
        ([name, spec]): Operation => ({ op: 'patch', kind: 'project', name, spec }),
      ),
    ],
    joins: joinsOf(absent),
    ...placed(nodeId(absent[0]!), at),
  }
}

/** A part is made in the project; a field that is null is not set. @param secretFields pointers into its spec */
export function addNew(
  graph: ProjectGraph,
  part: PartRef,
  spec: Fields,
  { secretFields = [], at = null }: { secretFields?: readonly string[]; at?: Place | null } = {},
): Step {
  const given = nullsRemoved(spec)
  return {
    label: `New ${called(part)}`,
    said: `${sentence(called(part))} is new in the project.`,
    operations: [{ op: 'put', ...part, spec: { ...given }, project: graph.project.id }],
    ...secretsIn(given, secretFields),
    ...placed(nodeId(part), at),
  }
}

/**
 * Fields of a part are changed: only what differs is written, so that others who change its other
 * fields are not in the way. A part keeps its name.
 * @returns null when nothing differs.
 */
export function editPart(
  part: PartRef,
  before: Fields,
  after: Fields,
  secretFields: readonly string[] = [],
): Step | null {
  const spec = patchBetween(before, after)
  if (spec === null) return null
  const fields = Object.keys(spec)
  const words = fields.length > 3 ? `${fields.slice(0, 3).join(', ')}, …` : fields.join(', ')
  return {
    label: `${part.name}: ${words}`,
    said: `${sentence(called(part))} is changed: ${words}.`,
    operations: [{ op: 'patch', ...part, spec: { ...spec } }],
    ...secretsIn(spec, secretFields),
  }
}

function secretsIn(spec: Fields, fields: readonly string[]): { secrets?: SecretField[] } {
  const given = fields.filter((path) => typeof valueAt(spec, path) === 'string')
  return given.length ? { secrets: given.map((path) => ({ operation: 0, path })) } : {}
}

/** Sources and triggers are paused or resumed; others are switched off by their wiring. */
export function pausePart(part: PartRef, event: 'pause' | 'resume'): Step {
  if (part.kind !== 'source' && part.kind !== 'trigger')
    throw new Error(`${sentence(called(part))} cannot be paused; switch what leads to it off.`)
  return {
    label: `${sentence(event)} ${part.name}`,
    said: `${sentence(called(part))} is ${event === 'pause' ? 'paused' : 'active again'}.`,
    operations: [{ op: 'move', ...part, event }],
  }
}

/** Why parts cannot leave the project, in a sentence; null: they can. Others that need them must go, too. */
export function leaveRefusal(graph: ProjectGraph, ids: readonly string[]): string | null {
  const going = new Set(ids)
  for (const id of ids) {
    const by = graph.edges
      .flatMap(({ kind, from, to }) =>
        kind === 'feeds' && from === id ? to : kind === 'uses' && to === id ? from : [],
      )
      .filter((one) => !going.has(one))
    const who = by.map(nameOf).join(' and ')
    if (who) return `${nameOf(id)} is needed by ${who}: disconnect it first, or take out ${who}, too.`
  }
  return ids.some((id) => partOf(id) === null)
    ? 'Destinations are set in the fields of what tells them.'
    : null
}

/**
 * Parts leave the project with their wiring in it. They stay where others use them; one that nobody
 * uses goes to the Default project, and a skill that nobody uses goes.
 * @param made ids of parts this draft makes: they are simply not made
 * @throws Error when another part of the project needs one
 */
export function leaveProject(graph: ProjectGraph, ids: readonly string[], made: ReadonlySet<string>): Step {
  const refused = leaveRefusal(graph, ids)
  if (refused !== null) throw new Error(refused)
  const parts = ids.map((id) => partOf(id)!)
  const words = parts.length === 1 ? called(parts[0]!) : `${parts.length} parts`
  return {
    label: `Take out ${words}`,
    said: `${sentence(words)} ${parts.length === 1 ? 'is' : 'are'} no longer in the project.`,
    operations: [detached(graph, ids), ...parts.filter((part) => made.has(nodeId(part))).map(removal)],
  }
}

/** A project without some parts and their wiring. */
function detached(graph: ProjectGraph, ids: readonly string[]): Operation {
  let patch: unknown = wiringWithout(edgesAt(graph, ids)) ?? {}
  for (const { kind, name } of ids.map((id) => partOf(id)!))
    patch = composed(patch, { uses: { [kind]: { [name]: null } } })
  return patchProject(graph, patch as Record<string, unknown>)
}

/**
 * Parts are deleted, here and in every project.
 * @throws Error when another part of the project needs one
 */
export function deleteParts(graph: ProjectGraph, ids: readonly string[]): Step {
  const refused = leaveRefusal(graph, ids)
  if (refused !== null) throw new Error(refused)
  const parts = ids.map((id) => partOf(id)!)
  const words = parts.length === 1 ? called(parts[0]!) : `${parts.length} parts`
  return {
    label: `Delete ${words}`,
    said: `${sentence(words)} ${parts.length === 1 ? 'is' : 'are'} deleted, in every project.`,
    // What this very draft made is not stored yet, so that the project lets go of it by itself.
    operations: [detached(graph, ids), ...parts.map(removal)],
  }
}

const removal = (part: PartRef): Operation => ({ op: 'delete', kind: part.kind, name: part.name })

/** Connections that begin or end at one of these nodes. */
export const edgesAt = (graph: ProjectGraph, ids: readonly string[]) =>
  graph.edges.filter(({ from, to }) => ids.includes(from) || ids.includes(to))

/** Ids of the parts these operations make. */
export const madeBy = (operations: readonly Operation[]): Set<string> =>
  new Set(operations.filter(({ op }) => op === 'put').map(nodeId))
