/**
 * Runs as they end: the state, the finding on the timeline, what the firing is told of it, and who takes
 * over, all in one transaction.
 */
import type { LifecycleEvent } from '../../../machines/step.ts'
import type { AgentSpec } from '../../../schemas/types.ts'
import { fail } from '../../errors.ts'
import { carryOut, type Executors, firstSnapshot, move } from '../../log/lifecycle.ts'
import { parseDuration } from '../../model/units.ts'
import { settleRun, tellFinding } from '../../outbox/rows.ts'
import { githubPlaceOf } from '../../outbox/send-github.ts'
import type { FindingItem } from '../../sources/connectors/written.ts'
import { type Budget, type CallRefusal, dailyBudgets, refusalOf, usd } from '../models/usage.ts'
import { type Making, newRunId } from './making.ts'
import { resultsOf } from './prompt.ts'
import { type RunRow, type StepRow, skillNow } from './queries.ts'
import type { RunEnd, RunsParts, Step, StepData, StepWrite } from './types.ts'

type Succeeded = Extract<RunEnd, { event: 'succeed' }>
type Server = { server: string; skipped: string | null }

/** What a run leaves when it ends. */
interface Ending {
  /** Null: it was ended, with nothing to show. */
  end: RunEnd | null
  servers: readonly Server[]
  /** Of its finding. */
  eventId: string | null
}
const NOTHING: Ending = { end: null, servers: [], eventId: null }

export type Finishing = ReturnType<typeof createFinishing>

/** Of a run, from its start, and again from each time it is taken up. */
const DEADLINE_MS = 15 * 60_000
/** Told on its tape when a run is taken up, by what came between. */
const TAKEN_UP = {
  stop: 'the service stopped; the run goes on from here',
  wait: 'its model is tried again; the run goes on from here',
} as const

interface Moved {
  parts: Pick<RunsParts, 'queries' | 'closeInstant'>
  id: string
  at: number
  /** Writes all that its end is. */
  close(reason: string | null): void
}

/** What each effect of the machine of a run is. */
export const runEffects: Executors<Moved> = {
  begin_run: ({ parts: { queries, closeInstant }, id, at }) => {
    const { provider = '' } = JSON.parse(queries.byId.get(id)!.definition) as AgentSpec
    queries.begin.run(closeInstant(at), at, at + DEADLINE_MS, provider, id)
  },
  resume_run: ({ parts: { queries }, id, at }, { after }: { after: keyof typeof TAKEN_UP }) => {
    // Cut off in the middle of a call: it may have been paid.
    queries.assume.run({ id, at })
    queries.extend.run(at + DEADLINE_MS, id)
    const last = queries.lastStep.get(id)
    const data: StepData['note'] = { text: TAKEN_UP[after], resumed: true }
    queries.saveStep.run(id, (last?.n ?? 0) + 1, 'note', last?.round ?? 0, at, 0, JSON.stringify(data))
  },
  park_run: ({ parts: { queries }, id }, wait: { since: number; until: number; why: string }) =>
    queries.park.run({ id, ...wait }),
  end_run: ({ close }, { reason }: { reason: string | null }) => close(reason),
}

/** What each effect of the machine of a handoff is. */
export const handoffEffects: Executors<{ start(depth: number): void }> = {
  start_run: ({ start }, { depth }: { depth: number }) => start(depth),
}

