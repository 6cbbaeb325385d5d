/** Whom a trigger's firings reach by the wiring of projects: read from their rows, kept until one changes. */
import type { Database } from '../store/handle.ts'

interface ProjectWires {
  uses?: { trigger?: Record<string, { owned?: true }> }
  wakes?: Record<string, Record<string, { enabled: boolean }>>
  template?: string
}

/** What the projects make of one trigger. */
export interface TriggerWires {
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
