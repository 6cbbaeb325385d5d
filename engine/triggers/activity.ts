/** How often triggers fired lately, for lists of them: one statement for all. */
import type { Database } from '../store/handle.ts'

const DAY_MS = 86_400_000
const DAYS = 7

export interface Activity {
  /** Epoch ms; null: never. */
  lastFired: number | null
  /** Of the last 24 hours. */
  day: number
  /** Of each of the last seven days, oldest first. */
  spark: number[]
  /** Addresses subscribed to it by name. */
  subscriptions: number
}

/** @param now epoch ms. @returns the activity of a live trigger by its name */
export function activities(db: Database, now: number): (name: string) => Activity {
  const ids = new Map(
    db.prepare("SELECT name, id FROM triggers WHERE state <> 'deleted'").raw().all() as [string, number][],
  )
  const last = new Map(
    db
      .prepare<[], [number, number]>(
        'SELECT trigger_id, max(fired_at) FROM firings WHERE fired_at IS NOT NULL AND resolves IS NULL AND practice = 0 GROUP BY trigger_id',
      )
      .raw()
      .all() as [number, number][],
  )
  const days = new Map<number, number[]>()
  for (const [id, ago, n] of db
    .prepare<[number, number, number]>(
      `SELECT trigger_id, CAST((? - fired_at) / ${DAY_MS} AS INTEGER), count(*) FROM firings
       WHERE fired_at > ? AND fired_at <= ? AND resolves IS NULL AND practice = 0 GROUP BY 1, 2`,
    )
    .raw()
    .all(now, now - DAYS * DAY_MS, now) as [number, number, number][]) {
    const counts = days.get(id) ?? new Array<number>(DAYS).fill(0)
    counts[DAYS - 1 - ago] = n
    days.set(id, counts)
  }
  const subscribed = new Map(
    db
      .prepare(
        'SELECT trigger_name, count(*) FROM subscriptions WHERE removed_at IS NULL AND disabled_at IS NULL AND trigger_name IS NOT NULL GROUP BY 1',
      )
      .raw()
      .all() as [string, number][],
  )
  return (name) => {
    const id = ids.get(name) ?? 0
    const spark = days.get(id) ?? new Array<number>(DAYS).fill(0)
    return {
      lastFired: last.get(id) ?? null,
      day: spark.at(-1)!,
      spark,
      subscriptions: subscribed.get(name) ?? 0,
    }
  }
}
