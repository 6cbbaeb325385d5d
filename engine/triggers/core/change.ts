/**
 * The value of a label or field against that of the key's newest event by event time. An event that
 * comes after a newer one of its key is no news: it is told to be late and changes nothing.
 */
import type { ChangeCondition } from '../../../schemas/types.ts'
import type { Compiled } from './compile.ts'
import { type ConditionState, KEY_WEIGHT, type Outcome } from './condition.ts'
import type { EventCursor } from './cursor.ts'
import { fieldOf } from './fields.ts'
import type { HistoryReader } from './history-reader.ts'
import type { Key } from './keys.ts'

/** Events of a key looked at for the value it had, when none is in memory. */
const LOOK_BACK = 10_000
/** What a sentence tells of a value. */
const SHOWN = 80

interface Known {
  ts: number
  /** Event that used it last. */
  id: number
  /** Null: no event of the key had a value. */
  text: string | null
}

export class ChangeState implements ConditionState {
  private readonly known = new Map<number | string, Known>()
  private readonly field

  constructor(
    private readonly trigger: Compiled,
    private readonly condition: ChangeCondition,
    private readonly reader: HistoryReader,
  ) {
    this.field = fieldOf(condition.change_of)
  }

  judge(event: EventCursor, key: Key, beforeId: number): Outcome {
    const { change_of: name, from, to } = this.condition
    const text = this.field.text(event)
    if (text === undefined) return { why: 'no_value', value: null, text: () => `it has no ${name}` }
    const { id, ts } = event
    const before = this.known.get(key.id) ?? this.read(key, beforeId)
    if (ts < before.ts) {
      before.id = id
      return { why: 'late', value: null, text: () => `a newer event had set ${name} already` }
    }
    this.known.set(key.id, { ts, id, text })
    const was = before.text
    if (was === null || was === text) {
      const words = was === null ? `the first ${name} of its key` : `${name} is ${shown(text)} as before`
      return { why: 'unchanged', value: null, text: () => words }
    }
    const words = `${name} changed from ${shown(was)} to ${shown(text)}`
    if ((from !== undefined && was !== from) || (to !== undefined && text !== to)) {
      const wanted = `${from === undefined ? '' : ` from ${shown(from)}`}${to === undefined ? '' : ` to ${shown(to)}`}`
      return { why: 'unchanged', value: null, text: () => `${words}, not${wanted}` }
    }
    return { value: null, reason: words, evidence: () => [id] }
  }

  sweep(): number {
    return this.known.size * KEY_WEIGHT
  }

  *keys(): Iterable<[number | string, number, number]> {
    for (const [key, { id }] of this.known) yield [key, id, KEY_WEIGHT]
  }

  drop(id: number | string): void {
    this.known.delete(id)
  }

  private read(key: Key, beforeId: number): Known {
    const found: Known = { ts: Number.NEGATIVE_INFINITY, id: beforeId, text: null }
    this.reader.newest(this.trigger, key, { beforeId, most: LOOK_BACK }, (event) => {
      const text = this.field.text(event)
      if (text === undefined) return false
      found.ts = event.ts
      found.text = text
      return true
    })
    return found
  }
}

const shown = (text: string) => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text)
