/** Counts of names and their values over a sample of events. */

const VALUES_TOP = 8
const VALUE_MAX = 120

interface Summary {
  /** Share of the sample that has it, 0 to 1. */
  coverage: number
  distinct: number
  /** The most frequent values, cut to 120 characters. */
  values: { value: string; events: number }[]
}

/** Counts of one name's values; `add` at most once per event. */
export class Tally {
  private seen = 0
  private readonly values = new Map<string, number>()

  add(value: unknown): void {
    this.seen++
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    this.values.set(text, (this.values.get(text) ?? 0) + 1)
  }

  /** @param sampled how many events were looked at. */
  summary(sampled: number): Summary {
    const top = [...this.values].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, VALUES_TOP)
    return {
      // Four places tell one event of 2,000, the largest sample, from none and from all.
      coverage: sampled === 0 ? 0 : Math.round((this.seen / sampled) * 10_000) / 10_000,
      distinct: this.values.size,
      values: top.map(([value, events]) => ({ value: value.slice(0, VALUE_MAX), events })),
    }
  }
}

/** Tallies by name: the expected ones from the start, others as they come, up to a bound. */
export class Tallies {
  private readonly byName: Map<string, Tally>

  constructor(
    expected: readonly string[],
    private readonly namesMax: number,
  ) {
    this.byName = new Map(expected.map((name) => [name, new Tally()]))
  }

  add(name: string, value: unknown): void {
    let tally = this.byName.get(name)
    if (!tally) {
      if (this.byName.size >= this.namesMax) return
      tally = new Tally()
      this.byName.set(name, tally)
    }
    tally.add(value)
  }

  all(): [string, Tally][] {
    return [...this.byName]
  }
}
