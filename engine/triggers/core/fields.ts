/** Fields that filters and conditions name, found in an event. */
import { compileField } from '../../ingest/field.ts'
import { TYPE_LABEL } from '../../store/dictionary.ts'
import type { EventCursor } from './cursor.ts'

/** Stands for every string label: that of the entity can be of any name. */
export const ANY_LABEL = ''

export interface Field {
  name: string
  /** Name of the label whose value it is, if it is one: its tests can be remembered by label id. */
  labelName: string | null
  /** That label of an event. */
  label(event: EventCursor): number | undefined
  /** Text form; undefined: it is missing. */
  text(event: EventCursor): string | undefined
  /** What it costs to read, as an order. */
  cost: number
}

const PAYLOAD = 'payload.'
const NO_LABEL = () => undefined

export function fieldOf(name: string): Field {
  if (name === 'event_type') return labelField(name, TYPE_LABEL, (event) => event.typeLabel())
  if (name === 'key_value') return labelField(name, ANY_LABEL, (event) => event.entityLabel())
  if (name === 'source') return plainField(name, 1, (event) => event.sourceName(event.sourceId))
  if (name === 'text') return plainField(name, 3, (event) => event.text())
  if (name.startsWith(PAYLOAD)) {
    const find = compileField(name.slice(PAYLOAD.length))
    return plainField(name, 4, (event) => textForm(find(event.payload())))
  }
  return {
    name,
    labelName: name,
    label: (event) => event.label(name),
    text(event) {
      const label = event.label(name)
      return label === undefined ? textForm(event.number(name)) : event.value(label)
    },
    cost: 2,
  }
}

function labelField(
  name: string,
  labelName: string,
  label: (event: EventCursor) => number | undefined,
): Field {
  const text = (event: EventCursor) => {
    const id = label(event)
    return id === undefined ? undefined : event.value(id)
  }
  return { name, labelName, label, text, cost: 0 }
}

function plainField(name: string, cost: number, text: (event: EventCursor) => string | undefined): Field {
  return { name, labelName: null, label: NO_LABEL, text, cost }
}

/** Null is as good as missing, as it is for labels. */
function textForm(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The number a text is, or undefined. */
export function numberIn(text: string): number | undefined {
  if (text.trim() === '') return undefined
  const number = Number(text)
  return Number.isFinite(number) ? number : undefined
}
