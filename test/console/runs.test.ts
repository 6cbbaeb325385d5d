import { describe, expect, it } from 'vitest'
import { requestOf } from '../../api/client/call.ts'
import * as calls from '../../api/client/calls.ts'
import { compareRows, promptsOf, stepLine } from '../../console/lib/compare.ts'
import { eventPath } from '../../console/lib/explore-state.ts'
import { filtered } from '../../console/lib/filtered.ts'
import { comparePath } from '../../console/lib/paths.ts'
import { readRunFilter, spanWords, withFilter } from '../../console/lib/run-filters.ts'
import { argumentWords, chaptersOf, opening, toldFirst } from '../../console/lib/run-story.ts'
import {
  claimsWords,
  durationOf,
  freshMs,
  handoffWords,
  spentWords,
  tokenWords,
  wokenWords,
  writeBackWords,
} from '../../console/lib/runs.ts'
import { money, took } from '../../console/lib/time.ts'
import type { RunDetail, RunStep } from '../../schemas/types.ts'

const AT = '2026-11-20T12:00:00.000Z'

const run = (over: Partial<RunDetail> = {}): RunDetail =>
  ({
    id: 'run_1',
    agent: 'triage',
    status: 'succeeded',
    woken_by: 'trigger',
    trigger: 'errs',
    practice: false,
    rerun_of: null,
    definition_hash: '0123456789ab',
    as_of: AT,
    started_at: AT,
    finished_at: '2026-11-20T12:00:02.000Z',
    duration_ms: 2_000,
    rounds: 2,
    max_rounds: 6,
    tool_calls: 1,
    provider: 'providera',
    model: 'm1',
    input_tokens: 20,
    output_tokens: 10,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cost_usd: 0.0055,
    outcome: 'finding',
    verdict: 'investigate',
    verified: { ok: 1, total: 2 },
    delivery: null,
    delivery_error: null,
    slack: null,
    slack_error: null,
    steps: [],
    definition: { prompt: 'Look.' },
    ...over,
  }) as RunDetail

const step = (kind: RunStep['kind'], data: object, over: Partial<RunStep> = {}): RunStep => ({
  n: 1,
  kind,
  round: 1,
  at: AT,
  ms: 5,
  data: data as Record<string, unknown>,
  ...over,
})

describe('the address of the list of runs', () => {
  it('holds the filters, and leaves practice out unless it asks for it', () => {
    const filter = (address: string) => readRunFilter(new URLSearchParams(address))
    expect(filter('')).toEqual({ query: { practice: false }, offset: 0, isNarrowed: false })
    expect(filter('status=failed&agent=triage&entity=pay&project=uc_1&offset=50')).toEqual({
      query: { status: 'failed', agent: 'triage', entity: 'pay', project: 'uc_1', practice: false },
      offset: 50,
      isNarrowed: true,
    })
    expect(filter('practice=1').query).toEqual({})
    expect(filter('outcome=finding&since=24h').query).toMatchObject({ outcome: 'finding', since: '24h' })
    expect(filter('outcome=luck&since=never')).toEqual(filter(''))
    expect(filter('status=asleep&offset=-3&agent=%20')).toEqual(filter(''))
  })

  it('begins at the first page again with another filter', () => {
    const at = new URLSearchParams('offset=50&agent=triage')
    expect(withFilter(at, 'status', 'failed').toString()).toBe('agent=triage&status=failed')
    expect(withFilter(at, 'agent', null).toString()).toBe('')
    expect(withFilter(at, 'offset', '100').toString()).toBe('offset=100&agent=triage')
    expect(withFilter(at, 'offset', '0').toString()).toBe('agent=triage')
  })

  it('is asked of the API with what is given alone', () => {
    const asked = filtered<{ agent: string }>({ agent: 'a b', entity: '', practice: false, offset: 0 })
    expect(requestOf(calls.listRuns, asked).path).toBe('/api/runs?agent=a+b&practice=false&offset=0')
    expect(requestOf(calls.listRuns, filtered({ entity: '' })).path).toBe('/api/runs')
  })

  it('says which of all runs are shown', () => {
    expect(spanWords(0, 50, 1_230)).toBe('1–50 of 1,230')
    expect(spanWords(50, 3, 53)).toBe('51–53 of 53')
    expect(spanWords(100, 0, 53)).toBe('none of 53')
  })
})

