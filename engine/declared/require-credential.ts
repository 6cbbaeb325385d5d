/** What a person or an agent writes names credentials that are there; a catalog may come before them. */
import { WHERE } from '../credentials/types.ts'
import { fail } from '../errors.ts'
import type { Declared } from './declared.ts'

/**
 * @param before what was named until now: one that has gone since is not what this write is about.
 * @throws SvcError not_found
 */
export function requireCredential(declared: Declared, name: string | null, before: string | null): void {
  if (name === null || name === before || declared.sources.store.credentials.has(name)) return
  fail('not_found', `credential: no credential is named ${name}; add it under ${WHERE} first`, {
    field: 'credential',
  })
}

/** Parameters of a template that name credentials name some that are there. @throws SvcError not_found */
export function requireParamCredentials(
  declared: Declared,
  template: string | undefined,
  params: Readonly<Record<string, unknown>> = {},
): void {
  const file = template === undefined ? undefined : declared.templates.get(template)
  for (const [name, rules] of Object.entries(file?.params.properties ?? {})) {
    const given = params[name]
    if (rules['x-widget'] === 'credential' && typeof given === 'string' && given)
      requireCredential(declared, given, null)
  }
}
