/** What happens in the demo shop on any day: events of a slot of time, by seed, stream and slot alone. */
import { SERVICES } from './faults.ts'
import { pick } from './random.ts'

/** An event before it has a time and an id. */
export interface Happening {
  type: string
  service: string
  text: string
  [field: string]: string | number
}

/** @param broken whether a service is broken at that instant. */
type Usual = (chance: () => number, broken: (service: string) => boolean) => Happening[]

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

/** Some 47 events a minute in all. */
export const USUAL = {
  access_logs: { every: 3_000, of: accessLogs },
  app_logs: { every: 4_000, of: appLogs },
  metrics: { every: 30_000, of: metrics },
  deploys: { every: 9 * 60_000, of: deploys },
  alerts: { every: 20 * 60_000, of: alerts },
  tickets: { every: 6 * 60_000, of: tickets },
} as const satisfies Readonly<Record<string, Slots>>

export type Stream = keyof typeof USUAL
export const STREAMS = Object.keys(USUAL) as Stream[]
