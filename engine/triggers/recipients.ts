/**
 * Whom a firing is told: the agents that the wiring of projects wakes, and subscribed addresses, each
 * once. One delivery row for each is written with the firing.
 */

import type { Database } from '../log/store/handle.ts'
import { addDelivery, type NewDelivery, tellAgent } from '../outbox/rows.ts'
import type { FiringRow } from './queries.ts'

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

/* Whom a trigger's firings reach by the wiring of projects: read from their rows, kept until one changes. */

interface ProjectWires {
  uses?: { trigger?: Record<string, { owned?: true }> }
  wakes?: Record<string, Record<string, { enabled: boolean }>>
  template?: string
}

/** What the projects make of one trigger. */
interface TriggerWires {
  /** Project it belongs to, else the first that uses it; null: it is in none. */
  home: string | null
  /** Projects that use it. */
  users: string[]
  /** Agent it wakes → projects whose wiring is on. */
  agents: Map<string, string[]>
}

const NOBODY: TriggerWires = { home: null, users: [], agents: new Map() }

export class Wirings {
  private byTrigger: Map<string, TriggerWires> | null = null

  constructor(private readonly db: Database) {}

  /** After a project changed: read again when next asked. */
  reload(): void {
    this.byTrigger = null
  }

  of(trigger: string): TriggerWires {
    this.byTrigger ??= this.read()
    return this.byTrigger.get(trigger) ?? NOBODY
  }

  private read(): Map<string, TriggerWires> {
    const found = new Map<string, TriggerWires>()
    const wires = (trigger: string): TriggerWires => {
      const known = found.get(trigger) ?? { home: null, users: [], agents: new Map() }
      found.set(trigger, known)
      return known
    }
    const rows = this.db
      .prepare<[], { id: string; spec: string }>(
        "SELECT id, spec FROM projects WHERE state <> 'deleted' ORDER BY created_at, id",
      )
      .all()
    for (const { id, spec } of rows) {
      const doc = JSON.parse(spec) as ProjectWires
      for (const [trigger, { owned }] of Object.entries(doc.uses?.trigger ?? {})) {
        const of = wires(trigger)
        of.users.push(id)
        of.home ??= id
        if (owned && doc.template !== 'default') of.home = id
      }
      for (const [trigger, agents] of Object.entries(doc.wakes ?? {}))
        for (const [agent, { enabled }] of Object.entries(agents)) {
          if (!enabled) continue
          const projects = wires(trigger).agents.get(agent) ?? []
          wires(trigger).agents.set(agent, [...projects, id])
        }
    }
    return found
  }
}
