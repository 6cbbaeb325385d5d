/**
 * Labels of an event by name. Of names that are asked for each has a number, and of each label that came by it is known
 * which one it has: an event is asked for a label once for each trigger, and a comparison of names took longer than
 * all else of a filter.
 */
import type { LabelLookup } from '../types.ts'

/** Names that are asked for; then all begins anew. */
const NAMES_MAX = 10_000
/** Label ids whose number is kept in a list; beyond, in a map. */
const LISTED_MAX = 1 << 24
/** In the list: not known yet. Else the number and two, of a name that nobody asks for one. */
const UNKNOWN = 0
const NOBODYS = 1
const FIRST = 2

export class LabelNames {
  private readonly numbers = new Map<string, number>()
  private listed = new Uint16Array(1_024)
  private readonly others = new Map<number, number>()
  /** By number: its label of the event, and the turn in which that was set. */
  private readonly found: number[] = []
  private readonly turns: number[] = []
  private turn = 0
  private labels = new Uint32Array()
  private from = 0
  private to = 0

  constructor(private readonly lookup: LabelLookup) {}

  /** Takes the own labels of an event, ids in [from, to). */
  set(labels: Uint32Array, from: number, to: number): void {
    this.labels = labels as typeof this.labels
    this.from = from
    this.to = to
    const { found, turns } = this
    const turn = ++this.turn
    // From the last, so that of two of one name the first counts.
    for (let at = to - 1; at >= from; at--) {
      const label = labels[at]!
      const number = (this.listed[label] || this.numberOf(label)) - FIRST
      if (number < 0) continue
      found[number] = label
      turns[number] = turn
    }
  }

  /** Id of the event's label of a name. */
  find(name: string): number | undefined {
    const number = this.numbers.get(name) ?? this.ask(name)
    return this.turns[number] === this.turn ? this.found[number] : undefined
  }

  /** A name nobody asked for: of no label it is known that it has it. */
  private ask(name: string): number {
    if (this.numbers.size >= NAMES_MAX) this.numbers.clear()
    const number = this.numbers.size
    this.numbers.set(name, number)
    this.listed.fill(UNKNOWN)
    this.others.clear()
    this.set(this.labels, this.from, this.to)
    return number
  }

  private numberOf(label: number): number {
    if (label >= LISTED_MAX) {
      const known = this.others.get(label)
      if (known !== undefined) return known
    }
    const number = this.numbers.get(this.lookup.label(label).name)
    const kept = number === undefined ? NOBODYS : number + FIRST
    if (label >= LISTED_MAX) {
      if (this.others.size >= LISTED_MAX) this.others.clear()
      this.others.set(label, kept)
      return kept
    }
    if (label >= this.listed.length) {
      const grown = new Uint16Array(Math.min(LISTED_MAX, Math.max(label + 1, this.listed.length * 2)))
      grown.set(this.listed)
      this.listed = grown
    }
    this.listed[label] = kept
    return kept
  }
}
