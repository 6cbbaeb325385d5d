/** The SQL of guided setup. */
import { firstSnapshot, move } from '../lifecycle/advance.ts'
import type { Database } from '../store/handle.ts'

export interface SetupRow {
  id: string
  who: 'svc' | 'own'
  named: number
  instruction: string | null
  plan: string | null
  attempt: number
  claimed: number
  error: string | null
  no_provider: number
  own_key: string | null
  practised_at: number | null
  practice_run: string | null
  practice_dispatch: string | null
  practice_found: string | null
  snapshot: string
  state: string
}

export interface StepRow {
  n: number
  text: string
  state: 'running' | 'done' | 'stopped'
  at: number
}

/** States in which a plan is being written. */
export const PLANNING = ['reading', 'looking', 'writing', 'checking', 'fixing']

export type SetupQueries = ReturnType<typeof prepare>

const prepared = new WeakMap<Database, SetupQueries>()

/** The statements of a connection, prepared once. */
export function setupQueries(db: Database): SetupQueries {
  const known = prepared.get(db) ?? prepare(db)
  prepared.set(db, known)
  return known
}

function prepare(db: Database) {
  const insert = db.prepare(
    `INSERT INTO setups (id, who, named, attempt, claimed, snapshot) VALUES (?, ?, ?, 1, 0, ?)`,
  )
  const byId = db.prepare<[string], SetupRow>('SELECT * FROM setups WHERE id = ?')
  const planning = db.prepare<[], SetupRow>(
    `SELECT * FROM setups WHERE state IN (${PLANNING.map((state) => `'${state}'`).join(', ')}) ORDER BY rowid`,
  )
  const savePlan = db.prepare('UPDATE setups SET plan = ?, who = ? WHERE id = ?')
  const again = db.prepare(
    `UPDATE setups SET who = ?, instruction = ?, attempt = attempt + 1, error = NULL, no_provider = 0 WHERE id = ?`,
  )
  const claim = db.prepare('UPDATE setups SET claimed = attempt WHERE id = ?')
  const fault = db.prepare('UPDATE setups SET error = ?, no_provider = ? WHERE id = ?')
  const dropSteps = db.prepare('DELETE FROM setup_steps WHERE setup = ?')
  const endSteps = db.prepare("UPDATE setup_steps SET state = ? WHERE setup = ? AND state = 'running'")
  const addStep = db.prepare(
    `INSERT INTO setup_steps (setup, n, text, state, at)
     VALUES (?, (SELECT coalesce(max(n), 0) + 1 FROM setup_steps WHERE setup = ?), ?, 'running', ?)`,
  )
  const retell = db.prepare("UPDATE setup_steps SET text = ? WHERE setup = ? AND state = 'running'")
  const running = db
    .prepare<[string], string>("SELECT text FROM setup_steps WHERE setup = ? AND state = 'running'")
    .pluck()
  const ownKey = db.prepare('UPDATE setups SET own_key = ? WHERE id = ?')
  const practised = db.prepare(
    'UPDATE setups SET practised_at = ?, practice_run = ?, practice_dispatch = ?, practice_found = NULL WHERE id = ?',
  )
  const found = db.prepare('UPDATE setups SET practice_found = ? WHERE id = ?')
  return {
    insert: (id: string, who: string, isNamed: boolean) =>
      insert.run(id, who, isNamed ? 1 : 0, firstSnapshot('draft')),
    byId: (id: string) => byId.get(id),
    planning: () => planning.all(),
    savePlan: (id: string, plan: string, who: string) => savePlan.run(plan, who, id),
    again: (id: string, who: string, instruction: string | null) => again.run(who, instruction, id),
    claim: (id: string) => claim.run(id),
    fault: (id: string, error: string | null, noProvider: boolean) =>
      fault.run(error, noProvider ? 1 : 0, id),
    dropSteps: (id: string) => dropSteps.run(id),
    /** What was under way is done, or was stopped. */
    endSteps: (id: string, state: 'done' | 'stopped') => endSteps.run(state, id),
    addStep: (id: string, text: string, at: number) => addStep.run(id, id, text, at),
    /** Says of the sub-step under way what it came to. */
    retell: (id: string, text: string) => retell.run(text, id),
    /** What the sub-step under way says. */
    running: (id: string) => running.get(id),
    steps: db.prepare<[string], StepRow>(
      'SELECT n, text, state, at FROM setup_steps WHERE setup = ? ORDER BY n',
    ),
    ownKey: (id: string, key: string | null) => ownKey.run(key, id),
    practised: (id: string, at: number, run: string | null, dispatch: string | null) =>
      practised.run(at, run, dispatch, id),
    found: (id: string, run: string) => found.run(run, id),
  }
}

/** Moves the draft of a project by its machine. @throws SvcError wrong_state */
export function moveDraft(
  db: Database,
  { id, name }: { id: string; name: string },
  event: { type: string; [key: string]: unknown },
  at: number,
): void {
  move(db, { kind: 'draft', id, name }, { ...event, at })
}
