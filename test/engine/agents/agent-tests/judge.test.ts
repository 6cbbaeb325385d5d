import { describe, expect, it } from 'vitest'
import {
  compare,
  type JudgedRun,
  judge,
  mentioned,
  mentionFault,
} from '../../../../engine/agents/agent-tests.ts'

const run = (more: Partial<JudgedRun> = {}): JudgedRun => ({
  state: 'succeeded',
  outcome: 'finding',
  verdict: 'investigate',
  headline: 'Payments fail',
  note: 'The certificate of the card\ngateway has ended.',
  next_step: 'Renew it.',
  error: null,
  ...more,
})
const pass = { result: 'pass', why: null }
const fails = (why: string) => ({ result: 'fail', why })

describe('a run is judged', () => {
  it.each<[string, string | null, string[], Partial<JudgedRun>, object]>([
    ['the verdict fits', 'investigate', [], {}, pass],
    [
      'another verdict',
      'investigate',
      [],
      { verdict: 'rca' },
      fails('verdict was rca, expected investigate'),
    ],
    ['no verdict', 'rca', [], { verdict: null }, fails('verdict was none, expected rca')],
    ['nothing was to be found', 'no_op', [], { outcome: 'no_op', verdict: null }, pass],
    ['a no_op with a verdict is one', 'no_op', [], { outcome: 'no_op', verdict: 'rca' }, pass],
    ['found what was not to be', 'no_op', [], {}, fails('verdict was investigate, expected no_op')],
    ['any finding', null, [], { verdict: null }, pass],
    ['no finding', null, ['x'], { outcome: 'no_op' }, fails('verdict was no_op, expected a finding')],
    ['words, in any case', 'investigate', ['CERTIFICATE'], {}, pass],
    ['words over a line', 'investigate', ['card gateway'], {}, pass],
    ['in the headline and the next step', 'investigate', ['payments', 'renew'], {}, pass],
    ['missing', 'investigate', ['certificate', 'dns', 'tls'], {}, fails('does not mention dns, tls')],
    [
      'both',
      'investigate',
      ['/dns/'],
      { verdict: 'rca' },
      fails('verdict was rca, expected investigate; does not mention /dns/'),
    ],
    [
      'a finding of nothing',
      null,
      ['dns'],
      { headline: null, note: null, next_step: null },
      fails('does not mention dns'),
    ],
    [
      'failed',
      'rca',
      [],
      { state: 'failed', error: 'the model refused' },
      fails('run failed: the model refused'),
    ],
    ['capped', 'rca', [], { state: 'capped', error: null }, fails('run capped: it gave no reason')],
  ])('%s', (_name, verdict, mentions, more, judgement) => {
    expect(judge({ verdict, mentions }, run(more))).toEqual(judgement)
  })

  it.each(['queued', 'running'] as const)('not before it has ended: %s', (state) => {
    expect(judge({ verdict: 'rca', mentions: ['x'] }, run({ state }))).toEqual({
      result: 'running',
      why: null,
    })
  })

  it('fails where it is gone', () => {
    expect(judge({ verdict: null, mentions: [] }, null)).toEqual(fails('its run is no longer there'))
  })
})

describe('a mention', () => {
  it.each<[string, string, boolean]>([
    ['rca', 'an ARCADE', true],
    ['a.c', 'abc', false],
    ['/a.c/', 'abc', true],
    ['/a.c/', 'ABC', false],
    ['/a.c/i', 'ABC', true],
    ['/\\brca\\b/', 'arcade', false],
    ['//', 'a // b', true],
    ['/var', 'in /var/log', true],
    ['/cert(ificate)?s? (ended|expired)/', 'the certs expired', true],
  ])('%s in "%s": %s', (mention, text, is) => {
    expect(mentionFault(mention)).toBeNull()
    expect(mentioned(mention, text)).toBe(is)
  })

  it('that is no pattern is refused, and one that would take long', () => {
    expect(mentionFault('/(a/')).toMatch(/^is not supported: /)
    expect(mentionFault('/(?=a)/')).toMatch(/^is not supported: /)
    expect(mentionFault('/(a{1,100}){1,9}/')).toMatch(/^is too large a pattern/)
    expect(mentionFault('(a')).toBeNull()
  })
})

describe('two tests are compared', () => {
  const one = (name: string, result: 'pass' | 'fail', cost: number | null = 1) => ({
    id: name,
    name,
    result,
    cost,
  })

  it('by the examples that both have', () => {
    expect(
      compare(
        [one('a', 'pass', 2), one('b', 'fail', 4), one('c', 'pass', 6), one('new', 'fail', 50)],
        [one('a', 'fail', 1), one('b', 'pass', 1), one('c', 'pass', 1), one('old', 'pass', 70)],
      ),
    ).toEqual({ newly_passing: ['a'], newly_failing: ['b'], cost_ratio: 4 })
  })

  it('not by a cost that is not known, or was nothing', () => {
    expect(compare([one('a', 'pass')], [one('a', 'pass', null)]).cost_ratio).toBeNull()
    expect(compare([one('a', 'pass', null)], [one('a', 'pass')]).cost_ratio).toBeNull()
    expect(compare([one('a', 'pass')], [one('a', 'pass', 0)]).cost_ratio).toBeNull()
    expect(compare([one('a', 'pass')], []).cost_ratio).toBeNull()
  })
})
