/** Guided setup as callers see it (SPEC.md, Guided setup). Every call may throw SvcError (see errors.ts). */
import type {
  Plan,
  PracticeStarted,
  Project,
  Setup,
  SetupApplied,
  SetupApply,
  SetupCheck,
  SetupChecked,
  SetupDraft,
  SetupPlanning,
  SetupReplan,
  SetupSave,
  TestEventSent,
} from '../../../schemas/types.ts'
import type { Caller } from '../../calls.ts'
import { fail, SvcError } from '../../errors.ts'
import { acceptedBy, advance } from '../../log/lifecycle.ts'
import type { Declared, WriteBy } from '../declared.ts'
import { refuseAgentsName } from '../keys.ts'
import { moveDraft, PLANNING, type SetupRow, setupQueries } from '../projects/follow.ts'
import { projectNamed } from '../projects/project-writes.ts'
import { mintIngestKey } from '../source-writes.ts'
import { checkNow, checkWhole, keptPlan, sentenceOfProblems, stagePlan } from './check.ts'
import {
  type DraftParts,
  editPlan,
  type OfSetup,
  type PlanningPort,
  planAgain,
  planningPort,
  requireDraft,
  requireDraftAtRest,
  requireSetup,
  requireVersion,
  startDraft,
  stopPlanning,
} from './drafts.ts'
import {
  checksOf,
  connectOf,
  type OnceKeys,
  sendTestEvent,
  startPractice,
  type TryoutParts,
} from './tryout.ts'

export interface SetupCalls {
  /** @throws SvcError invalid; wrong_state without a model to plan with; conflict when the name is taken */
  startDraft(body: SetupDraft, by: WriteBy): Promise<{ project: Project }>
  /** @throws SvcError not_found, also for a project that was made in another way */
  getSetup(project: string): Promise<Setup>
  /** @throws SvcError not_found; wrong_state; invalid; conflict for a stale version */
  planDraft(project: string, body: SetupReplan, by: WriteBy): Promise<{ ok: true }>
  /** Stops the planning of a draft. @throws SvcError not_found; wrong_state */
  stopPlanning(project: string, by: WriteBy): Promise<{ ok: true }>
  /** Keeps an edited plan, or goes to a step. @throws SvcError not_found; wrong_state; invalid; conflict for a stale version */
  saveSetup(project: string, body: SetupSave, by: WriteBy): Promise<Setup>
  /** The plan as applying would take it; no model is asked. @throws SvcError not_found; wrong_state for a project that is no draft */
  checkSetup(body: SetupCheck): Promise<SetupChecked>
  /** Makes everything a plan needs, or nothing. @throws SvcError faulty_plan; not_found; wrong_state; conflict for a stale version */
  applySetup(body: SetupApply, by: WriteBy, mintKeys: boolean): Promise<SetupApplied>
  /** @throws SvcError not_found; wrong_state; invalid; storage_full */
  sendTestEvent(project: string, source: string, caller: Caller): Promise<TestEventSent>
  /** @throws SvcError not_found; wrong_state; conflict */
  startPractice(project: string): Promise<PracticeStarted>
}

/** Those that only read. */
export function setupReads(declared: Declared): Pick<SetupCalls, 'getSetup' | 'checkSetup'> {
  return {
    getSetup: async (project) => presentSetup(declared, project),
    checkSetup: async ({ plan, project }) => {
      const draft = project === undefined ? null : requireDraft(declared, project)
      return checkWhole(declared, plan, { project: draft?.id ?? null, goal: draft?.doc.goal ?? '' })
    },
  }
}

export function setupCalls(parts: DraftParts & TryoutParts & { secret: string }): SetupCalls & PlanningPort {
  const { declared, onPending } = parts
  return {
    ...planningPort(declared, parts.secret),
    ...setupReads(declared),
    startDraft: async (body, by) => ({ project: await startDraft(parts, body, by) }),
    planDraft: async (project, body, by) => {
      await planAgain(parts, project, body, by)
      return { ok: true }
    },
    stopPlanning: async (project, by) => {
      stopPlanning(parts, project, by)
      return { ok: true }
    },
    saveSetup: async (project, body, by) => {
      if ((body.plan === undefined) === (body.step === undefined))
        fail('invalid', 'give plan, of a draft, or step, once it is set up', { field: 'plan' })
      if (body.plan !== undefined) editPlan(declared, project, body.plan, by)
      if (body.step !== undefined) goTo(parts, project, body.step, by)
      return presentSetup(declared, project)
    },
    applySetup: async (body, by, mintKeys) => applyPlan(declared, body, by, mintKeys),
    sendTestEvent: async (project, source, caller) => sendTestEvent(parts, project, source, caller),
    startPractice: async (project) => {
      const started = startPractice(parts, project)
      onPending()
      return started
    },
  }
}

function goTo({ declared }: DraftParts, word: string, step: string, { caller, base }: WriteBy): void {
  const { store, clock } = declared
  store.tx(() => {
    const found = requireSetup(declared, word)
    requireVersion(found, base)
    const { id, doc } = found
    advance(store.db, { kind: 'project', id, name: doc.name }, step, caller, clock.now())
  })
}

/* Applying a plan: everything it needs as one change-set, so all of it or nothing, and one undo. */

/**
 * @param mintKeys whether each source that events are sent to gets an ingest key of its own.
 * @throws SvcError faulty_plan with all problems; not_found; wrong_state; conflict; whatever fails undoes all of it
 */
