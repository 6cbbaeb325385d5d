/**
 * The only writer of a state. It reads the row's snapshot, asks the machine, saves the next
 * snapshot against the version it read, and appends to the history, all inside the caller's
 * transaction: the state, what it causes and the record of it stand or fall together.
 */
import { type Kind, lifecycles } from '../../machines/index.ts'
import { accepts, type Effect, type Snapshot, start, step } from '../../machines/step.ts'
import type { Caller } from '../engine.ts'
import { fail } from '../errors.ts'
import type { Database } from '../store/handle.ts'

const TABLES = { source: 'sources', key: 'keys' } as const satisfies Record<Kind, string>

/** The stored form of a new object's first state; the caller inserts it with the row. */
export function firstSnapshot(kind: Kind): string {
  return JSON.stringify(start(lifecycles[kind]))
}

/** Records that an object was made. @param at epoch ms. */
export function recordCreated(db: Database, kind: Kind, object: string, by: Caller, at: number): void {
  append(db, { at, kind, object, from: null, event: 'create', to: start(lifecycles[kind]).value, by })
}

/**
 * Moves one object by an event; call inside a transaction.
 * @param id primary key of its row. @param name how errors and history call it. @param at epoch ms.
 * @returns the new state and the effects the caller writes in the same transaction.
 * @throws SvcError not_found, wrong_state (naming the state and what it accepts)
 */
export function advance(
  db: Database,
  kind: Kind,
  id: number | string,
  name: string,
  event: string,
  by: Caller,
  at: number,
): { state: string; effects: Effect[] } {
  const table = TABLES[kind]
  const row = db.prepare(`SELECT snapshot, version FROM ${table} WHERE id = ?`).get(id) as
    | { snapshot: string; version: number }
    | undefined
  if (!row) fail('not_found', `no ${kind} is named ${name}`)
  const before = JSON.parse(row.snapshot) as Snapshot
  const { accepted, snapshot, effects } = step(lifecycles[kind], before, { type: event, at })
  if (!accepted) {
    const open = accepts(lifecycles[kind], before)
    fail(
      'wrong_state',
      `${kind} ${name} is ${before.value} and does not accept ${event}; it accepts ${open.join(', ') || 'nothing more'}`,
    )
  }
  const saved = db
    .prepare(`UPDATE ${table} SET snapshot = ?, version = version + 1 WHERE id = ? AND version = ?`)
    .run(JSON.stringify(snapshot), id, row.version)
  if (saved.changes !== 1) fail('conflict', `${kind} ${name} was changed at the same time; try again`)
  append(db, { at, kind, object: name, from: before.value, event, to: snapshot.value, by })
  return { state: snapshot.value, effects }
}

/** The events a stored snapshot accepts now. */
export function acceptedBy(kind: Kind, snapshot: string): string[] {
  return accepts(lifecycles[kind], JSON.parse(snapshot) as Snapshot)
}

function append(
  db: Database,
  entry: {
    at: number
    kind: Kind
    object: string
    from: string | null
    event: string
    to: string
    by: Caller
  },
): void {
  db.prepare(
    'INSERT INTO history (at, kind, object, from_state, event, to_state, actor) VALUES (?, ?, ?, ?, ?, ?, ?)',
  ).run(
    entry.at,
    entry.kind,
    entry.object,
    entry.from,
    entry.event,
    entry.to,
    `${entry.by.id} ${entry.by.name}`,
  )
}
