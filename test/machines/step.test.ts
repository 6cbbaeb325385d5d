import { describe, expect, it } from 'vitest'
import { assign, createMachine } from 'xstate'
import { accepts, type Lifecycle, type Snapshot, start, step } from '../../machines/step.ts'

/** A retry counter: a guard over context, a self-transition without a change, effects, a final state. */
const retry: Lifecycle = {
  version: 2,
  events: { try: 'once more', touch: 'changes nothing', stop: 'for good', skip: 'never taken' },
  machine: createMachine({
    id: 'retry',
    initial: 'waiting',
    context: { tries: 0 },
    states: {
      waiting: {
        on: {
          try: {
            guard: ({ context }) => (context as { tries: number }).tries < 2,
            actions: [
              assign(({ context }) => ({ tries: (context as { tries: number }).tries + 1 })),
              {
                type: 'send',
                params: ({ event }: { event: unknown }) => ({ at: (event as { at: number }).at }),
              },
            ],
          },
          touch: { actions: 'note' },
          stop: 'stopped',
        },
      },
      stopped: { type: 'final', on: { skip: 'waiting' } },
    },
  }),
  migrate: { 1: (old) => ({ ...old, context: { tries: old.context.attempts } }) },
}

const waiting = (tries: number, v = 2): Snapshot => ({
  value: 'waiting',
  context: { tries },
  status: 'active',
  v,
})

describe('a step', () => {
  it('begins in the initial state, with the version of its machine', () => {
    expect(start(retry)).toEqual(waiting(0))
  })

  it('gives the next snapshot and its effects as values, with the time the event brought', () => {
    expect(step(retry, waiting(0), { type: 'try', at: 7 })).toEqual({
      accepted: true,
      snapshot: waiting(1),
      effects: [{ type: 'send', params: { at: 7 } }],
    })
  })

  it('leaves the snapshot it was given as it was', () => {
    const before = Object.freeze(waiting(0))
    step(retry, before, { type: 'try', at: 1 })
    expect(before).toEqual(waiting(0))
  })

  it('tells an accepted event that changes nothing from a refused one', () => {
    expect(step(retry, waiting(0), { type: 'touch' })).toMatchObject({
      accepted: true,
      snapshot: waiting(0),
      effects: [{ type: 'note' }],
    })
    expect(step(retry, waiting(0), { type: 'nonsense' })).toMatchObject({
      accepted: false,
      snapshot: waiting(0),
      effects: [],
    })
  })

  it('refuses what a guard refuses, without effects', () => {
    expect(step(retry, waiting(2), { type: 'try', at: 1 })).toEqual({
      accepted: false,
      snapshot: waiting(2),
      effects: [],
    })
  })

  it('takes nothing once it is done, even where the machine has a way out', () => {
    const { snapshot } = step(retry, waiting(0), { type: 'stop' })
    expect(snapshot).toMatchObject({ value: 'stopped', status: 'done' })
    expect(step(retry, snapshot, { type: 'skip' }).accepted).toBe(false)
  })

  it('survives being stored as JSON between any two events', () => {
    let snapshot = start(retry)
    for (const type of ['try', 'touch', 'try', 'stop'])
      snapshot = step(retry, JSON.parse(JSON.stringify(snapshot)) as Snapshot, { type, at: 1 }).snapshot
    expect(snapshot).toEqual({ value: 'stopped', context: { tries: 2 }, status: 'done', v: 2 })
  })

  it('lists what it accepts now, in the order of its machine', () => {
    expect(accepts(retry, waiting(0))).toEqual(['try', 'touch', 'stop'])
    expect(accepts(retry, waiting(2))).toEqual(['touch', 'stop'])
    expect(accepts(retry, { ...waiting(0), value: 'stopped', status: 'done' })).toEqual([])
  })
})

describe('a snapshot of another version', () => {
  it('is read through the migrations of its machine, one version after the other', () => {
    const old: Snapshot = { value: 'waiting', context: { attempts: 1 }, status: 'active', v: 1 }
    expect(step(retry, old, { type: 'try', at: 1 }).snapshot).toEqual(waiting(2))
  })

  it('is refused where no migration reads it, where it is newer, and where its state is gone', () => {
    const bad = (snapshot: Snapshot) => () => step(retry, snapshot, { type: 'touch' })
    expect(bad(waiting(0, 0))).toThrow('no migration reads retry snapshots of version 0')
    expect(bad(waiting(0, 3))).toThrow('a retry snapshot was written by a newer version (3)')
    expect(bad({ ...waiting(0), value: 'asleep' })).toThrow("State 'asleep' does not exist")
  })
})
