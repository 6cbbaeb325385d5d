/**
 * Deliveries since midnight, by trigger and recipient. Their rows are made once and numbered in that
 * order, so that each is counted once: what is asked every two seconds costs what came since.
 */
import type { Database } from '../../store/handle.ts'
import type { Traffic } from './queries.ts'

interface Counted {
  trigger_id: number
  kind: string
  recipient: string
  /** JSON list of the projects it was for; empty where it is for none in particular. */
  projects: string
  n: number
  last_at: number
}

export const deliverySql = {
  at: 'SELECT seq, made_at FROM deliveries WHERE seq >= @seq ORDER BY seq LIMIT 1',
  newest: 'SELECT max(seq) FROM deliveries',
  since: `SELECT f.trigger_id, d.recipient_kind AS kind, d.recipient, d.projects, count(*) AS n, max(d.made_at) AS last_at
    FROM deliveries d CROSS JOIN firings f
    WHERE d.seq > @seq AND f.id = d.firing_id AND f.practice = 0
    GROUP BY f.trigger_id, d.recipient_kind, d.recipient, d.projects`,
} as const

export class DeliveriesToday {
  private midnight = Number.NaN
  /** Number of the last one that was counted. */
  private through = 0
  private counted = new Map<string, Counted>()
  private readonly at
  private readonly newest
  private readonly since

  constructor(db: Database) {
    this.at = db.prepare<{ seq: number }, { seq: number; made_at: number }>(deliverySql.at)
    this.newest = db.prepare<[], number | null>(deliverySql.newest).pluck()
    this.since = db.prepare<{ seq: number }, Counted>(deliverySql.since)
  }

  /**
   * What was told for a project: an agent that is told for another one alone is left out.
   * @param midnight epoch ms. @param told receives each trigger, by its id, and recipient
   */
  each(midnight: number, project: string, told: (trigger: number, to: string, how: Traffic) => void): void {
    this.catchUp(midnight)
    const mine = JSON.stringify(project)
    const sums = new Map<string, { trigger: number; to: string; today: number; last_at: number }>()
    for (const { trigger_id: trigger, kind, recipient: to, projects, n, last_at } of this.counted.values()) {
      if (kind === 'agent' && !projects.includes(mine)) continue
      const key = `${trigger}\0${to}`
      const sum = sums.get(key) ?? { trigger, to, today: 0, last_at: 0 }
      sums.set(key, { ...sum, today: sum.today + n, last_at: Math.max(sum.last_at, last_at) })
    }
    for (const { trigger, to, today, last_at } of sums.values()) told(trigger, to, { today, last_at })
  }

  private catchUp(midnight: number): void {
    if (midnight !== this.midnight) {
      this.midnight = midnight
      this.counted = new Map()
      this.through = this.lastBefore(midnight)
    }
    const newest = this.newest.get() ?? 0
    if (newest <= this.through) return
    for (const row of this.since.all({ seq: this.through })) {
      const key = [row.trigger_id, row.kind, row.recipient, row.projects].join('\0')
      const known = this.counted.get(key)
      this.counted.set(key, known ? { ...row, n: known.n + row.n } : row)
    }
    this.through = newest
  }

  /** Number of the last one made before an instant: times never fall as numbers grow. */
  private lastBefore(instant: number): number {
    let low = 0
    let high = this.newest.get() ?? 0
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      const row = this.at.get({ seq: middle })
      if (row === undefined || row.made_at >= instant) high = middle - 1
      else low = Math.max(middle, Math.min(row.seq, high))
    }
    return low
  }
}
