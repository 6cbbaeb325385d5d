import { describe, expect, it } from 'vitest'
import type { AgentExample, AgentTest, AgentTestsResult } from '../../schemas/types.ts'
import type { Fields } from './instance.ts'
import { conclude, MINUTE, serveRuns } from './served-runs.ts'

const base = '/api/agents/builtin/first-look'

/** An agent that investigates whatever it is woken for, and one run of it. */
async function served(how: { secured?: boolean } = {}) {
  const { world, svc } = await serveRuns(how)
  await world.agent({
    name: 'first-look',
    trigger: 't',
    prompt: 'Look.',
    model: 'm1',
    verdicts: [{ verdict: 'investigate' }, { verdict: 'rca' }],
  })
  world.models.reply('m1', () => conclude({ verdict: 'investigate' }))
  await world.post({ service: 'checkout', type: 'error', msg: 'cannot pay' })
  const [run] = await world.settled()
  world.pass(MINUTE)
  const add = (more: Fields = {}) =>
    svc.post<AgentExample>(`${base}/examples`, { name: 'gateway', run_id: run!.id, ...more })
  const finished = async (body?: Fields): Promise<AgentTest> => {
    const { id } = await svc.post<AgentTest>(`${base}/tests`, body)
    await world.settled()
    return svc.get<AgentTest>(`${base}/tests/${id}`)
  }
  return { world, svc, run: run!, add, finished }
}

describe('/api/agents/builtin/{name}/examples', () => {
  it('keeps the firing of a run with what is expected, by name, and removes it', async () => {
    const { svc, run, add } = await served()
    const made = await add({
      name: ' gateway ',
      verdict: 'investigate',
      mentions: ['certificate', '/end(ed|s)/'],
    })
    expect(made).toEqual({
      id: expect.stringMatching(/^example_/),
      agent: 'first-look',
      name: 'gateway',
      run_id: run.id,
      trigger: 't',
      dispatch_id: run.dispatch_id,
      label: 'service',
      key: 'checkout',
      projects: run.projects,
      as_of: run.as_of,
      verdict: 'investigate',
      mentions: ['certificate', '/end(ed|s)/'],
      made_at: '2026-11-20T12:01:00.000Z',
      made_by: expect.any(String),
    })
    const quiet = await add({ name: 'a quiet day', verdict: 'no_op' })
    expect(quiet).toMatchObject({ mentions: [] })
    expect(await add({ name: 'any' })).toMatchObject({ verdict: null })
    await svc.del(`${base}/examples/${quiet.id}`)
    const { examples } = await svc.get<{ examples: AgentExample[] }>(`${base}/examples`)
    expect(examples.map(({ name }) => name)).toEqual(['any', 'gateway'])
  })

  it('refuses a name that is taken, and what is not there', async () => {
    const { svc, add, run } = await served()
    await add()
    const post = (body: Fields, of = base) => svc.refused('POST', `${of}/examples`, body)
    expect(await post({ name: 'gateway', run_id: run.id })).toEqual([
      409,
      'agent first-look has an example named gateway',
    ])
    expect(await post({ name: 'b', run_id: 'run_none' })).toEqual([404, 'no run has the id run_none'])
    const gone = '/api/agents/builtin/gone'
    expect(await post({ name: 'b', run_id: run.id }, gone)).toEqual([404, 'no agent is named gone'])
    expect(await svc.refused('GET', `${gone}/examples`)).toEqual([404, 'no agent is named gone'])
    expect(await svc.refused('DELETE', `${base}/examples/none`)).toEqual([
      404,
      'agent first-look has no example with the id none',
    ])
  })

  it.each<[Fields, number, string]>([
    [{ verdict: 'page' }, 400, 'verdict must be one the agent may give: investigate, rca, no_op'],
    [
      { verdict: 'no_op', mentions: ['x'] },
      400,
      'mentions must be empty with the verdict no_op: there is no finding to hold them',
    ],
    [{ mentions: ['ok', '/(/'] }, 400, 'mentions[1] is not supported: missing closing ): `(`'],
    [
      { mentions: ['/(a{1,100}){1,9}/'] },
      400,
      'mentions[0] is too large a pattern: make its repeats smaller',
    ],
    [{ name: ' ' }, 400, 'name'],
    [{ mentions: [' '] }, 400, 'mentions'],
  ])('refuses %j', async (more, status, detail) => {
    const { svc, run } = await served()
    const [answered, said] = await svc.refused('POST', `${base}/examples`, {
      name: 'a',
      run_id: run.id,
      ...more,
    })
    expect([answered, said]).toEqual([status, expect.stringContaining(detail)])
  })

  it('takes only finished runs of the agent that were started', async () => {
    const { world, svc, run } = await served()
    await world.agent({ name: 'other', model: 'm1' })
    const post = (of: string, id: string) =>
      svc.refused('POST', `/api/agents/builtin/${of}/examples`, { name: 'a', run_id: id })
    expect(await post('other', run.id)).toEqual([
      400,
      `run_id must be a run of other; ${run.id} is one of first-look`,
    ])
    await svc.put(base, { prompt: 'Look.', daily_cap: 1 })
    await world.post({ service: 'cart', type: 'error', msg: 'cannot pay' })
    const capped = (await world.settled()).at(-1)!
    expect(await post('first-look', capped.id)).toEqual([
      400,
      expect.stringContaining(`${capped.id} was not, and has read nothing`),
    ])
    await svc.put(base, { prompt: 'Look.', daily_cap: 9 })
    const asked = new Promise<void>((resolve) => {
      world.models.reply('m1', () => {
        resolve()
        return { delayUntil: new Promise(() => {}) }
      })
    })
    world.pass(MINUTE)
    await world.post({ service: 'search', type: 'error', msg: 'cannot find' })
    await asked
    const { runs } = await svc.get<{ runs: { id: string }[] }>('/api/runs?status=running')
    expect((await post('first-look', runs[0]!.id))[0]).toBe(409)
  })
})

