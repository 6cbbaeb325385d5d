/** From the bytes of a body to packed events: split, mapped, labelled. Pure, so that any thread can. */
import type { IngestCall } from '../calls.ts'
import { fail, SvcError } from '../errors.ts'
import { type KnownLabels, type PackedEvents, Packer } from './packed.ts'
import type { Prepare } from './prepare.ts'
import type { PreparedEvent } from './prepared.ts'
import { type Rejected, type SplitItem, splitBody, withLines } from './split.ts'

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
