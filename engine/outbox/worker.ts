/**
 * Sends what the outbox holds. It keeps nothing that is not there too: rows are claimed, sent and settled, and a
 * process that dies in between leaves rows that the next start takes up.
 *
 * Each recipient has a lane, in which one request is under way at a time. The number of lanes is bounded, what
 * waits within a lane takes no other's place: a recipient that never answers holds up itself alone.
 */
import { setMaxListeners } from 'node:events'
import type { Clock, Timers } from '../clock.ts'
import { SvcError } from '../errors.ts'
import { createWorkerLoop, pauseOf } from '../log/worker-loop.ts'
import { type Egress, within } from '../net/fetch.ts'
import type { GithubTokens } from '../net/github-app.ts'
import { type FindingKind, retryKindOf } from './rows.ts'
import { type GithubPost, sendGithub } from './send-github.ts'
import {
  type SlackAccounts,
  type SlackPlace,
  type SlackPlaced,
  type SlackPost,
  type SlackProgress,
  sendFinding,
  sendFiring,
} from './send-slack.ts'
import {
  faultOfOurs,
  interrupted,
  type Outcome,
  type Situation,
  sendWebhook,
  sendWriteBack,
  type Target,
  type WriteBack,
} from './send-webhook.ts'

interface Taken {
  deliveryId: string
  /** Its lane. */
  recipientId: string
  /** Number of this try, from 1. */
  tries: number
}

/** A firing to be told to a subscription. */
export interface ClaimedFiring extends Taken, Target {
  of: 'firing'
  kind: 'webhook' | 'slack'
}

/** An agent's finding to be posted. */
export interface ClaimedFinding extends Taken {
  of: 'finding'
  kind: FindingKind
}

/** A delivery taken to be sent. */
export type Claimed = ClaimedFiring | ClaimedFinding

/** What is posted of a finding, with what it is posted with. */
export type FindingToSend = WriteBack | SlackPost | GithubPost

/** A try, and what came of it. */
export interface TryResult extends Outcome {
  /** Epoch ms at which it began. */
  at: number
  /** How long it took. */
  ms: number
}

/** The outbox, wherever it runs. */
export interface OutboxPort {
  /** Takes what is due, at most `limit`, of none of the recipients in `busy`. */
  claim(limit: number, busy: string[]): Promise<Claimed[]>
  /** The body to post, of a firing. */
  message(deliveryId: string): Promise<string>
  /** What to post, of a finding. */
  finding(deliveryId: string): Promise<FindingToSend>
  /** Part of a message is there. */
  note(deliveryId: string, progress: SlackProgress): Promise<void>
  /** Where a firing is posted in a channel of Slack. */
  place(deliveryId: string, url: string): Promise<SlackPlace>
  /** The message of a firing is there. */
  placed(deliveryId: string, at: SlackPlaced): Promise<void>
  settle(deliveryId: string, result: TryResult): Promise<void>
  /** Epoch ms at which the next is due; null: none waits. */
  nextDue(): Promise<number | null>
}

export interface OutboxWorker {
  /** Something may be due. */
  nudge(): void
  /**
   * Claims no more, lets what is under way end for a short time, then cuts it off. Never rejects; what
   * could not be settled by then goes back to waiting at the next start.
   */
  stop(): Promise<void>
}

export interface OutboxWorkerOptions {
  port: OutboxPort
  egress: Egress
  clock: Clock
  timers: Timers
  /** From 0 to below 1. */
  random(): number
  /** How Slack is called. */
  slack: SlackAccounts
  /** Tokens of GitHub Apps. */
  tokens: GithubTokens
  /** Told what the port throws; it is tried again. */
  onError(error: Error): void
}

/** Recipients that are sent to at once. */
const MAX_LANES = 16
/** How long what is under way has at a stop, and then how long settling it has. */
const STOP_MS = 5_000
const SETTLE_MS = 2_000
/** Something is due that cannot be claimed yet: its recipient or its key is taken. */
const LOOK_AGAIN_MS = 1_000
/** No wait is longer, for the wall clock may be set meanwhile. */
const LONGEST_WAIT_MS = 30_000

const NOTHING = () => {}

