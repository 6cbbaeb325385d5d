/**
 * A draft: what somebody means to change in a project, step by step. It is only a list of the
 * operations of a change-set; undo and redo move a cursor through it.
 */
import type { DraftProblem, GraphMoves, GraphPosition, Operation } from '../../../schemas/types.ts'
import { nodeId } from './ids.ts'
import { composed, patched, sharesValue } from './patch.ts'

/** What one action does. The same action on the canvas and in the list makes the same step. */
export interface Step {
  /** In the list of steps: "high-errors wakes triage". */
  label: string
  /** As it is announced, a sentence. */
  said: string
  operations: readonly Operation[]
  /** Fields of its operations that are secret: index of the operation, and a pointer into its spec. */
  secrets?: readonly SecretField[]
  /** What is known of parts that join, by node: an agent's verdicts, on which it hands over. */
  joins?: Readonly<Record<string, { verdicts: readonly string[] }>>
  /** Where new nodes were dropped; kept once the draft is applied. */
  places?: readonly GraphPosition[]
  /** What was laid out again; it was kept at once, and is put back where the step is undone. */
  tidied?: Tidied
  /** Steps before it, from 0, that were refused when it was taken: what it says of their objects is said there. */
  corrects?: readonly number[]
}

export interface Tidied {
  /** Ids; null: all. */
  nodes: readonly string[] | null
  /** Where nodes that are stored had been put. */
  before: readonly GraphPosition[]
}

export interface SecretField {
  operation: number
  path: string
}

export interface Draft {
  /** Version of the instance it began at. */
  base: number
  steps: readonly Step[]
  /** How many of the steps count; those after it were undone. */
  cursor: number
  /** Change-set up to which it goes by the names that others gave to parts; absent: its base. */
  renamed?: number
}

export const newDraft = (base: number): Draft => ({ base, steps: [], cursor: 0 })

/** A step more; what was undone is dropped. */
export function withStep(draft: Draft, step: Step): Draft {
  const steps = [...stepsOf(draft), step]
  return { ...draft, steps, cursor: steps.length }
}

export const canUndo = ({ cursor }: Draft): boolean => cursor > 0
export const canRedo = ({ cursor, steps }: Draft): boolean => cursor < steps.length

export const undone = (draft: Draft): Draft =>
  canUndo(draft) ? { ...draft, cursor: draft.cursor - 1 } : draft
export const redone = (draft: Draft): Draft =>
  canRedo(draft) ? { ...draft, cursor: draft.cursor + 1 } : draft

/** The draft with the cursor after this many steps. */
export const movedTo = (draft: Draft, cursor: number): Draft => ({
  ...draft,
  cursor: Math.min(draft.steps.length, Math.max(0, cursor)),
})

/** Without one of its steps; the others stay as they are. */
export function withoutStep(draft: Draft, at: number): Draft {
  const { steps, cursor } = draft
  return {
    ...draft,
    steps: withoutSteps(steps, (_step, i) => i === at),
    cursor: at < cursor ? cursor - 1 : cursor,
  }
}

/** Without some of the steps; those that correct others go on correcting those. */
export function withoutSteps(
  steps: readonly Step[],
  isGone: (step: Step, at: number) => boolean,
): readonly Step[] {
  const kept = steps.flatMap((step, at) => (isGone(step, at) ? [] : at))
  return kept.map((was) => {
    const step = steps[was]!
    if (!step.corrects) return step
    return { ...step, corrects: step.corrects.map((at) => kept.indexOf(at)).filter((at) => at >= 0) }
  })
}

/** The steps that count. */
export const stepsOf = ({ steps, cursor }: Draft): readonly Step[] => steps.slice(0, cursor)

/** What would be sent. */
export const operationsOf = (draft: Draft): Operation[] => sentOf(draft).map(({ operation }) => operation)

interface Sent {
  operation: Operation
  /** Where the step that it comes of is, from 0. */
  step: number
}

/** What corrects a refused operation is sent as a part of it: behind it, it would be refused all the same. */
function sentOf(draft: Draft): Sent[] {
  let sent: Sent[] = []
  stepsOf(draft).forEach(({ operations, corrects = [] }, step) => {
    for (const operation of operations) {
      const isRefused = (one: Sent) => corrects.includes(one.step) && isCorrected(one.operation, operation)
      const refused = sent.filter(isRefused)
      // What is not made need not be deleted.
      const isUnmade = operation.op === 'delete' && refused.some((one) => one.operation.op === 'put')
      if (isUnmade) sent = sent.filter((one) => nodeId(one.operation) !== nodeId(operation))
      else if (operation.op === 'delete') sent = sent.filter((one) => !refused.includes(one))
      else for (const one of refused) one.operation = corrected(one.operation, operation)
      if (refused.length === 0 || (operation.op === 'delete' && !isUnmade)) sent.push({ operation, step })
    }
  })
  return sent
}

