/**
 * What becomes of a condition that was met: it fires, it waits its cooldown, or it is one of a burst
 * that gathers or is held back by a limit. All of it goes by the clock of ingest. Then the alerts of a key, of events
 * that say when they are over.
 */
import type { Crossing, Decision, KeyAlert, Ledger, Verdict } from '../types.ts'
import { type Compiled, type Met as ConditionMet, failing, instantWords, verdictOf } from './condition.ts'
import type { EventCursor, Key } from './entries.ts'

/** Keys whose last firing is remembered; then it is read again. */
const REMEMBERED = 10_000

interface Burst {
  state: 'gathering' | 'held'
  openedAt: number
  dueAt: number
  /** Events so far; null once there are as many as are needed. */
  ids: Set<number> | null
  keys: Set<string>
  /** How severe the worst of it is; of one that was open at the start it is not known, and all that comes after waits. */
  rank: number
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
      rank: MOST_SEVERE,
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
    const rank = this.trigger.gather ? MOST_SEVERE : burst.rank
    for (const key of burst.keys) this.last.set(key, { at, rank })
    this.fired?.push(at)
    return { do: 'release', triggerId, at }
  }

  /** What is told again by its rows when it is asked for. */
  sweep(): void {
    if (this.last.size > REMEMBERED) this.last.clear()
  }

  private open(met: Met, state: Burst['state'], dueAt: number): Decision {
    const ids = this.wanting(new Set())
    const burst: Burst = { state, openedAt: met.at, dueAt, ids, keys: new Set(), rank: 0 }
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
    burst.rank = Math.max(burst.rank, met.rank ?? MOST_SEVERE)
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

/** Alerts of a key that are remembered; beyond, the one that began first is taken for over. */
const ALERTS_MAX = 1_000

/** What an event that says that an alert is over came to. */
interface Ended {
  reason: Verdict['reason']
  text: string
  decision: Decision | null
}

/**
 * The alerts that are on, by key. A key is over with the last of them. What came within the cooldown of its key, and so
 * was told to nobody, is told when that ends, if it is on still.
 */
export class Alerts {
  private readonly keys = new Map<string, Map<string, KeyAlert>>()
  /** Keys with an alert that nobody was told of, until their cooldown ends. */
  private readonly waiting = new Waiting()
  /** Keys that fired and are not over. */
  private readonly active: Set<string>
  /** What is to be written, by alert; it is asked for after each key. */
  private readonly unsaved = new Map<string, Decision>()
  private readonly triggerId: number

  constructor(
    trigger: Compiled,
    private readonly over: NonNullable<Compiled['over']>,
    private readonly ledger: Ledger,
  ) {
    this.triggerId = trigger.definition.id
    this.active = new Set(ledger.active(this.triggerId).map(({ key }) => key))
    for (const stored of ledger.alerts(this.triggerId)) {
      const { key, alert, isTold } = stored
      this.of(key).set(alert, { ...stored })
      if (!isTold) this.wait(key, (ledger.lastFired(this.triggerId, key) ?? 0) + trigger.cooldownMs)
    }
  }

  /** Whether an event says that an alert is over. */
  ends(event: EventCursor): boolean {
    return failing(this.over.filters, event) === null
  }

  /** An event says that an alert is on. */
  begin({ text: key, labels }: Key, event: EventCursor, rank: number | null): void {
    const alerts = this.of(key)
    const alert = this.alertOf(event)
    const { id: eventId, ts } = event
    const known = alerts.get(alert)
    if (known) {
      Object.assign(known, { eventId, ts: Math.max(ts, known.ts), rank })
      this.save(known)
      return
    }
    const [oldest] = alerts.size < ALERTS_MAX ? [] : alerts.keys()
    if (oldest !== undefined) this.forget(key, oldest, event.ingestedAt)
    const begun = { key, labels, alert, eventId, ts, since: event.ingestedAt, rank, isTold: false }
    alerts.set(alert, begun)
    this.save(begun)
  }

  /** An event says that its alert is over. */
  end({ text: key }: Key, event: EventCursor): Ended {
    const alerts = this.keys.get(key)
    const known = alerts?.get(this.alertOf(event))
    if (!alerts || !known)
      return {
        reason: 'unchanged',
        text: 'it says that an alert is over, which fires nothing',
        decision: null,
      }
    if (event.ts < known.ts) return { reason: 'late', text: 'its alert began again after it', decision: null }
    const at = event.ingestedAt
    alerts.delete(known.alert)
    this.forgetHandled(key, at)
    const { triggerId } = this
    if (alerts.size > 0) {
      if (this.untold(key).length === 0) this.wait(key, null)
      const text = `an alert is over; ${countWords(alerts.size)} of its key ${alerts.size === 1 ? 'is' : 'are'} not`
      return { reason: 'resolved', text, decision: { do: 'over', triggerId, key, alert: known.alert, at } }
    }
    this.keys.delete(key)
    this.wait(key, null)
    this.unsaved.clear()
    if (!this.active.delete(key)) {
      const text = 'an alert is over before its cooldown was: nobody was told of it'
      return { reason: 'resolved', text, decision: { do: 'over', triggerId, key, alert: null, at } }
    }
    const reason = 'over: no alert of it is on any more'
    const decision = { do: 'resolve' as const, triggerId, key, at, value: null, reason, eventIds: [event.id] }
    return { reason: 'resolved', text: reason, decision }
  }

  /** How many alerts of a key are on, where that is more than is told of. */
  onWords(key: string, told: number): string {
    const on = this.keys.get(key)?.size ?? 0
    return on > told ? `; ${on} alerts of it are on` : ''
  }

  /** Events of a key that nobody was told of, ascending. @param judged that which is judged now */
  untold(key: string, judged?: number): number[] {
    const ids = [...(this.keys.get(key)?.values() ?? [])]
      .filter(({ isTold }) => !isTold)
      .map(({ eventId }) => eventId)
    return [...new Set(judged === undefined ? ids : [...ids, judged])].sort((a, b) => a - b)
  }

  /** A key met its condition, and this was decided. */
  passed(key: string, decision: Decision): void {
    if (decision.do === 'note') {
      if (decision.verdict.until !== null && this.untold(key).length > 0)
        this.wait(key, decision.verdict.until)
      return
    }
    if (decision.do !== 'fire') return
    const { at } = decision.crossing
    this.forgetHandled(key, at, decision.crossing.eventId)
    for (const alert of this.of(key).values()) {
      if (alert.isTold) continue
      alert.isTold = true
      this.save(alert)
    }
    this.active.add(key)
    this.wait(key, null)
  }

  /** What is to be written since it was asked last. */
  saved(): Decision[] {
    const decisions = [...this.unsaved.values()]
    this.unsaved.clear()
    return decisions
  }

  /** When the next key tells what came within its cooldown, epoch ms; null: none does. */
  dueAt(): number | null {
    return this.waiting.dueAt()
  }

  /** What came within a cooldown that is over by now, which waits no more. */
  due(now: number): Met[] {
    const mets: Met[] = []
    for (let next = this.waiting.take(now); next !== null; next = this.waiting.take(now)) {
      const { key, until: at } = next
      const alerts = [...this.keys.get(key)!.values()].filter(({ isTold }) => !isTold)
      const newest = alerts.reduce((a, b) => (b.eventId > a.eventId ? b : a))
      const ranks = alerts.flatMap(({ rank }) => rank ?? [])
      const count = alerts.length
      const reason = `${countWords(count)} that came within the cooldown ${count === 1 ? 'is' : 'are'} not over${this.onWords(key, count)}`
      mets.push({
        ...{ key, labels: newest.labels, cause: `e:${newest.eventId}:${key}`, at },
        ...{ eventId: newest.eventId, value: null, reason, evidence: () => this.untold(key) },
        ...(ranks.length ? { rank: Math.max(...ranks) } : {}),
      })
    }
    return mets
  }

  private alertOf(event: EventCursor): string {
    return JSON.stringify(this.over.equal.map((field) => field.text(event) ?? null))
  }

  private of(key: string): Map<string, KeyAlert> {
    const known = this.keys.get(key)
    if (known) return known
    const alerts = new Map<string, KeyAlert>()
    this.keys.set(key, alerts)
    return alerts
  }

  /** What was on when its incident was handled is not waited for: its end may never come. @param judged event of one that is on */
  private forgetHandled(key: string, at: number, judged: number | null = null): void {
    const handled = this.ledger.handledAt(this.triggerId, key)
    if (handled === null) return
    for (const alert of this.of(key).values()) {
      if (!alert.isTold || alert.since > handled) continue
      if (alert.eventId === judged) {
        alert.since = at
        this.save(alert)
      } else this.forget(key, alert.alert, at)
    }
  }

  private forget(key: string, alert: string, at: number): void {
    this.of(key).delete(alert)
    this.unsaved.set(alert, { do: 'over', triggerId: this.triggerId, key, alert, at })
  }

  private save(alert: KeyAlert): void {
    this.unsaved.set(alert.alert, { do: 'alert', triggerId: this.triggerId, alert })
  }

  /** @param until null: it waits no more */
  private wait(key: string, until: number | null): void {
    if (until === null) this.waiting.drop(key)
    else this.waiting.set(key, until)
  }
}

interface Wait {
  key: string
  until: number
}

/** Of one instant it is the order of the keys, so that a start changes none. */
const isBefore = (a: Wait, b: Wait): boolean => a.until < b.until || (a.until === b.until && a.key < b.key)

/** Entries that are left behind before they are given back. */
const LEFT_MAX = 64

/** Keys that wait until an instant, epoch ms: the first of many thousands is found without a look at the others. */
class Waiting {
  private readonly until = new Map<string, number>()
  /** A heap: none is earlier than the one at half its place. One whose key waits for another instant is left behind. */
  private entries: Wait[] = []

  set(key: string, until: number): void {
    if (this.until.get(key) === until) return
    this.until.set(key, until)
    this.push({ key, until })
    if (this.entries.length <= this.until.size * 2 + LEFT_MAX) return
    this.entries = []
    for (const [known, at] of this.until) this.push({ key: known, until: at })
  }

  drop(key: string): void {
    this.until.delete(key)
  }

  /** When the first is due; null: none waits. */
  dueAt(): number | null {
    for (let first = this.entries[0]; first; first = this.entries[0]) {
      if (this.until.get(first.key) === first.until) return first.until
      this.pop()
    }
    return null
  }

  /** The first that is due by now, which waits no more; null: none is. */
  take(now: number): Wait | null {
    const due = this.dueAt()
    if (due === null || due > now) return null
    const first = this.entries[0]!
    this.pop()
    this.until.delete(first.key)
    return first
  }

  private push(entry: Wait): void {
    const { entries } = this
    let at = entries.push(entry) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      if (isBefore(entries[above]!, entry)) break
      entries[at] = entries[above]!
      at = above
    }
    entries[at] = entry
  }

  private pop(): void {
    const { entries } = this
    const last = entries.pop()!
    if (entries.length === 0) return
    let at = 0
    for (;;) {
      let below = at * 2 + 1
      if (below >= entries.length) break
      const other = entries[below + 1]
      if (other && isBefore(other, entries[below]!)) below++
      if (isBefore(last, entries[below]!)) break
      entries[at] = entries[below]!
      at = below
    }
    entries[at] = last
  }
}

const countWords = (count: number): string => (count === 1 ? 'one alert' : `${count} alerts`)