export function createFinishing(parts: RunsParts, making: Making) {
  const { store, clock, queries } = parts
  const { db } = store

  /** The row, its deliveries and the handoff that started it. @param reason why it did not succeed */
  function close(run: RunRow, reason: string | null, at: number, { end, servers, eventId }: Ending): void {
    const done = end?.event === 'succeed' ? end : null
    const hasFinding = done?.outcome === 'finding'
    const entity = entityOf(run, done)
    const claims = done?.claims ?? []
    queries.end.run({
      id: run.id,
      finished_at: at,
      outcome: done?.outcome ?? null,
      verdict: done?.verdict ?? null,
      headline: done?.headline ?? (done?.outcome === 'no_op' ? nothingNew(run, at) : null),
      next_step: done?.nextStep ?? null,
      note: end?.note || null,
      claims: claims.length ? JSON.stringify(claims) : null,
      verified_ok: claims.length ? claims.filter(({ ok }) => ok).length : null,
      verified_total: claims.length || null,
      error: reason,
      servers: JSON.stringify(servers),
      results: JSON.stringify(resultsOf(stepsOf(run.id))),
      event_id: eventId,
      label: entity.label,
      entity: entity.key,
    })
    // Cut off in the middle of a call: it may have been paid.
    queries.assume.run({ id: run.id, at })
    settleRun(db, run.id, reason, at)
    if (hasFinding && !run.practice) tell(run, entity.key, at)
    if (!run.practice) parts.incidents.ended(run, done !== null && closes(run, done), at)
    const handoff = queries.handoffTo.get(run.id)
    if (handoff) move(db, { kind: 'handoff', id: handoff.id, name: handoff.id }, { type: 'finish', at })
    // A test is of one agent: those after it would only cost.
    if (done && hasFinding && done.verdict && run.woken_by !== 'test') handOver(run, done.verdict, entity, at)
    store.afterCommit(() => {
      parts.tallies.add('runs', { agent: run.agent, status: queries.byId.get(run.id)!.state })
      parts.onPending()
    })
  }

  /** The headline of a run that found nothing, where its agent had found something of the incident. */
  function nothingNew({ agent, incident, root_run_id: root, practice }: RunRow, at: number): string | null {
    const before = practice ? undefined : queries.foundBefore.get({ agent, incident, root, before: at })
    return before ? 'Nothing new since the last finding' : null
  }

  /** The receivers of its agent are told. */
  function tell(run: RunRow, entity: string, at: number): void {
    const { id, agent, incident } = run
    tellFinding(db, { run: id, agent, entity, incident, projects: queries.projectsOf.all(id), at }, [
      ...(webhookOf(run) === '' ? [] : ['write_back' as const]),
      ...(goesToSlack(run) ? ['slack' as const] : []),
      ...(goesToGithub(run) ? ['github' as const] : []),
    ])
  }

  /** The channel of the agent as it was; a webhook is a secret, and no part of what is kept of it. */
  function goesToSlack(run: RunRow): boolean {
    const { slack_channel: channel } = JSON.parse(run.definition) as { slack_channel?: string }
    return Boolean(channel || parts.agent(run.agent)?.slack_webhook)
  }

  /** Its agent says so, and the event that woke it names a place there. */
  function goesToGithub(run: RunRow): boolean {
    const { github, github_writes: writes = [] } = JSON.parse(run.definition) as AgentSpec
    return Boolean(github) && writes.length > 0 && githubPlaceOf(parts.eventLabels(run), writes) !== null
  }

  /** Who takes over on this verdict: one run of each, for all the projects that say so. */
  function handOver(run: RunRow, verdict: string, entity: { label: string; key: string }, at: number): void {
    const rules = parts
      .handoffs(queries.projectsOf.all(run.id), run.agent)
      .filter((rule) => rule.verdict.toLowerCase() === verdict)
    const byTarget = new Map<string, { projects: string[]; cooldownMs: number }>()
    for (const { to, cooldown, project } of rules) {
      const known = byTarget.get(to) ?? { projects: [], cooldownMs: 0 }
      known.projects.push(project)
      known.cooldownMs = Math.max(known.cooldownMs, parseDuration(cooldown ?? '30m', 'cooldown'))
      byTarget.set(to, known)
    }
    for (const [to, { projects, cooldownMs }] of byTarget) {
      const last = queries.lastHandoff.get(run.agent, to, entity.label, entity.key)
      const id = `hand_${newRunId(at).slice(4)}`
      queries.insertHandoff.run({
        id,
        from_run: run.id,
        from_agent: run.agent,
        to_agent: to,
        verdict,
        label: entity.label,
        entity: entity.key,
        projects: JSON.stringify(projects),
        at,
        to_run: null,
        snapshot: firstSnapshot('handoff', { depth: run.depth }),
      })
      const { effects } = move(
        db,
        { kind: 'handoff', id, name: id },
        {
          type: 'decide',
          at,
          // A practice run is in nobody's way, and neither is what was before the clock was set back.
          cooldown_until: run.practice || !last || last > at ? null : last + cooldownMs,
          is_target_busy: !run.practice && queries.isBusy.get(to, entity.label, entity.key)! > 0,
        },
      )
      carryOut('handoff', handoffEffects, effects, {
        start: (depth) => {
          const child = making.takeOver(run, to, entity, projects, { at, depth })
          if (child) queries.setHandoffRun.run(child, id)
          else move(db, { kind: 'handoff', id, name: id }, { type: 'finish', at })
        },
      })
    }
  }

  function stepsOf(id: string): Step[] {
    return queries.steps.all(id).map(({ data, ...step }) => ({ ...step, data: JSON.parse(data) }) as Step)
  }

  function findingOf(run: RunRow, end: Succeeded): FindingItem {
    const entity = entityOf(run, end)
    const claims = end.claims.map(({ text, events, quote, number, ok, why }) => ({
      text,
      events,
      ...(quote === null ? {} : { quote }),
      ...(number === null ? {} : { number }),
      ok,
      ...(why === null ? {} : { why }),
    }))
    return {
      key: entity.key,
      label: entity.label,
      agent: run.agent,
      finding: end.note,
      run_id: run.id,
      project: queries.projectsOf.all(run.id)[0] ?? '',
      definition_hash: run.definition_hash,
      ...(run.trigger_name ? { trigger: run.trigger_name } : {}),
      ...(run.dispatch_id ? { dispatch_id: run.dispatch_id } : {}),
      ...(end.verdict ? { verdict: end.verdict } : {}),
      ...(end.headline ? { headline: end.headline } : {}),
      ...(end.nextStep ? { next_step: end.nextStep } : {}),
      ...(claims.length
        ? { claims, verified: { ok: claims.filter(({ ok }) => ok).length, total: claims.length } }
        : {}),
    }
  }

  /** The entity concluded on: another than that of the run only where both of its parts are known. */
  function entityOf(run: RunRow, end: Succeeded | null): { label: string; key: string } {
    const given = end?.entity
    return given ? { label: given.label ?? run.label, key: given.key } : { label: run.label, key: run.entity }
  }

  /**
   * One step by its machine, with what that asks for; inside the caller's transaction.
   * @param ending what there is to be kept where it ends by the step
   * @returns its state. @throws SvcError not_found; wrong_state: it was ended meanwhile
   */
  function step(id: string, event: LifecycleEvent & { at: number }, ending = NOTHING): string {
    const { at } = event
    const { state, effects } = move(db, { kind: 'run', id, name: id }, event)
    const ended = (reason: string | null) => close(queries.byId.get(id)!, reason, at, ending)
    carryOut('run', runEffects, effects, { parts, id, at, close: ended })
    return state
  }

  return {
    step,
    /** @throws SvcError not_found; wrong_state when it was ended meanwhile */
    finishRun: async (id: string, end: RunEnd, servers: readonly Server[]): Promise<void> => {
      const run = queries.byId.get(id) ?? fail('not_found', `no run has the id ${id}`)
      if (run.state !== 'running')
        fail('wrong_state', `run ${id} is ${run.state}`, { state: run.state, accepts: [] })
      const write = (eventId: string | null) => {
        const reason = end.event === 'succeed' ? undefined : end.reason
        step(id, { type: end.event, at: clock.now(), reason }, { end, servers, eventId })
      }
      const isTold = end.event === 'succeed' && end.outcome === 'finding' && !run.practice
      if (isTold) await parts.append(findingOf(run, end), write)
      else store.tx(() => write(null))
    },
    /** A person ends it. @throws SvcError not_found; wrong_state */
    cancelRun: (id: string, by: string): void =>
      store.tx(() => {
        queries.cancelledBy.run(by, id)
        step(id, { type: 'cancel', at: clock.now(), reason: `cancelled by ${by}` })
      }),
  }
}

