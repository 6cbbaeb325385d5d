/**
 * Testing agents, as callers see it: examples are kept and removed, and a test is one practice run of
 * each, made in one transaction. What a test came to is read, never written.
 */
import { randomBytes } from 'node:crypto'
import type {
  AgentExample,
  AgentExamplesResult,
  AgentExampleWrite,
  AgentSpec,
  AgentTest,
  AgentTestStart,
  AgentTestsResult,
} from '../../schemas/types.ts'
import type { Caller } from '../calls.ts'
import type { Clock } from '../clock.ts'
import { fail } from '../errors.ts'
import { type Making, newRunId } from '../runs/making.ts'
import { isOpen } from '../runs/open-states.ts'
import { type RunRow, runQueries } from '../runs/queries.ts'
import type { Snapshot } from '../snapshot.ts'
import type { Database, StoreHandle } from '../store/handle.ts'
import { mentionFault } from './mention.ts'
import { presentExample, testPresenter } from './present.ts'
import { agentTestQueries, type TestedExample } from './queries.ts'

/** Of one agent: every test runs them all. */
const EXAMPLES_MAX = 100

export interface AgentTestReads {
  /** @throws SvcError not_found */
  listAgentExamples(agent: string): Promise<AgentExamplesResult>
  /** Newest first. @throws SvcError not_found */
  listAgentTests(agent: string, page: { limit: number; offset: number }): Promise<AgentTestsResult>
  /** @throws SvcError not_found */
  getAgentTest(agent: string, id: string): Promise<AgentTest>
}

export interface AgentTestWrites {
  /** @throws SvcError not_found; invalid; wrong_state while the run is not finished; conflict for a name that is taken */
  addAgentExample(agent: string, body: AgentExampleWrite, by: Caller): Promise<AgentExample>
  /** Tests that had it keep it. @throws SvcError not_found */
  removeAgentExample(agent: string, id: string): Promise<{ ok: true }>
  /**
   * Starts one practice run of each example.
   * @param tried for this test alone
   * @throws SvcError not_found; conflict where there is no example
   */
  startAgentTest(agent: string, tried: AgentTestStart, by: Caller): Promise<AgentTest>
}

export type AgentTestCalls = AgentTestReads & AgentTestWrites

export function agentTestReads(db: Database, snapshot: Snapshot): AgentTestReads {
  const queries = agentTestQueries(db)
  const runs = runQueries(db)
  const present = testPresenter(db)
  /** Answers of an agent that is there. */
  const of = <T>(agent: string, answer: () => T): Promise<T> =>
    snapshot(() => {
      if (!queries.hasAgent.get(agent)) fail('not_found', `no agent is named ${agent}`)
      return answer()
    })
  return {
    listAgentExamples: (agent) =>
      of(agent, () => ({
        examples: queries.examplesOf.all(agent).map((row) => presentExample(runs, row)),
      })),
    listAgentTests: (agent, { limit, offset }) =>
      of(agent, () => ({
        tests: queries.tests.all(agent, limit, offset).map(present),
        total: queries.countTests.get(agent)!,
      })),
    getAgentTest: (agent, id) =>
      of(agent, () =>
        present(
          queries.test.get(agent, id) ?? fail('not_found', `agent ${agent} has no test with the id ${id}`),
        ),
      ),
  }
}