describe('/api/agents/builtin/{name}/tests', () => {
  it('runs every example, and says which pass, what it cost and what changed', async () => {
    const { svc, add, finished, world } = await served()
    await add({ name: 'a', verdict: 'investigate', mentions: ['certificate'] })
    await add({ name: 'b', verdict: 'rca' })
    const first = await finished()
    expect(first).toMatchObject({
      status: 'failed',
      tried: null,
      finished_at: '2026-11-20T12:01:00.000Z',
      examples: [
        { name: 'a', result: 'pass', why: null, tokens: 15, cost_usd: 0.0006, duration_ms: 0 },
        { name: 'b', result: 'fail', why: 'verdict was investigate, expected rca' },
      ],
      totals: { examples: 2, passed: 1, failed: 1, running: 0, cost_usd: 0.0012, tokens: 30, duration_ms: 0 },
      change: null,
    })
    world.models.reply('m2', () => ({
      ...conclude({ verdict: 'rca' }),
      usage: { input_tokens: 10, output_tokens: 11 },
    }))
    const second = await finished({ model: 'm2' })
    expect(second).toMatchObject({
      tried: { prompt: false, provider: null, model: 'm2' },
      change: { test_id: first.id, newly_passing: ['b'], newly_failing: ['a'] },
    })
    expect(second.change!.cost_ratio).toBeCloseTo(2, 9)
    // What is given but is as saved is not other than saved.
    expect(await finished({ prompt: 'Look.', model: 'm1', provider: '' })).toMatchObject({
      tried: null,
      definition_hash: first.definition_hash,
      change: { test_id: second.id },
    })
    const { tests, total } = await svc.get<AgentTestsResult>(`${base}/tests?limit=1&offset=1`)
    expect([tests, total]).toEqual([[second], 3])
  })

  it('refuses an agent without examples, and what is not there', async () => {
    const { svc, add } = await served()
    expect(await svc.refused('POST', `${base}/tests`)).toEqual([
      409,
      'agent first-look has no examples; keep a past run as one first',
    ])
    await add()
    expect(await svc.refused('POST', '/api/agents/builtin/gone/tests')).toEqual([
      404,
      'no agent is named gone',
    ])
    expect(await svc.refused('GET', '/api/agents/builtin/gone/tests')).toEqual([
      404,
      'no agent is named gone',
    ])
    const near = [404, 'no agent is named fist-look (did you mean first-look?)']
    for (const path of ['tests', 'examples', 'forecast'])
      expect(await svc.refused('GET', `/api/agents/builtin/fist-look/${path}`)).toEqual(near)
    expect(await svc.refused('POST', '/api/agents/builtin/fist-look/tests')).toEqual(near)
    expect(await svc.refused('GET', `${base}/tests/none`)).toEqual([
      404,
      'agent first-look has no test with the id none',
    ])
    expect((await svc.refused('POST', `${base}/tests`, { prompt: ' ' }))[0]).toBe(400)
    expect((await svc.refused('POST', `${base}/tests`, { temperature: 1 }))[0]).toBe(400)
  })

  it('is for those who may write; reading it is for those who may read', async () => {
    const { svc, add, run } = await served({ secured: true })
    const { id } = await add()
    const test = await svc.post<AgentTest>(`${base}/tests`)
    const { secret } = await svc.post<{ secret: string }>('/api/keys', { name: 'reader', scopes: ['read'] })
    const reader = svc.as(secret)
    expect(await reader.get(`${base}/examples`)).toMatchObject({ examples: [{ id }] })
    expect(await reader.get(`${base}/tests`)).toMatchObject({ total: 1 })
    expect(await reader.get(`${base}/tests/${test.id}`)).toMatchObject({ id: test.id })
    for (const [method, path, body] of [
      ['POST', 'examples', { name: 'b', run_id: run.id }],
      ['DELETE', `examples/${id}`, undefined],
      ['POST', 'tests', {}],
    ] as const)
      expect((await reader.refused(method, `${base}/${path}`, body))[0]).toBe(403)
    expect((await svc.as('svc_none').refused('GET', `${base}/tests`))[0]).toBe(401)
  })
})

