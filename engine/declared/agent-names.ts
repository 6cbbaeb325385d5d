/**
 * A finding carries the name of who recorded it: an agent's, or that of the key an outside agent uses. No two
 * of them share a name, or the key could record nothing.
 */
import type { DeclaredKind } from '../changes/declared.ts'
import type { Staged } from '../changes/edit.ts'
import { fail } from '../errors.ts'
import type { Keys } from '../keys/keys.ts'

/** @throws SvcError conflict where an agent has the name of a key that is to record findings */
export function refuseAgentsName(
  { kinds }: { kinds: { agent: Pick<DeclaredKind, 'find'> } },
  name: string,
): void {
  if (kinds.agent.find(name.trim()))
    fail(
      'conflict',
      `name: ${name.trim()} is the name of an agent of this service, so the key could record no finding; give it another name`,
      { field: 'name' },
    )
}

/** @throws SvcError conflict where a key that records findings has the name of an agent that is made */
export function refuseKeysName(staged: readonly Staged[], keys: Pick<Keys, 'records'>): void {
  const made = staged.filter(({ kind, stored, doc }) => kind === 'agent' && !stored && doc)
  if (made.length === 0) return
  const recording = keys.records().filter(({ scopes }) => scopes.includes('findings'))
  for (const { key } of made)
    if (recording.some(({ name }) => name === key))
      fail(
        'conflict',
        `name: a project key is named ${key} and records findings under it; give the agent another name, or revoke the key`,
        { field: 'name' },
      )
}
