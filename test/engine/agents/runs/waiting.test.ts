/** Claiming runs looks at what it takes, not at all that wait; who comes next is as it ever was. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createStarting } from '../../../../engine/agents/runs/calls.ts'
import { createFinishing } from '../../../../engine/agents/runs/finishing.ts'
import { createMaking } from '../../../../engine/agents/runs/making.ts'
import {
  type NewRun,
  type RunQueries,
  runQueries,
  waitingSql,
} from '../../../../engine/agents/runs/queries.ts'
import type { RunsParts } from '../../../../engine/agents/runs/types.ts'
import { Tallies } from '../../../../engine/log/figures.ts'
import type { AgentSpec } from '../../../../schemas/types.ts'
import { openTestStore, T0 } from '../../open-test-store.ts'

interface Waiting {
  agent: string
  /** Of its agent; undefined: it says none. */
  concurrency?: number | undefined
  entity: string
  practice?: boolean
  daily_cap?: number
}

const DAY = 24 * 60 * 60_000

function openClaims(limits: Partial<ReturnType<RunsParts['limits']>> = {}) {
  const { store, clock } = openTestStore()
  const real = runQueries(store.db)
  const looked = { rows: 0 }
  /** As the agents are now: as the run said that was made last. */
  const agents = new Map<string, Partial<AgentSpec>>()
  const parts = {
    store,
    clock,
    queries: counting(real, looked),
    tallies: new Tallies(),
    incidents: { ended: () => {} },
    agent: (name: string) => agents.get(name) ?? {},
    handoffs: () => [],
    wirings: () => [],
    skills: () => [],
    firing: () => null,
    closeInstant: (at: number) => at,
    limits: () => ({ dailyCap: 10_000, dailyBudgetUsd: null, concurrency: 256, ...limits }),
    onPending: () => undefined,
    secret: 'secret',
  } as unknown as RunsParts
  const starting = createStarting(parts, createFinishing(parts, createMaking(parts)))
  let made = 0
  const wait = ({ agent, entity, practice = false, ...spec }: Waiting): string => {
    const definition = JSON.stringify({ ...spec, prompt: `Look as ${agent}.` } satisfies Partial<AgentSpec>)
    agents.set(agent, spec)
    const id = `run_${String(++made).padStart(6, '0')}`
    const run: NewRun = {
      id,
      agent,
      definition,
      definition_hash: definition,
      woken_by: practice ? 'practice' : 'manual',
      trigger_name: null,
      firing_id: null,
      dispatch_id: null,
      label: 'service',
      entity,
      parent_run_id: null,
      root_run_id: id,
      depth: 0,
      rerun_of: null,
      practice: practice ? 1 : 0,
      tape: 0,
      made_at: T0,
      as_of: null,
      incident: id,
      wake_key: null,
      woke_at: null,
      snapshot:
        '{"value":"queued","context":{"rounds":0,"max_rounds":6,"resumes":0},"status":"active","v":1}',
    }
    real.insert(run, [])
    return id
  }
  return { store, clock, looked, wait, ...starting }
}

/** Rows that the statements of a claim gave over runs that wait. */
function counting(queries: RunQueries, looked: { rows: number }): RunQueries {
  const counted = (name: 'nextLine' | 'waitingAfter' | 'bySeq') => ({
    get: (...args: never[]) => {
      const row = (queries[name].get as (...given: never[]) => unknown)(...args)
      if (row !== undefined) looked.rows++
      return row
    },
  })
  return {
    ...queries,
    nextLine: counted('nextLine'),
    waitingAfter: counted('waitingAfter'),
    bySeq: counted('bySeq'),
  } as unknown as RunQueries
}

/** The rule, said plainly over all that wait: fewest at work first, then who waited longest. */
function expectedTurns(waiting: (Waiting & { id: string })[], limit: number): string[] {
  const left = [...waiting]
  const atWork = new Map<string, number>()
  const busy = new Set<string>()
  const turns: string[] = []
  const countOf = ({ agent }: Waiting) => atWork.get(agent) ?? 0
  const entityOf = ({ agent, entity }: Waiting) => `${agent} ${entity}`
  while (turns.length < limit) {
    const free = left.filter(
      (run) => countOf(run) < (run.concurrency ?? 4) && (run.practice || !busy.has(entityOf(run))),
    )
    const fewest = Math.min(...free.map(countOf))
    const next = free.find((run) => countOf(run) === fewest)
    if (!next) break
    left.splice(left.indexOf(next), 1)
    atWork.set(next.agent, countOf(next) + 1)
    if (!next.practice) busy.add(entityOf(next))
    turns.push(next.id)
  }
  return turns
}

const idsOf = (runs: { id: string }[]) => runs.map(({ id }) => id)

