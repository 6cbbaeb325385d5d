/** Reports of svc evals: what they hold is said by schemas, and can be read without the pack. */
import { describe, expect, it } from 'vitest'
import { ownPack } from '../../../../engine/agents/evals/own-pack.ts'
import { PROMPT, runEvals } from '../../../../engine/agents/evals/run.ts'
import type { ScriptedName } from '../../../../engine/agents/evals/scripted.ts'
import { createEngine } from '../../../../engine/local.ts'
import { cellOf, figuresByVariant, passes } from '../../../../schemas/eval-figures.ts'
import { check } from '../../../../schemas/index.ts'
import type { EvalReport, EvalRun } from '../../../../schemas/types.ts'

async function reportOf(scenario: string, scripts: readonly ScriptedName[]): Promise<EvalReport> {
  const pack = ownPack()
  const incidents = pack.incidents.filter(({ id }) => id === scenario)
  const variants = scripts.map((script) => ({
    ...{ name: `script ${script}`, context: 'brief' as const, prompt: PROMPT, repeats: 1, by: { script } },
  }))
  const { spentUsd, ...made } = await runEvals(
    createEngine,
    { ...pack, incidents },
    { noise: [300], variants, maxUsd: 0 },
  )
  return {
    ...{ version: 1, at: '2026-01-01T00:00:00.000Z', release: '1.0.0', pack: 'pack', noise: [300] },
    ...{ ...made, spent_usd: spentUsd, measured: [] },
  }
}

describe('a report', () => {
  it('is what its schema says, and what it is not is named', async () => {
    const report = await reportOf('a-certificate-ends', ['newest', 'told'])
    expect(check('eval-report.json', report)).toBeNull()
    const { score: _, ...unscored } = report.runs[0]!
    expect(check('eval-report.json', { ...report, runs: [unscored] })).toContain('score')
  })

  it('has the truth of each scenario over its timeline: what was shown, cited and missed, and what is innocent', async () => {
    const { runs, scenes } = await reportOf('a-certificate-ends', ['newest', 'told'])
    const [scene] = scenes
    const roots = scene!.events.filter(({ facts }) => facts.some(({ role }) => role === 'root'))
    expect(roots.map(({ text }) => text).join()).toMatch(/certificate/)
    expect(scene!.events.some(({ decoy }) => decoy)).toBe(true)
    expect(scene!.events.map(({ at }) => at)).toEqual(scene!.events.map(({ at }) => at).toSorted())
    const [newest, told] = runs
    const cited = (run: EvalRun) => run.claims.flatMap(({ events }) => events)
    const rootIds = roots.map(({ id }) => id)
    expect(cited(told!).some((id) => rootIds.includes(id))).toBe(true)
    expect(cited(newest!).some((id) => rootIds.includes(id))).toBe(false)
    expect(newest!.shown.some((id) => rootIds.includes(id))).toBe(true)
    // What it cites can be read, too.
    for (const id of cited(newest!)) expect(scene!.events.some((event) => event.id === id)).toBe(true)
  })

  it('has what each run asked and was answered, and says which agent is a script', async () => {
    const { runs } = await reportOf('a-certificate-ends', ['told'])
    expect(runs[0]).toMatchObject({ scripted: true, stale: null })
    const calls = runs[0]!.turns.flatMap((turn) => turn.calls)
    expect(calls.map(({ tool }) => tool)).toEqual(['event', 'conclude'])
    expect(calls[0]!.answer).toMatch(/evt_\d+/)
  })
})

describe('a run whose tape no longer fits', () => {
  it('has neither passed nor failed: it is in no figure but its own', async () => {
    const { runs } = await reportOf('a-certificate-ends', ['told'])
    const [run] = runs
    const stale: EvalRun = { ...run!, repeat: 2, stale: 'message 1 differs from character 8 on' }
    expect([passes(run!), passes(stale)]).toEqual([true, false])
    expect(cellOf([stale])).toMatchObject({ state: 'stale', why: 'message 1 differs from character 8 on' })
    expect(cellOf([run!, stale])).toMatchObject({ state: 'stale', passed: 1, judged: 1 })
    expect(cellOf([])).toMatchObject({ state: 'none' })
    expect(figuresByVariant([run!, stale])).toMatchObject([{ runs: 1, stale: 1, pass: 1, flaky: 0 }])
  })
})
