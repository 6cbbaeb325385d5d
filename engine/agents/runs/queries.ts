/** The SQL of runs, their steps and handoffs. */

import { didYouMean } from '../../../schemas/near-names.ts'
import type { FindingMark, Run } from '../../../schemas/types.ts'
import { renamesOf } from '../../documents/record.ts'
import { fail } from '../../errors.ts'
import type { Database } from '../../log/store/handle.ts'
import { dollarsSql } from '../../model/units.ts'

const NEW_RUN = [
  'id',
  'agent',
  'definition',
  'definition_hash',
  'woken_by',
  'trigger_name',
  'firing_id',
  'dispatch_id',
  'label',
  'entity',
  'parent_run_id',
  'root_run_id',
  'depth',
  'rerun_of',
  'practice',
  'tape',
  'made_at',
  'as_of',
  'incident',
  'wake_key',
  'woke_at',
  'snapshot',
] as const
export type NewRun = Pick<RunRow, (typeof NEW_RUN)[number]>

export type RunQueries = ReturnType<typeof prepare>

/** What calls of models under way may cost, of agents and Ask. */
const HELD = `(SELECT coalesce(sum(reserved_usd), 0) FROM runs WHERE reserved_usd > 0)
  + (SELECT coalesce(sum(reserved_usd), 0) FROM ask_turns WHERE state = 'running')`

const WAITING = 'seq, agent, definition_hash, label, entity, practice'

/** What a claim asks of the runs that are open; each is led by an index. */
export const waitingSql = {
  /** Those at work. The index of open runs is used only where its own condition is said. */
  running: `SELECT id, agent, label, entity, practice FROM runs
    WHERE state IN ('queued', 'running', 'parked') AND state = 'running' ORDER BY seq`,
  /**
   * Those whose model is to be tried again, the longest due first; those too that would wait more than twice as long as
   * they were to, since the clock was set back.
   */
  dueParked: `SELECT id, agent, label, entity, practice, definition FROM runs
    WHERE state = 'parked' AND (parked_until <= @now OR parked_until - @now > 2 * (parked_until - parked_since))
    ORDER BY parked_until, seq`,
  /** The first run of the next agent, or of its next definition. */
  nextLine: `SELECT ${WAITING}, definition FROM runs WHERE state = 'queued' AND (agent, definition_hash) > (?, ?)
    ORDER BY agent, definition_hash, seq LIMIT 1`,
  /** The run behind one, of the same agent and definition. */
  after: `SELECT ${WAITING} FROM runs WHERE state = 'queued' AND agent = ? AND definition_hash = ? AND seq > ?
    ORDER BY seq LIMIT 1`,
  /** Runs of an agent that count for its day: of those that a clock dated ahead, which was set back since, a day's. */
  startedSince: `SELECT count(*) FROM runs WHERE agent = ? AND started_at > ? AND started_at < ? AND state <> 'capped'
    AND woken_by <> 'external'`,
} as const

const prepared = new WeakMap<Database, RunQueries>()

/** The statements of a connection, prepared once. */
export function runQueries(db: Database): RunQueries {
  const known = prepared.get(db) ?? prepare(db)
  prepared.set(db, known)
  return known
}

function prepare(db: Database) {
  return {
    ...making(db),
    ...waiting(db),
    ...spending(db),
    ...ending(db),
    ...incidents(db),
    ...handoffs(db),
  }
}

