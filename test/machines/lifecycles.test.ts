import { describe, expect, it } from 'vitest'
import { type Kind, lifecycles } from '../../machines/index.ts'
import { accepts, eventsOf, type Snapshot, step } from '../../machines/step.ts'
import type { Situation, Taken } from './situation.ts'
import { snapshotOf, tables } from './tables.ts'

const NOW = 1000
const STRANGE = ['archive', '', 'xstate.init', 'xstate.done.state.run', '*']

describe.each(Object.keys(tables) as Kind[])('the lifecycle of a %s', (kind) => {
  const lifecycle = lifecycles[kind]
  const situations = tables[kind]
  const stored = (situation: Situation) => snapshotOf(situation, lifecycle.version)
  const taken = situations.flatMap((situation) =>
    Object.entries(situation.takes).map(([event, to]) => ({
      situation,
      event,
      taken: (typeof to === 'string' ? { to } : to) as Taken,
    })),
  )
  const title = ({ state, context }: Situation) => (context ? `${state} ${JSON.stringify(context)}` : state)

  it('has the states of its table and no other', () => {
    expect(Object.keys(lifecycle.machine.states).sort()).toEqual(
      [...new Set(situations.map(({ state }) => state))].sort(),
    )
  })

  it('lists every event of its table and no other', () => {
    expect(eventsOf(lifecycle).sort()).toEqual([...new Set(taken.map(({ event }) => event))].sort())
  })

  it.each(taken.map((row) => [title(row.situation), row.event, row.taken.to, row] as const))(
    'in %s goes by %s to %s, with the effects of its table',
    (_title, event, _to, { situation, taken: { to, context, brings, effects } }) => {
      const before = stored(situation)
      const result = step(lifecycle, Object.freeze(before), { type: event, at: NOW, ...brings })
      const isFinal = situations.some((other) => other.state === to && other.isFinal)
      expect(result).toEqual({
        accepted: true,
        snapshot: {
          ...before,
          value: to,
          context: context ?? before.context,
          status: isFinal ? 'done' : 'active',
        },
        effects: (effects ?? []).map(({ type, params }) => ({ type, params })),
      })
    },
  )

  const refused = situations.flatMap((situation) =>
    [...eventsOf(lifecycle), ...STRANGE]
      .filter((event) => !(event in situation.takes))
      .map((event) => [title(situation), event, situation] as const),
  )
  it.each(refused)('in %s refuses "%s" and stays as it is', (_title, event, situation) => {
    const before = stored(situation)
    expect(step(lifecycle, before, { type: event, at: NOW - 1 })).toEqual({
      accepted: false,
      snapshot: before,
      effects: [],
    })
  })

  it('says of each situation what it takes there, and nothing else', () => {
    for (const situation of situations)
      expect(accepts(lifecycle, stored(situation), NOW).sort(), title(situation)).toEqual(
        Object.keys(situation.takes).sort(),
      )
  })

  it('takes the same from a snapshot that was stored as JSON', () => {
    for (const { situation, event, taken: row } of taken) {
      const before = stored(situation)
      const again = JSON.parse(JSON.stringify(before)) as Snapshot
      const move = { type: event, at: NOW, ...row.brings }
      const { snapshot, effects } = step(lifecycle, before, move)
      expect(step(lifecycle, again, move)).toEqual({ accepted: true, snapshot, effects })
      expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot)
    }
  })

  it('says in words what each state and each event is', () => {
    for (const [name, state] of Object.entries(lifecycle.machine.states))
      expect(state.description?.length, name).toBeGreaterThan(3)
    for (const [event, words] of Object.entries(lifecycle.events))
      expect(words.length, event).toBeGreaterThan(3)
  })
})
