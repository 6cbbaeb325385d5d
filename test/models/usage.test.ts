/** Prices, bounds of agents, what models were used for, and what the list of agents says of models. */
import { describe, expect, it } from 'vitest'
import { sumOf } from '../../engine/agents/agent-tests.ts'
import type { UsageEntry } from '../../engine/agents/models/usage.ts'
import { dollars } from '../../engine/model/units.ts'
import { T0 } from '../contract/instance.ts'
import { instance } from './instance.ts'

const DAY = 86_400_000
const NO_TOKENS = {
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
}
const entry = (id: string, more: Partial<UsageEntry> = {}): UsageEntry => ({
  id,
  at: T0,
  surface: 'agent',
  agent: 'a',
  runId: id,
  practice: false,
  model: 'm1',
  provider: 'providera',
  keySource: 'console',
  calls: 2,
  usage: {
    input_tokens: 100,
    output_tokens: 10,
    cache_creation_input_tokens: 3,
    cache_read_input_tokens: 4,
  },
  costUsd: 0.5,
  ...more,
})

describe('what models were used for', () => {
  it('is nothing at first', async () => {
    const { svc } = await instance()
    const none = {
      calls: 0,
      ...NO_TOKENS,
      cost_usd: 0,
      uncosted_calls: 0,
    }
    expect(await svc.get('/api/usage/model')).toEqual({
      total: none,
      by_surface: { agent: none, ask: none, setup: none },
      by_key_source: {},
      by_provider: {},
      days: [],
      window_days: 30,
    })
  })

  it('is added up of all time, by what asked, credential and provider, and by day', async () => {
    const { svc } = await instance()
    const entries = [
      entry('1'),
      entry('1'),
      entry('2', { at: T0 - DAY, surface: 'ask', agent: null, costUsd: null, calls: 1, practice: true }),
      entry('3', { at: T0 - 40 * DAY, provider: 'g', keySource: 'env:PROVIDERA_API_KEY', costUsd: 0.25 }),
      entry('4', { at: T0 - 40 * DAY, provider: 'free', costUsd: null }),
      // Of a clock that was set back since: no day of a window that ends today.
      entry('5', {
        ...{ at: T0 + 3 * DAY, provider: 'g', keySource: 'env:PROVIDERA_API_KEY', calls: 0, costUsd: 0 },
        usage: NO_TOKENS,
      }),
    ]
    for (const one of entries) await svc.engine.recordModelUsage(one)
    const usage =
      await svc.get<Record<string, Record<string, { calls: number; cost_usd: number | null }>>>(
        '/api/usage/model?days=2',
      )
    expect(usage.total).toEqual({
      calls: 7,
      input_tokens: 400,
      output_tokens: 40,
      cache_creation_input_tokens: 12,
      cache_read_input_tokens: 16,
      cost_usd: 0.75,
      uncosted_calls: 3,
    })
    const short = (buckets: Record<string, { calls: number; cost_usd: number | null }>) =>
      Object.fromEntries(
        Object.entries(buckets).map(([name, { calls, cost_usd }]) => [name, [calls, cost_usd]]),
      )
    expect(short(usage.by_surface!)).toEqual({ agent: [6, 0.75], ask: [1, null], setup: [0, 0] })
    expect(short(usage.by_key_source!)).toEqual({ console: [5, 0.5], 'env:PROVIDERA_API_KEY': [2, 0.25] })
    expect(short(usage.by_provider!)).toEqual({ free: [2, null], g: [2, 0.25], providera: [3, 0.5] })
    expect(usage.days).toMatchObject([
      { day: '2026-11-19', calls: 1, cost_usd: null, uncosted_calls: 1 },
      { day: '2026-11-20', calls: 2, cost_usd: 0.5 },
    ])
    expect(usage.window_days).toBe(2)
    expect((await svc.refused('GET', '/api/usage/model?days=367'))[0]).toBe(400)
  })
})

describe('dollars', () => {
  it('are summed without the noise of binary fractions: 0.1 and 0.2 are 0.3', async () => {
    const { svc } = await instance()
    for (const [id, costUsd] of Object.entries({ a: 0.1, b: 0.2, c: 0.7, d: 0.1 }))
      await svc.engine.recordModelUsage(entry(id, { costUsd }))
    const answer = (await svc.call('GET', '/api/usage/model')).text
    expect(answer).toContain('"cost_usd":1.1,')
    expect(answer).not.toMatch(/"cost_usd":[0-9]+\.[0-9]{10}/)
    expect([dollars(0.1 + 0.2), dollars(1e-7), sumOf([0.1, 0.2])]).toEqual([0.3, 1e-7, 0.3])
  })
})

