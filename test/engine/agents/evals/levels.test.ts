/** How hard scenarios are, and what agents came to at each level (issue 17, "It is done when" 1). */
import { describe, expect, it } from 'vitest'
import type { Incident, IncidentEvent, Truth } from '../../../../engine/agents/evals/incident.ts'
import { htmlOf, levelOf } from '../../../../engine/agents/evals/measure.ts'
import { ownPack } from '../../../../engine/agents/evals/own-pack.ts'

import { figuresByLevel, rulesByLevel, rulesLine } from '../../../../schemas/eval-levels.ts'
import type { EvalReport, EvalRun } from '../../../../schemas/types.ts'

const event = (text: string, of: Partial<IncidentEvent> = {}): IncidentEvent => ({
  ...{ source: 'logs', type: 'error', t: -60, text, labels: { service: 'shop' } },
  ...of,
})

const incident = (truth: Partial<Truth>, events: IncidentEvent[]): Incident => ({
  truth: {
    ...{ id: 'one', kind: 'change', entity: 'shop', fired_at: '2026-03-02T10:00:00.000Z', facts: [] },
    ...truth,
  },
  events,
})

const deploy = { id: 'deploy', role: 'root' as const, line: ['deployed v2'] }
const own = event('deployed v2')

describe('the level of a scenario', () => {
  it.each<[number, string, Incident]>([
    [1, 'one cause that an event of the entity says', incident({ facts: [deploy] }, [own])],
    [1, 'nothing is wrong', incident({ outcome: 'no_op' }, [own])],
    [
      2,
      'the cause is an event of another',
      incident({ facts: [deploy] }, [event('deployed v2', { labels: { service: 'mail' } }), event('late')]),
    ],
    [
      2,
      'the cause is a number alone',
      incident(
        { facts: [{ id: 'cpu', role: 'root', num: { names: ['cpu'], usual: [1, 2], abnormal: [8, 9] } }] },
        [event('cpu=9', { type: 'cpu', value: 9 })],
      ),
    ],
    [
      2,
      'the cause is a line that stopped',
      incident({ facts: [{ id: 'tick', role: 'root', line: ['tick'], gone: true }] }, [event('tick')]),
    ],
    [
      2,
      'something innocent misleads',
      incident({ facts: [deploy], decoys: [{ id: 'flag', line: ['flag'] }] }, [own, event('flag')]),
    ],
    [2, 'something came late', incident({ facts: [deploy] }, [{ ...own, arrives: -10 }])],
    [
      3,
      'all of these at once are no more than 3',
      incident(
        {
          facts: [{ id: 'tick', role: 'root', line: ['tick'], gone: true }],
          decoys: [{ id: 'flag', line: ['flag'] }],
        },
        [event('tick', { labels: { service: 'mail' }, arrives: -10 })],
      ),
    ],
    [4, 'the cause is not in the events', incident({ outcome: 'unknown' }, [own])],
    [
      4,
      'several causes',
      incident(
        {
          facts: [
            { ...deploy, cause: 'a' },
            { id: 'flag', role: 'root', line: ['flag'], cause: 'b' },
          ],
        },
        [own, event('flag')],
      ),
    ],
    [3, 'what its truth says goes before', incident({ facts: [deploy], level: 3 }, [own])],
  ])('is %i where %s', (level, _, of) => {
    expect(levelOf(of)).toBe(level)
  })

  it('of the pack counts own decoys, not those that each of its scenarios has', () => {
    const levels = ownPack().incidents.map(({ load }) => load().truth.level!)
    expect([1, 2, 3, 4].map((level) => levels.filter((one) => one === level).length)).toEqual([10, 20, 6, 4])
  })
})

const run = (scenario: string, level: number | null, cause: number, of: Partial<EvalRun> = {}): EvalRun =>
  ({
    ...{ scenario, level, kind: 'change', noise: 100, variant: 'script rules', scripted: true, repeat: 1 },
    ...{ stale: null, status: 'succeeded', input_tokens: 5_000, rounds: 1, calls: 1, usd: null, ms: 1 },
    score: {
      ...{ cause, outcome: true, evidence_recall: 1, evidence_precision: 1, false_claims: 0, decoys: 0 },
      ...{ false_alarm: false, confidently_wrong: false, reached: 1 },
    },
    ...of,
  }) as EvalRun

const scene = (scenario: string, role: 'root' | 'effect') => ({
  ...{ scenario, noise: 100 },
  events: [{ facts: [{ id: 'x', role }] }],
})

const reportOf = (runs: EvalRun[], calm: string[] = []): EvalReport =>
  ({
    ...{ version: 1, at: '2026-01-01T00:00:00.000Z', release: '1', pack: 'p', runs, measured: [] },
    scenes: [...new Set(runs.map((one) => one.scenario))].map((id) =>
      scene(id, calm.includes(id) ? 'effect' : 'root'),
    ),
  }) as unknown as EvalReport

describe('a report by level', () => {
  it('gives each agent its mean over the scenarios of a level, each scenario the same', () => {
    const runs = [
      run('hard', 3, 0),
      run('easy', 1, 1, { variant: 'model', scripted: false }),
      run('easy', 1, 0, { variant: 'model', scripted: false, repeat: 2 }),
      run('other', 1, 1, { variant: 'model', scripted: false }),
      run('other', 1, 0, { variant: 'model', scripted: false, stale: 'differs' }),
      run('easy', 1, 1),
    ]
    expect(figuresByLevel(runs)).toEqual([
      { noise: 100, variant: 'script rules', scripted: true, level: 1, scenarios: 1, cause: 1 },
      { noise: 100, variant: 'script rules', scripted: true, level: 3, scenarios: 1, cause: 0 },
      { noise: 100, variant: 'model', scripted: false, level: 1, scenarios: 2, cause: 0.75 },
    ])
  })

  it('says of each level whether the rules name all causes of 11 of 12, and of which they do not', () => {
    const of = (level: number, count: number, missed: number) =>
      Array.from({ length: count }, (_, i) => run(`${level}-${i}`, level, i < missed ? 0 : 0.5))
    const report = reportOf(
      [...of(2, 11, 1), ...of(1, 12, 1), run('calm', 1, 0), run('x', 1, 0, { variant: 'newest' })],
      ['calm'],
    )
    const [first, second] = rulesByLevel(report)
    expect(first).toMatchObject({ level: 1, scenarios: 12, named: 11, reached: true, missed: ['1-0'] })
    expect(second).toMatchObject({ level: 2, scenarios: 11, named: 10, reached: false, missed: ['2-0'] })
    expect(rulesLine(second!)).toBe(
      'level 2, 100 events around: the rules name all causes of 10 of 11, 5,000 tokens a run (goal 11 of 12: not reached); not 2-0',
    )
  })

  it('is so in HTML: scenarios below the level they are of, and a line for the rules', () => {
    const html = htmlOf(reportOf([run('hard', 3, 0), run('easy', 1, 1)]))
    const at = ['level 1</th>', '<th>easy', 'level 3</th>', '<th>hard'].map((part) => html.indexOf(part))
    expect(at.every((place) => place > 0)).toBe(true)
    expect(at).toEqual(at.toSorted((a, b) => a - b))
    expect(html).toContain('level 3, 100 events around: the rules name all causes of 0 of 1')
  })
})
