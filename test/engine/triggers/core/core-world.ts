/** Events in memory, as the evaluator reads them: labels by id, a history of what is committed. */

import { MemoryLedger } from '../../../../engine/triggers/core/backtest.ts'
import { createEvaluator } from '../../../../engine/triggers/core/index.ts'
import type {
  Decision,
  Evaluator,
  History,
  LabelLookup,
  Seen,
  TriggerDefinition,
} from '../../../../engine/triggers/types.ts'
import type { TriggerSpec } from '../../../../schemas/types.ts'

export const T0 = Date.parse('2026-11-20T12:00:00Z')

export interface Made {
  /** Event time and time of ingest, in milliseconds after T0; ingest as event time when absent. */
  ts: number
  at?: number
  source?: number
  type?: string
  /** The entity first. */
  labels?: Record<string, string>
  numbers?: Record<string, number>
  payload?: unknown
  text?: string
  bypass?: boolean
}

export class Labels implements LabelLookup {
  private readonly names: { name: string; value: string }[] = []
  private readonly ids = new Map<string, number>()

  id(name: string, value: string): number {
    const key = JSON.stringify([name, value])
    const known = this.ids.get(key)
    if (known !== undefined) return known
    this.ids.set(key, this.names.push({ name, value }) - 1)
    return this.names.length - 1
  }

  /** The newest label is not there: its id is given to the next. */
  takeBack(): void {
    const { name, value } = this.names.pop()!
    this.ids.delete(JSON.stringify([name, value]))
  }

  find(name: string, value: string): number | undefined {
    return this.ids.get(JSON.stringify([name, value]))
  }

  label(id: number): { name: string; value: string } {
    return this.names[id]!
  }
}

export function definitionOf(spec: Partial<TriggerSpec> & Pick<TriggerSpec, 'condition'>): TriggerDefinition {
  return {
    id: 1,
    name: 't',
    spec: { sources: ['app'], ...spec },
    paused: spec.paused ?? false,
    sourceIds: [1],
    entityLabel: spec.key_field || 'service',
  }
}

/** One evaluator over its own events and its own ledger. */
export class CoreWorld {
  readonly labels = new Labels()
  readonly ledger = new MemoryLedger()
  readonly stored: Seen[] = []
  /** Events below this place are committed: a history knows them. */
  private committed = 0
  evaluator: Evaluator
  private readonly ports

  constructor(
    readonly definition: TriggerDefinition,
    options: { history?: boolean; entriesMax?: number } = {},
  ) {
    const { history = true, entriesMax } = options
    this.ports = {
      labels: this.labels,
      ledger: this.ledger,
      history: history ? this.history() : null,
      sourceName: (id: number) => ['', 'app', 'other'][id]!,
      ...(entriesMax === undefined ? {} : { entriesMax }),
    }
    this.evaluator = createEvaluator(this.ports)
    this.evaluator.define([definition])
  }

  seen({ ts, at = ts, source = 1, type = 'error', labels = {}, bypass = false, ...rest }: Made): Seen {
    const { numbers = {}, payload, text = '' } = rest
    const own = Object.entries(labels).map(([name, value]) => this.labels.id(name, value))
    return {
      id: this.stored.length + 1,
      sourceId: source,
      ts: T0 + ts,
      ingestedAt: T0 + at,
      labels: Uint32Array.from([
        this.labels.id('@source', String(source)),
        this.labels.id('@type', type),
        ...own,
      ]),
      hasEntity: own.length > 0,
      bypass,
      numbers: () => numbers,
      text: () => text,
      payload: () => payload,
    }
  }

  /** Stores and judges an event. @returns what was decided, with what was due before it */
  post(made: Made): Decision[] {
    const event = this.seen(made)
    this.stored.push(event)
    const decisions = this.evaluator.judgeSeen(event, () => true)
    for (const decision of decisions) this.ledger.apply(decision)
    return decisions
  }

  commit(): void {
    this.committed = this.stored.length
  }

  /** What the clock makes due up to an instant, at each of its own. @param at ms after T0 */
  pass(at: number): Decision[] {
    this.commit()
    const all: Decision[] = []
    for (let due = this.evaluator.nextDue(); due !== null && due <= T0 + at; due = this.evaluator.nextDue()) {
      const decisions = this.evaluator.tick(due)
      for (const decision of decisions) this.ledger.apply(decision)
      all.push(...decisions)
    }
    return all
  }

  /** The daemon starts again. @param at ms after T0; absent: nothing says when */
  restart(at?: number): void {
    this.commit()
    this.evaluator = createEvaluator(at === undefined ? this.ports : { ...this.ports, listensSince: T0 + at })
    this.evaluator.define([this.definition])
  }

  private history(): History {
    return {
      read: ({ sourceIds, labels, from, to, beforeId, order, limit }) => {
        const found = this.stored
          .slice(0, this.committed)
          .filter(
            (event) =>
              event.id < beforeId &&
              sourceIds.includes(event.sourceId) &&
              event.ts >= from &&
              event.ts <= to &&
              labels.every((label) => event.labels.includes(label)),
          )
          .sort((a, b) => a.ts - b.ts || a.id - b.id)
        return (order === 'desc' ? found.reverse() : found).slice(0, limit)
      },
    }
  }
}

/** Reasons and what else is done, in short. */
export const does = (decisions: readonly Decision[]): string[] =>
  decisions.map((decision) => (decision.do === 'note' ? decision.verdict.reason : decision.do))
