/** Steps of runs as they happen, what they cost, and what may still be spent. */
import type { AgentSpec } from '../../schemas/types.ts'
import { fail } from '../errors.ts'
import { move } from '../lifecycle/advance.ts'
import { dailyBudgets } from '../models/daily-budget.ts'
import { type Budget, type CallRefusal, refusalOf, usd } from '../models/reserving.ts'
import type { RunsParts } from './parts.ts'
import type { RunRow, StepRow } from './queries.ts'
import type { StepData, StepWrite } from './types.ts'

export function createJournal({ store, clock, queries, limits, usage }: RunsParts) {
  const { db } = store

  /** @throws SvcError wrong_state: it was ended meanwhile */
  function running(id: string): RunRow {
    const row = queries.byId.get(id) ?? fail('not_found', `no run has the id ${id}`)
    if (row.state !== 'running')
      fail('wrong_state', `run ${id} is ${row.state}`, { state: row.state, accepts: [] })
    return row
  }

  function save(run: RunRow, step: StepWrite): void {
    const before = queries.step.get(run.id, step.n)
    queries.saveStep.run(run.id, step.n, step.kind, step.round, step.at, step.ms, JSON.stringify(step.data))
    const isNew = before === undefined || before.ms === null
    if (step.kind === 'model' && step.ms !== null && isNew) account(run, step, before)
    if ((step.kind === 'tool' || step.kind === 'refused') && before === undefined)
      queries.countTool.run(run.id)
    if (step.kind === 'tool' && before === undefined) noteSkill(run.id, step.data as StepData['tool'])
  }

  /** A skill that was loaded is one of the run's (SPEC.md, Skill: each run records the skills it loaded). */
  function noteSkill(id: string, { call, server, is_error }: StepData['tool']): void {
    const { name } = call.arguments
    if (
      server === null &&
      !is_error &&
      call.name.trim().toLowerCase() === 'skill' &&
      typeof name === 'string'
    )
      queries.loadSkill.run({ id, name: name.trim() })
  }

  /** What a call cost, and that it is no longer reserved. */
  function account(run: RunRow, step: StepWrite, begun: StepRow | undefined): void {
    const { reply } = step.data as StepData['model']
    const released = begun ? ((JSON.parse(begun.data) as StepData['model']).asked.ceiling_usd ?? 0) : 0
    if (!reply) {
      // A call that failed may have been billed in part; nobody says how much.
      queries.release.run(released, run.id)
      return
    }
    const { usage: used, costUsd, provider, model, keySource } = reply
    queries.addUsage.run({
      id: run.id,
      provider,
      model,
      input: used.input_tokens,
      output: used.output_tokens,
      created: used.cache_creation_input_tokens,
      read: used.cache_read_input_tokens,
      cost: costUsd ?? 0,
      saved: reply.savedUsd ?? 0,
      fallback: reply.fallbackFor ? JSON.stringify(reply.fallbackFor) : null,
      uncosted: costUsd === null ? 1 : 0,
      released,
    })
    usage({
      id: `${run.id}/${step.n}`,
      at: clock.now(),
      surface: 'agent',
      agent: run.agent,
      runId: run.id,
      practice: run.practice === 1,
      model,
      provider,
      keySource,
      calls: 1,
      usage: used,
      costUsd,
    })
  }

  /** Every budget that a call of the run counts for. */
  function budgetsOf(run: RunRow): Budget[] {
    const { run_budget_usd: own, budget_usd: lifetime } = JSON.parse(run.definition) as AgentSpec
    const held = run.reserved_usd
    const ofRun = { held, spent: run.cost_usd + held + run.assumed_usd }
    return [
      ...(typeof own === 'number'
        ? [{ ...ofRun, name: `the ${usd(own)} of one run; raise run_budget_usd`, budget: own }]
        : []),
      ...(typeof lifetime === 'number'
        ? [
            {
              name: `the budget of ${usd(lifetime)}; raise budget_usd`,
              budget: lifetime,
              spent: queries.spentBy.get({ agent: run.agent })!,
              held: queries.heldBy.get(run.agent)!,
            },
          ]
        : []),
      ...dailyBudgets(queries, clock.now(), limits().dailyBudgetUsd),
    ]
  }

  return {
    recordSteps: (id: string, steps: readonly StepWrite[]): void => {
      store.tx(() => {
        const run = running(id)
        for (const step of steps) save(run, step)
      })
    },
    /** @returns why the call must not be made; null: it may, and what it may cost is reserved */
    beginCall: (id: string, step: StepWrite, ceilingUsd: number | null): CallRefusal | null =>
      store.tx(() => {
        const run = running(id)
        const refusal = ceilingUsd === null ? null : refusalOf(budgetsOf(run), ceilingUsd)
        if (refusal !== null) return refusal
        if (ceilingUsd) queries.reserve.run(ceilingUsd, id)
        const { rounds = 0, max_rounds = 0 } = (
          JSON.parse(run.snapshot) as { context: { rounds?: number; max_rounds?: number } }
        ).context
        // One call more than there are rounds is made to conclude, and is none of them.
        if (step.round > rounds && rounds < max_rounds)
          move(db, { kind: 'run', id, name: id }, { type: 'round', at: step.at })
        queries.saveStep.run(id, step.n, step.kind, step.round, step.at, null, JSON.stringify(step.data))
        return null
      }),
  }
}