/** Runs as they are made, and those that a wake more is told to. */
function making(db: Database) {
  const insert = db.prepare(
    `INSERT INTO runs (seq, ${NEW_RUN.join(', ')})
     VALUES ((SELECT coalesce(max(seq), 0) + 1 FROM runs), ${NEW_RUN.map((c) => `@${c}`).join(', ')})`,
  )
  const addProject = db.prepare<[string, string]>(
    'INSERT OR IGNORE INTO run_projects (run_id, project) VALUES (?, ?)',
  )
  return {
    insert: (run: NewRun, projects: readonly string[]): void => {
      insert.run(run)
      for (const project of projects) addProject.run(run.id, project)
    },
    addProject: (id: string, project: string) => addProject.run(id, project),
    byId: db.prepare<[string], RunRow>('SELECT * FROM runs WHERE id = ?'),
    projectsOf: db
      .prepare<[string], string>('SELECT project FROM run_projects WHERE run_id = ? ORDER BY project')
      .pluck(),
    /**
     * One that waits for the same: a wake more is told to it. By the index of those that wait: of an entity that is
     * looked at again and again all runs that ever were would be read, at each firing.
     */
    waiting: db.prepare<[string, string, string], RunRow>(
      `SELECT * FROM runs INDEXED BY runs_waiting WHERE state = 'queued' AND agent = ? AND label = ? AND entity = ? AND practice = 0
         AND woken_by IN ('trigger', 'schedule') ORDER BY seq LIMIT 1`,
    ),
    /** It keeps its incident, whatever else it answers now. */
    fold: db.prepare<{
      id: string
      firing: number
      dispatch: string
      trigger: string
      key: string
      at: number
    }>(
      `UPDATE runs SET wakes = wakes + 1, firing_id = @firing, dispatch_id = @dispatch, trigger_name = @trigger,
         woke_at = CASE WHEN wake_key = @key THEN @at ELSE woke_at END WHERE id = @id`,
    ),
    /** Triggers of all the firings that a run answers. */
    wokenBy: db
      .prepare<[string], string>(
        `SELECT DISTINCT f.trigger_name FROM deliveries d JOIN firings f ON f.id = d.firing_id
         WHERE d.run_id = ? AND d.recipient_kind = 'agent'`,
      )
      .pluck(),
    /** The last firing of a trigger and entity that a run answers. */
    lastWake: db.prepare<[string], { incident: string; woke_at: number }>(
      'SELECT incident, woke_at FROM runs WHERE wake_key = ? ORDER BY woke_at DESC, seq DESC LIMIT 1',
    ),
  }
}

/** Runs that wait, are parked or at work. */
function waiting(db: Database) {
  return {
    hasOpen: db
      .prepare<[], number>(
        "SELECT EXISTS (SELECT 1 FROM runs WHERE state IN ('queued', 'running', 'parked'))",
      )
      .pluck(),
    running: db.prepare<[], Pick<RunRow, 'id' | 'agent' | 'label' | 'entity' | 'practice'>>(
      waitingSql.running,
    ),
    parked: db.prepare<[], Pick<RunRow, 'id' | 'agent' | 'label' | 'entity' | 'practice'>>(
      `SELECT id, agent, label, entity, practice FROM runs WHERE state = 'parked'`,
    ),
    dueParked: db.prepare<
      [{ now: number }],
      Pick<RunRow, 'id' | 'agent' | 'label' | 'entity' | 'practice' | 'definition'>
    >(waitingSql.dueParked),
    nextParked: db
      .prepare<[number], number | null>(
        "SELECT min(parked_until) FROM runs WHERE state = 'parked' AND parked_until > ?",
      )
      .pluck(),
    park: db.prepare<{ id: string; since: number; until: number; why: string }>(
      `UPDATE runs SET parked_since = @since, parked_until = @until, parked_why = @why,
         parked_times = parked_times + 1 WHERE id = @id`,
    ),
    cancelledBy: db.prepare<[string, string]>('UPDATE runs SET cancelled_by = ? WHERE id = ?'),
    nextLine: db.prepare<[string, string], WaitingRow & Pick<RunRow, 'definition'>>(waitingSql.nextLine),
    waitingAfter: db.prepare<[string, string, number], WaitingRow>(waitingSql.after),
    bySeq: db.prepare<[number], RunRow>('SELECT * FROM runs WHERE seq = ?'),
    /** A rerun that has not begun, or reads as of the same instant: another one like it would look at the same. */
    openRerun: db
      .prepare<{ of: string; root: string; hash: string; asOf: number | null }, string>(
        `SELECT id FROM runs WHERE root_run_id = @root AND rerun_of = @of AND practice = 0
           AND definition_hash = @hash AND as_of IS @asOf
           AND (state = 'queued' OR (state IN ('running', 'parked') AND @asOf IS NOT NULL)) LIMIT 1`,
      )
      .pluck(),
    begin: db.prepare<[number, number, number, string, string]>(
      'UPDATE runs SET as_of = coalesce(as_of, ?), started_at = ?, deadline_at = ?, provider = ? WHERE id = ?',
    ),
    extend: db.prepare<[number, string]>('UPDATE runs SET deadline_at = ? WHERE id = ?'),
    startedSince: db.prepare<[string, number, number], number>(waitingSql.startedSince).pluck(),
  }
}

