/**
 * What is typed into forms and not saved yet, kept in this browser. One store for all forms: a draft is found
 * again at the address where it was typed, whatever closed the form, and is put away when it is saved or discarded.
 */
const PREFIX = 'svc:form:'
const VERSION = 1
/** The oldest drafts beyond these go. */
const KEPT_MAX = 50

export interface KeptDraft<T> {
  /** Version of the object it changes; null: of one that is made. */
  base: number | null
  /** When it was last typed, ms since the epoch. */
  at: number
  value: T
}

/** The part of `localStorage` that is used. */
export type Shelf = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>

/** The key that it is kept by. */
export const keyOfDraft = (place: string): string => PREFIX + place

/** @param place where it is typed: an address, and which form there */
export function readDraft<T>(shelf: Shelf, place: string): KeptDraft<T> | null {
  const text = shelf.getItem(keyOfDraft(place))
  if (text === null) return null
  try {
    const { v, base, at, value } = JSON.parse(text) as KeptDraft<T> & { v: number }
    return v === VERSION && typeof at === 'number' ? { base, at, value } : null
  } catch {
    // Whatever stands there, it is no draft of ours.
    return null
  }
}

/** Keeps it; where the browser's room is full, older drafts make place, and without any it is not kept. */
export function writeDraft<T>(shelf: Shelf, place: string, draft: KeptDraft<T>): void {
  const text = JSON.stringify({ v: VERSION, ...draft })
  const others = placesOf(shelf).filter((key) => key !== PREFIX + place)
  for (const key of others.splice(0, others.length - KEPT_MAX + 1)) shelf.removeItem(key)
  for (;;) {
    try {
      shelf.setItem(PREFIX + place, text)
      return
    } catch {
      const oldest = others.shift()
      if (oldest === undefined) return
      shelf.removeItem(oldest)
    }
  }
}

export function dropDraft(shelf: Shelf, place: string): void {
  shelf.removeItem(keyOfDraft(place))
}

/** Keys of all drafts, the oldest first. */
function placesOf(shelf: Shelf): string[] {
  const keys = Array.from({ length: shelf.length }, (_, index) => shelf.key(index))
  return keys
    .filter((key) => key?.startsWith(PREFIX))
    .map((key) => ({ key: key!, at: readDraft(shelf, key!.slice(PREFIX.length))?.at ?? 0 }))
    .sort((a, b) => a.at - b.at)
    .map(({ key }) => key)
}

/** Fields that are typed otherwise than they were filled in: the rest is as it is stored when the draft is found. */
export const changedIn = <T extends object>(now: T, before: T): T =>
  Object.fromEntries(Object.entries(now).filter(([name, value]) => value !== before[name as keyof T])) as T

/**
 * An address with a name or a password in it, or with a parameter that by its name may be a secret: rather one too many than
 * one that is kept. A mask stands for one that is stored (`engine/net/address-secrets.ts` says which are).
 */
const SECRET_ADDRESS =
  /^\s*[a-z][a-z0-9+.-]*:\/\/([^/?#]*@|.*[?&#][^=&#]*(key|token|secret|sig|signature|sas|pass|passw(or)?d|pwd|pw|auth|code|jwt|hmac|credentials?|bearer)=(?!•|%e2)[^&#\s])/i
const isSecretAddress = (value: unknown): boolean => typeof value === 'string' && SECRET_ADDRESS.test(value)

/** An address as it is kept: the one before stands for one that is a secret. */
export const keptAddress = (typed: string, before = ''): string => (isSecretAddress(typed) ? before : typed)

/**
 * A configuration without its secrets, which are not kept, and without addresses that hold one.
 * @param schema whose properties say with `x-secret` what is secret, in lists too
 */
export function withoutSecrets(
  config: Readonly<Record<string, unknown>>,
  schema: Readonly<Record<string, unknown>> | undefined,
): Record<string, unknown> {
  const properties = (schema?.properties ?? {}) as Record<string, Property>
  return Object.fromEntries(
    Object.entries(config).flatMap(([name, value]) => {
      const property = properties[name] ?? {}
      if (property['x-secret'] || isSecretAddress(value)) return []
      return [[name, clean(value, property)]]
    }),
  )
}

interface Property {
  'x-secret'?: boolean
  properties?: Record<string, Property>
  items?: Property
}

function clean(value: unknown, { properties, items }: Property): unknown {
  if (Array.isArray(value))
    return value.filter((one) => !isSecretAddress(one)).map((one) => (items ? clean(one, items) : one))
  if (properties && typeof value === 'object' && value !== null && !Array.isArray(value))
    return withoutSecrets(value as Record<string, unknown>, { properties })
  return value
}
