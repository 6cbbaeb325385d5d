/** Scenarios run by scripted agents in a real engine in memory, through the real run loop. */
import { describe, expect, it } from 'vitest'
import type { Pack } from '../../../../engine/agents/evals/incident.ts'
import { ownPack } from '../../../../engine/agents/evals/own-pack.ts'
import { checkPack, PROMPT, runEvals } from '../../../../engine/agents/evals/run.ts'
import { SCRIPTED, type ScriptedName, TRIVIAL } from '../../../../engine/agents/evals/scripted.ts'
import { createEngine } from '../../../../engine/local.ts'
import type { EvalRun } from '../../../../schemas/types.ts'

const NOISE = 3_000
const some = (...ids: string[]): Pack => {
  const pack = ownPack()
  return { ...pack, incidents: pack.incidents.filter(({ id }) => ids.includes(id)) }
}
const scripts = (names: readonly ScriptedName[], more: object = {}) =>
  names.map((script) => ({
    ...{ name: script, context: 'brief' as const, prompt: PROMPT, repeats: 1, by: { script } },
    ...more,
  }))
const causeOf = (runs: readonly EvalRun[], name: string) =>
  runs.filter(({ variant }) => variant === name).map(({ score }) => score.cause)

describe('scripted agents', () => {
  it('that know nothing score 0 for the cause; rules and who is told find it', async () => {
    const pack = some('a-change-elsewhere', 'a-worker-stops', 'a-log-gives-orders')
    const { runs } = await runEvals(createEngine, pack, {
      noise: [NOISE],
      variants: scripts(SCRIPTED),
      maxUsd: 0,
    })
    expect(runs.map(({ status }) => status).every((status) => status === 'succeeded')).toBe(true)
    for (const name of TRIVIAL) expect([name, ...causeOf(runs, name)]).toEqual([name, 0, 0, 0])
    expect(causeOf(runs, 'rules')).toEqual([1, 1, 1])
    expect(causeOf(runs, 'told')).toEqual([1, 1, 1])
  })

  it('run over more events than a call has room for arguments', async () => {
    const { runs } = await runEvals(createEngine, some('a-certificate-ends'), {
      noise: [140_000],
      variants: scripts(['rules']),
      maxUsd: 0,
    })
    expect(causeOf(runs, 'rules')).toEqual([1])
  })

  it('are told the same twice, and what one finds is not shown to the next', async () => {
    const variants = scripts(['rules', 'rules'], { repeats: 2 }).map((one, i) => ({
      ...one,
      name: `rules ${i}`,
    }))
    const { runs } = await runEvals(createEngine, some('a-certificate-ends'), {
      noise: [500],
      variants,
      maxUsd: 0,
    })
    expect(new Set(runs.map(({ claims }) => JSON.stringify(claims))).size).toBe(1)
    expect(new Set(runs.map(({ input_tokens }) => input_tokens)).size).toBe(1)
    expect(runs.map(({ repeat }) => repeat)).toEqual([1, 2, 1, 2])
  })

  it('fail where they take more than the scenario allows, and say by what they were asked', async () => {
    const pack = some('a-certificate-ends')
    const { truth, events } = pack.incidents[0]!.load()
    const load = () => ({ truth: { ...truth, limits: { input_tokens: 100 } }, events })
    const variants = [
      {
        name: 'told',
        context: 'brief' as const,
        prompt: PROMPT,
        repeats: 1,
        by: { script: 'told' as const },
      },
    ]
    const { runs } = await runEvals(
      createEngine,
      { ...pack, incidents: [{ id: truth.id, load }] },
      { noise: [0], variants, maxUsd: 0 },
    )
    expect(runs[0]).toMatchObject({
      ...{ context: 'brief', prompt_hash: expect.stringMatching(/^[0-9a-f]{12}$/), score: { cause: 1 } },
      over: expect.stringMatching(/^it took \d+ input_tokens, its scenario allows 100$/),
    })
  })

  it('are shown less with plain than with the brief', async () => {
    const variants = [
      ...scripts(['newest'], { name: 'brief' }),
      ...scripts(['newest'], { name: 'plain', context: 'plain' }),
    ]
    const { runs } = await runEvals(createEngine, some('a-change-elsewhere'), {
      noise: [NOISE],
      variants,
      maxUsd: 0,
    })
    const reached = new Map(runs.map(({ variant, score }) => [variant, score.reached]))
    expect(reached.get('brief')).toBe(1)
    expect(reached.get('plain')).toBeLessThan(1)
  })
})

it('events that came late are where they happened', async () => {
  const { runs } = await runEvals(createEngine, some('the-reason-comes-late'), {
    ...{ noise: [500], variants: scripts(['rules']), maxUsd: 0 },
  })
  expect(runs[0]!.score).toMatchObject({ cause: 1, reached: 1 })
})

it('the pack has 40 scenarios: 25 with a cause, 5 without, 3 unknown, 7 of other kinds; 12 are held out', () => {
  const { incidents } = ownPack()
  const kinds = incidents.map(({ load }) => load().truth.kind)
  expect(incidents).toHaveLength(40)
  expect(kinds.filter((kind) => kind === 'no cause')).toHaveLength(5)
  expect(kinds.filter((kind) => kind === 'unknown')).toHaveLength(3)
  expect(kinds.filter((kind) => ['instructions', 'late', 'other trades'].includes(kind))).toHaveLength(7)
  expect(incidents.filter(({ heldOut }) => heldOut)).toHaveLength(12)
  expect(new Set(incidents.map(({ id }) => id)).size).toBe(40)
})

it('another seed gives services other names, in events and truth alike', () => {
  const text = JSON.stringify(ownPack('another').incidents.map(({ load }) => load()))
  expect(text).not.toMatch(/\b(checkout|payments)\b/)
})

describe('check', () => {
  it('refuses a scenario that a script finds which knows nothing, and one that nobody can find', async () => {
    const pack = some('a-certificate-ends')
    const { truth, events } = pack.incidents[0]!.load()
    const given = (id: string, change: Partial<typeof truth>): Pack['incidents'][number] => ({
      id,
      load: () => ({ truth: { ...truth, ...change }, events }),
    })
    const incidents = [
      given('newest', { facts: [{ id: 'page', role: 'root', line: ['log_sampling of'] }] }),
      given('nobody', { facts: [{ id: 'none', role: 'root', line: ['no such text'] }] }),
      given('no root', { facts: [] }),
      given('clock certificate', {
        id: 'clock certificate',
        facts: [{ id: 'says', role: 'root', line: ['clock', 'certificate'] }],
      }),
      given('fit', {}),
    ]
    const unfit = await checkPack(createEngine, { ...pack, incidents }, { noise: 300 })
    expect(unfit).toEqual([
      { scenario: 'newest', why: 'newest-change finds the cause without knowing anything' },
      { scenario: 'nobody', why: 'no event is of the fact none' },
      { scenario: 'nobody', why: 'neither rules nor told, which knows the truth, finds the cause' },
      { scenario: 'no root', why: 'a finding is expected, and no fact has the role root' },
      { scenario: 'clock certificate', why: 'no event is of the fact says' },
      { scenario: 'clock certificate', why: 'its id or its entity says the answer: the fact says' },
      {
        scenario: 'clock certificate',
        why: 'neither rules nor told, which knows the truth, finds the cause',
      },
    ])
  })
})
