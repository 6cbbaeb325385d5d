import { describe, expect, it } from 'vitest'
import { type Kind, lifecycles } from '../../machines/index.ts'
import { type Snapshot, start, step } from '../../machines/step.ts'

/** Kind → state → event → next state. Every pair that is not here is refused. */
const tables: Record<Kind, Record<string, Record<string, string>>> = {
  source: {
    active: { pause: 'paused', delete: 'deleted' },
    paused: { resume: 'active', delete: 'deleted' },
    deleted: {},
  },
  key: {
    active: { revoke: 'revoked' },
    revoked: {},
  },
}

const final: Record<Kind, string> = { source: 'deleted', key: 'revoked' }

describe.each(Object.keys(tables) as Kind[])('the lifecycle of a %s', (kind) => {
  const table = tables[kind]
  const snapshotIn = (state: string): Snapshot => ({
    ...start(lifecycles[kind]),
    value: state,
    status: state === final[kind] ? 'done' : 'active',
  })
  const pairs = Object.keys(table).flatMap((state) =>
    [...lifecycles[kind].events, 'create', '', 'xstate.init'].map((event) => [state, event] as const),
  )

  it('begins active', () => {
    expect(start(lifecycles[kind]).value).toBe('active')
  })

  it('has the states of its table and no other', () => {
    expect(Object.keys(lifecycles[kind].machine.states)).toEqual(Object.keys(table))
  })

  it('lists every event of its table', () => {
    expect([...lifecycles[kind].events].sort()).toEqual(
      [...new Set(Object.values(table).flatMap((row) => Object.keys(row)))].sort(),
    )
  })

  it.each(pairs)('in %s goes where its table says by "%s", or refuses it', (state, event) => {
    const next = table[state]![event]
    const { accepted, snapshot, effects } = step(lifecycles[kind], snapshotIn(state), { type: event })
    expect({ accepted, snapshot, effects }).toEqual({
      accepted: next !== undefined,
      snapshot: snapshotIn(next ?? state),
      effects: [],
    })
  })
})
