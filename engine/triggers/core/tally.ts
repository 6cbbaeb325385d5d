/** The aggregate of a window, kept up to date as entries enter and leave it. */
import type { Entries } from './entries.ts'
import { ExactSum } from './exact-sum.ts'

export interface Tally {
  /** Entries in [from, to) enter. */
  enter(entries: Entries, from: number, to: number): void
  /** Those in [from, to) leave: the first ones of the window. */
  leave(entries: Entries, from: number, to: number): void
  /** Null: the window is empty, and its value undefined. */
  value(): number | null
}

export type Aggregate = 'count' | 'sum' | 'avg' | 'min' | 'max' | 'distinct'

export function createTally(aggregate: Aggregate): Tally {
  switch (aggregate) {
    case 'count':
      return new CountTally()
    case 'sum':
      return new SumTally(false)
    case 'avg':
      return new SumTally(true)
    case 'min':
      return new ExtremeTally(-1)
    case 'max':
      return new ExtremeTally(1)
    case 'distinct':
      return new DistinctTally()
  }
}

class CountTally implements Tally {
  private n = 0

  enter(_entries: Entries, from: number, to: number): void {
    this.n += to - from
  }

  leave(_entries: Entries, from: number, to: number): void {
    this.n -= to - from
  }

  value(): number {
    return this.n
  }
}

class SumTally implements Tally {
  private n = 0
  private readonly sum = new ExactSum()

  constructor(private readonly average: boolean) {}

  enter(entries: Entries, from: number, to: number): void {
    this.n += to - from
    for (let i = from; i < to; i++) this.sum.add(entries.numberAt(i))
  }

  leave(entries: Entries, from: number, to: number): void {
    this.n -= to - from
    for (let i = from; i < to; i++) this.sum.add(-entries.numberAt(i))
  }

  value(): number | null {
    if (!this.average) return this.sum.value()
    return this.n === 0 ? null : this.sum.value() / this.n
  }
}

/** Largest value, of sign × value, by a queue of those that no later one outdoes. */
class ExtremeTally implements Tally {
  private readonly ts: number[] = []
  private readonly values: number[] = []
  private head = 0

  constructor(private readonly sign: 1 | -1) {}

  enter(entries: Entries, from: number, to: number): void {
    for (let i = from; i < to; i++) this.add(entries.tsAt(i), this.sign * entries.numberAt(i))
  }

  leave(entries: Entries, from: number, to: number): void {
    if (to === from) return
    const until = entries.tsAt(to - 1)
    while (this.head < this.ts.length && this.ts[this.head]! <= until) this.head++
    if (this.head < 64 || this.head * 2 < this.ts.length) return
    this.ts.splice(0, this.head)
    this.values.splice(0, this.head)
    this.head = 0
  }

  value(): number | null {
    return this.head < this.ts.length ? this.sign * this.values[this.head]! : null
  }

  private add(ts: number, value: number): void {
    let at = this.ts.length
    while (at > this.head && this.ts[at - 1]! > ts) at--
    // A late one that a later one outdoes is never the largest.
    if (at < this.ts.length && this.values[at]! >= value) return
    let first = at
    while (first > this.head && this.values[first - 1]! <= value) first--
    this.ts.splice(first, at - first, ts)
    this.values.splice(first, at - first, value)
  }
}

class DistinctTally implements Tally {
  private readonly counts = new Map<string, number>()

  enter(entries: Entries, from: number, to: number): void {
    for (let i = from; i < to; i++) {
      const text = entries.textAt(i)
      this.counts.set(text, (this.counts.get(text) ?? 0) + 1)
    }
  }

  leave(entries: Entries, from: number, to: number): void {
    for (let i = from; i < to; i++) {
      const text = entries.textAt(i)
      const rest = this.counts.get(text)! - 1
      if (rest === 0) this.counts.delete(text)
      else this.counts.set(text, rest)
    }
  }

  value(): number {
    return this.counts.size
  }
}
