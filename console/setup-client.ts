/** Calls of guided setup. */
import type {
  DraftStarted,
  Plan,
  PracticeStarted,
  Setup,
  SetupApplied,
  SetupChecked,
  SetupDraft,
  SetupReplan,
  TestEventSent,
} from '../schemas/types.ts'
import { call } from './client.ts'

const send = async <T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> =>
  (await call(method, path, body, signal)).json() as Promise<T>
const of = (project: string) => `/api/projects/${encodeURIComponent(project)}/setup`

export const setups = {
  start: (body: SetupDraft) => send<DraftStarted>('POST', '/api/setup/drafts', body),
  get: (project: string) => send<Setup>('GET', of(project)),
  check: (project: string, plan: Plan, signal: AbortSignal) =>
    send<SetupChecked>('POST', '/api/setup/check', { plan, project }, signal),
  save: (project: string, plan: Plan, signal: AbortSignal) =>
    send<Setup>('PUT', of(project), { plan }, signal),
  goTo: (project: string, step: 'connect' | 'try' | 'done') => send<Setup>('PUT', of(project), { step }),
  replan: (project: string, body: SetupReplan) => send<{ ok: true }>('POST', `${of(project)}/plan`, body),
  stop: (project: string) => send<{ ok: true }>('DELETE', `${of(project)}/plan`),
  apply: (project: string, plan: Plan) => send<SetupApplied>('POST', '/api/setup/apply', { plan, project }),
  testEvent: (project: string, source: string) =>
    send<TestEventSent>('POST', `${of(project)}/test-event`, { source }),
  practise: (project: string) => send<PracticeStarted>('POST', `${of(project)}/practice`),
}

/** Query keys, in one place; they begin as those of what is declared, so that both are read again together. */
export const skeys = {
  of: (project: string) => ['declared', 'setup', project],
  /** Keys that were told once; kept until the page is loaded again. */
  once: (project: string) => ['setup-once', project],
}
