/**
 * Whom a firing is told: the agents that the wiring of projects wakes, and subscribed addresses, each
 * once. One delivery row for each is written with the firing.
 */
import { addDelivery, type NewDelivery } from '../outbox/rows.ts'
import { tellAgent } from '../outbox/senders/agent.ts'
import type { Database } from '../store/handle.ts'
import type { FiringRow } from './queries.ts'
import type { Wirings } from './wirings.ts'

/** An agent as a firing wakes it. */
export interface AgentWake {
  agent: string
  projects: readonly string[]
  deliveryId: string
  firing: FiringRow
}

interface Subscriber {
  id: string
  kind: 'webhook' | 'slack' | 'mcp'
  project: string | null
  trigger_name: string | null
  url_hash: string
}

export class Recipients {
  private readonly subscribers

  constructor(
    private readonly db: Database,
    private readonly wirings: Wirings,
    /** Makes the run of an agent, or finds the one that waits. @returns its id; null: there is no such agent */
    private readonly wake: (wake: AgentWake) => string | null,
    /** A firing woke a run. */
    private readonly woke: (firing: FiringRow, run: string) => void,
    /** Called when there is something to send once the transaction is committed. */
    private readonly onPending: () => void,
  ) {
    this.subscribers = db.prepare<[string, string], Subscriber>(
      `SELECT id, kind, project, trigger_name, url_hash FROM subscriptions
       WHERE removed_at IS NULL AND disabled_at IS NULL
         AND (trigger_name = ? OR (trigger_name IS NULL AND project IN (SELECT value FROM json_each(?))))
       ORDER BY trigger_name IS NULL, created_at, id`,
    )
  }

  /**
   * Writes the deliveries of a firing.
   * @param isHeldBack nobody is told: its incident is snoozed
   * @returns how many there are, or would be, and the projects they are of
   */
  deliver(trigger: string, firing: FiringRow, isHeldBack = false): { count: number; projects: string[] } {
    const { agents, users } = this.wirings.of(trigger)
    const projects = new Set<string>()
    let count = 0
    // What is over wakes nobody to look at it.
    for (const [agent, of] of firing.resolves ? [] : agents) {
      if (!isHeldBack) this.wakeAgent(firing, agent, of)
      for (const project of of) projects.add(project)
      count++
    }
    const seen = new Set<string>()
    for (const subscriber of this.subscribers.all(trigger, JSON.stringify(users))) {
      // An address that subscribed both ways is told once.
      if (seen.has(subscriber.url_hash)) continue
      seen.add(subscriber.url_hash)
      if (!isHeldBack)
        this.add(firing, subscriber.kind, subscriber.id, subscriber.project ? [subscriber.project] : [])
      if (subscriber.project) projects.add(subscriber.project)
      count++
    }
    if (count && !isHeldBack) this.onPending()
    return { count, projects: [...projects] }
  }

  /**
   * Writes the deliveries of a practice firing: to one agent, or to the subscriptions of its project.
   * @returns how many, and the run of the agent
   */
  practise(
    firing: FiringRow,
    { project, agent }: { project: string; agent: string | null },
  ): { count: number; runId: string | null } {
    if (agent !== null) return { count: 1, runId: this.wakeAgent(firing, agent, [project]) }
    const told = this.subscribers
      .all(firing.trigger_name, JSON.stringify([project]))
      .filter((subscriber) => subscriber.project === project)
    for (const { id, kind } of told) this.add(firing, kind, id, [project])
    if (told.length) this.onPending()
    return { count: told.length, runId: null }
  }

  private wakeAgent(firing: FiringRow, agent: string, projects: readonly string[]): string | null {
    const run = tellAgent(this.db, deliveryOf(firing, agent, projects), (deliveryId) =>
      this.wake({ agent, projects, deliveryId, firing }),
    )
    if (run === null) return run
    this.woke(firing, run)
    this.onPending()
    return run
  }

  private add(
    firing: FiringRow,
    kind: Subscriber['kind'],
    recipient: string,
    projects: readonly string[],
  ): void {
    addDelivery(this.db, { ...deliveryOf(firing, recipient, projects), kind })
  }
}

const deliveryOf = (
  { id, key, fired_at }: FiringRow,
  recipient: string,
  projects: readonly string[],
): Omit<NewDelivery, 'kind'> => ({ of: { firing: id }, recipient, key, projects, at: fired_at! })
