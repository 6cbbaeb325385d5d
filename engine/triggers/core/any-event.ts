/** Every event that passes the filters meets it. */
import type { ConditionState, Met } from './condition.ts'
import type { EventCursor } from './cursor.ts'

export const anyEvent: ConditionState = {
  judge(event: EventCursor): Met {
    const { id } = event
    const type = event.value(event.typeLabel())
    return { value: null, reason: type ? `an event of type ${type}` : 'an event', evidence: () => [id] }
  },
  sweep: () => 0,
  keys: () => [],
  drop: () => {},
}
