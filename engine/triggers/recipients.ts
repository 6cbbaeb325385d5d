/**
 * Whom a firing is told: the agents that the wiring of projects wakes, and subscribed addresses, each
 * once. One delivery row for each is written with the firing.
 */
import { firstSnapshot, move } from '../lifecycle/advance.ts'
import type { Database } from '../store/handle.ts'
import { newDeliveryId } from './ids.ts'
import type { FiringRow } from './queries.ts'
import type { Wirings } from './wirings.ts'

/** Agents do not run in this version: a delivery to one says so instead of waiting for ever. */
const NO_RUNS = 'this version does not run agents yet'

interface Subscriber {
  id: string
  kind: 'webhook' | 'slack'
  project: string | null
  trigger_name: string | null
  url_hash: string
}

export class Recipients {
  private readonly subscribers
  private readonly insert
  private readonly fail

  constructor(
    private readonly db: Database,
    private readonly wirings: Wirings,
    /** Called when there is something to send once the transaction is committed. */
    private readonly onPending: () => void,
  ) {
    this.subscribers = db.prepare<[string, string], Subscriber>(
      `SELECT id, kind, project, trigger_name, url_hash FROM subscriptions
       WHERE removed_at IS NULL AND disabled_at IS NULL
         AND (trigger_name = ? OR (trigger_name IS NULL AND project IN (SELECT value FROM json_each(?))))
       ORDER BY trigger_name IS NULL, created_at, id`,
    )
    this.insert = db.prepare<[string, number, string, string, string, string, number, string]>(
      `INSERT INTO deliveries (id, seq, firing_id, recipient_kind, recipient, key, projects, made_at, snapshot)
       VALUES (?, (SELECT coalesce(max(seq), 0) + 1 FROM deliveries), ?, ?, ?, ?, ?, ?, ?)`,
    )
    this.fail = db.prepare<[string, string]>('UPDATE deliveries SET reason = ? WHERE id = ?')
  }

  /** Writes the deliveries of a firing. @returns how many, and the projects they are of */
  deliver(trigger: string, firing: FiringRow): { count: number; projects: string[] } {
    const { agents, users } = this.wirings.of(trigger)
    const projects = new Set<string>()
    let count = 0
    // What is over wakes nobody to look at it.
    for (const [agent, of] of firing.resolves ? [] : agents) {
      const id = this.add(firing, 'agent', agent, of)
      move(this.db, { kind: 'delivery', id, name: id }, { type: 'claim', at: firing.fired_at! })
      move(
        this.db,
        { kind: 'delivery', id, name: id },
        { type: 'refuse', at: firing.fired_at!, reason: NO_RUNS },
      )
      this.fail.run(NO_RUNS, id)
      for (const project of of) projects.add(project)
      count++
    }
    const seen = new Set<string>()
    for (const subscriber of this.subscribers.all(trigger, JSON.stringify(users))) {
      // An address that subscribed both ways is told once.
      if (seen.has(subscriber.url_hash)) continue
      seen.add(subscriber.url_hash)
      this.add(firing, subscriber.kind, subscriber.id, subscriber.project ? [subscriber.project] : [])
      if (subscriber.project) projects.add(subscriber.project)
      count++
    }
    if (seen.size) this.onPending()
    return { count, projects: [...projects] }
  }

  private add(firing: FiringRow, kind: string, recipient: string, projects: readonly string[]): string {
    const id = newDeliveryId(firing.fired_at!)
    this.insert.run(
      id,
      firing.id,
      kind,
      recipient,
      firing.key,
      JSON.stringify(projects),
      firing.fired_at!,
      firstSnapshot('delivery'),
    )
    return id
  }
}
