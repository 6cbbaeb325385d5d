import { describe, expect, it } from 'vitest'
import { draftOf, NEW_AGENT, writeOf } from '../../console/lib/agent-form.ts'
import { forecastWords, spendShare } from '../../console/lib/forecast.ts'
import { modelChoices } from '../../console/lib/model-choices.ts'
import {
  addressWords,
  capWords,
  limitsDraft,
  limitsWrite,
  NEW_PROVIDER,
  originWords,
  priceRow,
  pricesOf,
  providerDraft,
  providerFault,
  providerWrite,
  testWords,
} from '../../console/lib/model-settings.ts'
import { barHeights, barWords, costToday, costWords, usageBars } from '../../console/lib/model-usage.ts'
import type {
  Agent,
  AgentForecast,
  AgentSettings,
  ModelProvider,
  ModelSpendDay,
} from '../../schemas/types.ts'

const provider = (over: Partial<ModelProvider> = {}): ModelProvider => ({
  id: 'local',
  kind: 'compatible',
  name: 'local',
  base_url: 'http://127.0.0.1:9/v1',
  base_source: 'console',
  configured: true,
  source: 'console',
  stored: true,
  key_stored: true,
  editable: true,
  default: false,
  default_model: null,
  default_model_source: '',
  models: [],
  ...over,
})

describe('a model provider', () => {
  it('says where its credential and its address are from', () => {
    expect(originWords(provider())).toBe('stored here')
    expect(originWords(provider({ source: 'console:gateway' }))).toBe('stored here: token of a gateway')
    expect(originWords(provider({ source: 'env:PROVIDERA_API_KEY' }))).toBe('environment: PROVIDERA_API_KEY')
    expect(originWords(provider({ source: '' }))).toBe('none is needed')
    expect(originWords(provider({ source: '', configured: false }))).toBe('none')
    expect(addressWords(provider({ base_url: '' }))).toBe('the provider’s own')
    expect(addressWords(provider({ base_source: 'env:X' }))).toBe('http://127.0.0.1:9/v1 (environment: X)')
  })

  it('is written with what was changed alone; blanks keep what is stored', () => {
    const draft = providerDraft(provider())
    expect(providerWrite(draft, provider())).toEqual({})
    expect(providerWrite({ ...draft, key: ' k ', base_url: '' }, provider())).toEqual({
      base_url: '',
      key: 'k',
    })
    expect(providerWrite({ ...draft, key_clear: true, gateway_token: 't' }, provider())).toEqual({
      key_clear: true,
    })
    expect(providerWrite({ ...NEW_PROVIDER, key: 'k', gateway_token: 't' }, null)).toEqual({
      kind: 'providera',
      key: 'k',
      gateway_token: 't',
    })
  })

  it('does not take an address of the environment for one that is stored', () => {
    const env = provider({ base_source: 'env:PROVIDERA_BASE_URL' })
    expect(providerDraft(env).base_url).toBe('')
    expect(providerWrite(providerDraft(env), env)).toEqual({})
  })

  it('says what still has to be filled in', () => {
    expect(providerFault(NEW_PROVIDER, null)).toMatch(/key/)
    expect(providerFault({ ...NEW_PROVIDER, key: 'k' }, null)).toBeNull()
    const local = { ...NEW_PROVIDER, kind: 'compatible' as const }
    expect(providerFault(local, null)).toMatch(/name/)
    expect(providerFault({ ...local, name: 'x' }, null)).toMatch(/address/)
    expect(providerFault({ ...local, name: 'x', base_url: 'http://x/v1' }, null)).toBeNull()
    expect(providerFault(providerDraft(provider({ kind: 'providerb' })), provider())).toBeNull()
  })

  it('is tested, and says what to look at', () => {
    expect(testWords({ ok: true, model: 'm1', ms: 12 })).toEqual({
      title: 'The provider answers',
      text: 'm1 answered within 12 ms.',
    })
    expect(testWords({ ok: false, model: 'm1', ms: 3, failed: 'credential', error: '401' })).toEqual({
      title: 'Check the credential',
      text: '401',
    })
  })
})

