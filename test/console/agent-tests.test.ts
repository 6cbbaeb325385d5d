import { describe, expect, it } from 'vitest'
import { changeWords, expectedWords, testTone, totalsWords } from '../../console/lib/agent-tests.ts'

const totals = {
  examples: 3,
  passed: 2,
  failed: 0,
  running: 1,
  cost_usd: 0.42,
  tokens: 10,
  duration_ms: null,
}
const change = {
  test_id: 't',
  definition_hash: 'h',
  made_at: '2026-11-20T12:00:00Z',
  newly_passing: [],
  newly_failing: ['gateway down'],
  cost_ratio: 1.5,
}

describe('an example', () => {
  it.each([
    [{ verdict: 'rca', mentions: ['certificate', 'expired'] }, 'verdict rca; mentions certificate, expired'],
    [{ verdict: 'no_op', mentions: [] }, 'nothing to report'],
    [{ verdict: null, mentions: [] }, 'a finding'],
  ])('%j is %s', (example, words) => {
    expect(expectedWords(example)).toBe(words)
  })
})

describe('a test', () => {
  it('says how many passed, what it cost, and what was tried', () => {
    const tried = { prompt: true, provider: null, model: 'm2' }
    expect(totalsWords({ totals, tried })).toBe(
      '2 of 3 passed, 1 at work, $0.42, with a prompt that is not saved, with the model m2',
    )
    expect(totalsWords({ totals: { ...totals, running: 0, cost_usd: null }, tried: null })).toBe(
      '2 of 3 passed, not priced',
    )
    expect(['passed', 'failed', 'running'].map((status) => testTone({ status } as never))).toEqual([
      'good',
      'bad',
      'busy',
    ])
  })

  it('says what became worse, and nothing where nothing did', () => {
    expect(changeWords({ change })).toBe(
      'Against the last definition: fails now: gateway down; costs 1.50 of before',
    )
    expect(changeWords({ change: { ...change, newly_failing: [], cost_ratio: 1 } })).toBeNull()
    expect(changeWords({ change: null })).toBeNull()
  })
})
