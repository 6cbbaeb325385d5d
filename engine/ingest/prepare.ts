/** From an item to events ready to be stored: the connector's mapping, then labels and time. */
import type { Label } from '../../schemas/types.ts'
import type { Item, MappingConnector } from '../connectors/connector.ts'
import { headsOf } from './field.ts'
import { Projection } from './json-project.ts'
import { type FlatPlan, flatPlanOf } from './kernel/flat-plan.ts'
import { compileLabels } from './label.ts'
import type { PreparedEvent } from './prepared.ts'
import { parseEventTime } from './time.ts'

/** Compiled for one source. */
export interface Prepare {
  /**
   * @param headers lower-case names; undefined where the connector does not look at them.
   * @param index place of the item in its body. @param nowMs epoch ms.
   * @throws Error when the connector fails on the item: a fault of ours, which costs that item alone.
   */
  (item: Item, headers: Record<string, string> | undefined, index: number, nowMs: number): PreparedEvent[]
  /** What is looked at of an item; null: all of it. */
  projection: Projection | null
  /** What the kernel does with items; null: it is of no use. */
  plan: FlatPlan | null
}

const PRACTICE: [string, string] = ['practice', 'true']

/** Compiles a source, once. @param config validated, secrets opened. @param name of the source, if it has one. */
export function compileSource(
  connector: MappingConnector,
  config: Record<string, unknown>,
  name?: string,
): Prepare {
  const labels = (config.labels ?? []) as Label[]
  const map = connector.compile(config, name)
  const resolve = compileLabels(labels)
  const prepare = (
    item: Item,
    headers: Record<string, string> | undefined,
    index: number,
    nowMs: number,
  ): PreparedEvent[] =>
    map(item, headers, index).map((event): PreparedEvent => {
      const { strings, hasEntity, numbers } = resolve(event.context, event.stamped, event.entityLabel)
      const { ts, claimed, unknown } = parseEventTime(event.eventTime, nowMs)
      return {
        eventType: event.eventType,
        text: event.text,
        ts,
        claimed,
        ...(unknown === undefined ? {} : { unknownTime: unknown }),
        strings,
        hasEntity,
        numbers,
        dedupeKey: event.dedupeKey ?? null,
        raw: event.raw ?? null,
      }
    })
  return Object.assign(prepare, {
    projection: projectionOf(connector, config, labels),
    plan: flatPlanOf(connector.flat?.(config) ?? null, labels),
  })
}

/** The same for events of practice: labelled as such, and never a duplicate of a real one. */
export function practised(prepare: Prepare): Prepare {
  const labelled = (...of: Parameters<Prepare>): PreparedEvent[] =>
    prepare(...of).map((event) => ({
      ...event,
      strings: [...event.strings.filter(([name]) => name !== PRACTICE[0]), PRACTICE],
      dedupeKey: null,
    }))
  return Object.assign(labelled, { projection: prepare.projection, plan: null })
}

function projectionOf(
  connector: MappingConnector,
  config: Record<string, unknown>,
  labels: readonly Label[],
): Projection | null {
  const own = connector.fields?.(config)
  if (!own) return null
  const read = labels.flatMap((label) => ('field' in label ? [label.field] : []))
  return Projection.of([...own, ...read].flatMap(headsOf))
}
