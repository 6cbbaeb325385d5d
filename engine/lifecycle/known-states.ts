/**
 * Whether every stored state is one its machine knows. A state that was renamed without a migration
 * must stop the start with its name, not fail later in the middle of a request.
 */
import { type Kind, lifecycles } from '../../machines/index.ts'
import { StartError } from '../errors.ts'
import type { Database } from '../store/handle.ts'
import { lifecycleTables } from './queries.ts'

/** @throws StartError 78 naming the kind, the state and how many rows have it. */
export function checkKnownStates(db: Database): void {
  for (const kind of Object.keys(lifecycleTables) as Kind[]) {
    const known = Object.keys(lifecycles[kind].machine.states)
    const stored = db
      .prepare<[], { state: string; n: number }>(
        `SELECT state, count(*) AS n FROM ${lifecycleTables[kind]} GROUP BY state`,
      )
      .all()
    for (const { state, n } of stored)
      if (!known.includes(state))
        throw new StartError(
          `${n} stored ${kind} rows are in state ${state}, which this svc does not know; start the version that wrote them`,
          78,
        )
  }
}
