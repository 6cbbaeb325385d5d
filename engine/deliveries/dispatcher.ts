/**
 * Sends what the outbox holds. It keeps nothing that is not there too: rows are claimed, posted and
 * settled, and a process that dies in between leaves rows that the next start takes up.
 *
 * Each recipient has a lane, in which one request is under way at a time. The number of lanes is
 * bounded, what waits within a lane takes no other's place: a recipient that never answers holds up
 * itself alone.
 */
import { setMaxListeners } from 'node:events'
import type { Clock, Timers } from '../clock.ts'
import { type Audience, type Egress, within } from '../egress/index.ts'
import { SvcError } from '../errors.ts'
import {
  faultOfOurs,
  interrupted,
  type Outcome,
  outcomeOf,
  outcomeOfRefusal,
  type Refused,
} from './outcome.ts'
import { signatureHeaders } from './sign.ts'

/** A delivery taken to be sent. */
export interface Claimed {
  deliveryId: string
  recipientId: string
  url: string
  /** What to sign with; null: it goes unsigned. */
  secret: string | null
  audience: Audience
  /** Number of this try, from 1. */
  tries: number
}

/** A try, and what came of it. */
export interface TryResult extends Outcome {
  /** Epoch ms at which it began. */
  at: number
  /** How long it took. */
  ms: number
}

/** The outbox, wherever it runs. */
export interface DeliveryPort {
  /** Takes what is due, at most `limit`, of none of the recipients in `busy`. */
  claim(limit: number, busy: string[]): Promise<Claimed[]>
  /** The body to post. */
  message(deliveryId: string): Promise<string>
  settle(deliveryId: string, result: TryResult): Promise<void>
  /** Epoch ms at which the next is due; null: none waits. */
  nextDue(): Promise<number | null>
}

export interface Dispatcher {
  /** Something may be due. */
  nudge(): void
  /**
   * Claims no more, lets what is under way end for a short time, then cuts it off. Never rejects; what
   * could not be settled by then goes back to waiting at the next start.
   */
  stop(): Promise<void>
}

export interface DispatcherOptions {
  port: DeliveryPort
  egress: Egress
  clock: Clock
  timers: Timers
  /** From 0 to below 1. */
  random(): number
  /** Posts to channels of Slack; absent: nothing is sent to one. @returns null: it is there */
  slack?: (url: string, body: string, deliveryId: string) => Promise<Refused | null>
  /** Told what the port throws; it is tried again. */
  onError(error: Error): void
}

/** Recipients that are sent to at once. */
const MAX_LANES = 16
const TIMEOUT_MS = 10_000
/** How long what is under way has at a stop, and then how long settling it has. */
const STOP_MS = 5_000
const SETTLE_MS = 2_000
/** Something is due that cannot be claimed yet: its recipient or its key is taken. */
const LOOK_AGAIN_MS = 1_000
/** No wait is longer, for the wall clock may be set meanwhile. */
const LONGEST_WAIT_MS = 30_000
const SHORTEST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000

const NO_SLACK: Refused = { error: 'Slack is not there', isFinal: true, retryAfterMs: null }

