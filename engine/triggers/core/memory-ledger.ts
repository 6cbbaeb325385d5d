/** The ledger of one trigger in memory: what was decided is told again, as its rows would. */
import type { ActiveKey, Crossing, Decision, Ledger, OpenBurst, WatchedKey } from '../types.ts'

/** A firing there was. */
export interface MemoryFiring {
  at: number
  key: string
  value: number | null
  eventIds: number[]
  heldBack: number
  resolved: boolean
}

interface Burst extends Omit<OpenBurst, 'ids' | 'events'> {
  ids: Set<number>
  keys: Set<string>
  first: Crossing
  crossings: number
  heldBack: number
}

export class MemoryLedger implements Ledger {
  private readonly last = new Map<string, number>()
  private readonly times: number[] = []
  private burst: Burst | null = null
  private readonly lasting = new Map<string, ActiveKey>()
  private readonly heard = new Map<string, WatchedKey>()

  /** Takes note of what was decided. @returns the firing, where it is one */
  apply(decision: Decision): MemoryFiring | null {
    switch (decision.do) {
      case 'fire': {
        const { key, at, value, eventIds, labels } = decision.crossing
        this.last.set(key, at)
        this.times.push(at)
        this.lasting.set(key, { key, labels, since: at })
        return { at, key, value, eventIds, heldBack: 0, resolved: false }
      }
      case 'open': {
        const { crossing, state, dueAt } = decision
        const { at } = crossing
        this.burst = {
          state,
          dueAt,
          openedAt: at,
          lastAt: at,
          ids: new Set(),
          keys: new Set(),
          first: crossing,
          crossings: 0,
          heldBack: 0,
        }
        this.take(this.burst, crossing)
        return null
      }
      case 'fold':
        this.burst!.dueAt = decision.dueAt
        this.take(this.burst!, decision.crossing)
        return null
      case 'hold': {
        const burst = this.burst!
        if (burst.state === 'gathering') burst.heldBack = burst.crossings
        burst.state = 'held'
        burst.dueAt = decision.dueAt
        return null
      }
      case 'release': {
        const { ids, keys, first, heldBack } = this.burst!
        const { at } = decision
        this.burst = null
        for (const key of keys) this.last.set(key, at)
        this.times.push(at)
        const { key, value } = first
        return { at, key, value, eventIds: [...ids], heldBack, resolved: false }
      }
      case 'drop':
        this.burst = null
        return null
      case 'resolve': {
        const { key, at, value, eventIds } = decision
        this.lasting.delete(key)
        return { at, key, value, eventIds, heldBack: 0, resolved: true }
      }
      case 'watch':
        this.heard.set(decision.watched.key, decision.watched)
        return null
      case 'note':
        return null
    }
  }

  lastFired(_triggerId: number, key: string): number | null {
    return this.last.get(key) ?? null
  }

  firedSince(_triggerId: number, after: number): number[] {
    return this.times.filter((time) => time > after)
  }

  open(): OpenBurst | null {
    const { burst } = this
    return burst && { ...burst, events: burst.ids.size, ids: () => burst.ids }
  }

  active(): ActiveKey[] {
    return [...this.lasting.values()]
  }

  watched(): WatchedKey[] {
    return [...this.heard.values()]
  }

  private take(burst: Burst, crossing: Crossing): void {
    for (const id of crossing.eventIds) burst.ids.add(id)
    burst.keys.add(crossing.key)
    burst.lastAt = crossing.at
    burst.crossings++
    if (burst.state === 'held') burst.heldBack++
  }
}
