/** What an operator set in the console: JSON values by key. Who owns a key seals the secrets in it. */
import type { Clock } from '../clock.ts'
import { SvcError } from '../errors.ts'
import { originOf, refuseMoved } from '../model/credentials.ts'
import type { Secrets } from '../net/secrets.ts'
import type { StoreHandle } from './store/handle.ts'

export interface Settings {
  /** The value under a key; undefined: none is stored. What it holds is its writer's. */
  get<T>(key: string): T | undefined
  /** Stores a value; undefined removes it. */
  put(key: string, value: unknown): void
  /** Keys that begin so, with their values, in order. */
  under<T>(prefix: string): [key: string, value: T][]
  /** Several writes as one. */
  together(write: () => void): void
}

export function openSettings({ db, tx }: StoreHandle, clock: Clock): Settings {
  const one = db.prepare('SELECT value FROM settings WHERE key = ?').pluck()
  const some = db.prepare<[string, string], { key: string; value: string }>(
    'SELECT key, value FROM settings WHERE key >= ? AND key < ? ORDER BY key',
  )
  const put = db.prepare('INSERT OR REPLACE INTO settings (key, value, updated_at) VALUES (?, ?, ?)')
  const remove = db.prepare('DELETE FROM settings WHERE key = ?')
  return {
    get: <T>(key: string) => {
      const text = one.get(key) as string | undefined
      return text === undefined ? undefined : (JSON.parse(text) as T)
    },
    put: (key, value) => {
      if (value === undefined) remove.run(key)
      else put.run(key, JSON.stringify(value), clock.now())
    },
    under: <T>(prefix: string) =>
      some.all(prefix, `${prefix}\uffff`).map(({ key, value }) => [key, JSON.parse(value) as T]),
    together: (write) => tx(write),
  }
}

/** The setting that is there while the demo is loaded. */
export const DEMO_SETTING = 'demo'

/*
 * A setting in layers: what an operator stored in the console, what the environment says, and what holds where neither
 * says anything; each value says where it is from. A secret is for the address it was entered for: that of the
 * environment for the environment's, a stored one for the one it was stored with.
 */

/** A value and the layer it is from. */
export interface Layered<T, Source extends string = 'console' | 'env' | 'default'> {
  value: T
  source: Source
}

/** The first layer that says something. @param layers in the order in which they win; null: none says anything */
export function firstOf<T, Source extends string>(
  layers: readonly (readonly [source: Source, value: T | null | undefined])[],
): Layered<T, Source> | null {
  for (const [source, value] of layers) if (value !== null && value !== undefined) return { value, source }
  return null
}

/** What is stored wins over the environment (SPEC.md, Settings). @param standard where neither says anything */
export const layered = <T>(
  stored: T | null | undefined,
  given: T | null | undefined,
  standard: T,
): Layered<T> =>
  firstOf<T, Layered<T>['source']>([
    ['console', stored],
    ['env', given],
  ]) ?? { value: standard, source: 'default' }

/**
 * A stored secret in the clear; null: there is none, or it does not open here, such as in a file restored without its
 * key: it has to be entered again.
 */
export function openStored(
  secrets: Secrets,
  sealed: string | null | undefined,
  place: string,
): string | null {
  if (!sealed) return null
  try {
    return secrets.open(sealed, place)
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    return null
  }
}

/**
 * Whether what the environment gives for its address may be sent to the address there is now: another host would be
 * told it. @param of, now null: the provider's own
 */
export const isOfOrigin = (of: string | null, now: string | null): boolean =>
  of === now || (originOf(of) !== null && originOf(of) === originOf(now))

/** A write of a secret. */
interface SecretWrite {
  /** As the caller knows it. */
  field: string
  place: string
  /** A text replaces it, null removes it, undefined keeps it. */
  given: string | null | undefined
  /** As it is stored, sealed. */
  was: string | null | undefined
  /** The addresses it is sent to, before the write and after it. */
  addresses: readonly [before: string | null, after: string | null]
}

/** The sealed secret after a write; null: there is none. @throws SvcError invalid where its address moved */
export function sealedAfter(
  secrets: Secrets,
  { field, place, given, was, addresses: [before, after] }: SecretWrite,
): string | null {
  if (given) return secrets.seal(given, place)
  if (given === null || !was) return null
  refuseMoved(field, before, after, { field })
  return was
}
