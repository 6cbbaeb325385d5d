/** Triggers that are defined together without a history share what they have in common: each decides what it would alone. */
import { describe, expect, it } from 'vitest'
import { createEvaluator, MemoryLedger } from '../../../../engine/triggers/core/index.ts'
import type { Decision, Ledger, Seen, TriggerDefinition } from '../../../../engine/triggers/types.ts'
import type { AggregateCondition, Filter, SequenceCondition, TriggerSpec } from '../../../../schemas/types.ts'
import { random } from '../../log/store/store-harness.ts'
import { CoreWorld, definitionOf, type Made } from './core-world.ts'

type Spec = Partial<TriggerSpec> & Pick<TriggerSpec, 'condition'>

const failed: Filter[] = [{ field: 'event_type', op: 'eq', value: 'error' }]
const counted = (more: Partial<AggregateCondition>): AggregateCondition => ({
  ...{ aggregate: 'count', predicate: '> 3', window: '2m' },
  ...more,
})
const steps = (within: string): SequenceCondition => ({
  sequence: [{ filters: failed }, { filters: [{ field: 'ms', op: 'gt', value: 50 }] }],
  within,
})

/** Each differs from the one before by one thing that decides what can be shared. */
const specs: [Spec, Partial<TriggerDefinition>?][] = [
  [{ condition: counted({}) }],
  [{ condition: counted({}), cooldown: '0s' }],
  [{ condition: counted({ predicate: '> 5' }), cooldown: '0s' }],
  [{ condition: counted({ window: '3m' }), cooldown: '0s' }],
  [{ condition: counted({}), cooldown: '0s' }, { sourceIds: [1, 2] }],
  [{ condition: counted({}), cooldown: '0s', filters: failed }],
  [{ condition: counted({}), cooldown: '0s', key_field: 'host' }],
  [{ condition: counted({ group_by: ['host', 'event_type'] }), cooldown: '0s' }],
  [{ condition: counted({}), cooldown: '0s', max_late: '30s' }],
  [{ condition: counted({ resolve: true }), cooldown: '0s' }],
  [{ condition: counted({ resolve: '< 2' }), cooldown: '0s' }],
  [{ condition: counted({}), cooldown: '0s' }, { paused: true }],
  [{ condition: counted({}), cooldown: '0s', storm: { quiet: '20s', max_wait: '1m' } }],
  [{ condition: counted({ predicate: '> 4' }), cooldown: '0s', storm: { quiet: '20s', max_wait: '1m' } }],
  [{ condition: { aggregate: 'avg', field: 'ms', predicate: '> 40', window: '2m' }, cooldown: '0s' }],
  [{ condition: { aggregate: 'max', field: 'ms', predicate: '> 90', window: '2m' }, cooldown: '0s' }],
  [{ condition: { aggregate: 'distinct', field: 'host', predicate: '> 2', window: '2m' }, cooldown: '0s' }],
  [{ condition: steps('1m'), cooldown: '0s' }],
  [{ condition: steps('1m') }],
  [{ condition: steps('2m'), cooldown: '0s' }],
  [{ condition: { change_of: 'host' }, cooldown: '0s' }],
  [{ condition: { change_of: 'host' } }],
  [{ condition: { change_of: 'host', to: 'h1' }, cooldown: '0s' }],
  [{ condition: { absent_for: '40s' }, cooldown: '0s' }],
  [{ condition: { absent_for: '60s' }, cooldown: '0s' }],
  [{ condition: { event: 'any' }, filters: failed, cooldown: '10s' }],
  [{ condition: { event: 'any' }, filters: failed, cooldown: '20s' }],
]

const definitions = specs.map(([spec, more], n) => ({ ...definitionOf(spec), ...more, id: n + 1 }))

/** In the order they are stored: some late, some of them too late for some. */
function eventsOf(seed: number, world: CoreWorld): Seen[] {
  const next = random(seed)
  const upTo = (n: number) => Math.floor(next() * n)
  let at = 0
  return Array.from({ length: 400 }, (_, n) => {
    at += upTo(12_000)
    const made: Made = {
      at,
      ts: at - (next() < 0.25 ? upTo(90_000) : 0),
      source: 1 + upTo(2),
      type: next() < 0.5 ? 'error' : 'info',
      labels: { service: `s${upTo(3)}`, ...(next() < 0.9 ? { host: `h${upTo(4)}` } : {}) },
      ...(next() < 0.9 ? { numbers: { ms: upTo(100) } } : {}),
    }
    return { ...world.seen(made), id: n + 1 }
  })
}

/** Decisions of triggers that are defined together, by trigger. @param withoutWatch as in backtests of a change */
function decided(
  together: readonly TriggerDefinition[],
  events: readonly Seen[],
  world: CoreWorld,
  withoutWatch: boolean,
) {
  const ledgers = new Map(together.map(({ id }) => [id, new MemoryLedger()]))
  const of = (id: number) => ledgers.get(id)!
  const ledger: Ledger = {
    lastFired: (id, key) => of(id).lastFired(id, key),
    lastRank: (id, key) => of(id).lastRank(id, key),
    firedSince: (id, after) => of(id).firedSince(id, after),
    open: (id) => of(id).open(),
    active: (id) => of(id).active(),
    alerts: (id) => of(id).alerts(),
    handledAt: (id) => of(id).handledAt(),
    watched: (id) => of(id).watched(),
  }
  const { labels } = world
  const sourceName = (id: number) => ['', 'app', 'other'][id]!
  const evaluator = createEvaluator({ labels, ledger, history: null, sourceName, withoutWatch })
  evaluator.define(together)
  const all = new Map(together.map(({ id }): [number, Decision[]] => [id, []]))
  const take = (decisions: readonly Decision[]) => {
    for (const decision of decisions) {
      const id = 'verdict' in decision ? decision.verdict.triggerId : decision.triggerId
      of(id).apply(decision)
      if (decision.do !== 'watch') all.get(id)!.push(decision)
    }
  }
  for (const event of events) {
    for (let due = evaluator.nextDue(); due !== null && due <= event.ingestedAt; due = evaluator.nextDue())
      take(evaluator.tick(due))
    take(evaluator.judgeSeen(event, () => true))
  }
  return all
}

describe('triggers that are defined together', () => {
  it('decide what each decides alone, whatever they share', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const world = new CoreWorld(definitionOf({ condition: { event: 'any' } }), { history: false })
      const events = eventsOf(seed, world)
      const together = decided(definitions, events, world, true)
      for (const definition of definitions) {
        const alone = decided([definition], events, world, false).get(definition.id)!
        if (!definition.paused)
          expect(
            alone.some((one) => one.do !== 'note'),
            definition.name,
          ).toBe(true)
        expect(together.get(definition.id), `seed ${seed}, trigger ${definition.id}`).toEqual(alone)
      }
    }
  })
})
