/**
 * Deliveries that wait to be sent: rows are the queue. The worker claims, sends, and settles; what a stopped
 * daemon left claimed goes back to waiting at the next start.
 *
 * Each recipient has a lane, in which one request is under way at a time. The number of lanes is bounded, what
 * waits within a lane takes no other's place: a recipient that never answers holds up itself alone.
 */

import { setMaxListeners } from 'node:events'
import type { Clock, Timers } from '../clock.ts'
import { fail, SvcError } from '../errors.ts'
import type { StoreHandle } from '../log/store/handle.ts'
import { createWorkerLoop, pauseOf } from '../log/worker-loop.ts'
import { type Egress, within } from '../net/fetch.ts'
import type { GithubTokens } from '../net/github-app.ts'
import type { Secrets } from '../net/secrets.ts'
import { createLeases, fetchWrites, type Leases } from './fetching.ts'
import { type DueRow, deliveryRows, type FindingKind, moveDelivery, retryKindOf } from './rows.ts'
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
import { createSubscriptions, type Subscriptions } from './subscriptions.ts'

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

/** What an agent's findings are posted as; credentials are in it. */
interface FindingsToSend {
  /** @returns null: the run is gone */
  writeBack(runId: string): WriteBack | null
  slackPost(runId: string, progress: SlackProgress | null): SlackPost | null
  github(runId: string): GithubPost | null
  /** A part of it is in Slack, in the caller's transaction. */
  slackFound(runId: string, progress: SlackProgress): void
}

/** Where firings are in Slack, in the caller's transaction. */
interface FiringPlaces {
  placeOf(deliveryId: string, url: string): SlackPlace
  placed(deliveryId: string, at: SlackPlaced): void
}

type Queue = ReturnType<typeof createQueue>

/** @param onPending called when a delivery waits again. */
function createQueue({
  store,
  clock,
  subscriptions,
  leases,
  findings,
  places,
  onPending,
}: {
  store: StoreHandle
  clock: Clock
  subscriptions: Subscriptions
  leases: Leases
  findings: FindingsToSend
  places: FiringPlaces
  onPending(): void
}) {
  const { db } = store
  const rows = deliveryRows(db)
  store.tx(() => {
    for (const id of rows.underWay.all()) {
      moveDelivery(db, id, { type: 'interrupted', at: clock.now() })
      rows.setCut.run(1, id)
    }
  })

  type Due = DueRow & { due_at: number | null }

  function claimOne({ id, recipient, recipient_kind: kind, finding_of, due_at }: Due, at: number): Claimed[] {
    // Due by a clock that was set back since, it is due now.
    const { send } = moveDelivery(db, id, { type: 'claim', at: Math.max(at, due_at ?? at) })
    const one = { deliveryId: id, recipientId: recipient, tries: send! }
    if (finding_of !== null) return [{ ...one, of: 'finding', kind: kind as FindingKind }]
    const target = subscriptions.target(recipient)
    if (target) return [{ ...one, of: 'firing', kind: kind as 'webhook' | 'slack', ...target }]
    // A receiver that says 410 is what switches one off; it is still listed then.
    const isOff = typeof subscriptions.find(recipient)?.disabled_at === 'number'
    const reason = `its subscription was ${isOff ? 'switched off after HTTP 410' : 'removed'}`
    moveDelivery(db, id, { type: 'refuse', at, reason })
    return []
  }

  /** When was looked for what is due, epoch ms, and whether more may be: all of that look was refused. */
  let looked = { at: 0, isMore: false }

  return {
    /** Takes what is due, at most `limit`, of none of the recipients in `busy`. */
    claim: (limit: number, busy: readonly string[]): Claimed[] => {
      const now = clock.now()
      leases.endLapsed()
      const due = rows.due.all({ now, busy: JSON.stringify(busy), limit })
      const claimed = due.length === 0 ? [] : store.tx(() => due.flatMap((row) => claimOne(row, now)))
      looked = { at: now, isMore: due.length > claimed.length }
      return claimed
    },

    /**
     * What is to be posted of a finding, as things are now: an address or a channel that was replaced gets what
     * waits. @throws SvcError not_found
     */
    finding: (id: string): FindingToSend => {
      const row = rows.byId.get(id)
      const run = row?.finding_of ?? fail('not_found', `no delivery of a finding has the id ${id}`)
      const progress = row!.progress === null ? null : (JSON.parse(row!.progress) as SlackProgress)
      const found = {
        slack: () => findings.slackPost(run, progress),
        github: () => findings.github(run),
        write_back: () => findings.writeBack(run),
      }[row!.recipient_kind as FindingKind]()
      return found ?? fail('not_found', `run ${run} is gone`)
    },

    /** Part of a message is with its recipient; the rest of the try is under way. */
    note: (id: string, progress: SlackProgress): void => {
      store.tx(() => {
        rows.setProgress.run(JSON.stringify(progress), id)
        const run = rows.byId.get(id)?.finding_of ?? null
        if (run !== null) findings.slackFound(run, progress)
      })
    },

    place: (id: string, url: string): SlackPlace => places.placeOf(id, url),

    placed: (id: string, at: SlackPlaced): void => store.tx(() => places.placed(id, at)),

    /** Records a try and what came of it. @throws SvcError wrong_state when it is not being sent */
    settle: (id: string, { event, at, ms, status, reason, dueAt }: TryResult): void => {
      store.tx(() => {
        moveDelivery(db, id, {
          ...{ type: event, at, delivered_at: at + ms },
          ...{ reason: reason ?? undefined, due_at: dueAt },
        })
        rows.setCut.run(event === 'interrupted' ? 1 : 0, id)
        if (event !== 'interrupted')
          rows.addTry.run({ id, at, ms, status, error: event === 'acknowledge' ? null : reason })
      })
    },

    /**
     * When the next one is due that was not when it was last claimed, or a lease ends, epoch ms; null: nothing waits
     * but for recipients that are sent to, or for a nudge.
     */
    nextDue: (): number | null => {
      if (looked.isMore) return looked.at
      const [sent, lapses] = [rows.next.get({ now: clock.now(), after: looked.at }) ?? null, leases.nextEnd()]
      return sent === null || lapses === null ? (sent ?? lapses) : Math.min(sent, lapses)
    },

    /** A person sends it again, under the same id. @throws SvcError not_found; wrong_state; conflict */
    redeliver: (id: string): void => {
      store.tx(() => {
        const row = rows.byId.get(id) ?? fail('not_found', `no delivery has the id ${id}`)
        if (row.recipient_kind === 'agent') fail('conflict', rerunInstead(row.run_id))
        if (row.finding_of === null && !subscriptions.isThere(row.recipient))
          fail(
            'conflict',
            'its subscription was removed, or switched off after HTTP 410: there is nobody to send it to',
          )
        moveDelivery(db, id, { type: 'redeliver', at: clock.now() })
        store.afterCommit(onPending)
      })
    },
  }
}

