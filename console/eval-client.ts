/** Calls about reports of svc evals. */
import * as calls from '../api/client/calls.ts'
import type { EvalReport } from '../schemas/types.ts'
import { ask } from './client.ts'

export const evals = {
  list: () => ask(calls.listEvalReports),
  one: (id: string) => ask(calls.getEvalReport, { id }),
  handIn: (body: EvalReport) => ask(calls.handInEvalReport, { body }),
  remove: (id: string) => ask(calls.deleteEvalReport, { id }),
}

export const ekeys = {
  list: ['evals'],
  one: (id: string) => ['evals', id],
} as const
