/** Posts a firing to a subscribed address, signed. */

import { createHmac, randomBytes } from 'node:crypto'
import { RETRY_SECONDS, type RetryKind } from '../../machines/delivery.ts'
import { readRetryAfter } from '../../schemas/retry-after.ts'
import { addressSecrets } from '../net/address-secrets.ts'
import type { Audience, Egress, EgressAnswer, EgressFault, FaultCode } from '../net/fetch.ts'
import { storedFault } from '../net/redact.ts'

/** Where it goes. */
export interface Target {
  url: string
  /** What to sign with; null: it goes unsigned. */
  secret: string | null
  audience: Audience
}

/** What every sender needs. */
export interface Out {
  egress: Egress
  situation(): Situation
  /** The daemon stops, and what is under way is cut off. */
  signal: AbortSignal
}

const TIMEOUT_MS = 10_000

/** @param message the body of the delivery, JSON */
export async function sendWebhook(
  { id, message, url, secret, audience }: Target & { id: string; message: string },
  { egress, situation, signal }: Out,
): Promise<Outcome> {
  const answer = await egress.send({
    url,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...signatureHeaders(id, situation().now, message, secret),
    },
    body: message,
    audience,
    timeoutMs: TIMEOUT_MS,
    // What a recipient writes is shown to nobody, so it is not read.
    maxResponseBytes: 0,
    // Recipients know a delivery by its id.
    repeatable: true,
    signal,
  })
  return outcomeOf(answer, situation())
}

/*
 * Signatures of what is posted, by Standard Webhooks: recipients can check them with a library they
 * already have, and an old message sent again by somebody else is known by its timestamp.
 */

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** A secret to sign with, as recipients' libraries take it. It is shown once, to who subscribes. */
export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/**
 * The headers that identify and sign one try. The id stays the same over all tries, the timestamp does
 * not: recipients refuse what is older than a few minutes.
 * @param body exactly what is sent.
 * @param secret null: the message goes unsigned.
 */
export function signatureHeaders(
  id: string,
  atMs: number,
  body: string,
  secret: string | null,
): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1000))
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp }
  if (secret === null) return headers
  const key = Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { ...headers, 'webhook-signature': `v1,${signature}` }
}

/* What an answer, or its lack, means for a delivery. */

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

/** A redirect is never followed: where it leads was not checked as an address that may be reached. */
const NOT_FOLLOWED = 'redirects are not followed; give the address it leads to'
const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status)

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
  const reason = `HTTP ${status}${isRedirect(status) ? `: ${NOT_FOLLOWED}` : ''}`
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
interface Refusal {
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

/* Posts a finding to the receiver of its agent (SPEC.md, Outbound 5). */

export interface WriteBack {
  kind: 'write_back'
  runId: string
  url: string
  /** Sent as a bearer token. */
  token: string | null
  /** Why the address or the token cannot be had, so that nothing is sent; null: they can, or there is no token. */
  fault: string | null
  /** JSON. */
  body: string
}

const WRITE_BACK_TIMEOUT_MS = 15_000
const MAX_ANSWER_BYTES = 64 * 1024
const BODY_SHOWN = 200

/** Posts a finding. @returns what came of it; a receiver that says 410 is refused like any other: there is no subscription to switch off */
export async function sendWriteBack(
  { runId, url, token, fault, body }: WriteBack,
  { egress, situation, signal }: Out,
): Promise<Outcome> {
  if (fault !== null) return outcomeOfRefusal({ reason: fault, isFinal: true }, situation())
  const answer = await egress.send({
    url,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      // The same in every try: a receiver takes each run once.
      'idempotency-key': runId,
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    body,
    audience: 'operator',
    timeoutMs: WRITE_BACK_TIMEOUT_MS,
    maxResponseBytes: MAX_ANSWER_BYTES,
    repeatable: true,
    signal,
  })
  const outcome = outcomeOf(answer, situation())
  const event = outcome.event === 'gone' ? 'refuse' : outcome.event
  if (event === 'acknowledge' || event === 'interrupted') return outcome
  // A receiver may repeat what it was sent; what it wrote is cut after the secrets are out of it.
  const sent = [token, ...addressSecrets(url)]
  if (!answer.ok) return { ...outcome, event, reason: storedFault(answer.message, sent) }
  const said = storedFault(answer.body.toString(), sent).slice(0, BODY_SHOWN).trim()
  const isTold = isRedirect(answer.status) || said === ''
  return { ...outcome, event, reason: isTold ? outcome.reason : `HTTP ${answer.status}: ${said}` }
}
