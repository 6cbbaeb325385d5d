/**
 * Secrets inside addresses and documents. Those of an address, such as `?token=…` or a user's password: sealed in rows,
 * in the clear for the request alone, a mask wherever the address is shown. Which parameters are secret is said by
 * their names; the rest of an address stays readable.
 *
 * Those of a declared document: sealed in its row and in the record of changes, in the clear
 * in memory, a mask wherever they leave the engine. A reference, `${NAME}` to the environment or
 * `credential:<name>` to a stored credential, is no secret: it is shown, exported and resolved when
 * it is used (SPEC.md, Catalog YAML).
 */
import { fail, SvcError } from '../errors.ts'
import { originOf } from '../model/credentials.ts'
import { MASK } from '../model/plan.ts'
import { isSealed, type Secrets } from './secrets.ts'

const ADDRESS = /^\s*https?:\/\/\S+\s*$/i
/** User and password: what precedes the last @ of the authority (WHATWG URL). */
const USER = /^(\s*https?:\/\/)([^/\\?#]*)(?=@)/i
/** A parameter of the query, or of a fragment that is written like one. */
const PARAMETER = /([?&#])([^=&#?\s]+)=([^&#\s]+)/g
/** The mask as a form or a browser encodes it. */
const ENCODED_MASK = encodeURIComponent(MASK)

/** Names that end so, without what is between their words. */
const SECRET_NAME =
  /(?:token|secret|password|passwd|passphrase|pwd|apikey|accesskey|secretkey|privatekey|authkey|signature|hmac|jwt|credentials?|authorization|bearer)$/
/** Names whose last word is this. */
const SECRET_WORD = new Set(['sig', 'auth', 'pass', 'pw', 'sas'])
/** A key or code is a secret by itself, and with a word before it that does not say that it orders or finds. */
const KEY_WORDS = new Set(['key', 'code'])
const NO_SECRET_BEFORE = new Set(
  'sort order group partition primary foreign row column cache item entity dedup label public status error exit zip postal country language lang currency reason product event response'.split(
    ' ',
  ),
)

/** Whether a parameter of this name holds a secret: token, api_key, X-Amz-Signature and their relatives. */
export function isSecretParameter(name: string): boolean {
  const words = decoded(name)
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
  const last = words.at(-1) ?? ''
  if (SECRET_WORD.has(last) || SECRET_NAME.test(words.join(''))) return true
  return KEY_WORDS.has(last) && !NO_SECRET_BEFORE.has(words.at(-2) ?? '')
}

/** Gets a secret as it stands in the address, and the name of its part: a parameter, or user or password. */
type Change = (value: string, part: string) => string

/** The address with each secret in it changed; whatever is no address is given back as it is. */
function mapSecrets(text: string, change: Change): string {
  if (!ADDRESS.test(text)) return text
  const user = text.replace(USER, (_all, scheme: string, given: string) => {
    const colon = given.indexOf(':')
    if (colon < 0) return given === '' ? scheme : scheme + change(given, 'user')
    const password = given.slice(colon + 1)
    return `${scheme}${given.slice(0, colon)}:${password === '' ? '' : change(password, 'password')}`
  })
  return user.replace(PARAMETER, (all, mark: string, name: string, value: string) =>
    isSecretParameter(name) ? `${mark}${name}=${change(value, name)}` : all,
  )
}

const isMask = (value: string): boolean => value === MASK || value.toUpperCase() === ENCODED_MASK

/** The secrets in an address, each as it is sent and as it is read; masks are none. */
export function addressSecrets(value: unknown): string[] {
  const found = new Set<string>()
  if (typeof value === 'string')
    mapSecrets(value, (secret) => {
      if (!isMask(secret)) found.add(secret).add(decoded(secret))
      return secret
    })
  return [...found]
}

/** What those secrets are called: parameters by their names; empty: there are none. */
export function secretParts(value: unknown): string[] {
  const found = new Set<string>()
  if (typeof value === 'string')
    mapSecrets(value, (secret, part) => {
      if (!isMask(secret)) found.add(part)
      return secret
    })
  return [...found]
}

/** The secrets in a value, those of every address in it put as `by` says. */
export function withAddressSecrets<T>(value: T, by: () => string): T {
  return mapTexts(value, (text) => mapSecrets(text, by)) as T
}

/** A value of any depth as it may leave the engine: of each address in it, the secrets are masks. */
export const maskAddresses = <T>(value: T): T => withAddressSecrets(value, () => MASK)

/** Whether an address has a mask where a secret belongs, so that nothing may be sent there. */
export function hasMaskedSecret(value: unknown): boolean {
  let found = false
  if (typeof value === 'string')
    mapSecrets(value, (secret) => {
      found ||= isMask(secret)
      return secret
    })
  return found
}

/**
 * A value given in place of a stored one: a mask in an address stands for the secret that is stored, as long
 * as the host is the same.
 * @param field as the caller knows it, for the sentence. @param stored the value until now, in the clear.
 * @throws SvcError invalid for a mask with nothing behind it, of another host, or of what cannot be read
 */
export function keepAddressSecrets<T>(given: T, stored: unknown, field: string): T {
  const known: string[] = []
  mapTexts(stored, (text) => {
    if (ADDRESS.test(text)) known.push(text)
    return text
  })
  return mapTexts(given, (text) => (hasMaskedSecret(text) ? kept(text, known, field) : text)) as T
}

function kept(given: string, known: readonly string[], field: string): string {
  const same = known.filter((address) => originOf(address) === originOf(given))
  // Of several on one host the one that is shown so, where there is one.
  const shown = [...same].sort((a, b) => Number(isShownAs(b, given)) - Number(isShownAs(a, given)))
  const told = { field: field.split('.')[0]! }
  const has = (address: string, part: string) => partsOf(address).some(([name]) => name === part)
  const counted = new Map<string, number>()
  return mapSecrets(given, (value, part) => {
    // A parameter may come twice: each mask stands for the one in its turn.
    const nth = counted.get(part) ?? 0
    counted.set(part, nth + 1)
    if (!isMask(value)) return value
    const from = shown.find((address) => has(address, part))
    const named = from === undefined ? [] : partsOf(from).filter(([name]) => name === part)
    const found = (named[nth] ?? named[0])?.[1]
    if (found !== undefined && !isMask(found)) return found
    if (found !== undefined)
      fail('invalid', `${field}: ${part} in the address cannot be read here; enter it again`, told)
    return known.some((address) => has(address, part))
      ? fail('invalid', `${field}: enter ${part} in it again: the address changed`, told)
      : fail('invalid', `${field}: ${part} is the mask of a secret; enter the secret itself`, told)
  })
}

const isShownAs = (address: string, given: string): boolean => maskAddresses(address) === maskAddresses(given)

function partsOf(address: string): [part: string, value: string][] {
  const found: [string, string][] = []
  mapSecrets(address, (value, part) => {
    found.push([part, value])
    return value
  })
  return found
}

/**
 * The value for a row, each secret bound to its place and part.
 * @param place such as sources/7/url. @param before the value until now: what did not change stays as it was
 *   sealed; what an older release stored as it was entered is sealed now.
 */
export function sealAddresses(
  value: unknown,
  place: string,
  secrets: Secrets,
  before?: { open: unknown; sealed: unknown },
): unknown {
  if (before && same(before.open, value) && !hasOpenSecret(before.sealed)) return before.sealed
  return mapTexts(value, (text) =>
    mapSecrets(text, (secret, part) =>
      isMask(secret) || isSealed(secret) ? secret : secrets.seal(secret, placeOf(place, part)),
    ),
  )
}

/** The value of a row in the clear; a secret that cannot be read becomes its mask. */
export function openAddresses(
  value: unknown,
  place: string,
  secrets: Secrets,
): { open: unknown; unreadable: boolean } {
  let unreadable = false
  const open = mapTexts(value, (text) =>
    mapSecrets(text, (secret, part) => {
      if (!isSealed(secret)) return secret
      try {
        return secrets.open(secret, placeOf(place, part))
      } catch (error) {
        if (!(error instanceof SvcError)) throw error
        unreadable = true
        return MASK
      }
    }),
  )
  return { open, unreadable }
}

/** Each sealed secret in the addresses of a value, with the name of its part. */
export function sealedParts(value: unknown): { part: string; sealed: string }[] {
  const found: { part: string; sealed: string }[] = []
  mapTexts(value, (text) =>
    mapSecrets(text, (secret, part) => {
      if (isSealed(secret)) found.push({ part, sealed: secret })
      return secret
    }),
  )
  return found
}

/** Where a secret of an address is bound to. @param place of the field it is in */
export const placeOf = (place: string, part: string): string => `${place}?${part}`

function hasOpenSecret(value: unknown): boolean {
  let found = false
  mapTexts(value, (text) =>
    mapSecrets(text, (secret) => {
      found ||= !isMask(secret) && !isSealed(secret)
      return secret
    }),
  )
  return found
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, change))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, mapTexts(one, change)]))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // Not encoded: it is what it says.
    return text
  }
}

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
