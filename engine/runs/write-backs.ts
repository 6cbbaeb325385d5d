/**
 * Findings posted to the receiver of their agent (SPEC.md, Outbound 5). Rows are the queue: what a
 * stopped daemon did not send is sent by the next.
 */

import { addressSecrets } from '../address-secrets.ts'
import type { Clock, Timers } from '../clock.ts'
import type { Egress } from '../egress/index.ts'
import { createPosting, type Posting } from '../posting.ts'
import { storedFault } from '../stored-fault.ts'

export interface WriteBack {
  runId: string
  url: string
  /** Sent as a bearer token. */
  token: string | null
  /** Why the token cannot be had, so that nothing is sent; null: it can, or there is none. */
  fault: string | null
  /** JSON. */
  body: string
  /** Number of this try, from 1. */
  tries: number
}

export interface WriteBackPort {
  dueWriteBacks(limit: number, busy: readonly string[]): Promise<WriteBack[]>
  /** @param delivery ok, http and a status, or failed; null: it is tried again at `dueAt`, epoch ms */
  settleWriteBack(
    run: string,
    delivery: string | null,
    error: string | null,
    dueAt: number | null,
  ): Promise<void>
  /** Epoch ms; null: none waits. */
  nextWriteBack(): Promise<number | null>
}

const TRIES = 3
const TIMEOUT_MS = 15_000
const AT_ONCE = 8
const FIRST_WAIT_MS = 1_000
const BODY_SHOWN = 200

export function startWriteBacks({
  port,
  egress,
  clock,
  timers,
  onError,
}: {
  port: WriteBackPort
  egress: Egress
  clock: Clock
  timers: Timers
  onError(error: Error): void
}): Posting {
  return createPosting({
    due: (limit, busy) => port.dueWriteBacks(limit, busy),
    next: () => port.nextWriteBack(),
    post,
    atOnce: AT_ONCE,
    clock,
    timers,
    onError,
  })

  async function post({ runId, url, token, fault, body, tries }: WriteBack): Promise<void> {
    if (fault !== null) return port.settleWriteBack(runId, 'failed', fault, null)
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
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: 64 * 1024,
      repeatable: true,
    })
    if (answer.ok && answer.status >= 200 && answer.status < 300) {
      await port.settleWriteBack(runId, 'ok', null, null)
      return
    }
    // A receiver may repeat what it was sent; what it wrote is cut after the secrets are out of it.
    const sent = [token, ...addressSecrets(url)]
    const error = answer.ok
      ? `HTTP ${answer.status}: ${storedFault(answer.body.toString(), sent).slice(0, BODY_SHOWN)}`
      : storedFault(answer.message, sent)
    const isFinal = answer.ok
      ? answer.status < 500 && answer.status !== 429 && answer.status !== 408
      : answer.fault === 'not_allowed' || answer.fault === 'invalid'
    if (isFinal || tries >= TRIES) {
      const delivery = answer.ok ? `http ${answer.status}` : 'failed'
      await port.settleWriteBack(runId, delivery, error, null)
    } else {
      await port.settleWriteBack(runId, null, error, clock.now() + FIRST_WAIT_MS * 2 ** (tries - 1))
    }
  }
}
