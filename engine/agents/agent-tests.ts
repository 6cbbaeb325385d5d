/**
 * Testing agents, as callers see it: examples are kept and removed, and a test is one practice run of
 * each, made in one transaction. What a test came to is read, never written.
 */
import { randomBytes } from 'node:crypto'
import { RE2JS } from 're2js'
import type {
  AgentExample,
  AgentExamplesResult,
  AgentExampleWrite,
  AgentSpec,
  AgentTest,
  AgentTestExample,
  AgentTestStart,
  AgentTestsResult,
} from '../../schemas/types.ts'
import type { Caller } from '../calls.ts'
import type { Clock } from '../clock.ts'
import { fail } from '../errors.ts'
import type { Snapshot } from '../log/steps.ts'
import type { Database, StoreHandle } from '../log/store/handle.ts'
import { dollars, iso } from '../model/units.ts'
import { type Making, newRunId, wokenFor } from './runs/making.ts'
import { isOpen, noAgentNamed, type RunQueries, type RunRow, runQueries } from './runs/queries.ts'

/** Of one agent: every test runs them all. */
const EXAMPLES_MAX = 100

interface AgentTestReads {
  /** @throws SvcError not_found */
  listAgentExamples(agent: string): Promise<AgentExamplesResult>
  /** Newest first. @throws SvcError not_found */
  listAgentTests(agent: string, page: { limit: number; offset: number }): Promise<AgentTestsResult>
  /** @throws SvcError not_found */
  getAgentTest(agent: string, id: string): Promise<AgentTest>
}

