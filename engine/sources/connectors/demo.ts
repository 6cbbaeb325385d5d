/** The demo shop as sources: each is a stream of made-up events, polled like any other (docs/demo.md). */
import type { DemoConfig } from '../../../schemas/types.ts'
import type { MappedEvent, PollConnector } from './connector.ts'

/** How far back it begins, and what is made up for after a pause, ms. */
export const DEMO_HISTORY_MS = 90 * 60_000

/**
 * The config with the world as it was read, and when, epoch ms; without one nothing happens there. Not the clock of
 * the poll: what breaks between the two would lie before the cursor, and never be told.
 */
type Polled = DemoConfig & { world?: DemoWorld; now?: number }

export const demo: PollConnector = {
  kind: 'demo',
  label: 'Demo',
  mode: 'poll',
  description: 'Demo: one stream of a made-up shop. svc makes its sources when the demo is loaded.',
  sourceType: 'event_stream',
  onRequest: true,
  configSchema: 'connector-demo.json',
  suggestedPoll: '2s',
  identity: ['stream'],
  provides: [
    { name: 'service', help: 'Service of the shop.', primary: true },
    { name: 'level', help: 'Level of a log line.' },
    { name: 'state', help: 'State of an alert.' },
  ],
  compile: () => (item) => [eventOf(item.value as DemoEvent)],
  poll: async (config, cursor) => {
    const { stream, world, now } = config as Partial<Polled> & { stream: Polled['stream'] }
    if (!world || now === undefined)
      return { items: [], cursor, notice: 'The demo is not loaded, so nothing happens here.' }
    const after = Math.max(Number(cursor ?? 0), now - DEMO_HISTORY_MS)
    // A clock that was set back: what is stored is not made up again.
    if (after >= now) return { items: [], cursor }
    const items = demoEvents(world, stream, after, now).map((event) => JSON.stringify(event))
    return { items, cursor: String(now) }
  },
}

function eventOf(event: DemoEvent): MappedEvent {
  return {
    eventType: String(event.type ?? 'event'),
    text: String(event.text ?? ''),
    context: event,
    ...(event.at === undefined ? {} : { eventTime: event.at }),
    ...(event.id === undefined ? {} : { dedupeKey: event.id }),
  }
}

/* What can break in the demo shop: one fault per service, begun by a change that its deploys show. */

/** A fault of a service, from when to when, epoch ms; `to` null: it goes on. `n` counts those of the service. */
export interface DemoFault {
  service: string
  n: number
  from: number
  to: number | null
}

interface FaultKind {
  /** Type of the event that begins it. */
  type: 'deploy' | 'config_change' | 'flag'
  /** Its text. @param n which fault of the service it is, from 1 */
  change(n: number): string
  /** Text of the event that ends it. */
  mend(n: number): string
  /** What the service logs meanwhile: always the same, so that it is counted and not read one by one. */
  error: string
  route: string
  status: number
  /** What a customer writes. */
  complaint: string
  /** The step of a request that fails, why, and after how many milliseconds. */
  span: { name: string; why: string; ms: number }
}

/** A release of a line of versions: 2.4.0 before the first fault, 2.4.1 with it. */
const release = (line: string, n: number): string => `v${line}.${n}`

