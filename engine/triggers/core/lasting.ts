/** Keys that fired and are not over, of a threshold with `resolve`. */
import type { AggregateCondition } from '../../../schemas/types.ts'
import type { ActiveKey, Ledger } from '../types.ts'
import type { AggregateState } from './aggregate.ts'
import type { Compiled } from './compile.ts'
import type { Key } from './keys.ts'
import { parsePredicate } from './predicate.ts'

interface Active extends ActiveKey {
  /** When its value is to be looked at next, epoch ms; null: nothing changes it but an event. */
  checkAt: number | null
}

export interface Over {
  key: string
  at: number
  value: number | null
  reason: string
}

export class Lasting {
  private readonly keys = new Map<number | string, Active>()
  private readonly isOver: (value: number) => boolean

  constructor(
    trigger: Compiled,
    { predicate, resolve }: AggregateCondition,
    private readonly state: AggregateState,
    ledger: Ledger,
  ) {
    this.isOver = overBy(predicate, resolve)
    for (const active of ledger.active(trigger.definition.id))
      this.keys.set(trigger.key.idOf(active.labels), { ...active, checkAt: active.since })
  }

  has(id: number | string): boolean {
    return this.keys.has(id)
  }

  begin(key: Pick<Key, 'id' | 'text' | 'labels'>, at: number): void {
    this.keys.set(key.id, { key: key.text, labels: key.labels, since: at, checkAt: at })
  }

  /** When the next key may be over, epoch ms. */
  dueAt(): number | null {
    let due: number | null = null
    for (const { checkAt } of this.keys.values())
      if (checkAt !== null && (due === null || checkAt < due)) due = checkAt
    return due
  }

  /** An event of a key was judged. */
  touched(id: number | string, at: number): Over | null {
    return this.check(id, at)
  }

  /** Keys that are over by the clock. */
  *due(now: number): Iterable<Over> {
    for (const [id, active] of this.keys) {
      while (active.checkAt !== null && active.checkAt <= now) {
        const over = this.check(id, active.checkAt)
        if (!over) continue
        yield over
        break
      }
    }
  }

  private check(id: number | string, at: number): Over | null {
    const active = this.keys.get(id)!
    const key = { id, labels: [...active.labels] }
    const value = this.state.valueAt(key, at)
    if (value !== null && !this.isOver(value)) {
      active.checkAt = this.state.changesAt(key, at)
      return null
    }
    this.keys.delete(id)
    return { key: active.key, at, value, reason: `over: ${this.state.words(value)}` }
  }
}

/** Whether a value, in the unit of the predicate, ends it. */
function overBy(text: string, resolve: AggregateCondition['resolve']): (value: number) => boolean {
  const predicate = parsePredicate(text)
  if (resolve === undefined || resolve === true) return (value) => !predicate.holds(value)
  const over = parsePredicate(resolve)
  return (value) => over.holds((value * over.unitMs) / predicate.unitMs)
}