describe('prices', () => {
  it('of the instance are put over the shipped ones', async () => {
    const { svc } = await instance()
    const shipped = await svc.get('/api/settings/prices')
    expect(shipped).toMatchObject({ updated: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), own: [] })
    const own = [{ prefix: 'm1', input: 1000, output: 2000, cached: 0.5 }]
    expect(await svc.put('/api/settings/prices', { prices: own })).toEqual({ ...shipped, own })
    expect((await svc.engine.modelConfig()).prices[0]).toEqual(own[0])
    expect(await svc.put('/api/settings/prices', { prices: [] })).toEqual(shipped)
  })

  it.each([
    [[{ prefix: 'm', input: -1, output: 1 }]],
    [[{ prefix: 'a/b', input: 1, output: 1 }]],
    [[{ prefix: 'm', input: 1 }]],
    [
      [
        { prefix: 'm', input: 1, output: 1 },
        { prefix: 'm', input: 2, output: 2 },
      ],
    ],
  ])('%j are refused', async (prices) => {
    const { svc } = await instance()
    expect((await svc.refused('PUT', '/api/settings/prices', { prices }))[0]).toBe(400)
  })
})

describe('bounds of agents', () => {
  it('are the console, the environment, the default, in that order', async () => {
    const { svc } = await instance({ SVC_AGENT_DAILY_CAP: '7' })
    const put = (body: object) => svc.put('/api/settings/agents', body)
    const base = {
      default: 50,
      env: 7,
      daily_budget_usd: null,
      concurrency: 8,
      fallback_provider: '',
      fallback_model: '',
    }
    expect(await svc.get('/api/settings/agents')).toEqual({ ...base, daily_cap: 7, daily_cap_source: 'env' })
    expect(await put({ daily_cap: 3 })).toEqual({ ...base, daily_cap: 3, daily_cap_source: 'console' })
    expect(await put({ daily_budget_usd: 2.5, concurrency: 8 })).toEqual({
      ...base,
      daily_cap: 3,
      daily_cap_source: 'console',
      daily_budget_usd: 2.5,
    })
    expect(await put({ daily_cap: '', daily_budget_usd: '' })).toEqual({
      ...base,
      daily_cap: 7,
      daily_cap_source: 'env',
    })
    const other = await instance()
    expect(await other.svc.get('/api/settings/agents')).toMatchObject({
      daily_cap: 50,
      daily_cap_source: 'default',
      env: null,
    })
  })

  it.each([
    { daily_cap: 0 },
    { daily_cap: 10_001 },
    { daily_cap: 'x' },
    { daily_budget_usd: 0 },
    { other: 1 },
  ])('%j is refused', async (body) => {
    const { svc } = await instance()
    expect((await svc.refused('PUT', '/api/settings/agents', body))[0]).toBe(400)
  })
})

describe('the list of agents', () => {
  it('says that there is no provider', async () => {
    const { svc } = await instance()
    expect(await svc.get('/api/agents/builtin')).toMatchObject({
      key_configured: false,
      key_source: '',
      models: [],
      default_model: null,
      providers: [],
      default_provider: null,
      default_models: {},
    })
  })

  it('says which providers and models there are', async () => {
    const { svc, server } = await instance({ PROVIDERA_API_KEY: 'k', SVC_AGENT_MODEL: 'm9' })
    await svc.put('/api/settings/providers/new', {
      kind: 'compatible',
      name: 'g',
      base_url: `${server.url}/v1`,
    })
    expect(await svc.get('/api/agents/builtin')).toMatchObject({
      key_configured: true,
      key_source: 'env:PROVIDERA_API_KEY',
      models: [],
      default_model: 'm9',
      default_provider: 'providera',
      default_models: { providera: 'm9', g: 'm1' },
      providers: [
        { id: 'providera', kind: 'providera', models: [] },
        { id: 'g', kind: 'compatible', models: ['m1', 'm2'] },
      ],
    })
    await svc.put('/api/settings/providers/default', { id: 'g' })
    expect(await svc.get('/api/agents/builtin')).toMatchObject({
      key_source: 'console',
      models: ['m1', 'm2'],
      default_model: 'm1',
    })
  })
})
