/** From an item to events ready to be stored: the connector's mapping, then labels and time. */
import type { Label } from '../../schemas/types.ts'
import type { Item, PushConnector } from '../connectors/connector.ts'
import { compileLabels } from './label.ts'
import type { PreparedEvent } from './prepared.ts'
import { parseEventTime } from './time.ts'

export type Prepare = (
  item: Item,
  headers: Record<string, string> | undefined,
  index: number,
  nowMs: number,
) => PreparedEvent[]

/** @param config validated, secrets opened. */
export function compileSource(connector: PushConnector, config: Record<string, unknown>): Prepare {
  const map = connector.compile(config)
  const label = compileLabels((config.labels ?? []) as Label[])
  return (item, headers, index, nowMs) =>
    map(item, headers, index).map((event): PreparedEvent => {
      const { strings, hasEntity, numbers } = label(event.context, event.stamped, event.entityLabel)
      const { ts, claimed } = event.eventTime === undefined ? NO_TIME : parseEventTime(event.eventTime, nowMs)
      return {
        eventType: event.eventType,
        text: event.text,
        ts,
        claimed,
        strings,
        hasEntity,
        numbers,
        dedupeKey: event.dedupeKey ?? null,
        raw: event.raw ?? item.raw,
      }
    })
}

const NO_TIME = { ts: null, claimed: null }
