/**
 * Steps in order of event time. Of each step only the chain that began last matters, since it ends
 * soonest; a late event is judged by the tightest chain that goes through it.
 */
import type { SequenceCondition } from '../../../schemas/types.ts'
import { parseDuration } from '../../model/units.ts'
import { type Compiled, type ConditionState, intakeOf, NO_EVENT, type Outcome } from './condition.ts'

import type { Entries, EventCursor, Key } from './entries.ts'

import { failing } from './filters.ts'
import { type HistoryReader, type Shared, type Window, Windows } from './windows.ts'

/** A chain of steps up to one of them. */
interface Chain {
  id: number
  /** Event time of its first step. */
  start: number
  before: Chain | null
}

interface SequenceWindow extends Window {
  /** By step: the chain that began last. */
  chains: (Chain | null)[]
}

export class SequenceState implements ConditionState {
  private readonly withinMs: number
  private readonly windows: Windows<SequenceWindow>
  private readonly last: number
  private readonly steps: Steps

  constructor(
    trigger: Compiled,
    private readonly condition: SequenceCondition,
    reader: HistoryReader,
    shared: Shared | null = null,
  ) {
    const steps = () => new Steps(trigger.steps, shared !== null)
    const what = () => [intakeOf(trigger.definition), condition.sequence.map(({ filters }) => filters)]
    this.steps = shared ? shared.get('steps', what(), steps) : steps()
    this.last = condition.sequence.length - 1
    this.withinMs = parseDuration(condition.within, 'condition.within')
    this.windows = new Windows(
      trigger,
      // A chain of exactly this length counts, and a window leaves its start out.
      this.withinMs + 1,
      reader,
      (event) => this.steps.of(event) || null,
      (entries, coversFrom) => ({ entries, coversFrom, used: 0, chains: this.chainsOf(entries) }),
      () => {},
    )
  }

  judge(event: EventCursor, key: Key, beforeId: number): Outcome {
    const steps = this.steps.of(event)
    if (steps === 0)
      return { why: 'filter', value: null, text: () => 'it is none of the steps of the sequence' }
    const window = this.windows.at(key, event.ts, beforeId)
    window.used = event.id
    const { entries } = window
    const isNewest = event.ts >= entries.lastTs
    const place = entries.insert(event.ts, event.id, steps)
    const chain = isNewest
      ? this.extend(window.chains, event.ts, event.id, steps)
      : this.through(entries, place, steps)
    if (!isNewest) window.chains = this.chainsOf(entries)
    if (chain === null) return { why: 'waiting', value: null, text: () => this.waiting(window.chains) }
    const { within } = this.condition
    return {
      value: null,
      reason: `${this.condition.sequence.map((_, n) => this.nameOf(n)).join(', then ')}, within ${within}`,
      evidence: () => [...chain].sort((a, b) => a - b),
    }
  }

  sweep(now: number): number {
    return this.windows.sweep(now)
  }

  keys(): Iterable<[number | string, number, number]> {
    return this.windows.keys()
  }

  drop(id: number | string): void {
    this.windows.byKey.delete(id)
  }

  /** Adds an event that is the newest. @returns ids of the chain it completes, or null */
  private extend(chains: (Chain | null)[], ts: number, id: number, steps: number): number[] | null {
    let met: number[] | null = null
    // From the last step down: an event is no step after itself.
    for (let step = this.last; step >= 0; step--) {
      if (!(steps & (1 << step))) continue
      const before = step === 0 ? null : chains[step - 1]!
      if (step > 0 && (before === null || ts - before.start > this.withinMs)) continue
      const chain: Chain = { id, start: before?.start ?? ts, before }
      if (step === this.last) met = idsOf(chain)
      chains[step] = chain
    }
    return met
  }

  private chainsOf(entries: Entries): (Chain | null)[] {
    const chains: (Chain | null)[] = this.condition.sequence.map(() => null)
    for (let i = 0; i < entries.length; i++)
      this.extend(chains, entries.tsAt(i), entries.idAt(i), entries.numberAt(i))
    return chains
  }

  /** The tightest chain through an event, as any of the steps it is. */
  private through(entries: Entries, place: number, steps: number): number[] | null {
    for (let step = this.last; step >= 0; step--) {
      if (!(steps & (1 << step))) continue
      const ids = [entries.idAt(place)]
      const first = this.walk(entries, place, step, -1, ids)
      const end = first === null ? null : this.walk(entries, place, step, 1, ids)
      if (first !== null && end !== null && end - first <= this.withinMs) return ids
    }
    return null
  }

  /** The nearest events that are the steps before, or after, one. @returns event time of the outermost */
  private walk(entries: Entries, place: number, step: number, by: 1 | -1, ids: number[]): number | null {
    let wanted = step + by
    let at = place
    while (wanted >= 0 && wanted <= this.last) {
      at += by
      if (at < 0 || at >= entries.length) return null
      if (Math.abs(entries.tsAt(at) - entries.tsAt(place)) > this.withinMs) return null
      if (!(entries.numberAt(at) & (1 << wanted))) continue
      ids.push(entries.idAt(at))
      wanted += by
    }
    return entries.tsAt(at)
  }

  private waiting(chains: readonly (Chain | null)[]): string {
    let reached = chains.length - 1
    while (reached > 0 && (chains[reached] === null || reached === this.last)) reached--
    if (chains[reached] === null) return `waits for ${this.nameOf(0)}, the first step`
    return `waits for ${this.nameOf(reached + 1)}, step ${reached + 2} of ${this.last + 1}`
  }

  private nameOf(step: number): string {
    return this.condition.sequence[step]!.name || `step ${step + 1}`
  }
}

/** Which steps an event is. */
class Steps {
  private eventId = NO_EVENT
  private steps = 0

  /** @param isShared whether several triggers ask of each event */
  constructor(
    private readonly filters: Compiled['steps'],
    private readonly isShared: boolean,
  ) {}

  /** A bit for each. */
  of(event: EventCursor): number {
    if (this.isShared && event.id === this.eventId) return this.steps
    let steps = 0
    this.filters.forEach((filters, n) => {
      if (!failing(filters, event)) steps |= 1 << n
    })
    this.steps = steps
    this.eventId = event.id
    return steps
  }
}

function idsOf(chain: Chain): number[] {
  const ids: number[] = []
  for (let at: Chain | null = chain; at !== null; at = at.before) ids.push(at.id)
  return ids
}
