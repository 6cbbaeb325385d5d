/**
 * How long a model that is not to be had is waited for, by a run, an answer of Ask and the planning of setup alike: as
 * long as its provider says, else by backoff, and an hour at most. Written for users in docs/agents.md, section "A
 * model that is not to be had".
 */

/** Milliseconds from the first fault to the last try; a reply in between begins them anew. */
export const PARKED_MAX_MS = 60 * 60_000
/** Twice as long after each try, unless the provider asks for more. */
const FIRST_WAIT_MS = 15_000
const LONGEST_WAIT_MS = 5 * 60_000

/** What is known of a wait. */
export interface Waited {
  /** Epoch ms of the first fault since a reply; null: this is the first. */
  since: number | null
  /** Waits since that. */
  tries: number
}

/** Until when it waits, epoch ms; or why it must not. */
export type NextTry = { since: number; until: number } | { refusal: string }

/**
 * @param asked milliseconds from now, as the provider says; null: it did not
 * @param waiter who waits, for the sentence: `a run`
 */
export function nextTry(
  { since: before, tries }: Waited,
  now: number,
  asked: number | null,
  waiter: string,
): NextTry {
  const since = before ?? now
  const end = since + PARKED_MAX_MS
  if (now >= end) return { refusal: 'it was tried for an hour' }
  if (asked !== null && now + asked > end)
    return {
      refusal: `it asks to be tried again in ${minutes(asked)}, and ${waiter} waits no longer than an hour`,
    }
  const backoff = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tries)
  return { since, until: Math.min(now + Math.max(backoff, asked ?? 0), end) }
}

/**
 * For who reads: until when it is waited, and why.
 * @param until epoch ms. @param asked whether the provider said how long
 */
export function waitWords({
  until,
  asked,
  reason,
}: {
  until: number
  asked: boolean
  reason: string
}): string {
  const at = `${new Date(until).toISOString().slice(11, 19)} UTC`
  return asked
    ? `the provider asks to wait until ${at} (${reason})`
    : `the provider is not to be had; it is asked again at ${at} (${reason})`
}

const minutes = (ms: number): string => {
  const count = Math.ceil(ms / 60_000)
  return `${count} minute${count === 1 ? '' : 's'}`
}
