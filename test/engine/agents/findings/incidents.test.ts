/** Findings of the same incident are one that grows (issue 17, part 2.4), and each stays what it is. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { quietMs } from '../../../../engine/agents/runs/making.ts'
import { BY } from '../../triggers/trigger-world.ts'
import { conclude, error, stepsOf } from '../runs/replies.ts'
import { openRunWorld, type RunWorld } from '../runs/run-world.ts'

const MINUTE = 60_000
/** Cooldown of a minute and context window of nine. */
const QUIET = 10 * MINUTE
const TRIGGER = { condition: { event: 'any' }, cooldown: '1m', emit: { context_window: '9m' } } as const
const NOTHING = conclude({ outcome: 'no_op', summary: 'nothing new since the last finding' })

async function open(): Promise<RunWorld> {
  const world = await openRunWorld()
  onTestFinished(() => world.close())
  await world.trigger(TRIGGER)
  await world.agent({ name: 'first-look', trigger: 't', model: 'm1' })
  return world
}

/** Something happens, so long after what happened before, and is looked at. @returns the newest run */
async function happens(world: RunWorld, after = 2 * MINUTE, more: object = {}) {
  world.clock.at += after
  await world.post({ ...error, ...more })
  return (await world.settled()).at(-1)!
}

const grown = async (world: RunWorld) =>
  (await world.engine.projectResults(world.project, { by: 'incident', limit: 10 })).results

