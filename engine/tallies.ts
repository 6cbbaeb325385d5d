/**
 * What was done since the process started, counted for /metrics by what it is about; never by entity.
 * Nothing is decided by it, so it may be forgotten: what is true is in the rows.
 */

import { dollars } from './models/dollars.ts'

export type TallyName =
  | 'firings'
  | 'runs'
  | 'polls'
  | 'model_calls'
  | 'model_tokens'
  | 'model_spend_usd'
  | 'model_unpriced_calls'

export interface Tally {
  name: TallyName
  labels: Record<string, string>
  value: number
}

export class Tallies {
  private readonly known = new Map<string, Tally>()

  /** @param by how many more; 0 makes it known. */
  add(name: TallyName, labels: Record<string, string>, by = 1): void {
    const key = JSON.stringify([name, labels])
    const tally = this.known.get(key)
    if (tally) tally.value = name === 'model_spend_usd' ? dollars(tally.value + by) : tally.value + by
    else this.known.set(key, { name, labels, value: by })
  }

  list(): Tally[] {
    return [...this.known.values()]
  }
}
