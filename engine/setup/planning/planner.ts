/**
 * Writes plans in the background, beside the store: takes up what waits, as it does after a start, and
 * follows each to its end. What it has in memory decides nothing; a daemon that is killed leaves drafts
 * that a person plans again.
 */
import type { Clock, Timers } from '../../clock.ts'
import { SvcError } from '../../errors.ts'
import { ModelFault, type Models } from '../../models/types.ts'
import type { UsageEntry } from '../../models/usage.ts'
import { createWorkerLoop, settled } from '../../worker-loop.ts'
import type { PlanningId, PlanningJob, PlanningPort } from './port.ts'
import type { PlanningReads } from './tools.ts'
import { planTurn } from './turn.ts'

export interface Planner {
  /** Something may wait, or may be over. */
  nudge(): void
  /** Cuts off what is asked; what is left in the middle is ended by the next start. Never rejects. */
  stop(): Promise<void>
}

export interface PlannerOptions {
  port: PlanningPort & PlanningReads & { recordModelUsage(entry: UsageEntry): Promise<void> }
  models: Models
  clock: Clock
  timers: Timers
  onError(error: Error): void
}

const STOP_MS = 3_000

export function startPlanner(options: PlannerOptions): Planner {
  const { port, timers, onError } = options
  const underWay = new Map<string, { of: PlanningId; cut: AbortController }>()
  const work = new Set<Promise<void>>()
  const loop = createWorkerLoop({ look, timers, onError })

  const tell = (error: unknown) => onError(error instanceof Error ? error : new Error(String(error)))

  async function look(): Promise<null> {
    const { begin, over } = await port.claimPlannings([...underWay.values()].map(({ of }) => of))
    for (const of of over) underWay.get(keyOf(of))?.cut.abort()
    for (const job of begin) take(job)
    return null
  }

  function take(job: PlanningJob): void {
    const cut = new AbortController()
    underWay.set(keyOf(job), { of: { project: job.project, attempt: job.attempt }, cut })
    const promise = follow(job, cut.signal)
      .catch(tell)
      .finally(() => {
        underWay.delete(keyOf(job))
        work.delete(promise)
      })
    work.add(promise)
  }

  async function follow(job: PlanningJob, signal: AbortSignal): Promise<void> {
    try {
      await planTurn(job, { ...options, signal })
    } catch (error) {
      // A person stopped it, or the daemon stops.
      if (signal.aborted || (error instanceof SvcError && error.code === 'wrong_state')) return
      const isOurs = !(error instanceof ModelFault || error instanceof SvcError)
      if (isOurs) tell(error)
      const reason = `${isOurs ? 'a fault of ours: ' : ''}${(error as Error).message}`
      await port.failPlanning(job, reason, error instanceof ModelFault && error.code === 'no_provider')
    }
  }

  return {
    nudge: loop.nudge,
    stop: async () => {
      loop.stop()
      for (const { cut } of underWay.values()) cut.abort()
      await settled(work, timers, STOP_MS)
    },
  }
}

const keyOf = ({ project, attempt }: PlanningId): string => `${project} ${attempt}`
