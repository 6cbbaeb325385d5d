/** What runs need of the rest of the engine, on the connection that writes. */

import type { AgentSpec, HandoffRule } from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import type { FindingItem } from '../connectors/finding.ts'
import type { FiringIncidents } from '../incidents/firing.ts'
import type { UsageEntry } from '../models/usage.ts'
import type { StoreHandle } from '../store/handle.ts'
import type { Tallies } from '../tallies.ts'
import type { RunQueries } from './queries.ts'
import type { Origin } from './types.ts'

/** Limits of the instance. */
export interface RunLimits {
  /** Runs of an agent in 24 hours, where it says none of its own. */
  dailyCap: number
  /** Spend of 24 hours over all agents, US dollars; null: no limit. */
  dailyBudgetUsd: number | null
  /** Runs of all agents at once. */
  concurrency: number
}

export interface RunsParts {
  store: StoreHandle
  clock: Clock
  tallies: Tallies
  /** What `${NAME}` refers to. */
  env: Readonly<Record<string, string | undefined>>
  queries: RunQueries
  /** Promises that nothing is stored any more with a time of ingest up to this one, epoch ms. */
  closeInstant(at: number): void
  /** The agent as it is, secrets in the clear; null: there is none of that name. */
  agent(name: string): AgentSpec | null
  /** Who takes over on a verdict, by project. */
  handoffs(projects: readonly string[], agent: string): (HandoffRule & { project: string })[]
  /** Skills that any of the projects uses. */
  skills(projects: readonly string[]): { name: string; description: string }[]
  /** What a firing says of itself; null when it is gone. */
  firing(id: number, project: string | null): Pick<Origin, 'trigger' | 'dispatchId' | 'firing'> | null
  limits(): RunLimits
  usage(entry: UsageEntry): void
  /** What the end of a run does to the incidents it looked at. */
  incidents: Pick<FiringIncidents, 'ended'>
  /** Stores the finding as an event and calls `alongside` in the same transaction. */
  append(item: FindingItem, alongside: (eventId: string) => void): Promise<void>
  /** Fences data with it. */
  secret: string
  /** What every marker is made from where runs of several stores are to be told the same; else each has its own. */
  markerSeed: string | undefined
  /** After a commit that left something to be started or sent. */
  onPending(): void
}
