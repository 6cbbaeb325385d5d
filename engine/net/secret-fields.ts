/**
 * The secrets of a declared document: sealed in its row and in the record of changes, in the clear
 * in memory, a mask wherever they leave the engine. A reference, `${NAME}` to the environment or
 * `credential:<name>` to a stored credential, is no secret: it is shown, exported and resolved when
 * it is used (SPEC.md, Catalog YAML).
 */

import { fail, SvcError } from '../errors.ts'
import { MASK } from '../model/plan.ts'
import { keepAddressSecrets, maskAddresses, openAddresses, sealAddresses } from './address-secrets.ts'
import type { Secrets } from './secrets.ts'

type Fields = Readonly<Record<string, unknown>>

/** Where a document has secrets. */
export interface SecretNames {
  /** Fields that are secret as a whole. */
  secrets: readonly string[]
  /** Fields that hold addresses, of which parameters may be secret. */
  addresses: readonly string[]
}

/** Whether a value refers to a secret kept elsewhere. */
export const isReference = (value: unknown): boolean =>
  typeof value === 'string' &&
  (/^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/.test(value) || /^credential:\S+$/.test(value))

/** What a `credential:<name>` refers to, such as github/main; null: it is none. */
export const storedName = (value: unknown): string | null =>
  (typeof value === 'string' && /^credential:(\S+)$/.exec(value)?.[1]) || null

/**
 * Seals the named fields; one that did not change keeps its sealed form.
 * @param place where they live, such as agents/first-look.
 */
export function sealFields(
  fields: Fields,
  { secrets: names, addresses }: SecretNames,
  place: string,
  secrets: Secrets,
  before?: { open: Fields; sealed: Fields },
): Fields {
  const sealed: Record<string, unknown> = { ...fields }
  for (const name of addresses) {
    if (fields[name] === undefined) continue
    const known = before && { open: before.open[name], sealed: before.sealed[name] }
    sealed[name] = sealAddresses(fields[name], `${place}/${name}`, secrets, known)
  }
  for (const name of names) {
    const value = fields[name]
    if (typeof value !== 'string' || value === '' || isReference(value)) continue
    sealed[name] =
      before && before.open[name] === value && typeof before.sealed[name] === 'string'
        ? before.sealed[name]
        : secrets.seal(value, `${place}/${name}`)
  }
  return sealed
}

/** Opens the named fields; those that cannot be read are left out, in an address masked, and named. */
export function openFields(
  fields: Fields,
  { secrets: names, addresses }: SecretNames,
  place: string,
  secrets: Secrets,
): { open: Fields; unreadable: string[] } {
  const open: Record<string, unknown> = { ...fields }
  const unreadable: string[] = []
  for (const name of addresses) {
    if (fields[name] === undefined) continue
    const found = openAddresses(fields[name], `${place}/${name}`, secrets)
    open[name] = found.open
    if (found.unreadable) unreadable.push(name)
  }
  for (const name of names) {
    const value = fields[name]
    if (typeof value !== 'string' || value === '' || isReference(value)) continue
    try {
      open[name] = secrets.open(value, `${place}/${name}`)
    } catch (error) {
      if (!(error instanceof SvcError)) throw error
      delete open[name]
      unreadable.push(name)
    }
  }
  return { open, unreadable }
}

/** The fields as they may leave the engine. */
export function maskNamed(fields: Fields, { secrets, addresses }: SecretNames): Fields {
  const masked: Record<string, unknown> = { ...maskFields(fields, secrets) }
  for (const name of addresses) if (masked[name] !== undefined) masked[name] = maskAddresses(masked[name])
  return masked
}

/** The fields with those that are secret as a whole masked; addresses stay as they are. */
export function maskFields(fields: Fields, names: readonly string[]): Fields {
  const masked: Record<string, unknown> = { ...fields }
  for (const name of names)
    if (typeof masked[name] === 'string' && masked[name] !== '' && !isReference(masked[name]))
      masked[name] = MASK
  return masked
}

/**
 * Fields given to replace the stored ones, where a blank or masked secret keeps what is stored, and so does
 * a mask in an address of the same host.
 * @throws SvcError invalid for a mask with nothing behind it, or of another host.
 */
export function keepSecrets(
  given: Fields,
  stored: { doc: Fields; unreadable: readonly string[] } | undefined,
  { secrets: names, addresses }: SecretNames,
): Fields {
  const kept: Record<string, unknown> = { ...given }
  for (const name of addresses)
    if (kept[name] !== undefined) kept[name] = keepAddressSecrets(kept[name], stored?.doc[name], name)
  for (const name of names) {
    const value = given[name]
    if (value !== undefined && value !== '' && value !== null && value !== MASK) continue
    if (stored?.unreadable.includes(name))
      fail('invalid', `${name} cannot be read here; enter it again`, { field: name })
    if (stored?.doc[name] !== undefined) kept[name] = stored.doc[name]
    else if (value === MASK)
      fail('invalid', `${name} is the mask of a secret; enter the secret itself`, { field: name })
    else delete kept[name]
  }
  return kept
}
