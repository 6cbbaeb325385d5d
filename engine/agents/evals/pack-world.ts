/** What scenarios are made with: events of a world, and the facts that one must see of them. */
import type { Fact, IncidentEvent, Outcome } from './incident.ts'

export interface World {
  /** From 0 to 1, by the seed. */
  random(): number
  add(event: IncidentEvent): void
  fact(fact: Fact): void
  /** An innocent event that one could take for the cause: patterns that one line must match. */
  decoy(id: string, line: string[]): void
}

export interface Scenario {
  id: string
  /** Row of the report. */
  kind: string
  /** Service that the trigger fires for. */
  entity: string
  /** What a run should come to; a finding when absent. */
  outcome?: Outcome
  /** Kept apart: nothing is tuned on it. */
  heldOut?: true
  make(world: World): void
}

type Labels = Record<string, string>

/** A line of a log. @param t seconds before the firing, at most 0 */
export const log = (
  service: string,
  type: string,
  t: number,
  text: string,
  more: Labels = {},
): IncidentEvent => ({
  ...{ source: 'logs', type, t, text },
  labels: { service, ...more },
})

/** What somebody or something did. */
export const did = (
  source: string,
  type: string,
  t: number,
  service: string,
  text: string,
  more: Labels = {},
): IncidentEvent => ({ ...{ source, type, t, text }, labels: { ...(service ? { service } : {}), ...more } })

/** So many of an event over a time, evenly with some unrest. */
export function spread(
  { random }: Pick<World, 'random'>,
  from: number,
  to: number,
  count: number,
  each: (t: number, i: number) => void,
): void {
  for (let i = 0; i < count; i++) each(from + ((i + random()) / count) * (to - from), i)
}

/** A number of a service that goes from usual to abnormal at a time, and back where `until` says so. */
export function shifted(
  world: Pick<World, 'random' | 'add'>,
  service: string,
  type: string,
  at: number,
  usual: number,
  now: number,
  { until = 0, every = 60, more = {} }: { until?: number; every?: number; more?: Labels } = {},
): void {
  for (let t = -10_800; t <= -1; t += every) {
    const middle = t < at || (until < 0 && t > until) ? usual : now
    const value = +(middle * (0.95 + 0.1 * world.random())).toFixed(1)
    world.add({ source: 'metrics', type, t, text: `${type}=${value}`, labels: { service, ...more }, value })
  }
}

/** Values that count as one middle. */
export const band = (middle: number): [number, number] => [middle * 0.9, middle * 1.1]

/** The fact of a number that moved. */
export const moved = (id: string, role: Fact['role'], names: string[], usual: number, now: number): Fact => ({
  id,
  role,
  num: { names, usual: band(usual), abnormal: band(now) },
})
