/** What a run over a scenario is worth: by its cited events alone. Section 4 of the design of svc evals. */
import { describe, expect, it } from 'vitest'
import { overLimit, type TruthEvents, truthOf } from '../../../../engine/agents/evals/incident.ts'
import { htmlOf, junitOf, scoreRun } from '../../../../engine/agents/evals/measure.ts'
import { compareRuns, faultOf, figuresByVariant } from '../../../../schemas/eval-figures.ts'
import { compare, intervalOf } from '../../../../schemas/eval-statistics.ts'
import type { EvalReport, EvalRun } from '../../../../schemas/types.ts'

const set = (...ids: string[]) => new Set(ids)
const truth: TruthEvents = {
  causes: [
    { id: 'deploy', events: set('evt_1') },
    { id: 'failover', events: set('evt_2', 'evt_3') },
  ],
  facts: [
    { id: 'deploy', role: 'root', events: set('evt_1') },
    { id: 'failover', role: 'root', events: set('evt_2', 'evt_3') },
    { id: 'errors', role: 'effect', events: set('evt_4') },
  ],
  decoys: set('evt_9'),
}
type Claim = { events: string[]; role?: string; ok?: boolean }
const run = (claims: Claim[], more: object = {}) =>
  ({
    ...{ outcome: 'finding', verdict: null, headline: null, finding: 'It broke.', steps: [], ...more },
    claims: claims.map(({ ok = true, ...claim }) => ({
      ...{ text: '', quote: null, number: null, why: null, ok },
      ...claim,
    })),
  }) as never
const score = (
  claims: Claim[],
  more?: object,
  outcome: 'finding' | 'no_op' | 'unknown' = 'finding',
  of = truth,
) => scoreRun(run(claims, more), of, outcome, (id) => id)
const cause = (...events: string[]): Claim => ({ events, role: 'cause' })

describe('the score for the cause', () => {
  it.each([
    ['every cause is named', [cause('evt_1'), cause('evt_3')], 1],
    ['one of two is missed', [cause('evt_1')], 0],
    ['an innocent event is named besides', [cause('evt_1'), cause('evt_2'), cause('evt_9')], 2 / 3],
    ['it is cited as an effect', [cause('evt_1'), { events: ['evt_2'], role: 'effect' }], 0],
    ['its claim does not hold', [cause('evt_1'), { ...cause('evt_2'), ok: false }], 0],
    ['nothing is claimed', [], 0],
  ])('when %s', (_what, claims, wanted) => {
    expect(score(claims as Claim[]).cause).toBeCloseTo(wanted as number)
  })

  it('is confidently wrong where every claim holds and names an innocent event', () => {
    const one = { ...truth, causes: truth.causes.slice(0, 1) }
    expect(score([cause('evt_9')], {}, 'finding', one)).toMatchObject({
      ...{ cause: 0, confidently_wrong: true, decoys: 1 },
    })
  })
})

it('counts what is cited of the truth, what does not hold, and what was shown at all', () => {
  const steps = [
    { kind: 'prompt', data: { message: 'evt_1 deployed' } },
    { kind: 'tool', data: { result: 'evt_4 failed' } },
  ]
  expect(
    score([cause('evt_1', 'evt_7'), { events: ['evt_8'], role: 'context', ok: false }], { steps }),
  ).toMatchObject({
    evidence_recall: 1 / 3,
    evidence_precision: 1 / 3,
    false_claims: 0.5,
    reached: 2 / 3,
  })
})

describe('a scenario without a cause to find', () => {
  const none: TruthEvents = { causes: [], facts: [], decoys: set() }
  it.each([
    ['no_op', { outcome: 'no_op', finding: null }, 1, false],
    ['no_op', { outcome: 'finding' }, 0, true],
    ['unknown', { outcome: 'finding', finding: 'The cause is not in the events.' }, 1, false],
    ['unknown', { outcome: 'finding', finding: 'The deploy did it.' }, 0, false],
  ] as const)('that should come to %s', (outcome, more, wanted, falseAlarm) => {
    expect(score([], more, outcome, none)).toMatchObject({
      cause: wanted,
      outcome: wanted === 1,
      false_alarm: falseAlarm,
    })
  })
})

it('finds the events of facts by their patterns, of numbers by their abnormal values', () => {
  const event = (id: string, text: string, value?: number) => ({
    ...{ id, source: 's', type: 'p99', t: -1, text, labels: { service: 'cart' } },
    ...(value === undefined ? {} : { value }),
  })
  const found = truthOf(
    { events: [event('evt_1', 'p99=40', 40), event('evt_2', 'p99=900', 900), event('evt_3', 'Deployed v2')] },
    {
      facts: [
        { id: 'slow', role: 'root', num: { names: ['p99', 'cart'], usual: [30, 50], abnormal: [800, 1000] } },
        { id: 'deploy', role: 'root', cause: 'deploy', line: ['(?i)DEPLOYED', 'service=cart'] },
        { id: 'hum', role: 'effect', line: ['p99'], weak: true },
      ],
      decoys: [{ line: ['v2'] }],
    },
  )
  expect(found.causes.map(({ id, events }) => [id, [...events]])).toEqual([
    ['cause', ['evt_2']],
    ['deploy', ['evt_3']],
  ])
  expect(found.facts).toHaveLength(2)
  expect([...found.decoys]).toEqual(['evt_3'])
})

