/** Calls of guided setup. */
import * as calls from '../api/client/calls.ts'
import type { Plan, SetupDraft, SetupReplan } from '../schemas/types.ts'
import { ask } from './client.ts'

export const setups = {
  start: (body: SetupDraft) => ask(calls.startDraft, { body }),
  get: (id: string) => ask(calls.getSetup, { id }),
  check: (project: string, plan: Plan, signal: AbortSignal) =>
    ask(calls.checkSetup, { body: { plan: { ...plan }, project } }, { signal }),
  /** @param version that was edited: of another nothing is written, 409. */
  save: (id: string, plan: Plan, version: number) =>
    ask(calls.saveSetup, { id, body: { plan: { ...plan } } }, { version }),
  goTo: (id: string, step: 'connect' | 'try' | 'done') => ask(calls.saveSetup, { id, body: { step } }),
  replan: (id: string, body: SetupReplan, version: number) => ask(calls.planDraft, { id, body }, { version }),
  stop: (id: string) => ask(calls.stopPlanning, { id }),
  apply: (project: string, plan: Plan, version: number) =>
    ask(calls.applySetup, { body: { plan: { ...plan }, project } }, { version }),
  testEvent: (id: string, source: string) => ask(calls.sendTestEvent, { id, body: { source } }),
  practise: (id: string) => ask(calls.startPractice, { id }),
}

/** Query keys, in one place; they begin as those of what is declared, so that both are read again together. */
export const skeys = {
  of: (project: string) => ['declared', 'setup', project],
  /** Keys that were told once; kept until the page is loaded again. */
  once: (project: string) => ['setup-once', project],
}
