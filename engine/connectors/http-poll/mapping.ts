/** From an entry to an event: the mapping of a webhook, with times in seconds too. */
import type { HttpPollConfig } from '../../../schemas/types.ts'
import { compileField } from '../../ingest/field.ts'
import { compileTemplate, oneLine, summarise, templateFields } from '../../ingest/template.ts'
import type { MappedEvent, MappingConnector } from '../connector.ts'
import { scalar } from '../scalar.ts'

const EVENT_TYPE = 'api_reading'
const EVENT_TYPE_MAX = 200
/** Epoch times below this are seconds: as milliseconds it is a day of 1973, as seconds of the year 5138. */
const SECONDS_BELOW = 1e11

type Context = MappedEvent['context']

/** Every field that mapping looks up. */
export function mappedFields(config: HttpPollConfig): string[] {
  const named = [config.event_type_field, config.event_time_field, config.id_field]
  return [...named.filter((field) => field !== undefined), ...templateFields(config.text_template ?? '')]
}

export function compileMapping(config: HttpPollConfig): ReturnType<MappingConnector['compile']> {
  const { event_type: fixed = EVENT_TYPE, event_type_field: typeField, id_field: idField } = config
  const typeOf = compileField(typeField ?? '')
  const timeOf = compileTime(config.event_time_field)
  const keyOf = compileField(idField ?? '')
  const template = compileTemplate(config.text_template ?? '')
  return (item) => {
    const context = contextOf(item.value)
    return [
      {
        eventType:
          typeField === undefined ? fixed : oneLine(scalar(typeOf(context)) ?? fixed, EVENT_TYPE_MAX),
        text: template(context).trim() || summarise(item.whole()),
        eventTime: timeOf(context),
        context,
        dedupeKey: idField === undefined ? undefined : scalar(keyOf(context)),
      },
    ]
  }
}

/** The entry's own object, so that no field is copied; anything else is wrapped as {value}. */
export function contextOf(value: unknown): Context {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Context) : { value }
}

/** @returns a function to the time of an entry, as events take it; undefined where it has none. */
export function compileTime(field: string | undefined): (context: Context) => string | number | undefined {
  if (field === undefined) return () => undefined
  const read = compileField(field)
  return (context) => {
    const value = read(context)
    const number = typeof value === 'string' && /^\d{9,13}(\.\d+)?$/.test(value) ? Number(value) : value
    if (typeof number === 'number') return Math.abs(number) < SECONDS_BELOW ? number * 1_000 : number
    return typeof value === 'string' ? value : undefined
  }
}