function applyPlan(declared: Declared, body: SetupApply, by: WriteBy, mintKeys: boolean): SetupApplied {
  const { store, clock } = declared
  const queries = setupQueries(store.db)
  const made = store.tx(() => {
    const draft = body.project !== undefined ? requireDraftAtRest(declared, body.project, by.base) : null
    const { plan, problems } = checkNow(declared, body.plan, {
      project: draft?.id ?? null,
      goal: draft?.doc.goal ?? '',
    })
    if (problems.length) fail('faulty_plan', sentenceOfProblems(problems))
    const at = clock.now()
    if (draft) {
      // A plan that was faulty, or never finished, is whole now.
      moveDraft(store.db, { id: draft.id, name: draft.doc.name }, { type: 'edit', problems: 0 }, at)
    }
    const why = by.why || `guided setup: ${plan.goal}`
    const { result: id, changeSet } = heedingStage(() =>
      declared.changes.commit({ ...by, why }, (edit) => stagePlan(edit, draft?.id ?? null, plan)),
    )
    if (!draft) beginApplied(declared, id, plan)
    queries.savePlan(id, keptPlan(declared, plan), plan.who)
    return { id, changeSet, keys: once(declared, id, plan, by, mintKeys) }
  })
  // What is held in memory of the sources is read again with the commit.
  return {
    project: projectNamed(declared, made.id),
    plan: JSON.parse(queries.byId(made.id)!.plan!) as Plan,
    connect: connectOf(declared, made.id, made.keys),
    change_set: made.changeSet!,
  }
}

/** A plan that is applied without a draft has been one for no time at all. */
function beginApplied({ store, clock }: Declared, id: string, plan: Plan): void {
  const queries = setupQueries(store.db)
  queries.insert(id, plan.who, true)
  for (const event of [{ type: 'interrupted' }, { type: 'edit', problems: 0 }, { type: 'apply' }])
    moveDraft(store.db, { id, name: plan.name }, event, clock.now())
}

/** Keys that are in the answer and nowhere else. */
function once(declared: Declared, id: string, plan: Plan, by: WriteBy, mintKeys: boolean): OnceKeys {
  const ingest = new Map<string, string>()
  if (mintKeys)
    for (const { name, existing, needs, config } of plan.watches)
      if (!existing && needs === 'send' && config.signature_scheme === undefined)
        ingest.set(name, mintIngestKey(declared, name, by).secret)
  if (!plan.own_agent) return { ingest, own: null }
  refuseAgentsName(declared, plan.own_agent.name)
  const key = declared.keys.create({ name: plan.own_agent.name, scopes: ['read', 'findings'] }, by.caller, {
    project: id,
  })
  setupQueries(declared.store.db).ownKey(id, key.id)
  return { ingest, own: key.secret }
}

/** What only the whole can refuse is a problem of the plan as well. */
function heedingStage<T>(stage: () => T): T {
  try {
    return stage()
  } catch (error) {
    if (!(error instanceof SvcError) || error.code === 'faulty_plan') throw error
    throw new SvcError('faulty_plan', `the plan cannot be applied: ${error.message}`, error.extra)
  }
}

/* Guided setup of a project as it is read. */

/** @throws SvcError not_found, also for a project that was made in another way */
function presentSetup(declared: Declared, word: string): Setup {
  const of = requireSetup(declared, word)
  const { id, doc, row } = of
  const isDraft = doc.draft === true
  return {
    project: id,
    version: row.version,
    step: isDraft ? 'plan' : stepOf(declared, id),
    draft: isDraft,
    goal: doc.goal ?? '',
    name: doc.name,
    description: doc.description ?? '',
    who: row.who,
    ...(isDraft ? ofDraft(declared, of) : { ...ofApplied(declared, of), problems: [], changes: null }),
  }
}

/** A paused project is at the step it was paused at; one that runs again without one is done. */
function stepOf(declared: Declared, id: string): Setup['step'] {
  const row = declared.projects.byId(id)!
  const snapshot = JSON.parse(row.snapshot) as { context: { left: string | null } }
  const state = row.state === 'paused' ? snapshot.context.left : row.state
  return state === 'connect' || state === 'try' ? state : 'done'
}

function ofDraft(declared: Declared, { id, doc, row }: OfSetup) {
  const isPlanning = PLANNING.includes(row.state)
  // While it is planned the plan is not to be applied, and is looked at every second.
  const checked =
    row.plan && !isPlanning
      ? checkWhole(declared, JSON.parse(row.plan), { project: id, goal: doc.goal ?? '', withSecrets: false })
      : null
  return {
    plan: checked?.plan ?? (row.plan ? (JSON.parse(row.plan) as Plan) : null),
    problems: checked?.problems ?? [],
    changes: checked?.changes ?? null,
    planning: planningOf(declared, row),
    practice_run: null,
    checks: null,
    connect: null,
  }
}

function ofApplied(declared: Declared, { id, row }: OfSetup) {
  return {
    plan: JSON.parse(row.plan!) as Plan,
    planning: null,
    practice_run:
      row.practised_at === null
        ? null
        : {
            run_id: row.practice_run,
            dispatch_id: row.practice_dispatch,
            at: new Date(row.practised_at).toISOString(),
            found: row.practice_found,
          },
    checks: checksOf(declared, id),
    connect: connectOf(declared, id),
  }
}

function planningOf({ store }: Declared, row: SetupRow): SetupPlanning {
  return {
    state: planningState(row.state),
    steps: setupQueries(store.db)
      .steps.all(row.id)
      .map(({ text, state, at }) => ({ text, state, at: new Date(at).toISOString() })),
    error: row.error,
    no_provider: row.no_provider === 1,
    instruction: row.instruction,
    accepts: acceptedBy('draft', row.snapshot),
  }
}

function planningState(state: string): SetupPlanning['state'] {
  if (PLANNING.includes(state)) return 'running'
  return state === 'failed' || state === 'interrupted' ? state : 'done'
}
