/**
 * The end of the daemon. The first SIGTERM, SIGINT or SIGHUP: /health answers 503, streams close, nothing
 * new is accepted, requests under way get up to 5 seconds, the engine commits and closes, exit 0,
 * all within 10 seconds. A second SIGTERM or SIGINT exits at once, which is safe: what was acknowledged is on
 * disk. Before it listens nothing is under way but its start, which the next one takes up where it was committed: the
 * first signal ends it with 0. A fault nobody caught exits with 70, a disk that failed with 74; both leave the file to
 * the recovery of the next start.
 */
import type { Logger } from 'pino'
import { EXIT } from '../exit.ts'

const DRAIN_MS = 5_000
const WHOLE_MS = 10_000
/** A signal this soon after the first is the same one: npm passes on the Ctrl-C a terminal sent to all. */
const SAME_MS = 500

/**
 * Signals that end a daemon. SIGHUP comes when its terminal is closed or its ssh session ends; unheard it would end
 * the process at once, under nohup, too, since Node takes back what it is started with.
 */
export const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const satisfies readonly NodeJS.Signals[]

/** What has to end, in this order. */
export interface Stoppable {
  /** Answers 503 on /health, ends streams, refuses new ingest. */
  beginStop(): void
  /** Stops listening; resolves when every request is answered. */
  closeServer(): Promise<void>
  /** Cuts the connections that are left. */
  cutConnections(): void
  closeEngine(): Promise<void>
}

export interface StopSurroundings {
  log: Logger
  exit(code: number): void
  /** The same of a process that may not end by itself: see `exitProcess`. */
  giveUp(code: number): void
  /** Calls `fn` after `ms` unless the process ends first. */
  after(ms: number, fn: () => void): void
  /** A clock that never goes back, milliseconds. */
  monotonicMs(): number
}

/** @returns the function to call with each signal. */
export function createStop(daemon: Stoppable, around: StopSurroundings): (signal: string) => Promise<void> {
  let stoppingSince: number | null = null
  return async (signal) => {
    if (stoppingSince !== null) {
      // A terminal that closes urges nobody: its shell and the system each send one.
      if (signal === 'SIGHUP' || around.monotonicMs() - stoppingSince < SAME_MS) return
      around.log.warn({ signal }, 'second signal; stopping at once')
      return around.exit(EXIT.failed)
    }
    stoppingSince = around.monotonicMs()
    around.log.info({ signal }, 'stopping')
    around.after(WHOLE_MS, () => {
      around.log.error('not stopped within 10 seconds; exiting; what was acknowledged is on disk')
      around.giveUp(EXIT.failed)
    })
    try {
      daemon.beginStop()
      around.after(DRAIN_MS, () => daemon.cutConnections())
      await daemon.closeServer()
      await daemon.closeEngine()
      around.log.info('stopped')
      around.exit(EXIT.ok)
    } catch (error) {
      around.log.fatal({ err: error }, 'stopping failed')
      around.exit(EXIT.fault)
    }
  }
}

/** @returns the function to call with a signal that comes before the daemon listens */
export function createStartStop({
  log,
  giveUp,
}: Pick<StopSurroundings, 'log' | 'giveUp'>): (signal: string) => void {
  return (signal) => {
    log.info({ signal }, 'stopped before it listened; the next start goes on where this one was')
    giveUp(EXIT.ok)
  }
}

/**
 * Ends the process. Its threads are waited for, one that is inside a long statement of the store, too; a further signal
 * is the system's again meanwhile, and ends it at once.
 */
export function exitProcess(code: number): void {
  for (const signal of STOP_SIGNALS) process.removeAllListeners(signal)
  process.exit(code)
}

/** Logs a fault nobody caught and ends the process with 70. */
export function endOnFault(log: Logger, exit: (code: number) => void): (error: unknown) => void {
  return (error) => {
    log.fatal({ err: error }, 'a fault nobody caught; exiting')
    exit(EXIT.fault)
  }
}
