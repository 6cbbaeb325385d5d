/** Calls about reports of svc evals. */
import type { EvalReport, EvalReportHandedIn, EvalReportsResult } from '../schemas/types.ts'
import { call } from './client.ts'

const name = encodeURIComponent
const one = (id: string) => `/api/evals/reports/${name(id)}`

export const evals = {
  list: async () => (await call('GET', '/api/evals/reports')).json() as Promise<EvalReportsResult>,
  one: async (id: string) => (await call('GET', one(id))).json() as Promise<EvalReport>,
  handIn: async (report: EvalReport) =>
    (await call('POST', '/api/evals/reports', report)).json() as Promise<EvalReportHandedIn>,
  remove: async (id: string) => (await call('DELETE', one(id))).json() as Promise<unknown>,
}

export const ekeys = {
  list: ['evals'],
  one: (id: string) => ['evals', id],
} as const
