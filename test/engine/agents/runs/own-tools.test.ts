/** What the tool `read` of agents and of Ask says of what it does not show. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { type ReadPort, read } from '../../../../engine/agents/runs/own-tools.ts'
import { answerRead } from '../../../../engine/log/timeline/read.ts'
import { addSource, event, openHarness, T0 } from '../../log/store/store-harness.ts'
import { BY } from '../../triggers/trigger-world.ts'
import { conclude, error, stepsOf } from './replies.ts'
import { openRunWorld } from './run-world.ts'

const NOW = T0 + 3_600_000

function portOver(scanMax: number): ReadPort {
  const harness = openHarness()
  const app = addSource(harness.store, 'app', [{ name: 'service', field: 'service', primary: true }])
  harness.append(
    Array.from({ length: 50 }, (_, i) =>
      event({ service: 'shop' }, T0 + i * 1_000, { text: i === 3 || i === 45 ? 'declined' : 'fine' }),
    ),
    { sourceId: app },
  )
  return {
    readFor: async (_projects, request) => answerRead(harness.ctx, request, NOW, scanMax),
    statsFor: () => Promise.reject(new Error('not asked')),
  }
}

it('A12: an agent is told where its search stopped, and finds the rest by reading on from there', async () => {
  const run = { projects: [], asOf: NOW, marker: 'm' }
  const port = portOver(20)
  const ask = { selector: { service: 'shop' }, window: '2h', text: 'declined' }
  const first = await read(run, port, ask)
  expect(first.text).toContain(
    '1 rows; the search looked at 20 events, back to 2026-11-20T12:00:30.000Z, and stopped there: read again with to 2026-11-20T12:00:30.000Z to search further back',
  )
  const second = await read(run, port, { ...ask, to: '2026-11-20T12:00:30.000Z' })
  expect(second.text).toContain('back to 2026-11-20T12:00:11.000Z')
  const third = await read(run, port, { ...ask, to: '2026-11-20T12:00:11.000Z' })
  expect(third.text).not.toContain('the search')
  expect(first.shown.concat(second.shown, third.shown).map(([id]) => id)).toEqual(['evt_46', 'evt_4'])
})

describe('arguments that a model writes otherwise than the tool has them', () => {
  const BROKEN = '{"selector": {"service": oops'
  /** What a call is answered, by its arguments. */
  const cases: [name: string, args: Record<string, unknown> | string, answered: RegExp | string][] = [
    ['read', { selector: 'service=checkout', event_types: 'error' }, / 1 rows[\s\S]*cannot pay/],
    ['read', { selector: [{ label: 'service', value: 'checkout' }], window: '2h' }, / 2 rows/],
    ['read', { selector: { service: ['checkout', 'cart'] } }, 'selector.service must be one value'],
    ['read', { selector: { service: 'checkout' }, event_type: 'error' }, 'did you mean event_types?'],
    ['read', { selector: { service: 'checkout' }, limit: 1 }, /^left out, as read has .*: limit; it takes s/],
    ['read', { selector: { service: 'checkout' }, from: 1795000000 }, '2026-11-18T11:06:40.000Z to'],
    ['read', { selector: '{"service":"checkout"}', from: '1795000000000' }, '2026-11-18T11:06:40.000Z to'],
    ['read', { selector: { service: 'checkout' }, from: 'yesterday' }, 'from must be an ISO 8601 time'],
    ['read', { sources: '["app"]', window: ['2h'] }, / 2 rows/],
    [
      'read',
      { sources: ['app'], from: '2026-11-20T11:30', to: '2026-11-20T12:30:00+01:00' },
      'T11:30:00.000Z',
    ],
    ['read', BROKEN, 'the arguments of read are no JSON object, so it was not called'],
    ['changed', { selctor: { service: 'checkout' } }, 'did you mean selector?'],
    ['series', { selector: 'checkout' }, 'selector must be a map of labels'],
    [
      'series',
      { selector: { service: 'checkout' }, from: '2026-11-20', label: null },
      '2026-11-20T00:00:00.000Z',
    ],
    ['stats', { by: 'service', sources: 'none', top: '3' }, 'no source is named none'],
    ['conclude', BROKEN, 'the arguments of conclude are no JSON object'],
  ]

  it('are taken where it is plain what is meant, else refused by name, and never dropped without a word', async () => {
    const world = await openRunWorld()
    onTestFinished(() => world.close())
    const zone = process.env.TZ
    process.env.TZ = 'America/New_York'
    onTestFinished(() => {
      if (zone === undefined) delete process.env.TZ
      else process.env.TZ = zone
    })
    await world.trigger({
      filters: [{ field: 'event_type', op: 'eq', value: 'error' }],
      condition: { event: 'any' },
    })
    await world.agent({ name: 'first-look', trigger: 't', model: 'm1' })
    world.models.reply('m1', [
      { calls: cases.map(([name, args]) => ({ name, arguments: args })) },
      { calls: [{ name: 'conclude', arguments: { outcome: 'no_op' } }] },
    ])
    await world.post([{ service: 'checkout', type: 'deploy', msg: 'v2' }, error])
    const [run] = await world.settled()
    expect(run).toMatchObject({ status: 'succeeded' })
    const answers = (await world.run(run!.id)).steps
      .map(({ data }) => data as { call?: unknown; result?: string; fault?: string })
      .filter(({ call }) => call)
      .map(({ result, fault }) => result ?? fault)
    for (const [i, [name, args, answered]] of cases.entries())
      expect(answers[i], `${name} ${JSON.stringify(args)}`).toMatch(answered)
  })
})

