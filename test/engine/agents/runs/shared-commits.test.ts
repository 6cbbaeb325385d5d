/** Steps of runs at work share commits: with what is ingested meanwhile, with one another, and among themselves. */
import { afterEach, describe, expect, it } from 'vitest'
import type { StepWrite } from '../../../../engine/agents/runs/types.ts'
import type { InnerCall } from '../../../../engine/log/pipeline.ts'
import { WriterState } from '../../../../engine/log/store/writer-state.ts'
import type { JoinedCall } from '../../../../engine/roles/calls.ts'
import { error, look, stepsOf } from './replies.ts'
import { openRunWorld, type RunWorld } from './run-world.ts'

let world: RunWorld
afterEach(async () => {
  await world?.close()
})

/** Counts transactions that are over. */
class Counting extends WriterState {
  transactions = 0

  override over(): void {
    this.transactions++
    super.over()
  }
}

const read: StepWrite = {
  ...{ n: 1, kind: 'tool', round: 0, at: 0, ms: 1 },
  data: { call: { id: 'c1', name: 'stats', arguments: {} }, server: null, result: 'nothing', shown: [] },
}

/** Two runs at work that nobody follows. */
async function twoRuns() {
  const state = new Counting()
  world = await openRunWorld({ state })
  const { engine, trigger, agent, post, runner } = world
  await runner.stop()
  await trigger({ condition: { event: 'any' }, cooldown: '1s' })
  await agent({ name: 'first-look', trigger: 't', model: 'm1' })
  await post([
    { ...error, service: 'a' },
    { ...error, service: 'b' },
  ])
  const { started } = await engine.claimRuns(10, [])
  const key = (await engine.listSources()).find(({ name }) => name === 'app')!.ingest_key!
  const item = { ...error, service: 'c', state: 'other' }
  const call: InnerCall = {
    ...{ ingestKey: key, bypassCooldown: false, caller: 'open' },
    body: Buffer.from(JSON.stringify([item])),
  }
  const settled: (string | undefined)[] = []
  const stepOf = (run: string, n: number): JoinedCall => ({
    ...{ method: 'recordSteps', args: [run, [read]] },
    settle: (outcome) => {
      settled[n] = 'error' in outcome ? (outcome.error as { code?: string }).code : 'stored'
    },
  })
  const steps = async (run: string) => (await engine.getRun(run)).steps.map(({ kind }) => kind)
  return { engine, state, runs: started.map(({ id }) => id), call, settled, stepOf, steps }
}

describe('steps of runs at work', () => {
  it('are stored in the transaction of what is ingested', async () => {
    const { engine, state, runs, call, settled, stepOf, steps } = await twoRuns()
    const before = state.transactions
    expect(engine.ingestMany([call, call], runs.map(stepOf))).toMatchObject([
      { ingested: 1 },
      { ingested: 1 },
    ])
    expect(settled).toEqual(['stored', 'stored'])
    expect(state.transactions).toBe(before + 1)
    for (const run of runs) expect(await steps(run)).toEqual(['tool'])
  })

  it('of several runs are stored in one where nothing is ingested', async () => {
    const { engine, state, runs, call, settled, stepOf } = await twoRuns()
    const before = state.transactions
    expect(engine.ingestMany([{ ...call, ingestKey: 'unknown' }], runs.map(stepOf))).toMatchObject([
      { code: 'not_found' },
    ])
    expect(engine.ingestMany([], runs.map(stepOf))).toEqual([])
    expect(settled).toEqual(['stored', 'stored'])
    expect(state.transactions).toBe(before + 2)
  })

  it('of a run that was ended are refused, and nothing else is', async () => {
    const { engine, runs, call, settled, stepOf, steps } = await twoRuns()
    await engine.cancelRun(runs[0]!, { id: 'open', name: 'test' })
    expect(engine.ingestMany([call], runs.map(stepOf))).toMatchObject([{ ingested: 1 }])
    expect(settled).toEqual(['wrong_state', 'stored'])
    expect(await steps(runs[0]!)).toEqual([])
    expect(await steps(runs[1]!)).toEqual(['tool'])
  })

  it('are stored without what is ingested where that is undone', async () => {
    const { engine, runs, call, settled, stepOf, steps } = await twoRuns()
    const broken: InnerCall = {
      ...call,
      alongside: () => {
        throw new Error('broken')
      },
    }
    expect(engine.ingestMany([broken], runs.map(stepOf))).toMatchObject([{ code: 'internal' }])
    expect(settled).toEqual(['stored', 'stored'])
    for (const run of runs) expect(await steps(run)).toEqual(['tool'])
  })

  it('that looked are written with the next call of the model, and with the end of the run', async () => {
    const writes: string[] = []
    world = await openRunWorld({
      fault: (when, call) => void (when === 'after' && writes.push(call)),
    })
    const { trigger, agent, post, settled, models, run } = world
    await trigger({ condition: { event: 'any' }, cooldown: '1s' })
    await agent({ name: 'first-look', trigger: 't', model: 'm1', max_rounds: 2 })
    models.reply('m1', [look, look, { text: '' }])
    await post(error)
    const [ended] = await settled()
    expect(ended!.status).toBe('exhausted')
    const calls = writes.filter((call) => call === 'recordSteps' || call === 'beginCall')
    // The prompt; then for each round its call and its reply, and what it looked at with the next call.
    expect(calls).toEqual(['recordSteps', ...Array(3).fill(['beginCall', 'recordSteps']).flat()])
    expect(stepsOf(await run(ended!.id), 'tool')).toHaveLength(2)
  })
})
