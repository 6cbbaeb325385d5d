/**
 * One pure step of a persisted lifecycle: given the stored snapshot and an event, whether it is
 * accepted, the next snapshot, and the effects to be written in the same transaction. No actor
 * runs and nothing is executed; `can` decides acceptance, because a legal self-transition gives
 * the same snapshot as a refused event.
 */
import { type AnyActorScope, type AnyStateMachine, createActor, initialTransition } from 'xstate'

/** What is stored: the state, what guards need, and the version of the machine that wrote it. */
export interface Snapshot {
  value: string
  context: Record<string, unknown>
  status: 'active' | 'done'
  v: number
}

export interface LifecycleEvent {
  type: string
  /** Epoch ms; time enters a machine only as part of an event. */
  at?: number
  [key: string]: unknown
}

export interface Effect {
  type: string
  params: unknown
}

/** A machine with its version and how snapshots of earlier versions are read. */
export interface Lifecycle {
  machine: AnyStateMachine
  version: number
  /** Every event type the machine knows and what it says in words, in the order to show. */
  events: Readonly<Record<string, string>>
  /** Version of a snapshot → the snapshot as the next version writes it. */
  migrate?: Record<number, (old: Snapshot) => Snapshot>
}

export interface Step {
  accepted: boolean
  snapshot: Snapshot
  effects: Effect[]
}

/**
 * The snapshot a new object starts with, and what its first state causes, to be written with it.
 * @param input what the object brings with it, such as a run's round cap; every field has a default.
 */
export function begin(
  lifecycle: Lifecycle,
  input?: Record<string, unknown>,
): { snapshot: Snapshot; effects: Effect[] } {
  const [state, actions] = initialTransition(lifecycle.machine, input as never)
  return { snapshot: toStored(lifecycle, state), effects: toEffects(actions) }
}

/** The snapshot a new object starts with; `begin` gives its effects too. */
export function start(lifecycle: Lifecycle, input?: Record<string, unknown>): Snapshot {
  return begin(lifecycle, input).snapshot
}

/** The event types a machine knows, in the order to show. */
export function eventsOf(lifecycle: Lifecycle): string[] {
  return Object.keys(lifecycle.events)
}

/**
 * One step. A refused event leaves the snapshot as it is, without effects.
 * @throws Error when the snapshot is of a newer version or names a state that is gone.
 */
export function step(lifecycle: Lifecycle, stored: Snapshot, event: LifecycleEvent): Step {
  const snapshot = upgrade(lifecycle, stored)
  // A finished lifecycle takes nothing, whatever its machine would do with the event.
  if (snapshot.status !== 'active') return { accepted: false, snapshot, effects: [] }
  const state = lifecycle.machine.resolveState({
    value: snapshot.value,
    context: snapshot.context,
    status: 'active',
  } as never)
  if (!state.can(event as never)) return { accepted: false, snapshot, effects: [] }
  const actions: { type: string; params: unknown }[] = []
  const scope: AnyActorScope = {
    ...scopeOf(lifecycle.machine),
    actionExecutor: ({ type, params }) => void actions.push({ type, params }),
  }
  const next = lifecycle.machine.transition(state, event as never, scope)
  return {
    accepted: true,
    snapshot: toStored(lifecycle, next),
    effects: toEffects(actions),
  }
}

/**
 * Where a machine takes its steps, made once: XState's own `transition` makes an actor for each step, which is more than
 * the step. Our machines start no others, so that nothing stays in it.
 */
const scopes = new WeakMap<AnyStateMachine, AnyActorScope>()

function scopeOf(machine: AnyStateMachine): AnyActorScope {
  const known = scopes.get(machine)
  if (known) return known
  const self = createActor(machine)
  const nothing = () => {}
  const scope: AnyActorScope = {
    ...{ self, system: self.system, id: '', sessionId: '' },
    ...{ defer: nothing, logger: nothing, stopChild: nothing, emit: nothing, actionExecutor: nothing },
  }
  scopes.set(machine, scope)
  return scope
}

/**
 * The event types a snapshot accepts now, for consoles and agents.
 * @param at epoch ms, for machines that wait for a time.
 */
export function accepts(lifecycle: Lifecycle, stored: Snapshot, at?: number): string[] {
  return eventsOf(lifecycle).filter((type) => step(lifecycle, stored, { type, at }).accepted)
}

function upgrade(lifecycle: Lifecycle, stored: Snapshot): Snapshot {
  let snapshot = stored
  while (snapshot.v < lifecycle.version) {
    const next = lifecycle.migrate?.[snapshot.v]
    if (!next)
      throw new Error(`no migration reads ${lifecycle.machine.id} snapshots of version ${snapshot.v}`)
    snapshot = { ...next(snapshot), v: snapshot.v + 1 }
  }
  if (snapshot.v > lifecycle.version)
    throw new Error(`a ${lifecycle.machine.id} snapshot was written by a newer version (${snapshot.v})`)
  return snapshot
}

function toEffects(actions: readonly { type: string; params: unknown }[]): Effect[] {
  return actions.map(({ type, params }) => ({ type, params }))
}

function toStored(
  lifecycle: Lifecycle,
  state: { value: unknown; context: unknown; status: string },
): Snapshot {
  return {
    value: state.value as string,
    context: (state.context ?? {}) as Record<string, unknown>,
    status: state.status === 'done' ? 'done' : 'active',
    v: lifecycle.version,
  }
}
