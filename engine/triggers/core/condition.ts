/** What every kind of condition is to the evaluator. */
import type { WhyRecord } from '../../../schemas/types.ts'
import type { EventCursor } from './cursor.ts'
import type { Key } from './keys.ts'

/** A condition was met. */
export interface Met {
  value: number | null
  reason: string
  /**
   * Events that met it, ascending.
   * @param burst folded into this one: without those that were given to it before.
   */
  evidence(burst: object | null): number[]
}

/** It was not. */
export interface Unmet {
  why: Extract<WhyRecord['reason'], 'below' | 'no_value' | 'unchanged' | 'waiting' | 'late' | 'filter'>
  value: number | null
  text(): string
}

export type Outcome = Met | Unmet

export const isMet = (outcome: Outcome): outcome is Met => 'evidence' in outcome

/** State of a condition by key. */
export interface ConditionState {
  /** @param beforeId events from this id on are not in the history yet. */
  judge(event: EventCursor, key: Key, beforeId: number): Outcome
  /** Value over the window that ends now, by the clock of ingest. Only of thresholds. */
  valueAt?(key: Pick<Key, 'id' | 'labels'>, now: number): number | null
  /** When that value changes next by the clock alone; null: it does not. */
  changesAt?(key: Pick<Key, 'id' | 'labels'>, now: number): number | null
  /** Gives memory back: what no window reaches any more. @returns entries that stay. */
  sweep(now: number): number
  /** Keys in memory with the id of the event that used them last, for those that go first. */
  keys(): Iterable<[id: number | string, used: number, weight: number]>
  drop(id: number | string): void
}

/** What a key costs besides its entries, in entries. */
export const KEY_WEIGHT = 8
