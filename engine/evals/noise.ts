/** Ordinary lines around an incident, the same for the same seed. */
import { createHash } from 'node:crypto'
import type { IncidentEvent, NoisePool } from './incident.ts'

/** Seconds: the far part of the noise, and the near one, which has three of four lines. */
const FAR = 108_000
const NEAR = 7_200
const NEAR_SHARE = 0.75
/** Of the lines, those that carry the entity that fired. */
const OWN_SHARE = 0.6

/** Numbers from 0 to 1 (mulberry32), begun by the hash of a text. */
export function randomOf(seed: string): () => number {
  let state = createHash('sha256').update(seed).digest().readUInt32LE(0) || 1
  return () => {
    state = Math.imul(state ^ (state >>> 15), 1 | state)
    state ^= state + Math.imul(state ^ (state >>> 7), 61 | state)
    return ((state ^ (state >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** @param count of lines. @returns in no order */
export function noiseOf(pool: NoisePool, id: string, entity: string, count: number): IncidentEvent[] {
  const services = Object.keys(pool)
  if (services.length === 0) return []
  const random = randomOf(`noise${id}`)
  const counts = new Map(services.map((service) => [service, 0]))
  for (let i = 0; i < count; i++) {
    const service = services[Math.floor(random() * services.length)]!
    counts.set(service, counts.get(service)! + 1)
  }
  const events: IncidentEvent[] = []
  for (const [service, lines] of counts) {
    let at = Math.floor(random() * 2_000)
    const near = Math.round(lines * NEAR_SHARE)
    for (const [from, to, n] of [
      [-FAR, -NEAR, lines - near],
      [-NEAR, 0, near],
    ] as const)
      for (let i = 0; i < n; i++) {
        const [level, component, host, text] = pool[service]![at++ % pool[service]!.length]!
        const t = Math.min(-0.5, from + ((i + random()) / n) * (to - from))
        const labels: Record<string, string> = { service: random() < OWN_SHARE ? entity : service }
        if (component) labels.component = component
        if (host) labels.host = host
        events.push({ source: 'logs', type: level, t, text, labels })
      }
  }
  return events
}