describe('the models an agent may name', () => {
  const answer = {
    models: ['m1', 'm2'],
    default_model: 'm1',
    default_provider: 'providera',
    default_models: { providera: 'm1', local: 'l1' },
    providers: [
      { id: 'providera', name: 'Provider A', kind: 'providera' as const, models: ['m1', 'm2'] },
      { id: 'local', name: 'local', kind: 'compatible' as const, models: ['l1'] },
    ],
  }

  it('are those of the provider, with the one it names', () => {
    expect(modelChoices(answer, { provider: '', model: '' })).toEqual({
      providers: [
        { value: 'providera', label: 'Provider A' },
        { value: 'local', label: 'local' },
      ],
      models: ['m1', 'm2'],
      fallback: 'm1',
    })
    expect(modelChoices(answer, { provider: 'local', model: 'own' })).toMatchObject({
      models: ['l1', 'own'],
      fallback: 'l1',
    })
  })

  it('say of a provider that it is not there', () => {
    const { providers, models } = modelChoices(answer, { provider: 'gone', model: '' })
    expect(providers.at(-1)).toEqual({ value: 'gone', label: 'gone (not there)' })
    expect(models).toEqual([])
    expect(modelChoices(undefined, { provider: 'gone', model: '' }).providers).toEqual([])
    // That of the demo works, though nobody may choose it.
    const demo = modelChoices(answer, { provider: 'svc-demo', model: '' })
    expect(demo.providers.at(-1)).toEqual({ value: 'svc-demo', label: 'scripted model (demo)' })
  })
})

describe('prices and bounds', () => {
  it('are whole, or not saved', () => {
    const row = priceRow({ prefix: 'm', input: 1, output: 2 })
    const blank = { prefix: '', input: null, output: null, cached: null }
    expect(pricesOf([row, blank])).toEqual([{ prefix: 'm', input: 1, output: 2 }])
    expect(pricesOf([{ ...row, cached: 0.1 }])).toEqual([{ prefix: 'm', input: 1, output: 2, cached: 0.1 }])
    expect(pricesOf([{ ...row, output: null }])).toBeNull()
    expect(pricesOf([])).toEqual([])
  })

  it('go back to the default with a blank', () => {
    const stored: AgentSettings = {
      daily_cap: 9,
      daily_cap_source: 'console',
      default: 50,
      env: null,
      daily_budget_usd: 3,
      concurrency: 8,
      fallback_provider: '',
      fallback_model: '',
    }
    const before = limitsDraft(stored)
    expect(limitsWrite(before, before)).toEqual({})
    expect(limitsWrite({ ...before, daily_cap: null, daily_budget_usd: 4 }, before)).toEqual({
      daily_cap: '',
      daily_budget_usd: 4,
    })
    expect(limitsDraft({ ...stored, daily_cap_source: 'env' }).daily_cap).toBeNull()
    expect(capWords(stored)).toBe('Default: 50')
    expect(capWords({ ...stored, env: 7 })).toBe('Default: 7, of SVC_AGENT_DAILY_CAP')
  })
})

