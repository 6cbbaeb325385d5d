/** The SQL of examples and tests of agents. */
import type { Database } from '../store/handle.ts'
import type { Expected } from './judge.ts'

/** An example; what its run says of the firing is with the run. */
export interface ExampleRow {
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
export interface TestedExample extends Expected {
  id: string
  name: string
  run_id: string
}

export interface TestRow {
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

export type AgentTestQueries = ReturnType<typeof agentTestQueries>

/** The statements of a connection. */
export function agentTestQueries(db: Database) {
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
