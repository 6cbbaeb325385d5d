/** What an answer, or its lack, means for a delivery. */
import { RETRY_SECONDS } from '../../machines/delivery.ts'
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
    return { event: 'retry', status, reason, dueAt: dueAt(situation, undefined) }
  }
  const { status, headers } = answer
  if (status >= 200 && status < 300) return { event: 'acknowledge', status, reason: null }
  const reason = `HTTP ${status}`
  if (status === 410) return { event: 'gone', status, reason }
  if (status < 500 && !PASSING.has(status)) return { event: 'refuse', status, reason }
  return { event: 'retry', status, reason, dueAt: dueAt(situation, headers['retry-after']) }
}

/** Why a channel of Slack did not take a message. */
export interface Refused {
  error: string
  /** Sent again it would end the same. */
  isFinal: boolean
  retryAfterMs: number | null
}

/** @param refused null: it was taken. */
export function outcomeOfRefusal(refused: Refused | null, situation: Situation): Outcome {
  if (refused === null) return { event: 'acknowledge', status: 200, reason: null }
  const { error: reason, isFinal, retryAfterMs } = refused
  if (isFinal) return { event: 'refuse', status: null, reason }
  const asked = retryAfterMs === null ? undefined : String(Math.ceil(retryAfterMs / 1_000))
  return { event: 'retry', status: null, reason, dueAt: dueAt(situation, asked) }
}

const INTERRUPTED = 'the service stopped before it was answered'

/** What was cut off, or not begun, when the service stopped: it is no failure of the recipient's. */
export const interrupted: Outcome = { event: 'interrupted', status: null, reason: INTERRUPTED }

/** A try that failed on our side, before anything was sent. */
export function faultOfOurs(reason: string, situation: Situation): Outcome {
  return { event: 'retry', status: null, reason, dueAt: dueAt(situation, undefined) }
}

/**
 * A recipient can ask for a longer wait than the table has, not for a shorter one: one that always asks
 * for a second would spend all tries within seconds, and lose what a night's tries would deliver.
 */
function dueAt({ tries, now, random }: Situation, asked: string | undefined): number {
  const step = Math.min(Math.max(tries, 1), RETRY_SECONDS.length) - 1
  const own = RETRY_SECONDS[step]! * 1000 * (1 - JITTER + 2 * JITTER * random())
  return Math.round(now + Math.max(own, Math.min(readRetryAfter(asked, now) ?? 0, MAX_ASKED_MS)))
}