describe('what models were used for', () => {
  const day = (over: Partial<ModelSpendDay> = {}): ModelSpendDay => ({
    day: '2026-11-19',
    calls: 2,
    input_tokens: 10,
    output_tokens: 5,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cost_usd: 0.5,
    uncosted_calls: 0,
    ...over,
  })
  const now = Date.parse('2026-11-20T01:00:00.000Z')

  it('has a bar for every day of the window', () => {
    const bars = usageBars([day()], 3, now)
    expect(bars.map(({ day: of, calls }) => [of, calls])).toEqual([
      ['2026-11-18', 0],
      ['2026-11-19', 2],
      ['2026-11-20', 0],
    ])
    expect(barHeights(bars)).toEqual({ by: 'cost', heights: [0, 1, 0] })
    expect(barHeights(usageBars([day({ cost_usd: null, uncosted_calls: 2 })], 3, now))).toEqual({
      by: 'tokens',
      heights: [0, 1, 0],
    })
    expect(barHeights(usageBars([], 2, now)).heights).toEqual([0, 0])
  })

  it('costs today what the day has, and nothing before its first call', () => {
    expect(costToday([day()], now)).toBe(0)
    expect(costToday([day(), day({ day: '2026-11-20', cost_usd: 0.25 })], now)).toBe(0.25)
    // No price is known: it is not that nothing was spent.
    const unpriced = day({ day: '2026-11-20', calls: 1, cost_usd: null, uncosted_calls: 1 })
    expect(costToday([unpriced], now)).toBeNull()
    expect(barWords(usageBars([unpriced], 1, now)[0]!)).toMatch(
      /^2026-11-20: 1 call, .* tokens, 1 call without a price$/,
    )
  })

  it('says which calls have no price', () => {
    expect(costWords({ cost_usd: 1.2, uncosted_calls: 0 })).toBe('$1.20')
    expect(costWords({ cost_usd: 1.2, uncosted_calls: 1 })).toBe('$1.20, and 1 call without a price')
    expect(costWords({ cost_usd: null, uncosted_calls: 3 })).toBe('3 calls without a price')
    expect(costWords({ cost_usd: null, uncosted_calls: 0 })).toBe('$0')
    expect(barWords(usageBars([], 1, now)[0]!)).toBe('2026-11-20: no calls')
    expect(barWords(usageBars([day({ cost_usd: null, uncosted_calls: 2 })], 2, now)[0]!)).toBe(
      '2026-11-19: 2 calls, 15 tokens, 2 calls without a price',
    )
  })
})

describe('what an agent may cost', () => {
  const forecast = (over: Partial<AgentForecast> = {}): AgentForecast => ({
    runs_per_day: 2,
    cost_per_run_usd: 0.1,
    per_day_usd: 0.2,
    per_month_usd: 6,
    spent_usd: 1,
    budget_usd: 5,
    days_left: 20.4,
    ...over,
  })

  it('is said in a sentence that claims no more than is known', () => {
    expect(forecastWords(forecast())).toBe(
      'At the pace of the last seven days it costs $6.00 a month; its budget lasts 20 more days.',
    )
    expect(forecastWords(forecast({ budget_usd: null, days_left: null }))).toMatch(/it has no budget\.$/)
    expect(forecastWords(forecast({ spent_usd: 5, days_left: 0 }))).toMatch(/its budget is used up\.$/)
    expect(forecastWords(forecast({ days_left: 0.4 }))).toMatch(/lasts less than a day\.$/)
    expect(forecastWords(forecast({ runs_per_day: 0 }))).toMatch(/No runs in the last seven days/)
    expect(forecastWords(forecast({ cost_per_run_usd: null }))).toMatch(/unknown/)
  })

  it('is a share of its budget', () => {
    expect(spendShare(forecast())).toBe(0.2)
    expect(spendShare(forecast({ spent_usd: 9 }))).toBe(1)
    expect(spendShare(forecast({ budget_usd: null }))).toBeNull()
  })
})

describe('the form of an agent', () => {
  it('keeps what a run may use, and changes the wiring only where it was changed', () => {
    const agent = {
      ...NEW_AGENT,
      name: 'triage',
      prompt: 'Look.',
      trigger: 'errs',
      run_budget_usd: 0.5,
      concurrency: 2,
      remembers: true,
      provider: 'local',
      handoffs: [{ verdict: 'investigate', agent: 'digger' }],
    } as unknown as Agent
    const draft = draftOf(agent)
    const same = writeOf(draft, draft)
    expect(same).toMatchObject({ run_budget_usd: 0.5, concurrency: 2, remembers: true, provider: 'local' })
    expect(same).not.toHaveProperty('handoffs')
    expect(same).not.toHaveProperty('trigger')
    const changed = {
      ...draft,
      handoffs: [
        { verdict: 'investigate', agent: 'digger', cooldown: '5m' },
        { verdict: 'ignore', agent: '', cooldown: '' },
      ],
    }
    expect(writeOf(changed, draft).handoffs).toEqual([
      { verdict: 'investigate', agent: 'digger', cooldown: '5m' },
    ])
    expect(writeOf({ ...draft, handoffs: [] }, draft).handoffs).toEqual([])
  })
})