export const FAULTS: Readonly<Record<string, FaultKind>> = {
  checkout: {
    type: 'deploy',
    change: (n) => `Deploy of checkout ${release('2.4', n)}, before ${release('2.4', n - 1)}, by mara`,
    mend: (n) => `Rollback of checkout to ${release('2.4', n - 1)}, by mara`,
    error: 'POST /orders 503: pool exhausted, 20 of 20 connections busy',
    route: 'POST /orders',
    status: 503,
    complaint: 'Order is refused at the last step',
    span: { name: 'acquire connection', why: 'pool exhausted, 20 of 20 connections busy', ms: 2_000 },
  },
  payments: {
    type: 'config_change',
    change: () => 'Config of payments: provider_timeout_ms from 2000 to 200, by jonas',
    mend: () => 'Config of payments: provider_timeout_ms set back to 2000, by jonas',
    error: 'POST /charge 504: card provider timed out after 200 ms',
    route: 'POST /charge',
    status: 504,
    complaint: 'Card is declined again and again',
    span: { name: 'POST card provider', why: 'card provider timed out after 200 ms', ms: 200 },
  },
  cart: {
    type: 'deploy',
    change: (n) => `Deploy of cart ${release('5.1', n)}, before ${release('5.1', n - 1)}, by lena`,
    mend: (n) => `Rollback of cart to ${release('5.1', n - 1)}, by lena`,
    error: 'GET /cart 500: TypeError: cannot read "items" of undefined at CartStore.load',
    route: 'GET /cart',
    status: 500,
    complaint: 'Cart is empty after signing in',
    span: { name: 'CartStore.load', why: 'TypeError: cannot read "items" of undefined', ms: 3 },
  },
  search: {
    type: 'flag',
    change: () => 'Flag search_v2 of search from 5 to 100 percent, by omar',
    mend: () => 'Flag search_v2 of search set back to 5 percent, by omar',
    error: 'GET /search 500: index products_v2 is not found',
    route: 'GET /search',
    status: 500,
    complaint: 'Search finds nothing at all',
    span: { name: 'query products', why: 'index products_v2 is not found', ms: 6 },
  },
}

/** Services that the switch breaks. */
export const BREAKABLE = Object.keys(FAULTS)

/** Services of the shop; those without a fault never break. */
const SERVICES = [...BREAKABLE, 'catalog', 'shipping']

/*
 * The events of the demo shop: a pure function of its seed, its faults and a span of time. Whoever asks for a span
 * in one piece or in many is given the same events.
 */

export interface DemoWorld {
  seed: number
  faults: readonly DemoFault[]
}

/** As it is stored: `at` in ISO 8601, `id` its own among those of its stream. */
type DemoEvent = Happening & { id: string; at: string }

