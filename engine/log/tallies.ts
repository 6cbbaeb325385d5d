/**
 * What was done since the process started, counted for /metrics by what it is about; never by entity.
 * Nothing is decided by it, so it may be forgotten: what is true is in the rows.
 */

import { dollars } from '../model/units.ts'

export type TallyName =
  | 'firings'
  | 'runs'
  | 'polls'
  | 'catalog_looks'
  | 'slack_requests'
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
  private readonly changed = new Set<Tally>()

  /** @param by how many more; 0 makes it known. */
  add(name: TallyName, labels: Record<string, string>, by = 1): void {
    const key = keyOf({ name, labels })
    const tally = this.known.get(key) ?? { name, labels, value: 0 }
    tally.value = name === 'model_spend_usd' ? dollars(tally.value + by) : tally.value + by
    this.known.set(key, tally)
    this.changed.add(tally)
  }

  /** Takes what another thread counted. */
  put(tallies: readonly Tally[]): void {
    for (const tally of tallies) this.known.set(keyOf(tally), tally)
  }

  /** Those that changed since this was asked last. */
  news(): Tally[] {
    const news = [...this.changed]
    this.changed.clear()
    return news
  }

  list(): Tally[] {
    return [...this.known.values()]
  }
}

const keyOf = ({ name, labels }: Pick<Tally, 'name' | 'labels'>): string => JSON.stringify([name, labels])
