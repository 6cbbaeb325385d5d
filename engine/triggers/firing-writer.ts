/**
 * Writes what the evaluator decided, in the transaction of the events that caused it: firings with
 * what tripped them, and one delivery per recipient. Bursts that gather are kept in memory while they
 * grow and written once a transaction; whoever rolls a transaction back calls `reset`.
 *
 * A firing's recipients are the agents that the wiring of projects wakes, and subscribed addresses, each
 * once. One delivery row for each is written with the firing.
 */
import { countWords } from '../../schemas/plain-words.ts'
import { fail } from '../errors.ts'
import { carryOut, type Executors, firstSnapshot, move } from '../log/lifecycle.ts'
import type { Database } from '../log/store/handle.ts'
import { newDispatchId, packIds, unpackIds } from '../model/ids.ts'
import { addDelivery, type NewDelivery, tellAgent } from '../outbox/rows.ts'
import type { FiringRow, NewFiring, TriggerQueries } from './queries.ts'
import { type Crossing, EVIDENCE_MAX, type LabelLookup, type TriggerDefinition } from './types.ts'

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
  caller: string
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
      `SELECT id, kind, project, trigger_name, url_hash, caller FROM subscriptions
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
      // An address or a channel that is subscribed to the trigger and to its project is told once. Posts to an address are
      // signed with the secret of one caller's subscription, which no other caller can verify.
      const { kind, caller, url_hash } = subscriber
      const recipient = kind === 'webhook' ? `${caller} ${url_hash}` : url_hash
      if (seen.has(recipient)) continue
      seen.add(recipient)
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

export interface FiringWriterParts {
  db: Database
  queries: TriggerQueries
  wirings: Wirings
  recipients: Recipients
  /** What a firing does to the incident of its key. */
  incidents: { fired(row: FiringRow): boolean }
  labels: LabelLookup
  /** Promises that nothing is stored any more with a time of ingest up to this one, epoch ms. */
  closeInstant(at: number): void
  /** A firing of this trigger is told, once the transaction is committed. */
  told(trigger: string): void
}

/** What a firing is about, besides its trigger. */
export interface Cause {
  key: string
  entity: { label: string; value: string } | null
  cause: string
  at: number
  value: number | null
  reason: string
  eventId: number | null
  eventIds: readonly number[]
  /** Of a resolved firing: the one it resolves, and the event that one began with. */
  resolves?: string
  firstEvent?: number | null
  lateBy?: number
  slot?: number
  /** It is tried, not tripped: it counts for nothing. */
  practice?: boolean
}

/** Whom a practice firing is told: one agent, or the subscriptions of the project. */
export interface PracticeOf {
  project: string
  agent: string | null
}

/** An open burst in memory. */
interface Burst {
  row: FiringRow
  ids: Set<number>
  keys: Map<string, { events: number; first: number | null; dirty: boolean }>
  /** Of `ids`, not written yet. */
  fresh: number[]
  chunks: number
  dirty: boolean
}

/** A firing, told or held, with whom it reached. */
export interface Written {
  dispatchId: string
  recipients: number
}

interface Moved {
  queries: TriggerQueries
  row: FiringRow
  at: number
  /** Whom it reaches is told. */
  deliver(): void
}

/** What each effect of the machine of a firing is. */
export const firingEffects: Executors<Moved> = {
  deliver: ({ deliver }) => deliver(),
  note_held: ({ queries, row, at }) => queries.setHeld.run(at, row.id),
  note_dropped: ({ queries, row, at }) => queries.setDropped.run(at, row.id),
}

export class FiringWriter {
  private readonly bursts = new Map<number, Burst>()

  constructor(private readonly parts: FiringWriterParts) {}

  /** Fires at once. @returns null when the same cause fired before. */
  fire(definition: TriggerDefinition, cause: Cause): Written | null {
    const row = this.insert(definition, cause, null)
    if (!row) return null
    this.addEvents(row.id, 0, cause.eventIds)
    this.addKey(row, cause.key, cause.eventIds.length, cause.eventId ?? cause.firstEvent ?? null)
    return this.tell(definition, row)
  }

  /** Fires in practice, for one project alone; no cooldown begins with it. */
  practise(definition: TriggerDefinition, cause: Cause, of: PracticeOf): Written & { runId: string | null } {
    const row = this.insert(definition, { ...cause, practice: true }, null)
    if (!row) throw new Error(`practice firing ${cause.cause} was there before`)
    this.addEvents(row.id, 0, cause.eventIds)
    const reached = this.releaseTo(row, () => ({
      ...this.parts.recipients.practise(row, of),
      projects: [of.project],
    }))
    return { dispatchId: row.dispatch_id, recipients: reached.count, runId: reached.runId }
  }

  /** Opens a burst that gathers, or is held back. */
  open(
    definition: TriggerDefinition,
    crossing: Crossing,
    state: 'gathering' | 'held',
    dueAt: number,
  ): Written | null {
    const row = this.insert(definition, this.causeOf(crossing), dueAt)
    if (!row) return null
    this.move(row, state === 'held' ? 'hold' : 'gather', crossing.at)
    const burst: Burst = {
      row: { ...row, state, events: 0, key_count: 0, crossings: 0 },
      ids: new Set(),
      keys: new Map(),
      fresh: [],
      chunks: 0,
      dirty: true,
    }
    this.bursts.set(definition.id, burst)
    this.take(burst, crossing, dueAt)
    return { dispatchId: row.dispatch_id, recipients: 0 }
  }

  /** Folds a crossing into the open burst. @returns the id of its firing */
  fold(triggerId: number, crossing: Crossing, dueAt: number): string | null {
    const burst = this.burstOf(triggerId)
    if (!burst) return null
    this.take(burst, crossing, dueAt)
    return burst.row.dispatch_id
  }

  /** The open burst fires. */
  release(definition: TriggerDefinition, at: number): Written | null {
    const burst = this.burstOf(definition.id)
    if (!burst) return null
    burst.row.fired_at = at
    burst.row.as_of = at
    burst.row.due_at = null
    burst.row.reason = burstReason(burst)
    this.save(burst)
    this.bursts.delete(definition.id)
    return this.tell(definition, burst.row)
  }

  /** A limit holds the open burst back. */
  hold(triggerId: number, at: number, dueAt: number): void {
    const burst = this.burstOf(triggerId)
    if (!burst) return
    if (burst.row.state === 'gathering') {
      this.move(burst.row, 'hold', at)
      burst.row.state = 'held'
      burst.row.held_back = burst.row.crossings
    }
    burst.row.due_at = dueAt
    burst.dirty = true
  }

  /** The open burst is let pass. @returns the id of its firing */
  drop(triggerId: number, at: number): string | null {
    const burst = this.burstOf(triggerId)
    if (!burst) return null
    burst.row.due_at = null
    this.save(burst)
    this.bursts.delete(triggerId)
    this.move(burst.row, 'drop', at)
    return burst.row.dispatch_id
  }

  /** The firing that is open of a trigger. */
  openDispatch(triggerId: number): string | null {
    return this.burstOf(triggerId)?.row.dispatch_id ?? null
  }

  /** Writes what grew; last thing in a transaction. */
  flush(): void {
    for (const burst of this.bursts.values()) if (burst.dirty) this.save(burst)
  }

  /** After a rollback, and when triggers changed: read again when next asked. */
  reset(): void {
    this.bursts.clear()
  }

  causeOf(crossing: Crossing): Cause {
    return {
      key: crossing.key,
      entity: this.entityOf(crossing.labels),
      cause: crossing.cause,
      at: crossing.at,
      value: crossing.value,
      reason: crossing.reason,
      eventId: crossing.eventId ?? crossing.eventIds.at(-1) ?? null,
      eventIds: crossing.eventIds,
    }
  }

  /** A key of one label is an entity, with the type or source of its events, too; several labels are none. */
  entityOf(labels: readonly number[]): Cause['entity'] {
    const own = labels.map((id) => this.parts.labels.label(id)).filter(({ name }) => !name.startsWith('@'))
    const [first] = own
    return first && own.length === 1 ? { label: first.name, value: first.value } : null
  }

  private insert(definition: TriggerDefinition, cause: Cause, dueAt: number | null): FiringRow | null {
    const { spec } = definition
    const isOpen = dueAt !== null
    const row: NewFiring = {
      dispatch_id: newDispatchId(cause.at),
      trigger_id: definition.id,
      trigger_name: definition.name,
      project: this.parts.wirings.of(definition.name).home,
      projects: '[]',
      kind: spec.emit?.kind ?? definition.name,
      key: cause.key,
      label: cause.entity?.label ?? null,
      value_text: cause.entity?.value ?? null,
      cause: cause.cause,
      spec: JSON.stringify(spec),
      opened_at: cause.at,
      last_at: cause.at,
      fired_at: isOpen ? null : cause.at,
      due_at: dueAt,
      as_of: isOpen ? null : cause.at,
      value: cause.value,
      reason: cause.reason,
      event_id: cause.eventId,
      events: cause.eventIds.length,
      key_count: 1,
      crossings: 1,
      held_back: 0,
      late_by: cause.lateBy ?? null,
      slot: cause.slot ?? null,
      resolves: cause.resolves ?? null,
      practice: cause.practice ? 1 : 0,
      parent_run_id: null,
      snapshot: firstSnapshot('firing'),
    }
    const id = this.parts.queries.insertFiring(row)
    if (id === null) return null
    const none = { held_at: null, dropped_at: null, incident_id: null, severity: null, suppressed_by: null }
    return { ...row, ...none, id, state: 'tripped' }
  }

  /** One step by its machine, with what that asks for. */
  private move(row: FiringRow, type: string, at: number, deliver = () => {}): void {
    const { db, queries } = this.parts
    const { effects } = move(db, { kind: 'firing', id: row.id, name: row.dispatch_id }, { type, at })
    carryOut('firing', firingEffects, effects, { queries, row, at, deliver })
  }

  /** It is released: whom it reaches is told, and written to it. @param reach tells them */
  private releaseTo<T extends { projects: readonly string[] }>(row: FiringRow, reach: () => T): T {
    let reached: T | null = null
    this.move(row, 'release', row.fired_at!, () => {
      this.parts.closeInstant(row.fired_at!)
      reached = reach()
      this.parts.queries.setProjects.run(JSON.stringify(reached.projects), row.id)
    })
    return reached ?? fail('internal', `firing ${row.dispatch_id} was released to nobody`)
  }

  private tell(definition: TriggerDefinition, row: FiringRow): Written {
    const { count } = this.releaseTo(row, () => {
      const isHeldBack = this.parts.incidents.fired(row)
      return this.parts.recipients.deliver(definition.name, row, isHeldBack)
    })
    this.parts.told(definition.name)
    return { dispatchId: row.dispatch_id, recipients: count }
  }

  private addEvents(firingId: number, seq: number, ids: readonly number[]): void {
    if (ids.length) this.parts.queries.addEvents.run(firingId, seq, ids.length, packIds(ids))
  }

  private addKey(row: FiringRow, key: string, events: number, first: number | null): void {
    this.parts.queries.saveKey.run(row.id, row.trigger_id, key, events, first)
  }

  private take(burst: Burst, crossing: Crossing, dueAt: number): void {
    const fresh = crossing.eventIds.filter((id) => !burst.ids.has(id))
    for (const id of fresh) burst.ids.add(id)
    burst.fresh.push(...fresh)
    const key = burst.keys.get(crossing.key) ?? { events: 0, first: crossing.eventId, dirty: true }
    key.events += fresh.length
    key.dirty = true
    burst.keys.set(crossing.key, key)
    const { row } = burst
    row.crossings++
    row.events += fresh.length
    row.key_count = burst.keys.size
    row.last_at = crossing.at
    row.due_at = dueAt
    if (row.state === 'held') row.held_back++
    burst.dirty = true
  }

  private save(burst: Burst): void {
    const { queries } = this.parts
    const { row, fresh } = burst
    for (let from = 0; from < fresh.length; from += EVIDENCE_MAX)
      this.addEvents(row.id, burst.chunks++, fresh.slice(from, from + EVIDENCE_MAX))
    burst.fresh = []
    for (const [key, entry] of burst.keys) {
      if (!entry.dirty) continue
      this.addKey(row, key, entry.events, entry.first)
      entry.dirty = false
    }
    queries.saveBurst.run(
      row.last_at,
      row.due_at,
      row.events,
      row.key_count,
      row.crossings,
      row.held_back,
      row.fired_at,
      row.as_of,
      row.reason,
      row.id,
    )
    burst.dirty = false
  }

  private burstOf(triggerId: number): Burst | null {
    const known = this.bursts.get(triggerId)
    if (known) return known
    const { queries } = this.parts
    const row = queries.open.get(triggerId)
    if (!row) return null
    const chunks = queries.eventsOf.all(row.id)
    const burst: Burst = {
      row,
      ids: new Set(chunks.flatMap(({ ids }) => unpackIds(ids))),
      keys: new Map(
        queries.keysOf
          .all(row.id, -1)
          .map(({ key, events, first_event }) => [key, { events, first: first_event, dirty: false }]),
      ),
      fresh: [],
      chunks: chunks.length,
      dirty: false,
    }
    this.bursts.set(triggerId, burst)
    return burst
  }
}

/** "1,000 events of 50 keys in 10 s; first: …". */
function burstReason({ row, keys }: Burst): string {
  const seconds = Math.max(1, Math.round((row.last_at - row.opened_at) / 1_000))
  const held = row.held_back ? `, ${countWords(row.held_back, 'crossing')} held back by a limit` : ''
  return `${countWords(row.events, 'event')} of ${countWords(keys.size, 'key')} in ${seconds} s${held}; first: ${row.reason}`
}
