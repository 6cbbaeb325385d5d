/**
 * The events of the demo shop: a pure function of its seed, its faults and a span of time. Whoever asks for a span
 * in one piece or in many is given the same events.
 */
import { type DemoFault, FAULTS } from './faults.ts'
import { chanceOf } from './random.ts'
import { type Happening, type Stream, USUAL } from './usual.ts'

export interface DemoWorld {
  seed: number
  faults: readonly DemoFault[]
}

/** As it is stored: `at` in ISO 8601, `id` its own among those of its stream. */
export type DemoEvent = Happening & { id: string; at: string }

/** Errors begin so long after the change, then come so often while people still look, and later less often, ms. */
const ERRORS_AFTER = 2_000
const BURST_EVERY = 500
const BURST = 40
const LATER_EVERY = 3_000
const ALERT_AFTER = 20_000
const ALERT_OVER_AFTER = 15_000
const COMPLAINT_AFTER = 45_000
const COMPLAINT_EVERY = 240_000
/** No change by chance so long before a fault, which would be taken for its cause. */
const CALM_BEFORE = 15 * 60_000

/**
 * @param after exclusive, epoch ms. @param until inclusive.
 * @returns oldest first
 */
export function demoEvents(world: DemoWorld, stream: Stream, after: number, until: number): DemoEvent[] {
  const timed = [...usualOf(world, stream, after, until)]
  for (const fault of world.faults) timed.push(...faultOf(stream, fault, after, until))
  return timed
    .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
    .map(({ at, ...rest }) => ({ at: new Date(at).toISOString(), ...rest }) as DemoEvent)
}

interface Timed extends Happening {
  id: string
  at: number
}

function* usualOf(
  { seed, faults }: DemoWorld,
  stream: Stream,
  after: number,
  until: number,
): Iterable<Timed> {
  const { every, of } = USUAL[stream]
  const calm = stream === 'deploys' ? CALM_BEFORE : 0
  for (let slot = Math.floor(after / every); slot * every <= until; slot++) {
    const chance = chanceOf(`${seed} ${stream} ${slot}`)
    const at = slot * every + Math.floor(chance() * every)
    // Its place in the slot is fixed; only what fits the span is looked at further.
    if (at <= after || at > until) continue
    const broken = (service: string) =>
      faults.some((one) => one.service === service && at >= one.from - calm && at < (one.to ?? Infinity))
    const events = of(chance, broken)
    for (const [i, event] of events.entries()) yield { ...event, at, id: `${stream}-${slot}-${i}` }
  }
}

function* faultOf(stream: Stream, fault: DemoFault, after: number, until: number): Iterable<Timed> {
  const { service, n, from } = fault
  const to = fault.to ?? Infinity
  const kind = FAULTS[service]
  if (!kind) return
  const event = (at: number, id: string, more: Omit<Happening, 'service'>): Timed[] =>
    at > after && at <= until
      ? [{ ...more, service, at, id: `${stream}-${service}-${n}-${id}` } as Timed]
      : []
  /** While it lasts. */
  const times = (first: number, every: number, count = Infinity) =>
    timesOf({ first, every, count }, { after, until: Math.min(until, to - 1) })
  if (stream === 'deploys') {
    yield* event(from, 'change', { type: kind.type, text: kind.change(n) })
    if (fault.to !== null) yield* event(to, 'mend', { type: kind.type, text: kind.mend(n) })
  }
  if (stream === 'app_logs' || stream === 'access_logs') {
    const later = from + ERRORS_AFTER + BURST * BURST_EVERY
    const line: Omit<Happening, 'service'> =
      stream === 'app_logs'
        ? { type: 'error', level: 'error', text: kind.error }
        : { type: 'request', route: kind.route, status: kind.status, text: `${kind.route} ${kind.status}` }
    for (const [i, at] of times(from + ERRORS_AFTER, BURST_EVERY, BURST)) yield* event(at, `burst-${i}`, line)
    for (const [i, at] of times(later, LATER_EVERY)) yield* event(at, `later-${i}`, line)
  }
  if (stream === 'alerts') {
    const alert = (state: string) => ({ type: 'alert', state, text: `HighErrorRate of ${service}: ${state}` })
    if (from + ALERT_AFTER < to) yield* event(from + ALERT_AFTER, 'up', alert('firing'))
    if (fault.to !== null && from + ALERT_AFTER < to)
      yield* event(to + ALERT_OVER_AFTER, 'over', alert('resolved'))
  }
  if (stream === 'tickets')
    for (const [i, at] of times(from + COMPLAINT_AFTER, COMPLAINT_EVERY))
      yield* event(at, `complaint-${i}`, { type: 'ticket', text: kind.complaint, customer: `c${100 + i}` })
}

/** Numbered times of a series that lie in a span, however long ago it began. */
function* timesOf(
  { first, every, count }: { first: number; every: number; count: number },
  { after, until }: { after: number; until: number },
): Iterable<[n: number, at: number]> {
  for (let n = Math.max(0, Math.ceil((after - first) / every)); n < count; n++) {
    const at = first + n * every
    if (at > until) return
    yield [n, at]
  }
}
