/** Variables of the environment in documents that are written: only those that may be opened, and none in an address. */
import type { Kinds } from '../changes/declared.ts'
import type { Staged } from '../changes/edit.ts'
import { fail } from '../errors.ts'
import { addressFaults, variableFault } from '../secret-variables.ts'

/**
 * A reference that stays as it is, to the same host, passes: it is refused where it is used, and an edit of
 * another field must not wait for it. So does what is brought back as it was.
 * @throws SvcError invalid, naming the field, the variable and the rule
 */
export function refuseVariables(
  { kind, stored, doc, revive }: Pick<Staged, 'kind' | 'stored' | 'doc' | 'revive'>,
  kinds: Kinds,
  env: Readonly<Record<string, string | undefined>>,
): void {
  const of = kinds[kind]
  if (!doc || revive !== null) return
  const stays = stored ? of.addresses?.(stored.doc) : undefined
  for (const { field, fault } of addressFaults(of.addresses?.(doc) ?? {}))
    if (stays?.[field] !== of.addresses?.(doc)[field]) fail('invalid', `${field}: ${fault}`, { field })
  if (!of.variables) return
  const before = stored ? of.variables(stored.doc) : []
  for (const { field, variable, host } of of.variables(doc)) {
    const isAsBefore = before.some(
      (use) => use.field === field && use.variable === variable && use.host === host,
    )
    const fault = isAsBefore ? null : variableFault(variable, env)
    if (fault !== null) fail('invalid', `${field}: ${fault}`, { field })
  }
}