describe('a run in words', () => {
  it('is read again soon while one is open', () => {
    expect(freshMs([run(), run({ status: 'queued' })])).toBe(2_000)
    expect(freshMs([run(), run({ status: 'capped' })])).toBe(5_000)
  })

  it('says what woke it', () => {
    expect(wokenWords(run())).toBe('trigger errs')
    expect(wokenWords(run({ woken_by: 'schedule', trigger: 'nightly' }))).toBe('schedule nightly')
    expect(wokenWords(run({ woken_by: 'handoff' }))).toBe('a handoff')
    expect(wokenWords(run({ woken_by: 'practice', rerun_of: 'run_0' }))).toBe('a rerun')
  })

  it('has a cost that is never made up', () => {
    expect(money(null)).toBe('—')
    expect(money(0)).toBe('$0')
    expect(money(0.00213)).toBe('<$0.01')
    expect(money(-0.000004)).toBe('>-$0.01')
    expect(money(0.01)).toBe('$0.01')
    expect(money(1_234.5)).toBe('$1,234.50')
  })

  it('took as long as it took, or so far', () => {
    expect([null, 0, 850, 12_340, 59_949, 59_950, 245_000, 7_384_000].map(took)).toEqual([
      '—',
      '0 ms',
      '850 ms',
      '12 s',
      '1 min',
      '1 min',
      '4 min',
      '2 h 3 min',
    ])
    const now = Date.parse(AT) + 3_000
    expect(durationOf(run({ duration_ms: null, finished_at: null }), now)).toBe('3.0 s')
    expect(durationOf(run({ duration_ms: null, started_at: null, finished_at: null }), now)).toBe('—')
    expect(durationOf(run(), now)).toBe('2.0 s')
  })

  it('has claims, tokens and links', () => {
    expect(claimsWords(null)).toBeNull()
    expect(claimsWords({ ok: 1, total: 1 })).toBe('1 of 1 claim holds')
    expect(claimsWords({ ok: 0, total: 3 })).toBe('0 of 3 claims hold')
    expect(tokenWords({ input_tokens: 1_204, output_tokens: 31, cache_read_input_tokens: 900 })).toBe(
      '1,204 in, 31 out, 900 from the cache',
    )
    expect(comparePath('run_1', 'run_2')).toBe('/runs/run_1/compare?with=run_2')
    expect(eventPath('evt_2', { label: 'service', value: 'a b' })).toBe('/events/evt_2?l=service%3Da+b')
    expect(eventPath('evt_2')).toBe('/events/evt_2')
  })

  it('says what came of handoffs and of the write-back', () => {
    expect(handoffWords({ state: 'done' })).toEqual({ tone: 'good', words: 'done' })
    expect(handoffWords({ state: 'refused_cooldown' }).words).toMatch(/^refused: /)
    expect(handoffWords({ state: 'something_new' }).words).toBe('something new')
    expect(writeBackWords(run())).toBeNull()
    expect(writeBackWords(run({ delivery: 'pending', delivery_error: 'timeout' }))!.words).toBe(
      'tried again: timeout',
    )
    // 18.3: a receiver that refused it with a status did not take it.
    expect(writeBackWords(run({ delivery: 'http 404', delivery_error: 'HTTP 404: no' }))).toEqual({
      tone: 'bad',
      words: 'failed: HTTP 404: no',
    })
    expect(writeBackWords(run({ delivery: 'ok' }))).toEqual({ tone: 'good', words: 'written' })
    expect(writeBackWords(run({ delivery: 'failed', delivery_error: '404' }))).toEqual({
      tone: 'bad',
      words: 'failed: 404',
    })
  })
})

describe('how an agent fares', () => {
  it('is not said to cost nothing where a price is missing', () => {
    expect(spentWords({ usd: 0.4, unpriced: 0 }, 5)).toBe('$0.40 of $5.00')
    expect(spentWords({ usd: 0.4, unpriced: 2 }, null)).toBe('$0.40, 2 runs not priced')
    expect(spentWords({ usd: 0, unpriced: 1 }, null)).toBe('1 run not priced')
    expect(spentWords({ usd: 0, unpriced: 1 }, 5)).toBe('$0 of $5.00, 1 run not priced')
    expect(spentWords({ usd: 0, unpriced: 0 }, null)).toBe('$0')
  })
})

