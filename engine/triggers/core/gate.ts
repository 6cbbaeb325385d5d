/**
 * What becomes of a condition that was met: it fires, it waits its cooldown, or it is one of a burst
 * that gathers or is held back by a limit. All of it goes by the clock of ingest.
 */
import type { Crossing, Decision, Ledger, Verdict } from '../types.ts'
import { type Compiled, type Met as ConditionMet, instantWords, verdictOf } from './condition.ts'

/** Keys whose last firing is remembered; then it is read again. */
const REMEMBERED = 10_000

interface Burst {
  state: 'gathering' | 'held'
  openedAt: number
  dueAt: number
  /** Events so far; null once there are as many as are needed. */
  ids: Set<number> | null
  keys: Set<string>
}

/** What a condition says of itself when it is met. */
export type Met = Omit<Crossing, 'eventIds'> & Pick<ConditionMet, 'evidence' | 'end'>

/** When a key fired last, epoch ms, and how severe that was; null: never. */
type Last = { at: number; rank: number } | null
/** Nothing is more severe. */
const MOST_SEVERE = 3

export class Gate {
  private burst: Burst | null
  private readonly last = new Map<string, Last>()
  /** Times of the firings that limits count, ascending; null: to be read. */
  private fired: number[] | null = null
  private readonly longest: number
  private readonly triggerId: number

  constructor(
    private readonly trigger: Compiled,
    private readonly ledger: Ledger,
  ) {
    this.triggerId = trigger.definition.id
    this.longest = Math.max(0, ...trigger.limits.map(({ perMs }) => perMs))
    const open = ledger.open(this.triggerId)
    this.burst = open && {
      state: open.state,
      openedAt: open.openedAt,
      dueAt: open.dueAt,
      ids: this.wanting(open.events < trigger.minCount ? new Set(open.ids()) : null),
      keys: new Set(open.keys()),
    }
  }

  /** When the open burst is decided, epoch ms. */
  dueAt(): number | null {
    return this.burst?.dueAt ?? null
  }

  /** @returns what is decided; a note where it does not fire. */
  pass(met: Met, bypass: boolean): Decision {
    const { gather, cooldownMs } = this.trigger
    const { at, key } = met
    // Who asks to wake now does not wait for the end of a burst, unless a limit holds it back.
    const wakesNow = bypass && this.burst?.state === 'gathering' && this.allowedAt(at) <= at
    if (this.burst && !wakesNow) return this.fold(this.burst, met)
    const last = bypass ? null : this.lastFired(met)
    // What is more severe than what fired does not wait for it: nobody was told of that.
    if (last !== null && at < last.at + cooldownMs && !(met.rank !== undefined && met.rank > last.rank)) {
      const until = last.at + cooldownMs
      const text = `${met.reason}; but it fired at ${instantWords(last.at)} and waits until ${instantWords(until)}`
      return { do: 'note', verdict: this.verdict(met, 'cooldown', text, until) }
    }
    if (gather && !bypass) {
      const dueAt = at + Math.min(gather.maxWaitMs, gather.quietMs ?? gather.maxWaitMs)
      return this.open(met, 'gathering', dueAt)
    }
    const allowedAt = this.allowedAt(at)
    if (allowedAt > at) return this.open(met, 'held', allowedAt)
    this.note(key, { at, rank: met.rank ?? MOST_SEVERE })
    const crossing = crossingOf(met, null)
    return {
      do: 'fire',
      triggerId: this.triggerId,
      crossing,
      verdict: this.verdict(met, 'fired', `fired: ${met.reason}`),
    }
  }

  /** The open burst, which is due. @param at epoch ms */
  settle(at: number): Decision {
    const burst = this.burst!
    const { triggerId } = this
    if (burst.state === 'gathering' && burst.ids && burst.ids.size < this.trigger.minCount) {
      this.burst = null
      return { do: 'drop', triggerId, at }
    }
    const allowedAt = this.allowedAt(at)
    if (allowedAt > at) {
      burst.state = 'held'
      burst.dueAt = allowedAt
      return { do: 'hold', triggerId, at, dueAt: allowedAt }
    }
    this.burst = null
    // Its rows are written once the events that come with it are judged: these wait for its cooldown, too.
    for (const key of burst.keys) this.last.set(key, { at, rank: MOST_SEVERE })
    this.fired?.push(at)
    return { do: 'release', triggerId, at }
  }