describe('POST /api/runs/{id}/rerun', () => {
  it('of an agent repeats its own runs alone', async () => {
    const { svc, run } = await served()
    await svc.post('/api/agents/builtin', { name: 'another', prompt: 'Look.' })
    const of = (agent: unknown) => `/api/agents/builtin/${agent}/runs/${run.id}/rerun`
    for (const agent of ['another', 'nobody'])
      expect(await svc.refused('POST', of(agent), { practice: true })).toEqual([
        404,
        `agent ${agent} has no run ${run.id}`,
      ])
    expect(await svc.post(of(run.agent), { practice: true })).toMatchObject({ rerun_of: run.id })
  })

  it('repeats for real unless practice is asked for, and reads what the run could read', async () => {
    const { world, svc, run } = await served()
    const real = await svc.post<{ ok: boolean; run_id: string }>(`/api/runs/${run.id}/rerun`)
    expect(real.ok).toBe(true)
    await world.settled()
    expect(await svc.get(`/api/runs/${real.run_id}`)).toMatchObject({
      practice: false,
      woken_by: 'rerun',
      rerun_of: run.id,
      as_of: run.as_of,
    })
    const { run_id } = await svc.post<{ run_id: string }>(`/api/runs/${run.id}/rerun`, { practice: true })
    await world.settled()
    expect(await svc.get(`/api/runs/${run_id}`)).toMatchObject({
      practice: true,
      woken_by: 'practice',
      rerun_of: run.id,
      as_of: run.as_of,
      status: 'succeeded',
    })
  })
})
