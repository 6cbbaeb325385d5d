/** Guided setup as callers see it (SPEC.md, Guided setup). Every call may throw SvcError (see errors.ts). */
import type {
  PracticeStarted,
  Project,
  Setup,
  SetupApplied,
  SetupApply,
  SetupCheck,
  SetupChecked,
  SetupDraft,
  SetupReplan,
  SetupSave,
  TestEventSent,
} from '../../schemas/types.ts'
import type { Caller } from '../calls.ts'
import type { Declared } from '../declared/declared.ts'
import { requireProject } from '../declared/skill-writes.ts'
import type { WriteBy } from '../declared/write.ts'
import { fail } from '../errors.ts'
import { advance } from '../lifecycle/advance.ts'
import { applyPlan } from './apply.ts'
import { checkWhole } from './checking.ts'
import { type DraftParts, editPlan, planAgain, requireSetup, startDraft, stopPlanning } from './drafts.ts'
import { type PlanningPort, planningPort } from './planning/port.ts'
import { presentSetup } from './present.ts'
import { sendTestEvent, startPractice, type TryoutParts } from './tryout/practice.ts'

export interface SetupCalls {
  /** @throws SvcError invalid, also without a model to plan with; conflict when the name is taken */
  startDraft(body: SetupDraft, by: WriteBy): Promise<{ project: Project }>
  /** @throws SvcError not_found, also for a project that was made in another way */
  getSetup(project: string): Promise<Setup>
  /** @throws SvcError not_found; wrong_state; invalid */
  planDraft(project: string, body: SetupReplan, by: WriteBy): Promise<{ ok: true }>
  /** Stops the planning of a draft. @throws SvcError not_found; wrong_state */
  stopPlanning(project: string, by: WriteBy): Promise<{ ok: true }>
  /** Keeps an edited plan, or goes to a step. @throws SvcError not_found; wrong_state; invalid */
  saveSetup(project: string, body: SetupSave, by: WriteBy): Promise<Setup>
  /** The plan as applying would take it; no model is asked. @throws SvcError not_found */
  checkSetup(body: SetupCheck): Promise<SetupChecked>
  /** Makes everything a plan needs, or nothing. @throws SvcError faulty_plan; not_found; wrong_state */
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
      const id = project === undefined ? null : requireProject(declared, project)
      const goal = id === null ? '' : String(declared.kinds.project.find(id)!.doc.goal ?? '')
      return checkWhole(declared, plan, { project: id, goal })
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
      if (body.step !== undefined) goTo(parts, project, body.step, by.caller)
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

function goTo({ declared }: DraftParts, word: string, step: string, caller: Caller): void {
  const { store, clock } = declared
  store.tx(() => {
    const { id, doc } = requireSetup(declared, word)
    advance(store.db, { kind: 'project', id, name: doc.name }, step, caller, clock.now())
  })
}
