/** Keys: what a trigger counts by, fires by and cools down by. */
import type { TriggerDefinition } from '../types.ts'
import type { EventCursor } from './cursor.ts'

export interface Key {
  /** Of its labels: two entities of the same value but another label have one text and two histories. */
  id: number | string
  text: string
  /** Label ids that all of its events carry. */
  labels: number[]
}

export interface KeyReader {
  /** Null where the event lacks a component. */
  read(event: EventCursor): Key | null
  /** Id of a key that is known by its labels. */
  idOf(labels: readonly number[]): number | string
  /** Names of the components, for people. */
  names: string
}

/** How a definition makes a key of an event. */
export function compileKey({ spec, entityLabel }: TriggerDefinition): KeyReader {
  const keyField = spec.key_field ? entityLabel || spec.key_field : null
  const entity = (event: EventCursor) => (keyField ? event.label(keyField) : event.entityLabel())
  const groups = 'group_by' in spec.condition ? spec.condition.group_by : undefined
  const single = !groups || (groups.length === 1 && (groups[0] === 'key_value' || groups[0] === entityLabel))
  if (single) {
    const own = groups && groups[0] !== 'key_value' ? groups[0]! : null
    return {
      read(event) {
        const label = own ? event.label(own) : entity(event)
        return label === undefined ? null : { id: label, text: event.value(label), labels: [label] }
      },
      idOf: (labels) => labels[0]!,
      names: own ?? keyField ?? 'entity',
    }
  }
  return {
    read(event) {
      const labels: number[] = []
      const parts: string[] = []
      for (const name of groups) {
        const label = component(name, event, entity)
        if (label === undefined) return null
        labels.push(label)
        parts.push(`${name}=${name === 'source' ? event.sourceName(event.sourceId) : event.value(label)}`)
      }
      return { id: idOf(labels), text: parts.join(', '), labels }
    },
    idOf,
    names: groups.join(', '),
  }
}

type Find = (event: EventCursor) => number | undefined

function component(name: string, event: EventCursor, entity: Find): number | undefined {
  if (name === 'key_value') return entity(event)
  if (name === 'event_type') return event.typeLabel()
  if (name === 'source') return event.sourceLabel()
  return event.label(name)
}

const idOf = (labels: readonly number[]) => (labels.length === 1 ? labels[0]! : labels.join(','))
