/** The plan of guided setup under the hands of a person: what names each other stays together. */
import { describe, expect, it } from 'vitest'
import { withAgent, withWake, withWatch } from '../../console/lib/plan-edit.ts'
import type { Plan } from '../../schemas/types.ts'

const plan = {
  watches: [
    { key: 'w1', name: 'gateway' },
    { key: 'w2', name: 'orders' },
  ],
  wakes: [
    { key: 'k1', name: 'errors', sources: ['gateway', 'orders'] },
    { key: 'k2', name: 'slow', sources: ['orders'] },
  ],
  agents: [
    { key: 'a1', name: 'triage', trigger: 'errors', handoffs: [{ verdict: 'dig', agent: 'digger' }] },
    { key: 'a2', name: 'digger', trigger: '', handoffs: [] },
  ],
} as unknown as Plan

describe('a part of a plan that gets another name', () => {
  it('is read, woken by and handed over to under it', () => {
    const watched = withWatch(plan, { ...plan.watches[0]!, existing: true, name: 'gw-here' })
    expect(watched.watches.map(({ name }) => name)).toEqual(['gw-here', 'orders'])
    expect(watched.wakes.map(({ sources }) => sources)).toEqual([['gw-here', 'orders'], ['orders']])
    const woken = withWake(plan, { ...plan.wakes[0]!, name: 'faults' })
    expect(woken.agents.map(({ trigger }) => trigger)).toEqual(['faults', ''])
    const handed = withAgent(plan, { ...plan.agents[1]!, name: 'searcher' })
    expect(handed.agents[0]!.handoffs).toEqual([{ verdict: 'dig', agent: 'searcher' }])
  })

  it('takes nothing along where it is new, or its name was not its own', () => {
    const added = withWatch(plan, { ...plan.watches[0]!, key: 'w3', name: 'third' })
    expect(added.watches.map(({ name }) => name)).toEqual(['gateway', 'orders', 'third'])
    expect(added.wakes).toEqual(plan.wakes)
    const twice = withWatch(plan, { ...plan.watches[1]!, name: 'gateway' })
    expect(withWatch(twice, { ...plan.watches[1]!, name: 'else' }).wakes[0]!.sources).toEqual([
      'gateway',
      'gateway',
    ])
  })
})
