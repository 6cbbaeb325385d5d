/** Applying a plan: everything it needs as one change-set, so all of it or nothing, and one undo. */
import type { Plan, SetupApplied, SetupApply } from '../../schemas/types.ts'
import { refuseAgentsName } from '../declared/agent-names.ts'
import type { Declared } from '../declared/declared.ts'
import { projectNamed } from '../declared/project-writes.ts'
import { mintIngestKey } from '../declared/source-writes.ts'
import type { WriteBy } from '../declared/write.ts'
import { fail, SvcError } from '../errors.ts'
import { sentenceOfProblems } from './check/found.ts'
import { checkNow, keptPlan } from './checking.ts'
import { requireDraftAtRest } from './drafts.ts'
import { moveDraft, setupQueries } from './queries.ts'
import { stagePlan } from './stage.ts'
import { connectOf, type OnceKeys } from './tryout/connect.ts'

/**
 * @param mintKeys whether each source that events are sent to gets an ingest key of its own.
 * @throws SvcError faulty_plan with all problems; not_found; wrong_state; whatever fails undoes all of it
 */
export function applyPlan(
  declared: Declared,
  body: SetupApply,
  by: WriteBy,
  mintKeys: boolean,
): SetupApplied {
  const { store, clock } = declared
  const queries = setupQueries(store.db)
  const made = store.tx(() => {
    const draft = body.project ? requireDraftAtRest(declared, body.project) : null
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
    queries.fault(id, null, false)
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