interface AgentTestWrites {
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
      if (!queries.hasAgent.get(agent)) fail('not_found', noAgentNamed(db, agent))
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
    parts.agent(agent) ?? fail('not_found', noAgentNamed(store.db, agent))

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

/* How an example went, from the rows of its run alone: the same whenever it is asked. */

/** What is expected of a run. */
interface Expected {
  /** no_op: nothing to report; null: a finding of any verdict. */
  verdict: string | null
  /** What the finding must hold. */
  mentions: readonly string[]
}

/** What is looked at of a run. */
export type JudgedRun = Pick<
  RunRow,
  'state' | 'outcome' | 'verdict' | 'headline' | 'note' | 'next_step' | 'error'
>

interface Judgement {
  result: 'pass' | 'fail' | 'running'
  /** Why it failed; null: it did not. */
  why: string | null
}

/** One that has been judged, as two tests are compared by. */
interface Judged {
  id: string
  name: string
  result: Judgement['result']
  /** US dollars; null: not priced. */
  cost: number | null
}

/** @param run null: it is no longer there */
export function judge(expected: Expected, run: JudgedRun | null): Judgement {
  if (!run) return failed('its run is no longer there')
  if (isOpen(run.state)) return { result: 'running', why: null }
  if (run.state !== 'succeeded') return failed(`run ${run.state}: ${run.error ?? 'it gave no reason'}`)
  const reasons = [verdictFault(expected, run), mentionsFault(expected, run)].filter((why) => why !== null)
  return reasons.length ? failed(reasons.join('; ')) : { result: 'pass', why: null }
}

function verdictFault({ verdict }: Expected, run: JudgedRun): string | null {
  const given = run.outcome === 'no_op' ? 'no_op' : (run.verdict ?? 'none')
  const isAsExpected = verdict === null ? given !== 'no_op' : given === verdict
  return isAsExpected ? null : `verdict was ${given}, expected ${verdict ?? 'a finding'}`
}

/** Of a run without a finding the verdict says it all. */
function mentionsFault({ mentions }: Expected, run: JudgedRun): string | null {
  if (run.outcome !== 'finding') return null
  const text = [run.headline, run.note, run.next_step].filter((part) => part !== null).join('\n')
  const missing = mentions.filter((mention) => !mentioned(mention, text))
  return missing.length ? `does not mention ${missing.join(', ')}` : null
}

const failed = (why: string): Judgement => ({ result: 'fail', why })

/** What became better, worse, cheaper or dearer, over the examples that both tests have. */
export function compare(
  now: readonly Judged[],
  then: readonly Judged[],
): { newly_passing: string[]; newly_failing: string[]; cost_ratio: number | null } {
  const before = new Map(then.map((one) => [one.id, one]))
  const both = now.flatMap((one) => {
    const old = before.get(one.id)
    return old ? [{ one, old }] : []
  })
  const turned = (to: 'pass' | 'fail') =>
    both.filter(({ one, old }) => one.result === to && old.result !== to).map(({ one }) => one.name)
  const cost = sumOf(both.map(({ one }) => one.cost))
  const costThen = sumOf(both.map(({ old }) => old.cost))
  return {
    newly_passing: turned('pass'),
    newly_failing: turned('fail'),
    cost_ratio: cost === null || !costThen ? null : cost / costThen,
  }
}

/** @returns null where one is null */
export function sumOf(costs: readonly (number | null)[]): number | null {
  return costs.reduce<number | null>(
    (sum, cost) => (sum === null || cost === null ? null : dollars(sum + cost)),
    0,
  )
}

/* What a finding must hold: words in any case, or a pattern between slashes. */

/** `/pattern/`, or `/pattern/i` for any case. */
const PATTERN = /^\/(.+)\/(i?)$/s
/**
 * Instructions of a pattern. A finding has at most 64 KiB and an instruction on a character takes 16 ns at
 * worst (engine/model/pattern.ts), so the slowest takes a third of a second; a pattern of words has fifty.
 */
const SIZE_MAX = 300

/** @returns what is wrong with a mention, as the rest of a sentence; null: nothing is. */
export function mentionFault(mention: string): string | null {
  try {
    const pattern = patternOf(mention)
    if (pattern && pattern.programSize() > SIZE_MAX) return 'is too large a pattern: make its repeats smaller'
    return null
  } catch (error) {
    return `is not supported: ${(error as Error).message.replace('error parsing regexp: ', '')}`
  }
}

/** @param mention one without a `mentionFault` */
export function mentioned(mention: string, text: string): boolean {
  const pattern = patternOf(mention)
  if (pattern) return pattern.matcher(text).find()
  return plain(text).includes(plain(mention))
}

function patternOf(mention: string): RE2JS | null {
  const [, source, inAnyCase] = PATTERN.exec(mention) ?? []
  return source === undefined ? null : RE2JS.compile(source, inAnyCase ? RE2JS.CASE_INSENSITIVE : 0)
}

/** Lines break anywhere in Markdown: how words are spaced says nothing. */
const plain = (text: string): string => text.replace(/\s+/g, ' ').trim().toLowerCase()

/* Examples and tests as they are answered: a test is what its runs have come to by now. */

/** The row, with what its run says of the firing. */
function presentExample(runs: RunQueries, row: ExampleRow): AgentExample {
  const run = runs.byId.get(row.run_id)!
  const { label, entity } = wokenFor(runs, run)
  return {
    id: row.id,
    agent: row.agent,
    name: row.name,
    run_id: row.run_id,
    trigger: run.trigger_name,
    dispatch_id: run.dispatch_id,
    label,
    key: entity,
    projects: runs.projectsOf.all(run.id),
    as_of: iso(run.as_of!),
    verdict: row.verdict,
    mentions: JSON.parse(row.mentions) as string[],
    made_at: iso(row.made_at),
    made_by: row.made_by,
  }
}

/** @returns how tests of a connection are presented */
function testPresenter(db: Database): (row: TestRow) => AgentTest {
  const runs = runQueries(db)
  const queries = agentTestQueries(db)
  const judged = (row: TestRow): Outcome[] =>
    (JSON.parse(row.examples) as TestedExample[]).map((example) =>
      outcomeOf(example, runs.byId.get(example.run_id) ?? null),
    )
  return (row) => {
    const outcomes = judged(row)
    const count = (result: Outcome['result']) => outcomes.filter((one) => one.result === result).length
    const isFinished = count('running') === 0
    const finishedAt = isFinished ? Math.max(row.made_at, ...outcomes.map(({ endedAt }) => endedAt)) : null
    return {
      id: row.id,
      agent: row.agent,
      status: isFinished ? (count('fail') ? 'failed' : 'passed') : 'running',
      definition_hash: row.definition_hash,
      tried: JSON.parse(row.tried) as AgentTest['tried'],
      made_at: iso(row.made_at),
      made_by: row.made_by,
      finished_at: finishedAt === null ? null : iso(finishedAt),
      examples: outcomes.map(({ shown }) => shown),
      totals: {
        examples: outcomes.length,
        passed: count('pass'),
        failed: count('fail'),
        running: count('running'),
        cost_usd: sumOf(outcomes.map(({ cost }) => cost)),
        tokens: outcomes.reduce((sum, { shown }) => sum + shown.tokens, 0),
        duration_ms: finishedAt === null ? null : finishedAt - row.made_at,
      },
      change: isFinished ? changeOf(queries, row, outcomes, judged) : null,
    }
  }
}

interface Outcome extends Judged {
  shown: AgentTestExample
  /** Epoch ms; 0: it has not. */
  endedAt: number
}

function outcomeOf({ id, name, verdict, mentions, run_id }: TestedExample, run: RunRow | null): Outcome {
  const { result, why } = judge({ verdict, mentions }, run)
  // A run that asked no model cost nothing.
  const cost = run && run.uncosted_calls > 0 ? null : (run?.cost_usd ?? 0)
  const shown: AgentTestExample = {
    id,
    name,
    verdict,
    mentions: [...mentions],
    run_id,
    result,
    why,
    cost_usd: cost,
    tokens: run ? tokensOf(run) : 0,
    duration_ms: run?.finished_at && run.started_at ? run.finished_at - run.started_at : null,
  }
  return { id, name, result, cost, shown, endedAt: run?.finished_at ?? 0 }
}

const tokensOf = (run: RunRow): number =>
  run.input_tokens + run.output_tokens + run.cache_creation_input_tokens + run.cache_read_input_tokens

/** Against the last finished test of another definition. */
function changeOf(
  queries: AgentTestQueries,
  row: TestRow,
  now: readonly Outcome[],
  judged: (row: TestRow) => Outcome[],
): AgentTest['change'] {
  for (const other of queries.others.iterate(row.agent, row.seq, row.definition_hash)) {
    const then = judged(other)
    if (then.some(({ result }) => result === 'running')) continue
    return {
      test_id: other.id,
      definition_hash: other.definition_hash,
      made_at: iso(other.made_at),
      ...compare(now, then),
    }
  }
  return null
}

/* The SQL of examples and tests of agents. */

/** An example; what its run says of the firing is with the run. */
interface ExampleRow {
  id: string
  agent: string
  name: string
  run_id: string
  verdict: string | null
  /** JSON list. */
  mentions: string
  made_at: number
  made_by: string
}

/** An example as it was when the test was made, and its run. */
interface TestedExample extends Expected {
  id: string
  name: string
  run_id: string
}

interface TestRow {
  id: string
  seq: number
  agent: string
  definition_hash: string
  /** JSON of AgentTestTried, or null. */
  tried: string
  /** JSON list of TestedExample. */
  examples: string
  made_at: number
  made_by: string
}

type AgentTestQueries = ReturnType<typeof agentTestQueries>

/** The statements of a connection. */
function agentTestQueries(db: Database) {
  return {
    hasAgent: db
      .prepare<[string], number>("SELECT 1 FROM agents WHERE name = ? AND state <> 'deleted'")
      .pluck(),
    examplesOf: db.prepare<[string], ExampleRow>(
      'SELECT * FROM agent_examples WHERE agent = ? ORDER BY name',
    ),
    example: db.prepare<[string, string], ExampleRow>(
      'SELECT * FROM agent_examples WHERE agent = ? AND id = ?',
    ),
    isNamed: db
      .prepare<[string, string], number>('SELECT 1 FROM agent_examples WHERE agent = ? AND name = ?')
      .pluck(),
    insertExample: db.prepare<ExampleRow>(
      `INSERT INTO agent_examples (id, agent, name, run_id, verdict, mentions, made_at, made_by)
       VALUES (@id, @agent, @name, @run_id, @verdict, @mentions, @made_at, @made_by)`,
    ),
    removeExample: db.prepare<[string, string]>('DELETE FROM agent_examples WHERE agent = ? AND id = ?'),
    insertTest: db.prepare<Omit<TestRow, 'seq'>>(
      `INSERT INTO agent_tests (id, seq, agent, definition_hash, tried, examples, made_at, made_by)
       VALUES (@id, (SELECT coalesce(max(seq), 0) + 1 FROM agent_tests), @agent, @definition_hash, @tried,
         @examples, @made_at, @made_by)`,
    ),
    test: db.prepare<[string, string], TestRow>('SELECT * FROM agent_tests WHERE agent = ? AND id = ?'),
    tests: db.prepare<[string, number, number], TestRow>(
      'SELECT * FROM agent_tests WHERE agent = ? ORDER BY seq DESC LIMIT ? OFFSET ?',
    ),
    countTests: db.prepare<[string], number>('SELECT count(*) FROM agent_tests WHERE agent = ?').pluck(),
    /** Those before one, of other definitions, newest first. */
    others: db.prepare<[string, number, string], TestRow>(
      'SELECT * FROM agent_tests WHERE agent = ? AND seq < ? AND definition_hash <> ? ORDER BY seq DESC',
    ),
  }
}

/** An agent is gone: another of its name is not tested by what was expected of it. */
export function forgetAgentTests(db: Database, agent: string): void {
  db.prepare('DELETE FROM agent_examples WHERE agent = ?').run(agent)
  db.prepare('DELETE FROM agent_tests WHERE agent = ?').run(agent)
}

/** What is expected of an agent, and its tests, go along when it gets another name. */
export function renameAgentTests(db: Database, from: string, to: string): void {
  db.prepare('UPDATE agent_examples SET agent = ? WHERE agent = ?').run(to, from)
  db.prepare('UPDATE agent_tests SET agent = ? WHERE agent = ?').run(to, from)
}