describe('the story of a run', () => {
  const steps = [
    step('prompt', {
      system: 'Look.',
      message: 'It fired.',
      tools: [{ name: 'read' }, { name: 'conclude' }],
      shown: [['evt_4', 4]],
    }),
    step('model', {
      asked: { choice: 'auto' },
      reply: {
        text: 'I look.',
        calls: [{ name: 'read', arguments: { selector: { service: 'pay' }, window: '2h' } }],
        provider: 'providera',
        model: 'm1',
        usage: { input_tokens: 10, output_tokens: 5 },
        costUsd: 0.002,
        tries: 2,
      },
    }),
    step('tool', {
      call: { name: 'read', arguments: { window: '2h' } },
      server: null,
      result: 'rows',
      is_error: false,
      shown: [['evt_2', 1]],
    }),
    step('conclude', { call: { name: 'conclude', arguments: {} }, fault: null, claims: [{ ok: false }] }),
    step('model', { asked: {} }, { ms: null }),
    step('refused', { call: { name: 'delete_all' }, reason: 'refused: no line names it' }),
    step('conclude', { call: { name: 'conclude', arguments: {} }, fault: null, claims: [] }),
  ]

  it('has each step as it was', () => {
    const [told, answered, called, early, waiting, refused, last] = chaptersOf(steps)
    expect(told).toMatchObject({ tools: ['read', 'conclude'], shown: [{ id: 'evt_4', count: 4 }] })
    expect(toldFirst(chaptersOf(steps))?.message).toBe('It fired.')
    expect(answered).toMatchObject({ text: 'I look.', cost: 0.002, tries: 2, isAsked: false, error: null })
    expect(called).toMatchObject({ result: 'rows', isError: false, shown: [{ id: 'evt_2', count: 1 }] })
    expect(early).toMatchObject({ sentBack: true })
    expect(waiting).toMatchObject({ text: null, isAsked: true, ms: null })
    expect(refused).toMatchObject({ call: { name: 'delete_all', arguments: {} } })
    expect(last).toMatchObject({ sentBack: false, claims: [] })
  })

  it('makes nothing up of a step that holds less than it should', () => {
    for (const kind of ['prompt', 'model', 'tool', 'refused', 'conclude', 'note'] as const)
      expect(() => chaptersOf([step(kind, {})])).not.toThrow()
    expect(chaptersOf([step('model', { reply: { text: 'x' } })])[0]).toMatchObject({ cost: null, calls: [] })
    expect(chaptersOf([step('model', { error: { code: 'timeout' } })])[0]).toMatchObject({ error: 'timeout' })
    expect(toldFirst([])).toBeNull()
  })

  it('is said in a line each', () => {
    expect(chaptersOf(steps).map(stepLine)).toEqual([
      'received the timeline, 9 characters',
      'model calls read: I look.',
      'read window: 2h',
      'concluded, 0 of 1 claim holds',
      'model is asked',
      'delete_all refused: refused: no line names it',
      'concluded',
    ])
  })

  it('shows arguments and openings on one line', () => {
    expect(
      argumentWords({ name: 'read', arguments: { selector: { service: 'pay' }, top: 3, by: ['a'] } }),
    ).toBe('selector: service=pay, top: 3, by: ["a"]')
    expect(opening('1 row\n<<<data 0a1b\nevt_2 pay\ndata 0a1b>>>')).toBe('1 row evt_2 pay')
    expect(opening('x'.repeat(200))).toHaveLength(140)
  })
})

describe('two runs side by side', () => {
  it('say what differs', () => {
    const rows = compareRows(run(), run({ practice: true, cost_usd: null, verdict: null, verified: null }))
    const by = new Map(rows.map((row) => [row.title, row]))
    expect(by.get('Status')).toEqual({
      title: 'Status',
      left: 'succeeded',
      right: 'succeeded, practice',
      differs: true,
    })
    expect(by.get('Cost')).toMatchObject({ left: '<$0.01', right: '— not priced' })
    expect(by.get('Claims')).toMatchObject({ left: '1 of 2 claims holds', right: 'none' })
    expect(by.get('Tokens in')!.differs).toBe(false)
  })

  it('have the prompts they had', () => {
    const told = run({ steps: [step('prompt', { system: 'S', message: 'M' })] })
    expect(promptsOf(told)).toEqual({ prompt: 'Look.', system: 'S', message: 'M' })
    expect(promptsOf(run({ definition: {} }))).toEqual({ prompt: '', system: '', message: '' })
  })
})
