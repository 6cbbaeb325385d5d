/** Calls about tests of agents: the examples they keep, and what running them all came to. */
import type {
  AgentExample,
  AgentExamplesResult,
  AgentExampleWrite,
  AgentTest,
  AgentTestStart,
  AgentTestsResult,
} from '../schemas/types.ts'
import { call } from './client.ts'

const base = (agent: string) => `/api/agents/builtin/${encodeURIComponent(agent)}`
const ask = async <T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<T> =>
  (await call(method, path, body)).json() as Promise<T>

export const agentTests = {
  examples: (agent: string) => ask<AgentExamplesResult>('GET', `${base(agent)}/examples`),
  addExample: (agent: string, body: AgentExampleWrite) =>
    ask<AgentExample>('POST', `${base(agent)}/examples`, body),
  removeExample: (agent: string, id: string) =>
    ask<unknown>('DELETE', `${base(agent)}/examples/${encodeURIComponent(id)}`),
  list: (agent: string) => ask<AgentTestsResult>('GET', `${base(agent)}/tests?limit=10`),
  start: (agent: string, body: AgentTestStart) => ask<AgentTest>('POST', `${base(agent)}/tests`, body),
}

/** Query keys, in one place; they begin as those of runs, so that both are read again together. */
export const tkeys = {
  examples: (agent: string) => ['work', 'examples', agent],
  tests: (agent: string) => ['work', 'tests', agent],
} as const