/**
 * Whether it handles the incident it looked at: its verdict is declared to close, and what it claims holds, all of it.
 * What claims nothing has shown nothing.
 */
function closes({ definition }: RunRow, { verdict, claims }: Succeeded): boolean {
  if (verdict === null || claims.length === 0 || !claims.every(({ ok }) => ok)) return false
  const { verdicts = [] } = JSON.parse(definition) as Pick<AgentSpec, 'verdicts'>
  return verdicts.some((one) => one.verdict === verdict && one.closes === true)
}

/**
 * What bounds a run: its agent as it is now, so that a budget that is lowered holds for runs that wait or are at work; as it
 * was, where it is gone. @param run its prompt, model and tools stay those of its definition
 */
export const boundsOf = (
  { agent, definition }: Pick<RunRow, 'agent' | 'definition'>,
  parts: Pick<RunsParts, 'agent'>,
): Pick<AgentSpec, 'run_budget_usd' | 'budget_usd' | 'daily_cap' | 'concurrency'> =>
  parts.agent(agent) ?? (JSON.parse(definition) as AgentSpec)

/** Where findings of the agent, as it was, are written back to. */
function webhookOf(run: RunRow): string {
  return (JSON.parse(run.definition) as { webhook_url?: string }).webhook_url ?? ''
}

/* Steps of runs as they happen, what they cost, and what may still be spent. */

export type Journal = ReturnType<typeof createJournal>

export function createJournal(parts: RunsParts, { step: move }: Pick<Finishing, 'step'>) {
  const { store, clock, queries, limits, usage } = parts

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
    if (server !== null || is_error || call.name.trim().toLowerCase() !== 'skill') return
    const name = typeof call.arguments.name === 'string' ? call.arguments.name.trim() : ''
    if (name)
      queries.loadSkill.run({ id, name: skillNow(store.db, queries.projectsOf.all(id), name)?.name ?? name })
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
    // What a tape answered asked no model.
    if (run.tape === 1) return
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
    const { run_budget_usd: own, budget_usd: lifetime } = boundsOf(run, parts)
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
    beginCall: (
      id: string,
      step: StepWrite,
      ceilingUsd: number | null,
      before: readonly StepWrite[] = [],
    ): CallRefusal | null =>
      store.tx(() => {
        const run = running(id)
        for (const one of before) save(run, one)
        const refusal = refusalOf(budgetsOf(run), ceilingUsd)
        if (refusal !== null) return refusal
        if (ceilingUsd) queries.reserve.run(ceilingUsd, id)
        const { rounds = 0, max_rounds = 0 } = (
          JSON.parse(run.snapshot) as { context: { rounds?: number; max_rounds?: number } }
        ).context
        // One call more than there are rounds is made to conclude, and is none of them.
        if (step.round > rounds && rounds < max_rounds) move(id, { type: 'round', at: step.at })
        queries.saveStep.run(id, step.n, step.kind, step.round, step.at, null, JSON.stringify(step.data))
        return null
      }),
  }
}
