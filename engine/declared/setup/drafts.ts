/** Drafts of guided setup: begun from a goal, planned again, edited, stopped (SPEC.md, Project lifecycle). */
import type { Project, SetupDraft, SetupReplan } from '../../../schemas/types.ts'
import { ModelFault } from '../../agents/models/types.ts'
import { fail } from '../../errors.ts'
import { acceptedBy, advance } from '../../log/lifecycle.ts'
import { CUSTOM_TEMPLATE, newProjectId, type ProjectDoc, projectOf, putProject } from '../../model/project.ts'
import type { Declared } from '../declared.ts'
import { freeName, projectNamed, unusedName } from '../project-writes.ts'
import { moveDraft, PLANNING, type SetupRow, setupQueries } from '../projects/follow.ts'
import { checkDescription, checkGoal, checkProjectName } from '../projects/project-spec.ts'
import { requireProject } from '../skill-writes.ts'
import type { WriteBy } from '../write.ts'
import { checkNow, keptPlan } from './checking.ts'
import { isFields } from './plan.ts'

export interface DraftParts {
  declared: Declared
  /** @throws ModelFault when there is no model to plan with */
  requireModel(): Promise<void>
  /** After a commit that left a draft to be planned, or one whose planning is over. */
  onPending(): void
}

/** A project made by guided setup, with its row. */
export interface OfSetup {
  id: string
  doc: ProjectDoc
  row: SetupRow
}

const NAME_MAX = 60

/** @throws SvcError not_found, also for a project that was made in another way */
export function requireSetup(declared: Declared, word: string): OfSetup {
  const id = requireProject(declared, word)
  const doc = declared.kinds.project.find(id)!.doc
  const row =
    setupQueries(declared.store.db).byId(id) ??
    fail('not_found', `project ${doc.name} was not made by guided setup`)
  return { id, doc, row }
}

/** @throws SvcError not_found; wrong_state once it is applied, or while it is being planned */
export function requireDraftAtRest(declared: Declared, word: string): OfSetup {
  const found = requireSetup(declared, word)
  const { doc, row } = found
  const told = { state: row.state, accepts: acceptedBy('draft', row.snapshot) }
  if (!doc.draft) fail('wrong_state', `project ${doc.name} is set up already; its plan is applied`, told)
  if (PLANNING.includes(row.state))
    fail('wrong_state', `draft ${doc.name} is being planned; wait until it is, or stop it`, told)
  return found
}

/**
 * Begins a draft: its plan is written in the background, or is the one that was written by hand.
 * @throws SvcError invalid; conflict when the name is taken; invalid without a model to plan with
 */
export async function startDraft(parts: DraftParts, body: SetupDraft, by: WriteBy): Promise<Project> {
  const { declared, onPending } = parts
  const { store, clock } = declared
  const goal = checkGoal(body.goal) ?? fail('invalid', 'goal is required', { field: 'goal' })
  const description = checkDescription(body.description)
  const given = body.name?.trim() ? checkProjectName(body.name) : null
  if (!body.plan) await heedModel(parts)
  const id = store.tx(() => {
    const { result } = declared.changes.commit(by, (edit) => {
      const made = newProjectId(edit)
      putProject(edit, made, {
        name: given ? freeName(edit, given) : unusedName(edit, shortened(goal)),
        template: CUSTOM_TEMPLATE,
        goal,
        ...(description ? { description } : {}),
        uses: {},
        draft: true,
        setup: true,
      })
      return made
    })
    setupQueries(store.db).insert(result, body.who ?? 'svc', given !== null)
    if (!body.plan) return result
    const { name } = declared.kinds.project.find(result)!
    moveDraft(store.db, { id: result, name }, { type: 'interrupted' }, clock.now())
    keepPlan(declared, requireSetup(declared, result), { who: body.who ?? 'svc', ...body.plan })
    return result
  })
  onPending()
  return projectNamed(declared, id)
}

/**
 * Plans a draft again, from a changed goal or by an instruction.
 * @throws SvcError not_found; wrong_state; invalid
 */
