/** From an item to events ready to be stored: the connector's mapping, then labels and time. */
import type { Label } from '../../../schemas/types.ts'
import type { IngestCall } from '../../calls.ts'
import { fail, SvcError } from '../../errors.ts'
import type { Item, MappingConnector } from '../../sources/connectors/connector.ts'
import { type FlatPlan, flatPlanOf } from '../kernel/flat-plan.ts'
import { headsOf, Projection } from './json-project.ts'
import { compileLabels } from './label.ts'
import { type KnownLabels, type PackedEvents, Packer, type PreparedEvent } from './packed.ts'
import { type Rejected, type SplitItem, splitBody, withLines } from './split.ts'
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

/* From the bytes of a body to packed events: split, mapped, labelled. Pure, so that any thread can. */

/** Events of one body, as many as it may have items: an item may hold a list of them. */
const EVENTS_MAX = 100_000

export interface PreparedBody {
  events: PackedEvents
  rejected: Rejected[]
  /** Events whose time was too far off to be used. */
  skewed: number
  untimed: Untimed
}

/** Events whose time is in no form that is known, and what the first of them gave. */
export interface Untimed {
  count: number
  sample: string
}

export interface PrepareParts {
  known: KnownLabels
  /** Logs a fault of ours and gives the error to answer with. */
  onFault(error: Error): SvcError
}

/**
 * @param call.headers lower-case names; undefined where the connector does not look at them.
 * @param nowMs epoch ms.
 * @returns rejected items by their place in this body.
 * @throws SvcError invalid, too_large: the body is refused whole.
 */
export function prepareBody(
  source: { id: number; prepare: Prepare },
  body: Uint8Array,
  call: Pick<IngestCall, 'headers' | 'itemsBefore'>,
  nowMs: number,
  { known, onFault }: PrepareParts,
): PreparedBody {
  const { prepare } = source
  const packer = new Packer(source.id, body, known)
  const refused: Rejected[] = []
  let skewed = 0
  const untimed: Untimed = { count: 0, sample: '' }
  let taken = 0
  const map = mapperOf(prepare, call, nowMs, onFault)
  const visit = (item: SplitItem): void => {
    const events = map(item)
    if (typeof events === 'string') {
      refused.push({ index: item.index, error: events, ...(item.at === undefined ? {} : { at: item.at }) })
      return
    }
    taken += events.length
    if (taken > EVENTS_MAX)
      fail('too_large', `the body holds more than ${EVENTS_MAX} events; send it in parts`)
    for (const event of events) {
      if (event.claimed !== null) skewed++
      if (event.unknownTime !== undefined) addUntimed(untimed, event.unknownTime)
      packer.add(event, item.range)
    }
  }
  const rejected = [...splitBody(body, visit, prepare.projection), ...refused]
  const inOrder = rejected.sort((a, b) => a.index - b.index)
  return { events: packer.finish(), rejected: withLines(body, inOrder), skewed, untimed }
}

/** Counts one more. @param given what it has for a time. */
export function addUntimed(untimed: Untimed, given: string): void {
  if (untimed.count++ === 0) untimed.sample = given
}

/** The events of an item, or why it is refused. */
export type MapItem = (item: SplitItem) => PreparedEvent[] | string

/** @param call.headers lower-case names. @param nowMs epoch ms. */
export function mapperOf(
  prepare: Prepare,
  { headers, itemsBefore = 0 }: Pick<IngestCall, 'headers' | 'itemsBefore'>,
  nowMs: number,
  onFault: PrepareParts['onFault'],
): MapItem {
  return (item) => {
    try {
      return prepare(item, headers, itemsBefore + item.index, nowMs)
    } catch (error) {
      return (error instanceof SvcError ? error : onFault(error as Error)).message
    }
  }
}
