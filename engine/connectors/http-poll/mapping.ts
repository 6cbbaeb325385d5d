/** From an entry to an event: the mapping of a webhook. */
import type { HttpPollConfig } from '../../../schemas/types.ts'
import { compileField } from '../../ingest/field.ts'
import { compileTemplate, oneLine, summarise, templateFields } from '../../ingest/template.ts'
import type { MappedEvent, MappingConnector } from '../connector.ts'
import { scalar } from '../scalar.ts'

const EVENT_TYPE = 'api_reading'
const EVENT_TYPE_MAX = 200

type Context = MappedEvent['context']

/** Every field that mapping looks up. */
export function mappedFields(config: HttpPollConfig): string[] {
  const named = [config.event_type_field, config.event_time_field, config.id_field]
  return [...named.filter((field) => field !== undefined), ...templateFields(config.text_template ?? '')]
}

export function compileMapping(config: HttpPollConfig): ReturnType<MappingConnector['compile']> {
  const { event_type: fixed = EVENT_TYPE, event_type_field: typeField, id_field: idField } = config
  const typeOf = compileField(typeField ?? '')
  const timeOf = compileField(config.event_time_field ?? '')
  const keyOf = compileField(idField ?? '')
  const template = compileTemplate(config.text_template ?? '')
  return (item) => {
    const context = contextOf(item.value)
    return [
      {
        eventType:
          typeField === undefined ? fixed : oneLine(scalar(typeOf(context)) ?? fixed, EVENT_TYPE_MAX),
        text: template(context).trim() || summarise(item.whole()),
        eventTime: config.event_time_field === undefined ? undefined : timeOf(context),
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