/** What runs cost and hold of a budget. */
function spending(db: Database) {
  return {
    /**
     * What was spent and is reserved, of one agent: also by runs that are no longer kept, and not by an
     * agent of its name that was deleted before it was made.
     */
    spentBy: db
      .prepare<{ agent: string }, number>(
        `WITH made AS (SELECT coalesce(max(created_at), 0) AS at FROM agents WHERE name = @agent AND state <> 'deleted')
         SELECT (SELECT coalesce(sum(cost_usd), 0) FROM model_usage, made
             WHERE surface = 'agent' AND agent = @agent AND model_usage.at >= made.at)
           + (SELECT coalesce(sum(reserved_usd), 0) FROM runs, made
             WHERE agent = @agent AND reserved_usd > 0 AND made_at >= made.at)
           + (SELECT coalesce(sum(assumed_usd), 0) FROM runs, made
             WHERE agent = @agent AND assumed_usd > 0 AND made_at >= made.at)`,
      )
      .pluck(),
    /** Of it what calls under way hold: it is given back but for what they cost. */
    heldBy: db
      .prepare<[string], number>(
        'SELECT coalesce(sum(reserved_usd), 0) FROM runs WHERE agent = ? AND reserved_usd > 0',
      )
      .pluck(),
    /** The same of agents and Ask together, between two instants. */
    spentSince: db
      .prepare<{ since: number; until: number }, number>(
        `SELECT (SELECT coalesce(sum(cost_usd), 0) FROM model_usage WHERE at >= @since AND at < @until)
           + (SELECT coalesce(sum(assumed_usd), 0) FROM runs
             WHERE assumed_usd > 0 AND assumed_at >= @since AND assumed_at < @until)
           + (SELECT coalesce(sum(usd), 0) FROM ask_cut_calls WHERE at >= @since AND at < @until)
           + ${HELD}`,
      )
      .pluck(),
    held: db.prepare<[], number>(`SELECT ${HELD}`).pluck(),
    /** A call that was cut off may have been paid: what it reserved counts as spent. */
    assume: db.prepare<{ id: string; at: number }>(
      `UPDATE runs SET assumed_usd = assumed_usd + reserved_usd, assumed_at = @at, reserved_usd = 0
       WHERE id = @id AND reserved_usd > 0`,
    ),
    reserve: db.prepare<[number, string]>('UPDATE runs SET reserved_usd = reserved_usd + ? WHERE id = ?'),
    addUsage: db.prepare<{
      id: string
      provider: string
      model: string
      input: number
      output: number
      created: number
      read: number
      cost: number
      saved: number
      fallback: string | null
      uncosted: number
      released: number
    }>(
      `UPDATE runs SET parked_since = NULL, parked_until = NULL, parked_why = NULL, parked_times = 0,
         cache_saved_usd = ${dollarsSql('cache_saved_usd + @saved')}, fallback = @fallback, provider = @provider, model = @model, input_tokens = input_tokens + @input,
         output_tokens = output_tokens + @output, cache_creation_input_tokens = cache_creation_input_tokens + @created,
         cache_read_input_tokens = cache_read_input_tokens + @read, cost_usd = ${dollarsSql('cost_usd + @cost')},
         uncosted_calls = uncosted_calls + @uncosted, reserved_usd = max(0, reserved_usd - @released),
         rounds = rounds + 1 WHERE id = @id`,
    ),
    release: db.prepare<[number, string]>(
      'UPDATE runs SET reserved_usd = max(0, reserved_usd - ?) WHERE id = ?',
    ),
  }
}