describe('figures', () => {
  it('say better or worse only where the interval over scenarios shows it', () => {
    const of = (values: number[]) => new Map(values.map((value, i) => [`s${i}`, value]))
    const zeros = of(Array.from({ length: 20 }, () => 0))
    expect(compare(zeros, of(Array.from({ length: 20 }, (_, i) => (i < 15 ? 1 : 0)))).verdict).toBe('better')
    expect(compare(of(Array.from({ length: 20 }, () => 1)), zeros).verdict).toBe('worse')
    expect(compare(of([0, 1, 0, 1]), of([1, 0, 0, 1])).verdict).toBe('not shown')
    expect(intervalOf([0, 1, 1, 0, 1])).toEqual(intervalOf([0, 1, 1, 0, 1]))
    expect(intervalOf([])).toEqual({ mean: 0, low: 0, high: 0 })
  })

  const ran = (scenario: string, repeat: number, of: number, more: Partial<EvalRun> = {}): EvalRun => ({
    ...{
      scenario,
      kind: 'change',
      held_out: false,
      noise: 10,
      variant: 'm <1>',
      repeat,
      status: 'succeeded',
    },
    ...{ level: null, shown: [], turns: [] },
    ...{ outcome: 'finding', headline: null, error: null, model: 'm1', rounds: 2, calls: 1, ms: 500 },
    ...{ input_tokens: 100, output_tokens: 10, usd: 0.5, claims: [], stale: null, scripted: false },
    score: {
      ...{ cause: of, outcome: true, false_alarm: false, evidence_recall: of, evidence_precision: of },
      ...{ false_claims: 0, confidently_wrong: of === 0, decoys: 0, reached: 1 },
    },
    ...more,
  })
  const runs = [
    ran('a', 1, 1),
    ran('a', 2, 1),
    ran('b', 1, 1),
    ran('b', 2, 0),
    ran('c', 1, 0),
    ran('c', 2, 0),
  ]
  const report: EvalReport = {
    ...{ version: 1, at: '2026-01-01T00:00:00.000Z', release: '1.0.0', pack: 'pack', noise: [10] },
    ...{ spent_usd: 3, stopped: false, runs, scenes: [], measured: [] },
  }

  it('are of scenarios: every time, now and then, never', () => {
    expect(figuresByVariant(runs)).toMatchObject([
      {
        variant: 'm <1>',
        scenarios: 3,
        runs: 6,
        pass: 0.5,
        pass_all: 1,
        flaky: 1,
        usd: 0.5,
        confidently_wrong: 3,
      },
    ])
    expect(figuresByVariant([ran('a', 1, 1, { usd: null })])[0]!.usd).toBeNull()
    expect(compareRuns(runs, runs)).toMatchObject({
      verdict: 'not shown',
      scenarios: 3,
      difference: { mean: 0 },
    })
  })

  it('a run over a limit of its scenario fails, and says which, though it names the cause', () => {
    const over = 'it took 4 rounds, its scenario allows 3'
    expect(figuresByVariant([ran('a', 1, 1, { over }), ran('b', 1, 1, { over: null })])[0]).toMatchObject({
      pass: 0.5,
    })
    expect(faultOf(ran('a', 1, 1, { over }))).toBe(over)
    const took = { rounds: 4, usd: null, seconds: 2, input_tokens: 9 }
    expect(overLimit(took, { seconds: 3, rounds: 3 })).toBe(over)
    expect(overLimit(took, { rounds: 4, usd: 0.1 })).toBeNull()
    expect(overLimit(took)).toBeNull()
  })

  it('as JUnit: what passes now and then is skipped with its reason, what fails says why', () => {
    const text = junitOf(report)
    expect(text).toContain('<testsuites tests="3" failures="1" skipped="1">')
    expect(text).toContain('classname="m &lt;1&gt;.10" name="a" time="1.000"/>')
    expect(text).toContain('<skipped message="flaky: 1 of 2 pass; it cites no event of the truth"/>')
    expect(text).toContain('<failure message="it cites no event of the truth"/>')
  })

  it('as one page that runs nothing and loads nothing', () => {
    const text = htmlOf(report)
    expect(text).toContain('<td class="flaky">flaky 1/2<small>it cites no event of the truth</small></td>')
    expect(text).not.toMatch(/<script|https?:|<1>/)
  })

  it('say why a run does not pass', () => {
    expect(faultOf(ran('a', 1, 0, { status: 'failed', error: 'no reply' }))).toBe('run failed: no reply')
    const { score: good } = ran('a', 1, 1)
    expect(faultOf(ran('a', 1, 0.5, { score: { ...good, cause: 0.5 } }))).toBe(
      'it names other events as causes besides the cause',
    )
    expect(faultOf(ran('a', 1, 0, { score: { ...good, cause: 0, reached: 0 } }))).toBe(
      'no event of the truth was shown to it',
    )
  })
})
