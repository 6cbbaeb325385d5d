/** What passes between the poller, which asks upstreams, and the store, which keeps what came. */

/** What a poll began with; it is stored only while both still hold. */
export interface Begun {
  sourceId: number
  /** Of the source's row: changes with each edit and each change of its state. */
  version: number
  cursor: string | null
}

/** A poll that is due, with secrets in the clear: not for doors. */
export interface DuePoll extends Begun {
  connector: string
  config: Record<string, unknown>
}

export interface PollsDue {
  due: DuePoll[]
  /** Of those under way: sources that were edited, paused or deleted meanwhile. */
  stale: number[]
  /** When the next of the others is due, epoch ms; null: none waits. */
  next: number | null
}

/** A poll that was made. Times in epoch ms. */
export type PollMade = Begun & { began: number; ended: number } & (
    | { items: readonly string[]; newCursor: string | null; more: boolean; notice: string | null }
    | {
        /** A sentence for people, without secrets. */
        error: string
        retryAfterMs: number | null
        /** From 0 to below 1, for the spread of waits. */
        random: number
      }
  )

/** What the poller needs of the store; not for doors: secrets are in it. */
export interface PollPort {
  /** @param busy polls under way. */
  duePolls(limit: number, busy: { sourceId: number; version: number }[]): Promise<PollsDue>
  /**
   * Stores items, cursor and health together, or nothing where the poll is no longer what was asked for.
   * @throws SvcError unavailable, unknown_outcome: the poll will be done again
   */
  settlePoll(made: PollMade): Promise<void>
}

export const pollPortNames = ['duePolls', 'settlePoll'] as const satisfies readonly (keyof PollPort)[]