/** Their steps, and how they end. */
function ending(db: Database) {
  return {
    countTool: db.prepare<[string]>('UPDATE runs SET tool_calls = tool_calls + 1 WHERE id = ?'),
    loadSkill: db.prepare<{ id: string; name: string }>(
      `UPDATE runs SET skills = json_insert(skills, '$[#]', @name) WHERE id = @id
         AND @name NOT IN (SELECT value FROM json_each(skills))`,
    ),
    steps: db.prepare<[string], StepRow>('SELECT * FROM run_steps WHERE run_id = ? ORDER BY n'),
    /** Of calls alone, without what was said: what makes a tape long. */
    shortSteps: db.prepare<[string], StepRow>(
      `SELECT run_id, n, kind, round, at, ms, json_remove(data, '$.result', '$.images', '$.shown', '$.claims',
         '$.proposal', '$.call.arguments', '$.reply.text', '$.reply.raw') AS data
       FROM run_steps WHERE run_id = ? AND kind IN ('model', 'tool', 'refused', 'conclude') ORDER BY n`,
    ),
    step: db.prepare<[string, number], StepRow>('SELECT * FROM run_steps WHERE run_id = ? AND n = ?'),
    lastStep: db.prepare<[string], { n: number; round: number }>(
      'SELECT n, round FROM run_steps WHERE run_id = ? ORDER BY n DESC LIMIT 1',
    ),
    saveStep: db.prepare<[string, number, string, number, number, number | null, string]>(
      'INSERT OR REPLACE INTO run_steps (run_id, n, kind, round, at, ms, data) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ),
    end: db.prepare<{
      id: string
      finished_at: number
      outcome: string | null
      verdict: string | null
      headline: string | null
      next_step: string | null
      note: string | null
      claims: string | null
      verified_ok: number | null
      verified_total: number | null
      error: string | null
      servers: string
      results: string
      event_id: string | null
      label: string
      entity: string
    }>(
      `UPDATE runs SET finished_at = @finished_at, outcome = @outcome, verdict = @verdict, headline = @headline,
         next_step = @next_step, note = @note, claims = @claims, verified_ok = @verified_ok,
         verified_total = @verified_total, error = @error, servers = @servers, results = @results,
         event_id = @event_id, label = @label, entity = @entity WHERE id = @id`,
    ),
  }
}

/** What was found before, and in the same incident. */
function incidents(db: Database) {
  return {
    /** What this agent found of the entity last, before an instant. */
    earlier: db.prepare<[string, string, string, number], RunRow>(
      `SELECT * FROM runs WHERE agent = ? AND label = ? AND entity = ? AND outcome = 'finding' AND practice = 0
         AND finished_at < ? ORDER BY seq DESC LIMIT 1`,
    ),
    /** What this agent found in the same incident last, before an instant, whatever entity it concluded on. */
    foundBefore: db.prepare<{ agent: string; incident: string; root: string; before: number }, RunRow>(
      `SELECT * FROM runs WHERE incident = @incident AND agent = @agent AND outcome = 'finding' AND practice = 0
         AND root_run_id <> @root AND finished_at < @before ORDER BY seq DESC LIMIT 1`,
    ),
    chain: db.prepare<[string, number], RunRow>(
      'SELECT * FROM runs WHERE root_run_id = ? AND seq <= ? ORDER BY seq',
    ),
    join: db.prepare<{ id: string; parent: string; root: string; incident: string; depth: number }>(
      'UPDATE runs SET parent_run_id = @parent, root_run_id = @root, incident = @incident, depth = @depth WHERE id = @id',
    ),
    byEvent: db.prepare<[string], RunRow>('SELECT * FROM runs WHERE event_id = ?'),
    isBusy: db
      .prepare<[string, string, string], number>(
        // As `waiting`.
        `SELECT count(*) FROM runs INDEXED BY runs_open WHERE state IN ('queued', 'running', 'parked')
           AND agent = ? AND label = ? AND entity = ? AND practice = 0`,
      )
      .pluck(),
  }
}

/**
 * SQL of the agents of the chain of the run `r`, as a JSON list: those that handed over from one to the next, its own last.
 * A run that was repeated, and what took over from it, is not of the chain of its repetition.
 * @param narrowed which runs of `up` count
 */
export const agentsOfChain = (narrowed = ''): string => `(
  WITH RECURSIVE up(id, agent, parent, seq) AS (
    SELECT r.id, r.agent, r.parent_run_id, r.seq
    UNION ALL SELECT c.id, c.agent, c.parent_run_id, c.seq
      FROM up JOIN runs c ON c.id = up.parent AND c.root_run_id = r.root_run_id)
  SELECT json_group_array(up.agent ORDER BY up.seq) FROM up ${narrowed})`

/** Handoffs from run to run. */
function handoffs(db: Database) {
  return {
    insertHandoff: db.prepare<Omit<HandoffRow, 'state'>>(
      `INSERT INTO handoffs (id, from_run, from_agent, to_agent, verdict, label, entity, projects, at, to_run, snapshot)
       VALUES (@id, @from_run, @from_agent, @to_agent, @verdict, @label, @entity, @projects, @at, @to_run, @snapshot)`,
    ),
    setHandoffRun: db.prepare<[string, string]>('UPDATE handoffs SET to_run = ? WHERE id = ?'),
    lastHandoff: db
      .prepare<[string, string, string, string], number>(
        `SELECT max(at) FROM handoffs WHERE from_agent = ? AND to_agent = ? AND label = ? AND entity = ?
           AND state IN ('started', 'done')
           AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = handoffs.from_run AND runs.practice = 1)`,
      )
      .pluck(),
    handoffTo: db.prepare<[string], HandoffRow>(
      "SELECT * FROM handoffs WHERE to_run = ? AND state = 'started'",
    ),
    handedOver: db.prepare<[string], { label: string; entity: string }>(
      'SELECT label, entity FROM handoffs WHERE to_run = ?',
    ),
    firingOf: db.prepare<[number], { label: string | null; entity: string }>(
      'SELECT label, coalesce(value_text, key) AS entity FROM firings WHERE id = ?',
    ),
    handoffsFrom: db.prepare<[string], HandoffRow>(
      'SELECT * FROM handoffs WHERE from_run = ? ORDER BY at, id',
    ),
  }
}

/* Runs, their steps and handoffs as they are stored. */

/** A mark as it is stored with the run that found it. */
export interface MarkRow {
  mark: FindingMark['mark'] | null
  mark_note: string | null
  mark_cause: string | null
  /** Epoch ms. */
  marked_at: number | null
  marked_by: string | null
}

export interface RunRow extends MarkRow {
  id: string
  seq: number
  agent: string
  /** JSON of the agent's spec as it was; secrets are references or absent. */
  definition: string
  definition_hash: string
  woken_by: 'trigger' | 'schedule' | 'handoff' | 'rerun' | 'practice' | 'test' | 'manual' | 'external'
  trigger_name: string | null
  firing_id: number | null
  dispatch_id: string | null
  label: string
  entity: string
  parent_run_id: string | null
  root_run_id: string
  depth: number
  rerun_of: string | null
  practice: number
  /** 1: answered by the tape of the run it repeats. */
  tape: number
  made_at: number
  as_of: number | null
  started_at: number | null
  finished_at: number | null
  deadline_at: number | null
  wakes: number
  rounds: number
  tool_calls: number
  provider: string | null
  model: string | null
  input_tokens: number
  output_tokens: number
  cache_creation_input_tokens: number
  cache_read_input_tokens: number
  cost_usd: number
  uncosted_calls: number
  /** Of the call under way. */
  reserved_usd: number
  /** Of calls that were cut off: what they may have cost. */
  assumed_usd: number
  assumed_at: number | null
  /** Epoch ms of the first fault since a reply; null: its model answers. */
  parked_since: number | null
  /** Epoch ms, as is when it is tried again. */
  parked_until: number | null
  parked_why: string | null
  /** Since a reply. */
  parked_times: number
  cancelled_by: string | null
  cache_saved_usd: number
  /** JSON of `fallbackFor` of the last reply. */
  fallback: string | null
  outcome: 'finding' | 'no_op' | null
  verdict: string | null
  headline: string | null
  next_step: string | null
  note: string | null
  claims: string | null
  verified_ok: number | null
  verified_total: number | null
  event_id: string | null
  error: string | null
  results: string
  servers: string
  /** JSON list: skills it loaded, in order. */
  skills: string
  handled_at: number | null
  handled_by: string | null
  /** Which runs are of one is making.ts. */
  incident: string
  wake_key: string | null
  /** Epoch ms of the last firing it answers. */
  woke_at: number | null
  snapshot: string
  state: Run['status']
  version: number
}

/** A run that waits, as its index has it. */
export type WaitingRow = Pick<RunRow, 'seq' | 'agent' | 'definition_hash' | 'label' | 'entity' | 'practice'>

export interface StepRow {
  run_id: string
  n: number
  kind: string
  round: number
  at: number
  ms: number | null
  data: string
}

export interface HandoffRow {
  id: string
  from_run: string
  from_agent: string
  to_agent: string
  verdict: string
  label: string
  entity: string
  projects: string
  at: number
  to_run: string | null
  snapshot: string
  state: string
}

/** The states of a run of which more is to come; the index of open runs has the same. */
export const OPEN_STATES = ['queued', 'running', 'parked'] as const

export const isOpen = (state: string): boolean => (OPEN_STATES as readonly string[]).includes(state)

/* Whether an agent that runs are asked of is or was one. */

/**
 * Deleted agents and outside agents, which have runs alone, are known.
 * @param isHinted whether the agent that was meant perhaps is named: who reads one project must not learn what others have
 * @throws SvcError not_found: a name that was mistyped looks like an agent that did nothing otherwise
 */
export function requireKnownAgent(db: Database, name: string, isHinted = false): void {
  const known = db
    .prepare<{ name: string }, number>(
      'SELECT EXISTS (SELECT 1 FROM agents WHERE name = @name) OR EXISTS (SELECT 1 FROM runs WHERE agent = @name)',
    )
    .pluck()
    .get({ name })
  if (known) return
  fail('not_found', isHinted ? noAgentNamed(db, name) : `no agent is named ${name}`, { field: 'agent' })
}

/** That no agent has a name, with the one that was meant perhaps, for who may read them all. */
export function noAgentNamed(db: Database, name: string): string {
  const live = db.prepare<[], string>("SELECT name FROM agents WHERE state <> 'deleted'").pluck()
  return `no agent is named ${name}${didYouMean(name, live.all())}`
}

/** Runs, what they spent and handoffs go along when their agent gets another name, or the trigger that woke them. */
export function renameInRuns(
  db: Database,
  { kind, from, to }: { kind: 'agent' | 'trigger' | 'skill'; from: string; to: string },
): void {
  if (kind === 'skill') {
    db.prepare(
      `UPDATE runs SET skills = (SELECT json_group_array(name) FROM (
         SELECT CASE s.value WHEN @from THEN @to ELSE s.value END AS name FROM json_each(runs.skills) s
         GROUP BY name ORDER BY min(s.key)))
       WHERE skills <> '[]' AND @from IN (SELECT value FROM json_each(runs.skills))`,
    ).run({ from, to })
    return
  }
  if (kind === 'trigger') {
    db.prepare('UPDATE runs SET trigger_name = ? WHERE trigger_name = ?').run(to, from)
    return
  }
  db.prepare('UPDATE runs SET agent = ? WHERE agent = ?').run(to, from)
  db.prepare('UPDATE model_usage SET agent = ? WHERE agent = ?').run(to, from)
  db.prepare('UPDATE handoffs SET from_agent = ? WHERE from_agent = ?').run(to, from)
  db.prepare('UPDATE handoffs SET to_agent = ? WHERE to_agent = ?').run(to, from)
}

/**
 * A skill that one of the projects uses, also by the name it had before: one that gets another while a run is at work is
 * still the one the run was told of.
 */
export function skillNow(
  db: Database,
  projects: readonly string[],
  name: string,
): { name: string; body: string } | null {
  const read = db.prepare<[string, string], { name: string; body: string }>(
    `SELECT s.name, json_extract(s.spec, '$.body') AS body FROM skills s
     JOIN project_uses u ON u.kind = 'skill' AND u.name = s.name
     WHERE s.name = ? AND s.state <> 'deleted' AND u.project IN (SELECT value FROM json_each(?)) LIMIT 1`,
  )
  const of = JSON.stringify(projects)
  const found = read.get(name, of)
  if (found) return found
  const now = renamesOf(db).nowOf('skill', name)
  return now === null ? null : (read.get(now, of) ?? null)
}