describe('runs of the same trigger and entity, while it is not quiet', () => {
  it('find one thing that grows: first seen, updated, how often it was looked at, each note', async () => {
    const world = await open()
    const { engine, project } = world
    world.models.reply('m1', [
      conclude({ headline: 'Payments fail', verdict: 'deploy' }),
      NOTHING,
      conclude({ headline: 'The pool is exhausted', verdict: 'database' }),
    ])
    const first = await happens(world)
    const second = await happens(world)
    const third = await happens(world)
    const incident = {
      id: first.id,
      first_seen: first.finished_at,
      updated: third.finished_at,
      looked_at: third.finished_at,
      runs: 3,
      findings: 2,
      // Another cause is not hidden by what came after it.
      verdicts: ['deploy', 'database'],
      notes: [
        {
          run_id: third.id,
          event_id: third.event_id,
          verdict: 'database',
          headline: 'The pool is exhausted',
        },
        { run_id: first.id, event_id: first.event_id, verdict: 'deploy', headline: 'Payments fail' },
      ],
    }
    const { findings } = await engine.projectFindings(project, { limit: 10 })
    expect(findings).toMatchObject([{ run_id: third.id, headline: 'The pool is exhausted', incident }])
    expect(await grown(world)).toMatchObject([{ id: third.id, kind: 'action', incident }])
    expect((await world.run(first.id)).incident).toMatchObject(incident)
    expect(second).toMatchObject({ outcome: 'no_op', headline: 'Nothing new since the last finding' })
  })

  it('stay results of their chains, findings of their own, and events', async () => {
    const world = await open()
    const { engine, project } = world
    world.models.reply('m1', [conclude(), NOTHING, conclude()])
    const runs = [await happens(world), await happens(world), await happens(world)]
    const { results, today } = await engine.projectResults(project, { limit: 10 })
    expect(results.map(({ id, kind }) => [id, kind])).toEqual([
      [runs[2]!.id, 'action'],
      [runs[1]!.id, 'no_action'],
      [runs[0]!.id, 'action'],
    ])
    expect(today).toMatchObject({ looked_at: 3, found: 2, incidents: 1 })
    expect((await engine.projectSummary(project)).today).toEqual(today)
    const each = await engine.projectFindings(project, { by: 'finding', limit: 10 })
    expect(each.findings.map(({ run_id }) => run_id)).toEqual([runs[2]!.id, runs[0]!.id])
    const { rows } = await engine.read({
      selector: { service: 'checkout' },
      sources: ['findings'],
      window: '1h',
    })
    expect(rows.map(({ id }) => id)).toEqual([runs[0]!.event_id, runs[2]!.event_id])
    for (const { id } of runs) expect(await engine.projectResult(project, id)).toMatchObject({ id })
  })

  it('count as incidents of today only where one was opened', async () => {
    const world = await openRunWorld()
    onTestFinished(() => world.close())
    await world.trigger({ ...TRIGGER, severity: 'none' })
    await world.agent({ name: 'first-look', trigger: 't', model: 'm1' })
    world.models.reply('m1', [conclude()])
    await happens(world)
    const { today } = await world.engine.projectResults(world.project, { limit: 10 })
    expect(today).toMatchObject({ looked_at: 1, found: 1, incidents: 0 })
  })

  it('are told what was found last, whatever entity it was concluded of, and that nothing new is no_op', async () => {
    const world = await open()
    const ofPool = conclude({ summary: 'The pool.', label: 'db', key: 'orders' })
    world.models.reply('m1', [ofPool, ofPool, NOTHING])
    await happens(world)
    const second = await happens(world)
    const [prompt] = stepsOf(await world.run(second.id), 'prompt')
    expect(prompt!.message).toContain('The pool.')
    expect(prompt!.message).toContain('It is the same incident, which goes on.')
    expect(prompt!.message).toContain('"nothing new since the last finding"')
  })

  it('are told how it grew: since when, how often it was looked at, and what else was found of it', async () => {
    const world = await open()
    world.models.reply('m1', [
      conclude({ summary: 'The deploy.', headline: 'Payments fail', verdict: 'deploy' }),
      NOTHING,
      conclude({ summary: 'The pool.', headline: 'The pool is exhausted', verdict: 'database' }),
      NOTHING,
      NOTHING,
    ])
    const messageOf = async (id: string) => stepsOf(await world.run(id), 'prompt')[0]!.message
    const first = await happens(world)
    const second = await happens(world)
    // What was found last is told whole: there is no more to it yet.
    expect(await messageOf(second.id)).not.toContain('Of this incident')
    await happens(world)
    const fourth = await happens(world)
    const message = await messageOf(fourth.id)
    expect(message).toContain(
      `Of this incident something was first found at ${first.finished_at}; 3 runs looked at it`,
    )
    expect(message).toContain('2 of them found something, with different verdicts: deploy, database.')
    expect(message).toMatch(
      /The pool\.[\s\S]*newest first:\n<<<data \w+\n\S+ first-look deploy: Payments fail\n/,
    )
    // What is found later changes nothing of what a repeat is told.
    await happens(world)
    const { run_id } = await world.engine.rerun(fourth.id, { asOf: 'same', practice: true })
    await world.settled()
    expect(await messageOf(run_id)).toBe(message)
  })

  it('are told how what was found last was marked by then, and not how it is marked later', async () => {
    const world = await open()
    const { engine, project } = world
    world.models.reply('m1', [conclude({ summary: 'The pool.' }), NOTHING, NOTHING])
    const first = await happens(world)
    const messageOf = async (id: string) => stepsOf(await world.run(id), 'prompt')[0]!.message
    const second = await happens(world)
    expect(await messageOf(second.id)).not.toContain('It was marked')
    const mark = { mark: 'wrong' as const, note: 'It was the disk.', cause: first.event_id! }
    await engine.markFinding(project, first.id, mark, false, BY)
    const third = await happens(world)
    const message = await messageOf(third.id)
    expect(message).toContain(`It was marked wrong afterwards; the cause was ${first.event_id}.`)
    // What a person wrote is data, too.
    expect(message).toMatch(/<<<data [0-9a-f]+\nIt was the disk\.\n/)
  })

  it('are told what was found last with its headline, and that a long note goes on', async () => {
    const world = await open()
    world.models.reply('m1', [
      conclude({ headline: 'Payments fail', verdict: 'deploy', summary: `${'long '.repeat(1_000)}end` }),
      NOTHING,
    ])
    await happens(world)
    const { id } = await happens(world)
    const [step] = (await world.engine.getRun(id)).steps
    const { message } = step!.data as { message: string }
    expect(message).toMatch(/\n<<<data \w+\nPayments fail\n\nlong /)
    expect(message).toContain('…\n[1018 more characters; its event has all of it]\n')
    // And in the brief it stands by itself.
    expect(message).toMatch(/\n## Found before by agents\nevt_2 .* finding: deploy: Payments fail/)
  })

  it('of a chain are of its incident; an earlier finding is shown while a later chain is at work', async () => {
    const world = await open()
    await world.agent({ name: 'digger', model: 'm2' })
    await world.engine.updateAgent(
      'first-look',
      {
        name: 'first-look',
        project: world.project,
        verdicts: [{ verdict: 'dig' }],
        handoffs: [{ verdict: 'dig', agent: 'digger', cooldown: '1s' }],
      } as never,
      BY,
    )
    const seen: string[][] = []
    world.models.reply('m1', () => conclude({ verdict: 'dig' }))
    world.models.reply('m2', async () => {
      seen.push((await grown(world)).map(({ id }) => id))
      return conclude({ verdict: 'database' })
    })
    const dug = await happens(world)
    const again = await happens(world)
    expect(dug.agent).toBe('digger')
    expect(seen).toEqual([[], [dug.id]])
    expect(await grown(world)).toMatchObject([
      {
        id: again.id,
        chain: ['first-look', 'digger'],
        incident: { runs: 4, findings: 4, verdicts: ['database'] },
      },
    ])
    // One that is repeated hands over anew: neither what it repeats nor what took over from that is of its chain.
    const repeated = async (of: string, practice: boolean) => {
      world.pass(1_000)
      await world.engine.rerun(of, { asOf: 'now', practice })
      await world.settled()
      const { results } = await world.engine.projectResults(world.project, { by: 'chain', limit: 1 })
      return results[0]!.chain
    }
    expect(await repeated(again.id, false)).toEqual(['first-look', 'digger'])
    expect(await repeated(again.id, true)).toEqual(['digger'])
    expect(await repeated(again.parent_run_id!, false)).toEqual(['first-look', 'digger'])
    const { incidents } = await world.engine.listIncidents({ limit: 1 }, null)
    expect(incidents[0]!.result!.chain).toEqual(['first-look', 'digger'])
  })
})

describe('another incident', () => {
  it('begins when it was quiet for the cooldown and the context window of its trigger', async () => {
    expect([quietMs(TRIGGER), quietMs({})]).toEqual([QUIET, 20 * MINUTE])
    const world = await open()
    world.models.reply('m1', () => conclude())
    const first = await happens(world)
    await happens(world, QUIET)
    const third = await happens(world, QUIET + 1)
    expect((await grown(world)).map(({ incident }) => [incident?.id, incident?.runs])).toEqual([
      [third.id, 1],
      [first.id, 2],
    ])
    const [prompt] = stepsOf(await world.run(third.id), 'prompt')
    expect(prompt!.message).toContain('What you found of it before')
    expect(prompt!.message).not.toContain('same incident')
  })

  it('is that of another entity, another trigger, and practice', async () => {
    const world = await open()
    world.models.reply('m1', () => conclude())
    await happens(world)
    await world.trigger({ ...TRIGGER, name: 'other' })
    await world.engine.wireProject(
      world.project,
      { wakes: [{ trigger: 'other', agent: 'first-look', enabled: true }], handoffs: [] },
      BY,
    )
    await happens(world)
    await happens(world, 2 * MINUTE, { service: 'cart' })
    const [of] = (await world.engine.listRuns({ limit: 1, offset: 0 })).runs
    await world.engine.rerun(of!.id, { asOf: 'now', practice: true })
    await world.settled()
    const incidents = (await grown(world)).filter(({ practice }) => !practice).map(({ incident }) => incident)
    expect(new Set(incidents.map((one) => one?.id)).size).toBe(incidents.length)
    expect(incidents.map((one) => one?.runs)).toEqual(incidents.map(() => 1))
    expect(incidents).toHaveLength(3)
  })
})

it('pages of incidents show each once, by what was asked of them', async () => {
  const world = await open()
  world.models.reply('m1', () => conclude())
  for (const service of ['a', 'b', 'c', 'a', 'b', 'c']) await happens(world, MINUTE + 1, { service })
  const { engine, project } = world
  const seen: string[] = []
  for (let before: string | undefined; ; ) {
    const page = await engine.projectResults(project, { by: 'incident', limit: 2, before })
    seen.push(...page.results.map(({ entity, incident }) => `${entity}${incident?.findings}`))
    if (page.next_before === null) break
    before = page.next_before
  }
  expect(seen).toEqual(['c2', 'b2', 'a2'])
  const { findings } = await engine.projectFindings(project, { entity: 'a', limit: 10 })
  expect(findings).toHaveLength(1)
  const since = new Date(world.clock.at - 2 * MINUTE).toISOString()
  const named = async (asked: object) =>
    (await engine.allFindings({ ...asked, limit: 10 })).findings.map(({ result }) => result.entity)
  expect(await named({ since })).toEqual(['c', 'b'])
  expect(await named({ entity: 'b', agent: 'first-look', by: 'run' })).toEqual(['b'])
  expect(await named({ by: 'chain' })).toEqual(['c', 'b', 'a', 'c', 'b', 'a'])
  expect(await named({ agent: 'nobody' })).toEqual([])
  await expect(engine.allFindings({ since: 'soon', limit: 10 })).rejects.toThrow('since must be')
})