export function agentTestWrites(parts: {
  store: StoreHandle
  clock: Clock
  making: Making
  /** The agent as it is; null: there is none of that name. */
  agent(name: string): AgentSpec | null
  /** After a commit that left runs to be started. */
  onPending(): void
}): AgentTestWrites {
  const { store, clock, making } = parts
  const queries = agentTestQueries(store.db)
  const runs = runQueries(store.db)
  const present = testPresenter(store.db)
  const require = (agent: string): AgentSpec =>
    parts.agent(agent) ?? fail('not_found', `no agent is named ${agent}`)

  return {
    addAgentExample: async (agent, { name: given, run_id, verdict = null, mentions = [] }, by) => {
      const name = given.trim()
      checkExpected(require(agent), verdict, mentions)
      const at = clock.now()
      const id = `example_${randomBytes(8).toString('hex')}`
      store.tx(() => {
        checkRun(agent, run_id, runs.byId.get(run_id))
        if (queries.isNamed.get(agent, name))
          fail('conflict', `agent ${agent} has an example named ${name}`, { field: 'name' })
        if (queries.examplesOf.all(agent).length >= EXAMPLES_MAX)
          fail('conflict', `agent ${agent} has ${EXAMPLES_MAX} examples, which is the most; remove one first`)
        queries.insertExample.run({
          id,
          agent,
          name,
          run_id,
          verdict,
          mentions: JSON.stringify(mentions),
          made_at: at,
          made_by: by.name,
        })
      })
      return presentExample(runs, queries.example.get(agent, id)!)
    },
    removeAgentExample: async (agent, id) => {
      require(agent)
      const { changes } = store.tx(() => queries.removeExample.run(agent, id))
      if (changes === 0) fail('not_found', `agent ${agent} has no example with the id ${id}`)
      return { ok: true }
    },
    startAgentTest: async (agent, tried, by) => {
      const saved = require(agent)
      const at = clock.now()
      const id = `test_${newRunId(at).slice(4)}`
      store.tx(() => {
        const examples = queries.examplesOf
          .all(agent)
          .map(({ id: example, name, verdict, mentions, run_id }) => ({
            id: example,
            name,
            verdict,
            mentions: JSON.parse(mentions) as string[],
            run_id: making.repeat(run_id, { asOf: 'same', practice: true, isTest: true, ...tried }),
          }))
        const first =
          examples[0] ?? fail('conflict', `agent ${agent} has no examples; keep a past run as one first`)
        queries.insertTest.run({
          id,
          agent,
          definition_hash: runs.byId.get(first.run_id)!.definition_hash,
          tried: JSON.stringify(triedOf(saved, tried)),
          examples: JSON.stringify(examples satisfies TestedExample[]),
          made_at: at,
          made_by: by.name,
        })
      })
      parts.onPending()
      return present(queries.test.get(agent, id)!)
    },
  }
}

/** @throws SvcError invalid */
function checkExpected(
  { verdicts = [] }: AgentSpec,
  verdict: string | null,
  mentions: readonly string[],
): void {
  const known = verdicts.map((one) => one.verdict)
  if (verdict !== null && verdict !== 'no_op' && known.length && !known.includes(verdict))
    fail('invalid', `verdict must be one the agent may give: ${[...known, 'no_op'].join(', ')}`, {
      field: 'verdict',
    })
  if (verdict === 'no_op' && mentions.length)
    fail('invalid', 'mentions must be empty with the verdict no_op: there is no finding to hold them', {
      field: 'mentions',
    })
  mentions.forEach((mention, i) => {
    const fault = mentionFault(mention)
    if (fault) fail('invalid', `mentions[${i}] ${fault}`, { field: `mentions[${i}]` })
  })
}

/** @throws SvcError not_found; invalid; wrong_state */
function checkRun(agent: string, id: string, run: RunRow | undefined): void {
  const field = { field: 'run_id' }
  if (!run) fail('not_found', `no run has the id ${id}`, field)
  if (run.agent !== agent)
    fail('invalid', `run_id must be a run of ${agent}; ${id} is one of ${run.agent}`, field)
  if (run.woken_by === 'external')
    fail('invalid', `run_id must be a run of this service; ${id} was made by an outside agent`, field)
  if (isOpen(run.state))
    fail('wrong_state', `run ${id} is ${run.state}; wait until it has ended`, {
      state: run.state,
      accepts: ['cancel'],
    })
  if (run.as_of === null)
    fail(
      'invalid',
      `run_id must be a run that was started; ${id} was not, and has read nothing to read again`,
      field,
    )
}

/** What is other than saved, as it is said of a test: each of its runs has the prompt. */
function triedOf(saved: AgentSpec, tried: AgentTestStart): AgentTest['tried'] {
  const other = (field: 'prompt' | 'provider' | 'model') => {
    const value = tried[field]
    return value === undefined || value === (saved[field] ?? '') ? null : value
  }
  const [prompt, provider, model] = [other('prompt'), other('provider'), other('model')]
  if (prompt === null && provider === null && model === null) return null
  return { prompt: prompt !== null, provider, model }
}
