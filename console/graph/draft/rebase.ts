/** What others changed meanwhile: a draft moves on to their version, field by field. */
import { type PartRename, renamedIn } from '../../../schemas/renamed.ts'
import type { DraftRename, GraphPosition, MergeConflict, Operation } from '../../../schemas/types.ts'
import { type Draft, type SecretField, type Step, withoutSteps } from './draft.ts'
import { called, nodeId } from './ids.ts'
import { pointerOf, without, withValue } from './patch.ts'
import type { Fields } from './values.ts'

export type Side = 'mine' | 'theirs'

/** A conflict by its object and field. */
export const conflictKey = ({ kind, name, path }: Pick<MergeConflict, 'kind' | 'name' | 'path'>): string =>
  `${kind}:${name}${path}`

/**
 * The draft on another version. Where mine is kept, the steps are replayed over theirs; where theirs
 * is taken, the steps lose that field, and those that then say nothing are dropped.
 * @param version that was shown with the conflicts
 */
export function rebased(
  draft: Draft,
  version: number,
  conflicts: readonly MergeConflict[],
  choice: ReadonlyMap<string, Side>,
): Draft {
  const theirs = conflicts.filter((conflict) => choice.get(conflictKey(conflict)) === 'theirs')
  const yielded = draft.steps.map((step) => theirs.reduce(yielding, step))
  const isEmpty = ({ operations, tidied }: Step): boolean => operations.length === 0 && !tidied
  return {
    base: version,
    steps: withoutSteps(yielded, isEmpty),
    cursor: yielded.slice(0, draft.cursor).filter((step) => !isEmpty(step)).length,
  }
}

function yielding(step: Step, conflict: MergeConflict): Step {
  // A part whose field is theirs stays, in the project and with its wires.
  const kept = step.operations.find((operation) => operation.op === 'delete' && isAbout(operation, conflict))
  if (kept) return withoutDeletion(step, kept)
  const operations: Operation[] = []
  const secrets: SecretField[] = []
  step.operations.forEach((operation, at) => {
    const left = yielded(operation, conflict)
    if (!left) return
    for (const secret of step.secrets ?? [])
      if (secret.operation === at && !(isAbout(operation, conflict) && covers(conflict.path, secret.path)))
        secrets.push({ ...secret, operation: operations.length })
    operations.push(left)
  })
  const { secrets: _secrets, ...rest } = step
  return { ...rest, operations, ...(secrets.length ? { secrets } : {}) }
}

/** A step that deletes parts, without one of them: of its wires those go that lead to others that are deleted. */
function withoutDeletion(step: Step, { kind, name }: Operation): Step {
  const deleted = step.operations.filter((operation) => operation.op === 'delete')
  const going = deleted.filter((operation) => operation.kind !== kind || operation.name !== name)
  const { secrets: _secrets, ...rest } = step
  if (going.length === 0) return { ...rest, operations: [] }
  const stays = (...ends: string[]): boolean =>
    ends.includes(nodeId({ kind, name })) && !going.some((one) => ends.includes(nodeId(one)))
  const operations = step.operations.flatMap((operation): Operation[] => {
    if (operation.op === 'delete') return going.includes(operation) ? [operation] : []
    if (operation.kind !== 'project' || !operation.spec) return [operation]
    const { wakes = {}, handoffs = {} } = operation.spec as Wires
    const kept = [
      ['uses', kind, name],
      ...entriesOf(wakes)
        .filter(([a, b]) => stays(`trigger:${a}`, `agent:${b}`))
        .map((keys) => ['wakes', ...keys]),
      ...Object.entries(handoffs).flatMap(([agent, verdicts]) =>
        entriesOf(verdicts)
          .filter(([, to]) => stays(`agent:${agent}`, `agent:${to}`))
          .map((keys) => ['handoffs', agent, ...keys]),
      ),
    ]
    const spec = kept.reduce<Fields>((doc, keys) => without(doc, pointerOf(keys)), operation.spec)
    return Object.keys(spec).length ? [{ ...operation, spec: { ...spec } }] : []
  })
  const label = `Delete ${going.length === 1 ? called(going[0]!) : `${going.length} parts`}`
  return { ...rest, label, operations }
}

type Named<T> = Record<string, T>
interface Wires {
  wakes?: Named<Named<unknown>>
  handoffs?: Named<Named<Named<unknown>>>
}

const entriesOf = (all: Named<Named<unknown>>): [string, string][] =>
  Object.entries(all).flatMap(([a, inner]) => Object.keys(inner).map((b): [string, string] => [a, b]))

const covers = (outer: string, inner: string): boolean => inner === outer || inner.startsWith(`${outer}/`)

/** A conflict names a project by its name, an operation by its id: there is one project in a draft. */
const isAbout = ({ kind, name }: Operation, conflict: MergeConflict): boolean =>
  kind === conflict.kind && (kind === 'project' || name === conflict.name)

/** The operation without its word on a field; null: it says nothing any more. */
function yielded(operation: Operation, conflict: MergeConflict): Operation | null {
  if (!isAbout(operation, conflict) || !operation.spec) return operation
  if (operation.op === 'put') {
    const theirs = conflict.theirs === null ? undefined : conflict.theirs
    return { ...operation, spec: { ...withValue(operation.spec, conflict.path, theirs) } }
  }
  const spec = without(operation.spec, conflict.path)
  return Object.keys(spec).length ? { ...operation, spec: { ...spec } } : null
}

/** A draft by the names that others gave to parts since it began, or since it last followed them. */
export function followed(draft: Draft, renames: readonly DraftRename[]): Draft {
  const since = draft.renamed ?? draft.base
  const fresh = renames.filter(({ change_set: id }) => id > since)
  const last = fresh.at(-1)
  if (!last) return draft
  return {
    ...draft,
    steps: draft.steps.map((step) => fresh.reduce(renamedStep, step)),
    renamed: last.change_set,
  }
}

function renamedStep(step: Step, rename: PartRename): Step {
  const { from, to } = rename
  const idNow = (id: string): string =>
    id === nodeId({ ...rename, name: from }) ? nodeId({ ...rename, name: to }) : id
  const put = (places: readonly GraphPosition[]) =>
    places.map((place) => ({ ...place, node: idNow(place.node) }))
  const { joins, places, tidied } = step
  const operations = step.operations.map((operation) => renamedOperation(operation, rename))
  const isNamed = operations.some((operation, at) => operation !== step.operations[at])
  return {
    ...step,
    operations,
    label: isNamed ? step.label.replaceAll(nameIn(from), to) : step.label,
    ...(joins && {
      joins: Object.fromEntries(Object.entries(joins).map(([id, known]) => [idNow(id), known])),
    }),
    ...(places && { places: put(places) }),
    ...(tidied && { tidied: { nodes: tidied.nodes?.map(idNow) ?? null, before: put(tidied.before) } }),
  }
}

function renamedOperation(operation: Operation, rename: PartRename): Operation {
  const { kind, name, spec } = operation
  const now = kind === rename.kind && name === rename.from ? rename.to : name
  const said = spec && renamedIn(kind, spec, rename)
  if (now === name && said === spec) return operation
  return { ...operation, name: now, ...(said && { spec: { ...said } }) }
}

/** A name where it stands alone, and not in another. */
const nameIn = (name: string): RegExp =>
  new RegExp(`(?<![\\w.-])${name.replaceAll('.', '\\.')}(?![\\w-]|\\.\\w)`, 'g')