const rerunInstead = (run: string | null): string =>
  run === null
    ? 'an agent is not told twice of a firing'
    : `an agent is not told twice of a firing: run ${run} again instead`

/* What the worker asks of the outbox, on the thread that writes; and sending again, for people. */

/** What the worker claims, and what came of it. */
export interface OutboxCalls {
  claimDeliveries(limit: number, busy: readonly string[]): Promise<Claimed[]>
  settleDelivery(id: string, result: TryResult): Promise<void>
  nextDelivery(): Promise<number | null>
}

export interface OutboxWrites extends OutboxCalls {
  /** @throws SvcError not_found; wrong_state; conflict when there is nobody to send it to */
  redeliver(id: string): Promise<{ ok: true }>
}

/** What sending findings needs beside them; not for doors: tokens are in it. */
export interface FindingPort {
  findingToSend(delivery: string): Promise<FindingToSend>
  noteDelivery(delivery: string, progress: SlackProgress): Promise<void>
  placeInSlack(delivery: string, url: string): Promise<SlackPlace>
  placedInSlack(delivery: string, at: SlackPlaced): Promise<void>
}

export function outboxWrites(queue: Queue): OutboxWrites & FindingPort {
  return {
    redeliver: async (id) => {
      queue.redeliver(id)
      return { ok: true }
    },
    claimDeliveries: async (limit, busy) => queue.claim(limit, busy),
    settleDelivery: async (id, result) => queue.settle(id, result),
    nextDelivery: async () => queue.nextDue(),
    findingToSend: async (id) => queue.finding(id),
    noteDelivery: async (id, progress) => queue.note(id, progress),
    placeInSlack: async (id, url) => queue.place(id, url),
    placedInSlack: async (id, at) => queue.placed(id, at),
  }
}

/** What the worker needs, of an engine wherever it runs. */
export function outboxPort(
  engine: OutboxCalls & FindingPort & { deliveryMessage(id: string): Promise<unknown> },
): OutboxPort {
  return {
    claim: (limit, busy) => engine.claimDeliveries(limit, busy),
    message: async (id) => JSON.stringify(await engine.deliveryMessage(id)),
    finding: (id) => engine.findingToSend(id),
    note: (id, progress) => engine.noteDelivery(id, progress),
    place: (id, url) => engine.placeInSlack(id, url),
    placed: (id, at) => engine.placedInSlack(id, at),
    settle: (id, result) => engine.settleDelivery(id, result),
    nextDue: () => engine.nextDelivery(),
  }
}

/*
 * The outbox: everything that is told to somebody outside, and to agents. A row of `deliveries` is one message to
 * one recipient, its machine (machines/delivery.ts) decides what becomes of it, and one worker sends what is due.
 *
 * | sender                | what it tells                                   | who carries it                  |
 * | --------------------- | ----------------------------------------------- | ------------------------------- |
 * | send-webhook.ts       | firings, to subscribed addresses                | the worker                      |
 * | send-slack.ts         | firings and findings, to channels of Slack      | the worker                      |
 * | send-webhook.ts       | findings, to the webhook of their agent         | the worker                      |
 * | send-github.ts        | findings, on the pull request they are about    | the worker                      |
 * | fetching.ts           | firings, to whoever asks for them               | the recipient, with a lease     |
 * | rows.ts               | firings, to agents of this service              | the run, until it ends          |
 *
 * Ways in: rows.ts `addDelivery` writes one in the transaction of what it tells; queue.ts is what the worker and
 * people ask of it. rows.ts alone writes its tables, `deliveries` and `delivery_tries`.
 */

interface OutboxParts {
  store: StoreHandle
  clock: Clock
  secrets: Secrets
  findings: FindingsToSend
  places: FiringPlaces
  /** Called when a delivery waits again. */
  onPending(): void
}

export function openOutbox({ store, clock, secrets, findings, places, onPending }: OutboxParts) {
  const subscriptions = createSubscriptions({ store, clock, secrets })
  const leases = createLeases({ store, clock, onPending })
  const queue = createQueue({ store, clock, subscriptions, leases, findings, places, onPending })
  return { subscriptions, queue, ...fetchWrites(subscriptions, leases) }
}
