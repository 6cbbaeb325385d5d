/** What an answer, or its lack, means for a delivery. */
import { RETRY_SECONDS, type RetryKind } from '../../machines/delivery.ts'
import type { EgressAnswer, EgressFault, FaultCode } from '../egress/index.ts'
import { readRetryAfter } from '../egress/retry-after.ts'

/** What came of a try, as an event of the delivery's lifecycle. */
export interface Outcome {
  event: 'acknowledge' | 'retry' | 'refuse' | 'gone' | 'interrupted'
  /** HTTP status; null: none came. */
  status: number | null
  /** Why it was not taken; null: it was. Nothing that the recipient wrote. */
  reason: string | null
  /** Epoch ms, of retry alone: no try before it. */
  dueAt?: number
}

export interface Situation {
  /** Its row of the retry table. */
  retry: RetryKind
  /** Number of this try, from 1. */
  tries: number
  /** Epoch ms of the answer. */
  now: number
  /** From 0 to below 1. */
  random(): number
}

/** Either way from the wait of the table, so that many that failed together do not come back together. */
const JITTER = 0.2
/** The longest wait that a recipient can ask for. */
const MAX_ASKED_MS = 3_600_000
/** Request timeout, too early, too many requests; besides 5xx. */
const PASSING = new Set([408, 425, 429])
/** Sent again they would end the same. */
const FINAL_FAULTS: ReadonlySet<FaultCode> = new Set(['not_allowed', 'invalid', 'redirect'])

/**
 * Only 2xx takes a delivery. What may pass is tried again: no answer, 5xx, 408, 425 and 429. How many
 * tries there are is the lifecycle's to say: `retry` after the last one fails the delivery.
 */
export function outcomeOf(answer: EgressAnswer | EgressFault, situation: Situation): Outcome {
  if (!answer.ok) {
    const { fault, message: reason, status } = answer
    if (fault === 'aborted') return { event: 'interrupted', status, reason: INTERRUPTED }
    if (FINAL_FAULTS.has(fault)) return { event: 'refuse', status, reason }
    return { event: 'retry', status, reason, dueAt: dueAt(situation, null) }
  }
  const { status, headers } = answer
  if (status >= 200 && status < 300) return { event: 'acknowledge', status, reason: null }
  const reason = `HTTP ${status}`
  if (status === 410) return { event: 'gone', status, reason }
  if (status < 500 && !PASSING.has(status)) return { event: 'refuse', status, reason }
  return {
    event: 'retry',
    status,
    reason,
    dueAt: dueAt(situation, readRetryAfter(headers['retry-after'], situation.now)),
  }
}

/** Why a recipient did not take a message, where its answer is no plain status: Slack, or an address that is not there. */
export interface Refusal {
  reason: string
  /** Sent again it would end the same. */
  isFinal: boolean
  status?: number | null
  /** How long it asks to be left alone; null: it does not say. */
  retryAfterMs?: number | null
}

/** @param refusal null: it was taken. */
export function outcomeOfRefusal(refusal: Refusal | null, situation: Situation): Outcome {
  if (refusal === null) return { event: 'acknowledge', status: 200, reason: null }
  const { reason, isFinal, status = null, retryAfterMs = null } = refusal
  if (isFinal) return { event: 'refuse', status, reason }
  return { event: 'retry', status, reason, dueAt: dueAt(situation, retryAfterMs) }
}

const INTERRUPTED = 'the service stopped before it was answered'

/** What was cut off, or not begun, when the service stopped: it is no failure of the recipient's. */
export const interrupted: Outcome = { event: 'interrupted', status: null, reason: INTERRUPTED }

/** A try that failed on our side, before anything was sent. */
export function faultOfOurs(reason: string, situation: Situation): Outcome {
  return { event: 'retry', status: null, reason, dueAt: dueAt(situation, null) }
}

/**
 * A recipient can ask for a longer wait than the table has, not for a shorter one: one that always asks
 * for a second would spend all tries within seconds, and lose what a night's tries would deliver.
 */
function dueAt({ retry, tries, now, random }: Situation, askedMs: number | null): number {
  const waits = RETRY_SECONDS[retry]
  // After the last wait's try there is none: the machine fails the delivery, whatever is said here.
  const seconds = waits[Math.min(Math.max(tries, 1), waits.length) - 1] ?? 0
  const own = seconds * 1000 * (1 - JITTER + 2 * JITTER * random())
  return Math.round(now + Math.max(own, Math.min(askedMs ?? 0, MAX_ASKED_MS)))
}