/** Whether an operation makes another, of before it, good: of a project, by the same of its relations. */
function isCorrected(before: Operation, by: Operation): boolean {
  if ((before.op !== 'put' && before.op !== 'patch') || nodeId(before) !== nodeId(by)) return false
  if (by.op === 'delete') return true
  return by.op === 'patch' && (by.kind !== 'project' || sharesValue(before.spec, by.spec))
}

const corrected = (before: Operation, by: Operation): Operation => ({
  ...before,
  spec: (before.op === 'put' ? patched : composed)(before.spec, by.spec) as NonNullable<Operation['spec']>,
})

/** Steps that the daemon refuses, from 0. */
export const refusedSteps = (draft: Draft, problems: readonly DraftProblem[]): number[] => [
  ...new Set(
    problems.flatMap(({ operation }) => (operation === null ? [] : (stepOf(draft, operation) ?? []))),
  ),
]

/** A step as it follows on others, of which some are refused. */
export const correcting = (step: Step, refused: readonly number[]): Step =>
  refused.length > 0 && step.operations.length > 0 ? { ...step, corrects: refused } : step

/** The draft with places for nodes that it makes; they belong to the last of its steps. */
export function withPlaces(draft: Draft, places: readonly GraphPosition[]): Draft {
  const last = draft.cursor - 1
  const steps = draft.steps.map((step, at) =>
    at === last ? { ...step, places: [...(step.places ?? []), ...places] } : step,
  )
  return { ...draft, steps }
}

/** Where new nodes were put, the last place of each. */
export function placesOf(draft: Draft): GraphPosition[] {
  const places = new Map<string, GraphPosition>()
  for (const { tidied, places: put = [] } of stepsOf(draft)) {
    if (tidied) for (const node of tidied.nodes ?? [...places.keys()]) places.delete(node)
    for (const place of put) places.set(place.node, place)
  }
  return [...places.values()]
}

/** Positions with those of some nodes put elsewhere, or forgotten. */
export const withMoves = (
  now: readonly GraphPosition[],
  { put = [], forget = [] }: GraphMoves,
): GraphPosition[] => [
  ...now.filter(({ node }) => !forget.includes(node) && !put.some((place) => place.node === node)),
  ...put,
]

/** What takes back that nodes were put elsewhere: they stand where they stood, or are laid out again. @param before as it was stored */
export function moveBack(before: readonly GraphPosition[], put: readonly GraphPosition[]): GraphMoves {
  const nodes = put.map(({ node }) => node)
  const stood = before.filter(({ node }) => nodes.includes(node))
  return { put: stood, forget: nodes.filter((node) => !stood.some((place) => place.node === node)) }
}

/** Index of the step an operation belongs to, by the operation's index in the whole; null: there is none. */
export const stepOf = (draft: Draft, operation: number): number | null =>
  sentOf(draft)[operation]?.step ?? null

/** A step that lays nodes out again. @param nodes ids; absent: all of them. @param positions as they are stored now */
export function tidyStep(positions: readonly GraphPosition[], nodes?: readonly string[]): Step {
  const label = nodes ? `${nodes.length} laid out again` : 'all laid out again'
  return {
    label,
    said: `${label[0]!.toUpperCase()}${label.slice(1)}.`,
    operations: [],
    tidied: {
      nodes: nodes ?? null,
      before: positions.filter(({ node }) => nodes?.includes(node) ?? true),
    },
  }
}

/**
 * What moves as the draft goes from one list of steps that count to another: what a step laid out again is put
 * back where it counts no more, unless somebody has put it elsewhere since, and is forgotten where it counts again.
 * @param positions as they are stored. @returns null where nothing moves
 */
export function movesAfter(
  positions: readonly GraphPosition[],
  from: readonly Step[],
  to: readonly Step[],
): GraphMoves | null {
  const gone = from.filter((step) => step.tidied && !to.includes(step))
  const back = to.filter((step) => step.tidied && !from.includes(step))
  if (gone.length + back.length === 0) return null
  const now = new Map(positions.map((place) => [place.node, place]))
  // The last that was laid out again was done over what those before it had left.
  for (const { tidied } of gone.toReversed())
    for (const place of tidied!.before) if (!now.has(place.node)) now.set(place.node, place)
  const forget = back.flatMap(({ tidied }) => tidied!.nodes ?? [...now.keys()])
  return {
    put: [...now.values()].filter((place) => !positions.includes(place) && !forget.includes(place.node)),
    forget,
  }
}
