/** Calls about tests of agents: the examples they keep, and what running them all came to. */
import * as calls from '../api/client/calls.ts'
import type { AgentExampleWrite, AgentTestStart } from '../schemas/types.ts'
import { ask } from './client.ts'

export const agentTests = {
  examples: (name: string) => ask(calls.listAgentExamples, { name }),
  addExample: (name: string, body: AgentExampleWrite) => ask(calls.addAgentExample, { name, body }),
  removeExample: (name: string, id: string) => ask(calls.removeAgentExample, { name, id }),
  list: (name: string) => ask(calls.listAgentTests, { name, limit: 10 }),
  start: (name: string, body: AgentTestStart) => ask(calls.startAgentTest, { name, body }),
}

/** Query keys, in one place; they begin as those of runs, so that both are read again together. */
export const tkeys = {
  examples: (agent: string) => ['work', 'examples', agent],
  tests: (agent: string) => ['work', 'tests', agent],
} as const