describe('the tool skill', () => {
  async function openSkilled() {
    const world = await openRunWorld()
    onTestFinished(() => world.close())
    await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
    return world
  }

  it('loads a skill of its project by name', async () => {
    const { agent, models, post, settled, run, engine, project } = await openSkilled()
    await engine.createSkill(
      project,
      { name: 'runbook', description: 'How to look.', body: 'First, breathe.' },
      BY,
    )
    await agent({ name: 'first-look', trigger: 't', model: 'm1' })
    models.reply('m1', [
      {
        calls: [
          { name: 'skill', arguments: { name: 'nope' } },
          { name: 'skill', arguments: { name: 'runbook' } },
        ],
      },
      conclude(),
    ])
    await post(error)
    const [done] = await settled()
    const detail = await run(done!.id)
    expect(stepsOf(detail, 'prompt')[0]!.system).toContain(
      '## Skills available in this project\n- runbook: How to look.',
    )
    expect(stepsOf(detail, 'tool').map(({ result, is_error }) => [result, is_error])).toEqual([
      ['tool error: no skill is named nope; there are runbook', true],
      ['First, breathe.', false],
    ])
  })

  it('loads a skill that got another name since by the one it was told, and keeps that it did under the new one', async () => {
    const { agent, models, post, settled, run, engine, project } = await openSkilled()
    const runbook = { name: 'runbook', description: 'How to look.', body: 'First, breathe.' }
    await engine.createSkill(project, runbook, BY)
    await agent({ name: 'first-look', trigger: 't', model: 'm1' })
    const load = { calls: [{ name: 'skill', arguments: { name: 'runbook' } }] }
    models.reply('m1', async (_request, n) => {
      if (n === 0) await engine.renamePart('skill', 'runbook', 'playbook', BY)
      return n === 0 ? load : conclude()
    })
    await post(error)
    const [done] = await settled()
    const detail = await run(done!.id)
    expect(stepsOf(detail, 'tool').map(({ result }) => result)).toEqual(['First, breathe.'])
    expect(detail.skills).toEqual(['playbook'])
    await engine.renamePart('skill', 'playbook', 'handbook', BY)
    expect((await run(done!.id)).skills).toEqual(['handbook'])
    expect(await engine.listProjectSkills(project)).toMatchObject([{ loaded_by: ['first-look'] }])
  })
})
