/** What an operator set in the console: JSON values by key. Who owns a key seals the secrets in it. */
import type { Clock } from '../clock.ts'
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
