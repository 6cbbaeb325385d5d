/** A replay says what happened, from the rows that say it, and names what it cannot. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { check } from '../../../schemas/index.ts'
import { openRunWorld, type RunWorld } from '../agents/runs/run-world.ts'

import { BY, MINUTE, T0 } from '../triggers/trigger-world.ts'
import { at, declareChain, errors, openChain, script, story, whole } from './replay-world.ts'

let world: RunWorld
afterEach(async () => {
  await world?.close()
})

/** One chain: three errors, two agents. */
async function aChain() {
  world = await openChain()
  script(world)
  await errors(world, 1, { type: 'info' })
  const ids = await errors(world, 3)
  return { ids, runs: await world.settled() }
}

describe('the replay of a result', () => {
  it('tells its chain from the first event to the last finding, in order', async () => {
    const { ids, runs } = await aChain()
    const [first, second] = runs
    // Of another entity, and of no concern here.
    await errors(world, 1, { service: 'search' })
    const replay = await whole(world, { result: second!.id, from: undefined, to: undefined })
    expect(check('replay.json', replay)).toBeNull()
    expect(replay).toMatchObject({ result: first!.id, next_from: null })
    // The window of the trigger began before the first event that came in.
    expect(replay.from).toBe(at(Date.parse(first!.made_at) - 10 * MINUTE))
    expect(replay.to).toBe(second!.finished_at)
    expect(story(replay).filter((line) => !line.startsWith('change'))).toEqual([
      'event info',
      'event error',
      'evaluation below',
      'event error',
      'evaluation below',
      'event error',
      'firing fired',
      'delivery running',
      'run queued',
      'run running',
      'step prompt',
      'step model',
      'step tool',
      'step model',
      'step conclude',
      'run succeeded',
      'delivery delivered',
      'finding go',
      'handoff started',
      'run queued',
      'run running',
      'step prompt',
      'step model',
      'step conclude',
      'run succeeded',
      'finding finding',
    ])
    expect(replay.moments.map(({ n }) => n)).toEqual(replay.moments.map((_, i) => i + 1))
    const of = (kind: string, phase: string) =>
      replay.moments.find((one) => one.kind === kind && one.phase === phase)!
    expect(of('event', 'error')).toMatchObject({
      event_id: ids[0],
      nodes: ['source:app'],
      edges: ['feeds:app>t'],
      entity: { label: 'service', value: 'checkout' },
    })
    expect(of('firing', 'fired')).toMatchObject({
      title: 't fired for checkout: 3 events in 10m, at least 3 (3 events)',
      window: { trigger: 't', key: 'checkout', value: 3, threshold: 3, predicate: '>= 3', window: '10m' },
      cooldown: { node: 'trigger:t', key: 'checkout', until: at(T0 + 4_000 + 30 * MINUTE) },
    })
    expect(of('run', 'queued')).toMatchObject({ nodes: ['agent:first-look'], edges: ['wakes:t>first-look'] })
    expect(of('step', 'model')).toMatchObject({
      title: 'first-look: model call 1 of m1: 10 tokens in, 5 tokens out, $0.0006, asks for read',
      ms: 1_000,
      cost_usd: 0.0006,
    })
    expect(of('run', 'succeeded').cost_usd).toBeCloseTo(0.0012, 12)
    expect(of('handoff', 'started')).toMatchObject({
      edges: ['hands_off:first-look/go>digger'],
      cooldown: { node: 'hands_off:first-look/go>digger', key: 'checkout' },
      run_id: second!.id,
    })
    expect(of('finding', 'go').event_id).toBe(first!.event_id)
  })

  it('is refused for what the project does not have', async () => {
    const { runs } = await aChain()
    const { id: other } = await world.engine.createProject(
      { template: 'custom', name: 'Other', objects: [] },
      BY,
    )
    const asked = (project: string, more: object) => world.engine.replay(project, { limit: 10, ...more })
    const refusal = (code: string, field?: string) => ({ code, ...(field ? { extra: { field } } : {}) })
    await expect(asked('uc_none', { result: runs[0]!.id })).rejects.toMatchObject(refusal('not_found'))
    await expect(asked(world.project, { result: 'run_none' })).rejects.toMatchObject(
      refusal('not_found', 'result'),
    )
    await expect(asked(other, { result: runs[0]!.id })).rejects.toMatchObject(refusal('not_found', 'result'))
    await expect(asked(other, { from: at(T0) })).rejects.toMatchObject(refusal('invalid', 'to'))
    await expect(asked(other, { to: at(T0) })).rejects.toMatchObject(refusal('invalid', 'from'))
    await expect(asked(other, { from: at(T0 + 1), to: at(T0) })).rejects.toMatchObject(
      refusal('invalid', 'from'),
    )
    await expect(asked(other, { from: at(T0 - 32 * 24 * 60 * MINUTE), to: at(T0) })).rejects.toMatchObject(
      refusal('invalid', 'to'),
    )
  })
})

describe('a run that a stop of the service came between', () => {
  it('is shown as it was: begun and cut off, gone on, asked again, ended', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-replay-'))
    const dataFile = join(folder, 'svc.db')
    let calls = 0
    let isDown = false
    const before = await openRunWorld({
      dataFile,
      fault: (when, call) => {
        // The second call of the model is on disk, and its answer is not.
        if (call === 'beginCall' && when === 'after' && ++calls === 2) isDown = true
        if (isDown) throw new Error('the daemon is down')
      },
    })
    try {
      await declareChain(before)
      script(before)
      await errors(before, 3)
      await before.settled().catch(() => {})
      await before.runner.stop()
      await before.engine.close()
      before.clock.at += 5 * MINUTE
      world = await openRunWorld({ dataFile, clock: before.clock, scripted: before.models })
      script(world)
      const [run] = await world.settled()
      const replay = await whole(world, { result: run!.id, from: undefined, to: undefined })
      const told = replay.moments.filter(({ run_id, kind }) => run_id === run!.id && kind !== 'delivery')
      expect(
        told.map(({ kind, phase, ms, title }) => [`${kind} ${phase}`, ms, title.replace(/, \$.*/, '')]),
      ).toEqual([
        ['run queued', null, 'first-look is woken by t for checkout'],
        ['run running', null, 'first-look begins'],
        ['step prompt', 0, 'first-look: received the timeline: 3 events, 11 tools offered'],
        ['step model', 1_000, 'first-look: model call 1 of m1: 10 tokens in, 5 tokens out'],
        ['step tool', 0, 'first-look: asked read({"selector":{"service":"checkout"}})'],
        ['step model', null, 'first-look: model call 2 began; it was cut off before it was answered'],
        ['run resumed', null, 'first-look goes on: the service had stopped in the middle of the run'],
        ['step model', 1_000, 'first-look: model call 2 of m1: 10 tokens in, 5 tokens out'],
        ['step conclude', 0, 'first-look: concluded'],
        ['run succeeded', expect.any(Number), 'first-look ended: succeeded, Odd'],
        ['finding go', null, 'first-look found of checkout: go, Odd'],
      ])
      const [cut, resumed] = [told[5]!, told[6]!]
      expect(Date.parse(resumed.at) - Date.parse(cut.at)).toBe(5 * MINUTE)
      expect(
        replay.gaps.filter(({ kind, message }) => kind === 'unrecorded' && /interrupted/.test(message)),
      ).toEqual([])
    } finally {
      await before.models.close()
      rmSync(folder, { recursive: true })
    }
  })
})
