/** Walks a lifecycle from its start, or from a stored snapshot, event by event. */
import { type Kind, lifecycles } from '../../machines/index.ts'
import { accepts, type LifecycleEvent, type Snapshot, start, step } from '../../machines/step.ts'

type Move = string | LifecycleEvent

export interface Walk {
  snapshot: Snapshot
  state: string
  accepts: string[]
  /** Effects of the last step. */
  effects: string[]
}

/** The place a new object of a kind is at. */
export function newOf(kind: Kind, input?: Record<string, unknown>): Walk {
  return walkOf(kind, start(lifecycles[kind], input), [])
}

/** @throws Error when an event on the way is refused. */
export function walk(kind: Kind, from: Walk | Snapshot, ...moves: Move[]): Walk {
  let place = 'snapshot' in from ? from : walkOf(kind, from, [])
  for (const move of moves) {
    const event = typeof move === 'string' ? { type: move } : move
    const { accepted, snapshot, effects } = step(lifecycles[kind], place.snapshot, event)
    if (!accepted) throw new Error(`a ${kind} that is ${place.state} refuses ${event.type}`)
    place = walkOf(
      kind,
      snapshot,
      effects.map(({ type }) => type),
    )
  }
  return place
}

function walkOf(kind: Kind, snapshot: Snapshot, effects: string[]): Walk {
  return { snapshot, state: snapshot.value, accepts: accepts(lifecycles[kind], snapshot), effects }
}
