/** Examples and tests as they are answered: a test is what its runs have come to by now. */
import type { AgentExample, AgentTest, AgentTestExample } from '../../schemas/types.ts'
import { type RunQueries, type RunRow, runQueries } from '../runs/queries.ts'
import { wokenFor } from '../runs/woken-for.ts'
import type { Database } from '../store/handle.ts'
import { compare, type Judged, judge, sumOf } from './judge.ts'
import {
  type AgentTestQueries,
  agentTestQueries,
  type ExampleRow,
  type TestedExample,
  type TestRow,
} from './queries.ts'

const iso = (ms: number): string => new Date(ms).toISOString()

/** The row, with what its run says of the firing. */
export function presentExample(runs: RunQueries, row: ExampleRow): AgentExample {
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
export function testPresenter(db: Database): (row: TestRow) => AgentTest {
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