/** Errors begin so long after the change, then come so often while people still look, and later less often, ms. */
const ERRORS_AFTER = 2_000
const BURST_EVERY = 500
const BURST = 40
const LATER_EVERY = 3_000
const TRACE_EVERY = 15_000
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
    const events = of(chance, broken, at)
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
      ? [{ service, ...more, at, id: `${stream}-${service}-${n}-${id}` } as Timed]
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
  if (stream === 'traces')
    for (const [i, at] of times(from + ERRORS_AFTER, TRACE_EVERY)) {
      const spans = failedRequest(service, chanceOf(`${stream} ${service} ${n} ${i}`), at)
      for (const [j, span] of spans.entries()) yield* event(at, `failed-${i}-${j}`, span)
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

/* Chance that is none: the same for the same words, on every machine. */

/** @returns numbers from 0 to below 1 (mulberry32), begun by a hash (FNV-1a, 32 bits) of a text */
function chanceOf(seed: string): () => number {
  let state = 0x811c9dc5
  for (let i = 0; i < seed.length; i++) state = Math.imul(state ^ seed.charCodeAt(i), 0x01000193)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** One of a list. */
const pick = <T>(chance: () => number, list: readonly T[]): T => list[Math.floor(chance() * list.length)]!

/* What happens in the demo shop on any day: events of a slot of time, by seed, stream and slot alone. */

/** An event before it has a time and an id. */
interface Happening {
  type: string
  service: string
  text: string
  [field: string]: string | number | object
}

/** @param broken whether a service is broken at that instant, `at`, epoch ms. */
type Usual = (chance: () => number, broken: (service: string) => boolean, at: number) => Happening[]

interface Slots {
  /** Length of a slot, ms. */
  every: number
  of: Usual
}

const PEOPLE = ['mara', 'jonas', 'lena', 'omar', 'ines']
const ROUTES: Readonly<Record<string, readonly string[]>> = {
  checkout: ['POST /orders', 'GET /orders'],
  payments: ['POST /charge', 'GET /methods'],
  cart: ['GET /cart', 'POST /cart/items'],
  search: ['GET /search', 'GET /suggest'],
  catalog: ['GET /products', 'GET /categories'],
  shipping: ['GET /rates', 'POST /labels'],
}
/** What is drawn, from 0 to 1, is of the first level that it is below. */
const SAID: readonly [level: 'info' | 'warn' | 'error', below: number, texts: readonly string[]][] = [
  ['info', 0.86, ['cache refreshed', 'worker took a job', 'session opened', 'stock synced', 'job done']],
  ['warn', 0.97, ['slow query, 740 ms', 'retry 1 of 3', 'queue is 80 percent full', 'token expires soon']],
  ['error', 1, ['card declined by bank', 'address not deliverable', 'coupon not valid', 'image too large']],
]
const TICKETS = ['Parcel is late', 'Invoice is missing', 'Wrong size was sent', 'How do I return this?']

const accessLogs: Usual = (chance, broken) => {
  const service = pick(chance, SERVICES)
  const route = pick(chance, ROUTES[service]!)
  const ms = Math.round(20 + chance() * 160)
  // Of a broken service its own lines tell.
  if (broken(service)) return []
  return [{ type: 'request', service, route, status: 200, ms, text: `${route} 200 ${ms} ms` }]
}

const appLogs: Usual = (chance) => {
  const service = pick(chance, SERVICES)
  const drawn = chance()
  const [level, , texts] = SAID.find(([, below]) => drawn < below)!
  return [{ type: level, service, level, text: pick(chance, texts) }]
}

const metrics: Usual = (chance, broken) =>
  SERVICES.map((service) => {
    const isBroken = broken(service)
    const rate = Math.round((isBroken ? 40 + chance() * 25 : chance() * 0.8) * 10) / 10
    const p95 = Math.round(isBroken ? 1_800 + chance() * 900 : 90 + chance() * 70)
    return {
      ...{ type: 'sample', service, error_rate: rate, p95_ms: p95 },
      text: `error rate ${rate} percent, p95 ${p95} ms`,
    }
  })

/** A service that is broken is not deployed by chance: what began it stays the last change. */
const deploys: Usual = (chance, broken) => {
  const service = pick(chance, SERVICES)
  const minor = 3 + Math.floor(chance() * 20)
  const by = pick(chance, PEOPLE)
  if (broken(service)) return []
  return [{ type: 'deploy', service, by, text: `Deploy of ${service} v1.${minor}.0 to staging, by ${by}` }]
}

const alerts: Usual = (chance) => {
  const service = pick(chance, SERVICES)
  const state = chance() < 0.5 ? 'firing' : 'resolved'
  return [{ type: 'alert', service, state, text: `DiskHalfFull of ${service}: ${state}` }]
}

const tickets: Usual = (chance) => {
  const service = pick(chance, ['shipping', 'catalog'])
  return [
    { type: 'ticket', service, text: pick(chance, TICKETS), customer: `c${Math.floor(chance() * 9_000)}` },
  ]
}

/* Requests as spans of OpenTelemetry, with the fields that an export of it has. */

/** A step of a request, with those that it waits for, one after the other. */
interface Step {
  service: string
  name: string
  kind: 'server' | 'client'
  /** Its own time at least, ms; at most twice as long. */
  ms: number
  steps: readonly Step[]
}

const step = (
  service: string,
  name: string,
  kind: Step['kind'],
  ms: number,
  steps: readonly Step[] = [],
): Step => ({ service, name, kind, ms, steps })

const REQUESTS = [
  step('checkout', 'POST /orders', 'server', 6, [
    step('cart', 'GET /cart', 'server', 4, [step('cart', 'CartStore.load', 'client', 8)]),
    step('checkout', 'acquire connection', 'client', 2),
    step('payments', 'POST /charge', 'server', 5, [step('payments', 'POST card provider', 'client', 60)]),
    step('shipping', 'GET /rates', 'server', 18),
  ]),
  step('search', 'GET /search', 'server', 5, [
    step('search', 'query products', 'client', 20),
    step('catalog', 'GET /products', 'server', 12),
  ]),
]

interface Span {
  step: Step
  id: string
  parent: string | null
  /** Milliseconds since the request began. */
  begin: number
  end: number
  /** Why it failed; null: it did not. */
  why: string | null
}

const hex = (chance: () => number, digits: number): string =>
  Array.from({ length: digits }, () => Math.floor(chance() * 16).toString(16)).join('')

/** What a step and its own steps took; the first that fails ends those that wait for it. */
function spansOf(
  chance: () => number,
  broken: (service: string) => boolean,
  step: Step,
  from: { parent: string | null; begin: number },
): Span[] {
  const id = hex(chance, 16)
  const fault = broken(step.service) ? FAULTS[step.service] : undefined
  const isFault = fault?.span.name === step.name
  const own = (isFault ? fault.span.ms : step.ms) * (isFault ? 1 : 1 + chance())
  let why = isFault ? fault.span.why : null
  let end = from.begin + own / 2
  const inner: Span[] = []
  for (const next of step.steps) {
    const spans = spansOf(chance, broken, next, { parent: id, begin: end })
    inner.push(...spans)
    end = spans[0]!.end
    if (spans[0]!.why !== null) {
      why = `${next.name} of ${next.service} failed`
      break
    }
  }
  return [{ step, id, ...from, end: end + own / 2, why }, ...inner]
}

const traces: Usual = (chance, broken, at) => requestOf(pick(chance, REQUESTS), chance, broken, at)

/** A request that fails in a service, at the instant that it ends, epoch ms. */
const failedRequest = (service: string, chance: () => number, at: number): Happening[] =>
  requestOf(REQUESTS.find((one) => runsIn(service, one))!, chance, (one) => one === service, at)

const runsIn = (service: string, step: Step): boolean =>
  step.service === service || step.steps.some((one) => runsIn(service, one))

function requestOf(
  request: Step,
  chance: () => number,
  broken: (service: string) => boolean,
  at: number,
): Happening[] {
  const traceId = hex(chance, 32)
  const spans = spansOf(chance, broken, request, { parent: null, begin: 0 })
  const began = at - spans[0]!.end
  const nanosAt = (ms: number): string => `${Math.round((began + ms) * 1_000)}000`
  return spans.map(({ step: { service, name, kind }, id, parent, begin, end, why }) => {
    const [method, route] = name.split(' ')
    return {
      ...{ type: 'span', signal: 'traces', service, name, kind, traceId, spanId: id },
      ...(parent === null ? {} : { parentSpanId: parent }),
      ...{ startTimeUnixNano: nanosAt(begin), endTimeUnixNano: nanosAt(end) },
      status: why === null ? { code: 'ok' } : { code: 'error', message: why },
      ...(why === null ? {} : { level: 'ERROR' }),
      attributes: kind === 'server' ? { 'http.request.method': method, 'http.route': route } : {},
      text: `${name} (${(end - begin).toFixed(1)}ms)${why === null ? '' : ` ERROR: ${why}`}`,
    }
  })
}

/** Some 55 events a minute in all. */
const USUAL = {
  access_logs: { every: 3_000, of: accessLogs },
  app_logs: { every: 4_000, of: appLogs },
  metrics: { every: 30_000, of: metrics },
  deploys: { every: 9 * 60_000, of: deploys },
  alerts: { every: 20 * 60_000, of: alerts },
  tickets: { every: 6 * 60_000, of: tickets },
  traces: { every: 30_000, of: traces },
} as const satisfies Readonly<Record<string, Slots>>

export type Stream = keyof typeof USUAL
export const STREAMS = Object.keys(USUAL) as Stream[]
