/** What repeating a run tells, in practice, for real and by its tape. */
import { afterEach, describe, expect, it } from 'vitest'
import { BY } from '../../triggers/trigger-world.ts'
import { conclude, error, look, stepsOf } from './replies.ts'
import { openRunWorld, type RunWorld } from './run-world.ts'

let world: RunWorld
afterEach(async () => {
  await world?.close()
})

async function open(options: Parameters<typeof openRunWorld>[0] = {}): Promise<RunWorld> {
  world = await openRunWorld(options)
  await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
  return world
}

describe('a run that is repeated', () => {
  it('is told the same, to the byte, and reads what the first could read', async () => {
    const { agent, models, post, settled, run, engine, pass } = await open()
    await agent({ name: 'first-look', trigger: 't', model: 'm1' })
    models.reply('m1', (_request, n) => (n % 2 === 0 ? look : conclude()))
    await post(error)
    const [first] = await settled()
    pass(60_000)
    await engine.moveTrigger('t', 'pause', BY)
    await post({ ...error, msg: 'later' })
    const { run_id } = await engine.rerun(first!.id, { asOf: 'same', practice: true })
    await settled()
    const [before, again] = [await run(first!.id), await run(run_id)]
    expect(stepsOf(again, 'prompt')[0]).toEqual(stepsOf(before, 'prompt')[0])
    expect(stepsOf(again, 'tool')[0]!.result).toBe(stepsOf(before, 'tool')[0]!.result)
    expect(again).toMatchObject({
      practice: true,
      woken_by: 'practice',
      rerun_of: first!.id,
      event_id: null,
      as_of: first!.as_of,
    })
    const now = await engine.rerun(first!.id, { asOf: 'now', practice: false, prompt: 'Look again.' })
    await settled()
    const anew = await run(now.run_id)
    expect(stepsOf(anew, 'prompt')[0]!.system).toMatch(/^Look again\./)
    expect(stepsOf(anew, 'tool')[0]!.result).toContain('later')
    expect(anew).toMatchObject({
      practice: false,
      woken_by: 'rerun',
      event_id: expect.any(String) as unknown as string,
    })
  })

  it('that is asked for again before it looked is the same one, and paid once; practice is made each time', async () => {
    const { agent, models, post, settled, engine } = await open()
    await agent({ name: 'first-look', trigger: 't', model: 'm1' })
    models.reply('m1', () => conclude())
    await post(error)
    const [first] = await settled()
    const again = async (how: { asOf: 'same' | 'now'; practice?: boolean; prompt?: string }) =>
      (await engine.rerun(first!.id, { practice: false, ...how })).run_id
    const all = [
      ...(await Promise.all([again({ asOf: 'same' }), again({ asOf: 'same' })])),
      ...(await Promise.all([again({ asOf: 'now' }), again({ asOf: 'now' })])),
      await again({ asOf: 'now', prompt: 'Look again.' }),
      ...(await Promise.all([1, 2].map(() => again({ asOf: 'same', practice: true })))),
    ]
    expect(all[1]).toBe(all[0])
    expect(all[3]).toBe(all[2])
    expect(new Set(all).size).toBe(5)
    await settled()
    expect(models.requests).toHaveLength(6)
    // One that has ended is no longer in the way.
    expect(all).not.toContain(await again({ asOf: 'same' }))
    await settled()
  })

  it('as practice is in no total, and tells nobody', async () => {
    const { agent, models, post, settled, engine, project } = await open()
    await agent({ name: 'first-look', trigger: 't', model: 'm1' })
    models.reply('m1', () => conclude())
    await post(error)
    const [first] = await settled()
    const today = async () => (await engine.projectResults(project, { limit: 10 })).today
    const before = await today()
    await engine.rerun(first!.id, { asOf: 'same', practice: true })
    await settled()
    expect(await today()).toEqual(before)
    const findings = await engine.read({
      selector: { service: 'checkout' },
      event_types: ['finding'],
      window: '1d',
    })
    expect(findings.rows).toHaveLength(1)
  })

  it('is answered by its tape, as long as that fits', async () => {
    const { agent, models, post, settled, run, engine } = await open()
    await agent({ name: 'first-look', trigger: 't', model: 'm1' })
    models.reply('m1', [look, conclude({ headline: 'As it was' })])
    await post(error)
    const [first] = await settled()
    const asked = models.requests.length
    const before = await engine.modelUsage(1)
    expect(before.total.calls).toBe(2)
    const played = await engine.rerun(first!.id, { asOf: 'same', practice: true, tape: true })
    await settled()
    expect(await run(played.run_id)).toMatchObject({
      status: 'succeeded',
      tape: true,
      headline: 'As it was',
      rounds: 2,
      cost_usd: 0,
      input_tokens: 0,
    })
    const listed = async (practice?: boolean) =>
      (await engine.listRuns({ practice, limit: 10, offset: 0 })).runs.map((one) => one.practice).sort()
    expect([await listed(), await listed(true), await listed(false)]).toEqual([
      [false, true],
      [true],
      [false],
    ])
    // No model was asked.
    expect((await engine.modelUsage(1)).total).toEqual(before.total)
    const changed = await engine.rerun(first!.id, {
      asOf: 'same',
      practice: true,
      tape: true,
      prompt: 'Other.',
    })
    await settled()
    expect(await run(changed.run_id)).toMatchObject({
      status: 'failed',
      error: `the tape of ${first!.id} no longer fits: the prompt differs from character 1 on`,
    })
    expect(models.requests).toHaveLength(asked)
    await expect(engine.rerun(first!.id, { asOf: 'same', practice: false, tape: true })).rejects.toThrow(
      'practice',
    )
  })

  it('must have ended', async () => {
    const { agent, models, post, engine } = await open()
    await agent({ name: 'first-look', trigger: 't', model: 'm1' })
    const asked = new Promise<void>((resolve) => {
      models.reply('m1', () => {
        resolve()
        return { delayUntil: new Promise(() => {}) }
      })
    })
    await post(error)
    await asked
    const { runs } = await engine.listRuns({ limit: 1, offset: 0 })
    await expect(engine.rerun(runs[0]!.id, { asOf: 'same', practice: true })).rejects.toMatchObject({
      code: 'wrong_state',
    })
    await expect(engine.rerun('run_none', { asOf: 'same', practice: true })).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})
