/**
 * Which triggers an event could match, by its labels alone. Each trigger waits at one access: the
 * labels of its most selective filter, or its sources. What a label id leads to is worked out once,
 * when the id first comes by, so that a label which appears later finds the triggers that wait for it.
 */
import { SOURCE_LABEL, TYPE_LABEL } from '../../store/dictionary.ts'
import type { LabelLookup } from '../types.ts'
import type { EventCursor } from './cursor.ts'
import { ANY_LABEL } from './fields.ts'
import type { CompiledFilter } from './filters.ts'

/** What the index asks of a trigger. */
export interface Indexed {
  sourceIds: readonly number[]
  /** Filters that all hold of an event it could match; several: any of these lists. */
  ways: readonly (readonly CompiledFilter[])[]
}

const UNKNOWN = 0
const NONE = 1
const SOME = 2
/** Label ids whose answer is kept in a byte each. */
const BYTES_MAX = 1 << 24
/** Label ids that lead somewhere; then all is worked out anew. */
const HITS_MAX = 100_000

/** Triggers by source. */
type Hits<T> = Map<number, T[]>

/** Triggers that wait at a label name. */
interface Door<T> {
  exact: Map<string, T[]>
  lower: Map<string, T[]>
  tests: { filter: CompiledFilter; trigger: T }[]
}

export class MatchIndex<T extends Indexed> {
  private readonly doors = new Map<string, Door<T>>()
  private readonly sources = new Set<number>()
  private answers = new Uint8Array(1024)
  private readonly hits = new Map<number, Hits<T>>()
  /** Finds the names in JSON of number labels that triggers wait at. */
  private readonly numberNames: RegExp | null

  constructor(
    triggers: readonly T[],
    private readonly labels: LabelLookup,
  ) {
    for (const trigger of triggers) this.add(trigger)
    const names = [...this.doors.keys()].filter((name) => name !== ANY_LABEL && !name.startsWith('@'))
    const escaped = names.map((name) => JSON.stringify(name).replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    this.numberNames = names.length ? new RegExp(`(?:${escaped.join('|')}):`) : null
  }

  /** Whether any trigger watches a source. */
  watches(sourceId: number): boolean {
    return this.sources.has(sourceId)
  }

  /** Calls back with each trigger the event could match; with some more than once. */
  candidates(event: EventCursor, numbers: string | null, visit: (trigger: T) => void): void {
    const { labels, from, to, sourceId } = event
    for (let at = from; at < to; at++) this.visitLabel(labels[at]!, sourceId, visit)
    if (numbers !== null && this.numberNames?.test(numbers)) this.visitNumbers(event, visit)
  }

  /** Whether `candidates` could find any, from the labels in [from, to). */
  finds(labels: Uint32Array, from: number, to: number, numbers: string | null): boolean {
    const { answers } = this
    for (let at = from; at < to; at++) {
      // Beyond the bytes: undefined, which is not NONE either.
      if (answers[labels[at]!] !== NONE && this.answer(labels[at]!) === SOME) return true
    }
    return numbers !== null && (this.numberNames?.test(numbers) ?? false)
  }

  private visitLabel(label: number, sourceId: number, visit: (trigger: T) => void): void {
    if (this.answers[label] === NONE || this.answer(label) === NONE) return
    const found = this.hits.get(label)!.get(sourceId)
    if (found) for (const trigger of found) visit(trigger)
  }

  private answer(label: number): number {
    if (label < BYTES_MAX) {
      if (label >= this.answers.length) {
        const grown = new Uint8Array(Math.min(BYTES_MAX, Math.max(label + 1, this.answers.length * 2)))
        grown.set(this.answers)
        this.answers = grown
      } else if (this.answers[label] !== UNKNOWN) return this.answers[label]!
    } else if (this.hits.has(label)) return SOME
    const { name, value } = this.labels.label(label)
    const found: Hits<T> = new Map()
    const leads = this.collect(name, value, found)
    if (leads) {
      if (this.hits.size >= HITS_MAX) {
        this.hits.clear()
        this.answers.fill(UNKNOWN)
      }
      this.hits.set(label, found)
    }
    if (label < BYTES_MAX) this.answers[label] = leads ? SOME : NONE
    return leads ? SOME : NONE
  }

  private visitNumbers(event: EventCursor, visit: (trigger: T) => void): void {
    for (const name of event.numberNames()) {
      if (!this.doors.has(name)) continue
      const found: Hits<T> = new Map()
      this.collect(name, String(event.number(name)), found, true)
      for (const trigger of found.get(event.sourceId) ?? []) visit(trigger)
    }
  }

  private collect(name: string, value: string, found: Hits<T>, isNumber = false): boolean {
    open(this.doors.get(name), value, found)
    if (!isNumber && !name.startsWith('@')) open(this.doors.get(ANY_LABEL), value, found)
    return found.size > 0
  }

  private add(trigger: T): void {
    for (const sourceId of trigger.sourceIds) this.sources.add(sourceId)
    for (const filters of trigger.ways) {
      const access = accessOf(filters)
      if (!access) {
        for (const id of trigger.sourceIds) addTo(this.door(SOURCE_LABEL).exact, String(id), trigger)
        continue
      }
      const { exact, lower, tests } = this.door(access.field.labelName!)
      if (access.op === 'eq') addTo(exact, access.values![0]!, trigger)
      else if (access.op === 'in') for (const value of new Set(access.values)) addTo(lower, value, trigger)
      else tests.push({ filter: access, trigger })
    }
  }

  private door(name: string): Door<T> {
    let door = this.doors.get(name)
    if (!door) {
      door = { exact: new Map(), lower: new Map(), tests: [] }
      this.doors.set(name, door)
    }
    return door
  }
}

const RANKS: Partial<Record<CompiledFilter['op'], number>> = {
  eq: 0,
  in: 0,
  prefix: 1,
  regex: 1,
  contains: 1,
}

/** The filter that lets the fewest events through, as far as can be told; null: none is of a label. */
function accessOf(filters: readonly CompiledFilter[]): CompiledFilter | null {
  let best: CompiledFilter | null = null
  let bestRank = 3
  for (const filter of filters) {
    const rank = filter.field.labelName === TYPE_LABEL ? 2 : (RANKS[filter.op] ?? 3)
    const isOne = filter.field.labelName !== null && RANKS[filter.op] !== undefined
    if (!isOne || rank >= bestRank) continue
    best = filter
    bestRank = rank
  }
  return best
}

function open<T extends Indexed>(door: Door<T> | undefined, value: string, found: Hits<T>): void {
  if (!door) return
  for (const trigger of door.exact.get(value) ?? []) bySource(trigger, found)
  if (door.lower.size)
    for (const trigger of door.lower.get(value.toLowerCase()) ?? []) bySource(trigger, found)
  for (const { filter, trigger } of door.tests) if (filter.testText(value)) bySource(trigger, found)
}

function bySource<T extends Indexed>(trigger: T, found: Hits<T>): void {
  for (const sourceId of trigger.sourceIds) {
    const there = found.get(sourceId)
    if (there) there.push(trigger)
    else found.set(sourceId, [trigger])
  }
}

function addTo<T>(map: Map<string, T[]>, value: string, trigger: T): void {
  const there = map.get(value)
  if (there) there.push(trigger)
  else map.set(value, [trigger])
}
