/**
 * A draft: what somebody means to change in a project, step by step. It is only a list of the
 * operations of a change-set; undo and redo move a cursor through it.
 */
import type { GraphPosition, Operation } from '../../../schemas/types.ts'

/** What one action does. The same action on the canvas and in the list makes the same step. */
export interface Step {
  /** In the list of steps: "high-errors wakes triage". */
  label: string
  /** As it is announced, a sentence. */
  said: string
  operations: readonly Operation[]
  /** Fields of its operations that are secret: index of the operation, and a pointer into its spec. */
  secrets?: readonly SecretField[]
  /** Where new nodes were dropped; kept once the draft is applied. */
  places?: readonly GraphPosition[]
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
}

export const newDraft = (base: number): Draft => ({ base, steps: [], cursor: 0 })

/** A step more; what was undone is dropped. */
export function withStep({ base, steps, cursor }: Draft, step: Step): Draft {
  const kept = [...steps.slice(0, cursor), step]
  return { base, steps: kept, cursor: kept.length }
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
export function withoutStep({ base, steps, cursor }: Draft, at: number): Draft {
  const kept = steps.filter((_step, i) => i !== at)
  return { base, steps: kept, cursor: at < cursor ? cursor - 1 : cursor }
}

/** The steps that count. */
export const stepsOf = ({ steps, cursor }: Draft): readonly Step[] => steps.slice(0, cursor)

/** What would be sent. */
export const operationsOf = (draft: Draft): Operation[] =>
  stepsOf(draft).flatMap(({ operations }) => operations)

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
  for (const step of stepsOf(draft)) for (const place of step.places ?? []) places.set(place.node, place)
  return [...places.values()]
}

/** Index of the step an operation belongs to, by the operation's index in the whole; null: there is none. */
export function stepOf(draft: Draft, operation: number): number | null {
  let end = 0
  const at = stepsOf(draft).findIndex((step) => {
    end += step.operations.length
    return operation < end
  })
  return at === -1 ? null : at
}

/** The draft without places of nodes it makes. @param nodes ids; absent: all of them */
export function withoutPlaces(draft: Draft, nodes?: readonly string[]): Draft {
  const steps = draft.steps.map((step) =>
    step.places
      ? { ...step, places: nodes ? step.places.filter(({ node }) => !nodes.includes(node)) : [] }
      : step,
  )
  return { ...draft, steps }
}