export async function planAgain(
  parts: DraftParts,
  word: string,
  body: SetupReplan,
  by: WriteBy,
): Promise<void> {
  const { declared, onPending } = parts
  const instruction = body.instruction?.trim() || null
  const goal = instruction ? undefined : checkGoal(body.goal)
  if (!instruction && !goal)
    fail('invalid', 'goal or instruction is required: what to plan, or what to change', { field: 'goal' })
  requireDraftAtRest(declared, word)
  await heedModel(parts)
  declared.store.tx(() => {
    const { id, doc, row } = requireDraftAtRest(declared, word)
    const { db } = declared.store
    const queries = setupQueries(db)
    const at = declared.clock.now()
    if (instruction && body.plan) savePlan(declared, { id, doc, row }, body.plan)
    if (instruction && !queries.byId(id)!.plan)
      fail('invalid', 'instruction: there is no plan to change yet; give a goal', { field: 'instruction' })
    if (goal && goal !== doc.goal)
      declared.changes.commit(by, (edit) => putProject(edit, id, { ...projectOf(edit, id), goal }))
    moveDraft(db, { id, name: doc.name }, { type: 'replan', who: body.who ?? row.who, instruction }, at)
    advance(db, { kind: 'project', id, name: doc.name }, 'plan', by.caller, at)
  })
  onPending()
}

/** Keeps an edited plan, checked; without the secrets that were typed into it. @throws SvcError not_found; wrong_state */
export function editPlan(declared: Declared, word: string, plan: unknown, by: WriteBy): void {
  declared.store.tx(() => {
    const of = requireDraftAtRest(declared, word)
    if (!keepPlan(declared, of, plan)) return
    const { id, doc } = of
    const { store, clock } = declared
    advance(store.db, { kind: 'project', id, name: doc.name }, 'edit', by.caller, clock.now())
  })
}

/** Stops the planning of a draft; what it had so far stays. @throws SvcError not_found; wrong_state */
export function stopPlanning(parts: DraftParts, word: string, by: WriteBy): void {
  const { declared, onPending } = parts
  const { store, clock } = declared
  store.tx(() => {
    const { id, doc, row } = requireSetup(declared, word)
    if (!PLANNING.includes(row.state))
      fail('wrong_state', `draft ${doc.name} is not being planned`, {
        state: row.state,
        accepts: acceptedBy('draft', row.snapshot),
      })
    // On an open instance nobody has a name.
    const reason = by.caller.id === 'open' ? 'it was stopped' : `${by.caller.name} stopped it`
    moveDraft(store.db, { id, name: doc.name }, { type: 'interrupted', reason }, clock.now())
  })
  onPending()
}

/** @returns whether it is another one than before; inside the caller's transaction. */
function keepPlan(declared: Declared, of: OfSetup, given: unknown): boolean {
  const { id, doc } = of
  const { store, clock } = declared
  const before = of.row.plan
  const problems = savePlan(declared, of, given)
  moveDraft(store.db, { id, name: doc.name }, { type: 'edit', problems }, clock.now())
  return setupQueries(store.db).byId(id)!.plan !== before
}

/** @returns how many problems it has. */
function savePlan(declared: Declared, { id, doc, row }: OfSetup, given: unknown): number {
  const named = isFields(given) && !given.name ? { ...given, name: doc.name } : given
  const { plan, problems } = checkNow(declared, named, {
    project: id,
    goal: doc.goal ?? '',
    withSecrets: false,
  })
  const queries = setupQueries(declared.store.db)
  const kept = keptPlan(declared, plan)
  if (kept !== row.plan) queries.savePlan(id, kept, plan.who)
  return problems.length
}

/** Without a model nothing can be planned; what to set is said. @throws SvcError invalid */
async function heedModel({ requireModel }: DraftParts): Promise<void> {
  try {
    await requireModel()
  } catch (error) {
    if (!(error instanceof ModelFault)) throw error
    fail('invalid', `a plan cannot be written: ${error.message}; or write the plan by hand`)
  }
}

function shortened(goal: string): string {
  if (goal.length <= NAME_MAX) return goal.replace(/[.!?]+$/, '')
  const cut = goal.slice(0, NAME_MAX)
  return `${cut.slice(0, Math.max(20, cut.lastIndexOf(' ')))}…`
}