describe('claiming runs', () => {
  it('gives turns by agent, wait, concurrency and entity, whatever waits (property)', () => {
    const waiting = fc.record({
      agent: fc.constantFrom('a', 'b', 'c'),
      concurrency: fc.constantFrom(undefined, 1, 2, 6),
      entity: fc.constantFrom('x', 'y', 'z', 'w'),
      practice: fc.boolean(),
    })
    const { store, wait, claimRuns } = openClaims()
    fc.assert(
      fc.property(fc.array(waiting, { maxLength: 40 }), fc.integer({ min: 0, max: 12 }), (runs, limit) => {
        store.db.prepare('DELETE FROM runs').run()
        const made = runs.map((run) => ({ ...run, id: wait(run) }))
        // Of an agent that was edited between them what it says now holds for all.
        const now = new Map(runs.map(({ agent, concurrency }) => [agent, concurrency]))
        for (const run of made) run.concurrency = now.get(run.agent)
        expect(idsOf(claimRuns(limit, []).started)).toEqual(expectedTurns(made, limit))
      }),
      { numRuns: 200 },
    )
  })

  it('counts those that others follow, for the agent, the entity and the instance', () => {
    const { wait, claimRuns } = openClaims({ concurrency: 3 })
    wait({ agent: 'a', entity: 'x', concurrency: 2 })
    const first = idsOf(claimRuns(1, []).started)
    wait({ agent: 'a', entity: 'x', concurrency: 2 })
    const beside = wait({ agent: 'a', entity: 'y', concurrency: 2 })
    wait({ agent: 'a', entity: 'z', concurrency: 2 })
    const other = wait({ agent: 'b', entity: 'x' })
    wait({ agent: 'b', entity: 'y' })
    const claimed = idsOf(claimRuns(256, first).started)
    expect(claimed).toEqual([other, beside])
    expect(claimRuns(256, [...first, ...claimed]).started).toEqual([])
  })

  it('takes up what a stopped daemon left before any that waits', () => {
    const { wait, claimRuns } = openClaims()
    const left = wait({ agent: 'a', entity: 'x' })
    claimRuns(1, [])
    const waiting = wait({ agent: 'b', entity: 'x' })
    expect(idsOf(claimRuns(256, []).started)).toEqual([left, waiting])
  })

  it('ends what is over the daily cap, and starts again once a day has passed', () => {
    const { wait, claimRuns, clock } = openClaims()
    const runs = ['x', 'y', 'z'].map((entity) => wait({ agent: 'a', entity, daily_cap: 2 }))
    const { started, ended } = claimRuns(256, [])
    expect([idsOf(started), ended]).toEqual([runs.slice(0, 2), runs.slice(2)])
    clock.at = T0 + DAY + 1
    const later = wait({ agent: 'a', entity: 'w', daily_cap: 2 })
    expect(idsOf(claimRuns(256, runs).started)).toEqual([later])
  })

  it('lets an agent behind thousands of another have its turn, and looks at what it takes', () => {
    const { wait, claimRuns, looked, store } = openClaims()
    store.tx(() => {
      for (let n = 0; n < 6_000; n++) wait({ agent: 'busy', entity: `e${n}` })
    })
    const late = wait({ agent: 'late', entity: 'x' })
    const { started } = claimRuns(8, [])
    expect(idsOf(started)).toEqual(['run_000001', late, 'run_000002', 'run_000003', 'run_000004'])
    // The first of each line, those taken and those behind them.
    expect(looked.rows).toBeLessThanOrEqual(2 + 2 * started.length)
    looked.rows = 0
    expect(claimRuns(8, idsOf(started)).started).toEqual([])
    expect(looked.rows).toBeLessThanOrEqual(2)
  })

  it('reads runs that wait by an index that leads to one, and the day of an agent by its starts', () => {
    const { store } = openClaims()
    const planOf = (sql: string, values: unknown[]) =>
      (store.db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(values) as { detail: string }[]).map(
        ({ detail }) => detail,
      )
    expect(planOf(waitingSql.running, [])).toEqual([
      expect.stringContaining('USING INDEX runs_open (state=?)'),
    ])
    expect(planOf(waitingSql.nextLine, ['', ''])).toEqual([
      expect.stringContaining('runs_waiting ((agent,definition_hash)>(?,?))'),
    ])
    expect(planOf(waitingSql.after, ['a', 'h', 1])).toEqual([
      expect.stringContaining('USING INDEX runs_waiting (agent=? AND definition_hash=? AND seq>?)'),
    ])
    expect(planOf(waitingSql.startedSince, ['a', 1, 2])).toEqual([
      expect.stringContaining('USING INDEX runs_started (agent=? AND started_at>? AND started_at<?)'),
    ])
  })
})