  /** What is told again by its rows when it is asked for. */
  sweep(): void {
    if (this.last.size > REMEMBERED) this.last.clear()
  }

  private open(met: Met, state: Burst['state'], dueAt: number): Decision {
    const ids = this.wanting(new Set())
    const burst: Burst = { state, openedAt: met.at, dueAt, ids, keys: new Set() }
    this.burst = burst
    const crossing = this.take(burst, met)
    const until = instantWords(dueAt)
    const verdict =
      state === 'held'
        ? this.verdict(met, 'held', `${met.reason}; held back by a limit until ${until}`, dueAt)
        : this.verdict(
            met,
            'folded',
            `${met.reason}; the first of a burst that gathers until ${until}`,
            dueAt,
          )
    return { do: 'open', triggerId: this.triggerId, state, crossing, dueAt, verdict }
  }

  private fold(burst: Burst, met: Met): Decision {
    const { gather } = this.trigger
    if (burst.state === 'gathering' && gather?.quietMs)
      burst.dueAt = Math.min(burst.openedAt + gather.maxWaitMs, met.at + gather.quietMs)
    const { state, dueAt } = burst
    const crossing = this.take(burst, met)
    const until = instantWords(dueAt)
    const verdict =
      state === 'held'
        ? this.verdict(met, 'held', `${met.reason}; held back by a limit until ${until}`, dueAt)
        : this.verdict(met, 'folded', `${met.reason}; folded into a burst that gathers until ${until}`, dueAt)
    return { do: 'fold', triggerId: this.triggerId, crossing, dueAt, verdict }
  }

  private take(burst: Burst, met: Met): Crossing {
    const crossing = crossingOf(met, burst)
    burst.keys.add(met.key)
    for (const id of crossing.eventIds) burst.ids?.add(id)
    burst.ids = this.wanting(burst.ids)
    return crossing
  }

  private wanting(ids: Set<number> | null): Set<number> | null {
    return ids && ids.size < this.trigger.minCount ? ids : null
  }

  /** When limits let one more fire; `at` itself: now. */
  private allowedAt(at: number): number {
    const { limits } = this.trigger
    if (limits.length === 0) return at
    this.fired ??= [...this.ledger.firedSince(this.triggerId, at - this.longest)]
    while (this.fired.length && this.fired[0]! <= at - this.longest) this.fired.shift()
    let allowed = at
    for (const { max, perMs } of limits) {
      const within = this.fired.filter((time) => time > at - perMs)
      if (within.length >= max) allowed = Math.max(allowed, within[within.length - max]! + perMs)
    }
    return allowed
  }

  private note(key: string, last: { at: number; rank: number }): void {
    this.last.set(key, last)
    this.fired?.push(last.at)
  }

  private lastFired({ key, rank }: Met): Last {
    let last = this.last.get(key)
    if (last === undefined) {
      const at = this.ledger.lastFired(this.triggerId, key)
      // A burst is of many events, and all that comes after it waits.
      const isKnown = rank !== undefined && !this.trigger.gather
      const before = isKnown ? this.ledger.lastRank(this.triggerId, key) : null
      last = at === null ? null : { at, rank: before ?? MOST_SEVERE }
      this.last.set(key, last)
    }
    return last
  }

  private verdict(met: Met, reason: Verdict['reason'], text: string, until: number | null = null): Verdict {
    const { eventId, key, at, value } = met
    return verdictOf(this.trigger.definition, { eventId, key, at, reason, text, value, until })
  }
}

function crossingOf({ evidence, end: _end, ...met }: Met, burst: object | null): Crossing {
  return { ...met, eventIds: evidence(burst) }
}
