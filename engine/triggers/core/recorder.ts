/** What a trigger made of each event of the past, judged anew in the order they were stored. */
import type { Decision, Evaluator, LabelLookup, Seen, TriggerDefinition, Verdict } from '../types.ts'
import { createEvaluator } from './evaluator.ts'
import { MemoryLedger } from './memory-ledger.ts'

export interface RecorderParts {
  definition: TriggerDefinition
  labels: LabelLookup
  sourceName(id: number): string
  /** Told each judgement; of events that a filter leaves out there is none. */
  record(verdict: Verdict): void
}

/** @example const recorder = new Recorder(parts); for (const event of events) recorder.feed(event) */
export class Recorder {
  private readonly ledger = new MemoryLedger()
  private readonly evaluator: Evaluator

  constructor(private readonly parts: RecorderParts) {
    const { labels, sourceName, definition } = parts
    this.evaluator = createEvaluator({ labels, sourceName, history: null, ledger: this.ledger })
    this.evaluator.define([definition])
  }

  /** @param event stored after those fed before it. */
  feed(event: Seen): void {
    const { evaluator } = this
    for (let due = evaluator.nextDue(); due !== null && due <= event.ingestedAt; due = evaluator.nextDue())
      this.apply(evaluator.tick(due))
    this.apply(evaluator.judgeSeen(event, (_trigger, reason) => reason !== 'filter'))
  }

  private apply(decisions: readonly Decision[]): void {
    for (const decision of decisions) {
      this.ledger.apply(decision)
      if ('verdict' in decision) this.parts.record(decision.verdict)
    }
  }
}