/** Starts sending; the first `nudge` looks for what is due. */
export function startDispatcher(options: DispatcherOptions): Dispatcher {
  const { port, egress, clock, timers, random, slack, onError } = options
  /** By recipient: what was claimed and is not begun. */
  const lanes = new Map<string, Claimed[]>()
  const underWay = new Set<Promise<void>>()
  const stopping = new AbortController()
  const cut = new AbortController()
  // One listener for each lane, which is no leak.
  setMaxListeners(MAX_LANES, stopping.signal, cut.signal)
  let looking = false
  let nudged = false
  /** The port failed: until the pause is over, nudges wait. */
  let paused = false
  let failures = 0
  let callOff = () => {}
  let stopped: Promise<void> | null = null

  const tell = (error: unknown) => onError(error instanceof Error ? error : new Error(String(error)))
  const track = (work: Promise<void>) => {
    underWay.add(work)
    void work.finally(() => underWay.delete(work))
  }

  /** Claims until nothing is left to claim or no lane is free, then sleeps until the next is due. */
  async function look(): Promise<void> {
    looking = true
    callOff()
    let wait: number | null
    try {
      wait = await claimAll()
      failures = 0
    } catch (error) {
      wait = pauseOf(++failures)
      paused = true
      tell(error)
    }
    looking = false
    if (stopping.signal.aborted) return
    // It came after the last look, and found this one not quite over.
    if (nudged && !paused) return nudge()
    if (wait === null) return
    callOff = timers.after(wait, () => {
      paused = false
      nudge()
    })
  }

  /** @returns ms to wait; null: until a nudge. */
  async function claimAll(): Promise<number | null> {
    while (!stopping.signal.aborted) {
      nudged = false
      const free = MAX_LANES - lanes.size
      const claimed = free > 0 ? await port.claim(free, [...lanes.keys()]) : []
      for (const one of claimed) enqueue(one)
      if (claimed.length > 0 || nudged) continue
      // Without a free lane nothing could be claimed; the lane that ends looks again.
      const due = free > 0 ? await port.nextDue() : null
      if (nudged) continue
      if (due === null) return null
      const left = due - clock.now()
      return left > 0 ? Math.min(left, LONGEST_WAIT_MS) : LOOK_AGAIN_MS
    }
    return null
  }

  function enqueue(one: Claimed): void {
    const lane = lanes.get(one.recipientId)
    if (lane) lane.push(one)
    else {
      lanes.set(one.recipientId, [one])
      track(work(one.recipientId))
    }
  }

  async function work(recipientId: string): Promise<void> {
    const lane = lanes.get(recipientId)!
    for (let one = lane.shift(); one; one = lane.shift()) await settle(one.deliveryId, await attempt(one))
    lanes.delete(recipientId)
    nudge()
  }

  async function attempt(claimed: Claimed): Promise<TryResult> {
    const at = clock.now()
    const outcome = await outcomeOfTry(claimed)
    return { ...outcome, at, ms: Math.max(0, clock.now() - at) }
  }

  async function outcomeOfTry({ deliveryId, url, secret, audience, tries }: Claimed): Promise<Outcome> {
    const situation = () => ({ tries, now: clock.now(), random })
    if (stopping.signal.aborted) return interrupted
    let body: string
    try {
      body = await port.message(deliveryId)
    } catch (error) {
      tell(error)
      // Counted as a try, so that one message that cannot be made is not asked for without end.
      return faultOfOurs('the message could not be made', situation())
    }
    if (stopping.signal.aborted) return interrupted
    if (url.startsWith('slack:')) {
      const refused = slack ? await slack(url, body, deliveryId) : NO_SLACK
      return outcomeOfRefusal(refused, situation())
    }
    const answer = await egress.send({
      url,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...signatureHeaders(deliveryId, clock.now(), body, secret),
      },
      body,
      audience,
      timeoutMs: TIMEOUT_MS,
      // What a recipient writes is shown to nobody, so it is not read.
      maxResponseBytes: 0,
      // Recipients know a delivery by its id.
      repeatable: true,
      signal: cut.signal,
    })
    return outcomeOf(answer, situation())
  }

  /** Until it is settled or cannot be: a result that was lost would be a message sent twice. */
  async function settle(deliveryId: string, result: TryResult): Promise<void> {
    for (let failed = 1; ; failed++) {
      try {
        return await port.settle(deliveryId, result)
      } catch (error) {
        tell(error)
        const isFinal =
          error instanceof SvcError && (error.code === 'not_found' || error.code === 'wrong_state')
        if (isFinal || stopping.signal.aborted) return
        await within(timers, pauseOf(failed), stopping.signal, new Promise<never>(() => {}))
      }
    }
  }

  function nudge(): void {
    if (stopping.signal.aborted || paused) return
    nudged = true
    if (!looking) track(look())
  }

  async function idle(): Promise<void> {
    while (underWay.size) await Promise.all(underWay)
  }

  async function stop(): Promise<void> {
    stopping.abort()
    callOff()
    if ((await within(timers, STOP_MS, undefined, idle())) !== 'timeout') return
    cut.abort()
    await within(timers, SETTLE_MS, undefined, idle())
  }

  return {
    nudge,
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
}

/** A second, then twice as long each time. */
function pauseOf(failures: number): number {
  return Math.min(SHORTEST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS)
}