/** Starts sending; the first `nudge` looks for what is due. */
export function startOutboxWorker(options: OutboxWorkerOptions): OutboxWorker {
  const { port, clock, timers, onError } = options
  /** By recipient: what was claimed and is not begun. */
  const lanes = new Map<string, Claimed[]>()
  const underWay = new Set<Promise<void>>()
  const stopping = new AbortController()
  const cut = new AbortController()
  // One listener for each lane, which is no leak.
  setMaxListeners(MAX_LANES, stopping.signal, cut.signal)
  const loop = createWorkerLoop({ look, timers, onError })
  let stopped: Promise<void> | null = null

  const tell = (error: unknown) => onError(error instanceof Error ? error : new Error(String(error)))
  const track = (work: Promise<void>) => {
    underWay.add(work)
    void work.finally(() => underWay.delete(work))
  }

  /** A claim that is under way at a stop is waited for, so that what it took goes back. */
  function look(): Promise<number | null> {
    const claiming = claimAll()
    track(claiming.then(NOTHING, NOTHING))
    return claiming
  }

  /** Claims until nothing is left to claim or no lane is free. @returns ms to wait; null: until a nudge */
  async function claimAll(): Promise<number | null> {
    while (!stopping.signal.aborted) {
      const free = MAX_LANES - lanes.size
      // Without a free lane nothing can be claimed; the lane that ends looks again.
      if (free === 0) return null
      const claimed = await port.claim(free, [...lanes.keys()])
      for (const one of claimed) enqueue(one)
      if (claimed.length > 0) continue
      const due = await port.nextDue()
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
    for (let one = lane.shift(); one; one = lane.shift()) await settle(one)
    lanes.delete(recipientId)
    loop.nudge()
  }

  async function settle(claimed: Claimed): Promise<void> {
    const result = await attempt(claimed)
    await record(() => port.settle(claimed.deliveryId, result))
  }

  async function attempt(claimed: Claimed): Promise<TryResult> {
    const at = clock.now()
    const outcome = await send(claimed)
    return { ...outcome, at, ms: Math.max(0, clock.now() - at) }
  }

  async function send(claimed: Claimed): Promise<Outcome> {
    if (stopping.signal.aborted) return interrupted
    const { deliveryId, kind, of, tries } = claimed
    const situation = (): Situation => ({
      retry: retryKindOf(kind, of === 'finding'),
      ...{ tries, now: clock.now(), random: options.random },
    })
    let message: string | FindingToSend
    try {
      message = of === 'firing' ? await port.message(deliveryId) : await port.finding(deliveryId)
    } catch (error) {
      tell(error)
      // Counted as a try, so that one message that cannot be made is not asked for without end.
      return faultOfOurs('the message could not be made', situation())
    }
    if (stopping.signal.aborted) return interrupted
    try {
      return await sendBy(claimed, message, situation)
    } catch (error) {
      tell(error)
      return faultOfOurs('it could not be sent', situation())
    }
  }

  function sendBy(
    claimed: Claimed,
    message: string | FindingToSend,
    situation: () => Situation,
  ): Promise<Outcome> {
    const out = { ...options, situation, signal: cut.signal }
    const { deliveryId: id } = claimed
    if (typeof message !== 'string' && message.kind === 'github') return sendGithub(message, out)
    if (typeof message !== 'string')
      return message.kind === 'write_back'
        ? sendWriteBack(message, out)
        : sendFinding(message, { ...out, note: (progress) => record(() => port.note(id, progress)) })
    const target = claimed as ClaimedFiring
    return target.kind === 'slack'
      ? sendFiring(
          { id, url: target.url, message },
          {
            ...out,
            place: () => port.place(id, target.url),
            placed: (at) => record(() => port.placed(id, at)),
          },
        )
      : sendWebhook({ id, message, ...target }, out)
  }

  /**
   * Writes what came of a try, or of a part of it, until it is written or cannot be: a result that was lost would
   * be a message sent twice. @returns false: it cannot be
   */
  async function record(write: () => Promise<void>): Promise<boolean> {
    for (let failed = 1; ; failed++) {
      try {
        await write()
        return true
      } catch (error) {
        tell(error)
        const isFinal =
          error instanceof SvcError && (error.code === 'not_found' || error.code === 'wrong_state')
        if (isFinal || stopping.signal.aborted) return false
        await within(timers, pauseOf(failed), stopping.signal, new Promise<never>(() => {}))
      }
    }
  }

  async function idle(): Promise<void> {
    while (underWay.size) await Promise.all(underWay)
  }

  async function stop(): Promise<void> {
    stopping.abort()
    loop.stop()
    if ((await within(timers, STOP_MS, undefined, idle())) !== 'timeout') return
    cut.abort()
    await within(timers, SETTLE_MS, undefined, idle())
  }

  return {
    nudge: loop.nudge,
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
}
