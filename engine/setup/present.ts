/** Guided setup of a project as it is read. */
import type { Plan, Setup, SetupPlanning } from '../../schemas/types.ts'
import type { Declared } from '../declared/declared.ts'
import { acceptedBy } from '../lifecycle/advance.ts'
import { checkWhole } from './checking.ts'
import { type OfSetup, requireSetup } from './drafts.ts'
import { PLANNING, type SetupRow, setupQueries } from './queries.ts'
import { checksOf } from './tryout/checks.ts'
import { connectOf } from './tryout/connect.ts'

/** @throws SvcError not_found, also for a project that was made in another way */
export function presentSetup(declared: Declared, word: string): Setup {
  const of = requireSetup(declared, word)
  const { id, doc, row } = of
  const isDraft = doc.draft === true
  return {
    project: id,
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
