/** Whether an agent that runs are asked of is or was one. */
import { fail } from '../errors.ts'
import type { Database } from '../store/handle.ts'

/**
 * Deleted agents and outside agents, which have runs alone, are known.
 * @throws SvcError not_found: a name that was mistyped looks like an agent that did nothing otherwise
 */
export function requireKnownAgent(db: Database, name: string): void {
  const known = db
    .prepare<{ name: string }, number>(
      'SELECT EXISTS (SELECT 1 FROM agents WHERE name = @name) OR EXISTS (SELECT 1 FROM runs WHERE agent = @name)',
    )
    .pluck()
    .get({ name })
  if (!known) fail('not_found', `no agent is named ${name}`, { field: 'agent' })
}
