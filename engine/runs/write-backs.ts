/**
 * Findings posted to the receiver of their agent (SPEC.md, Outbound 5). Rows are the queue: what a
 * stopped daemon did not send is sent by the next.
 */
import type { Clock, Timers } from '../clock.ts'
import type { Egress } from '../egress/index.ts'

export interface WriteBack {
  runId: string
  url: string
  /** Sent as a bearer token. */
  token: string | null
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

export interface WriteBacks {
  nudge(): void
  stop(): Promise<void>
}

const TRIES = 3
const TIMEOUT_MS = 15_000
const AT_ONCE = 8
const FIRST_WAIT_MS = 1_000
const LOOK_AGAIN_MS = 1_000
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
}): WriteBacks {
  const sending = new Map<string, Promise<void>>()
  let isLooking = false
  let isNudged = false
  let isStopped = false
  let callOff = () => {}

  async function look(): Promise<void> {
    isLooking = true
    callOff()
    try {
      do {
        isNudged = false
        const free = AT_ONCE - sending.size
        for (const one of free > 0 ? await port.dueWriteBacks(free, [...sending.keys()]) : []) {
          const work = send(one)
            .catch(onError)
            .finally(() => {
              sending.delete(one.runId)
              nudge()
            })
          sending.set(one.runId, work)
        }
      } while (isNudged && !isStopped)
      const due = isStopped ? null : await port.nextWriteBack()
      if (due !== null) callOff = timers.after(Math.max(LOOK_AGAIN_MS, due - clock.now()), nudge)
    } catch (error) {
      onError(error as Error)
      callOff = timers.after(LOOK_AGAIN_MS * 10, nudge)
    }
    isLooking = false
    if (isNudged) nudge()
  }

  async function send({ runId, url, token, body, tries }: WriteBack): Promise<void> {
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
    const error = answer.ok
      ? `HTTP ${answer.status}: ${answer.body.toString().slice(0, BODY_SHOWN)}`
      : answer.message
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

  function nudge(): void {
    if (isStopped) return
    isNudged = true
    if (!isLooking) void look()
  }

  return {
    nudge,
    stop: async () => {
      isStopped = true
      callOff()
      await Promise.allSettled(sending.values())
    },
  }
}
