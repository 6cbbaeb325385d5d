/**
 * Deliveries that wait to be sent: rows are the queue. The worker claims, sends, and settles; what a stopped
 * daemon left claimed goes back to waiting at the next start.
 */
import type { Clock } from '../clock.ts'
import { fail } from '../errors.ts'
import type { StoreHandle } from '../log/store/handle.ts'
import type { Secrets } from '../net/secrets.ts'
import { createLeases, fetchWrites, type Leases } from './fetching.ts'
import { type DueRow, deliveryRows, type FindingKind, moveDelivery } from './rows.ts'
import type { GithubPost } from './send-github.ts'
import type { SlackPlace, SlackPlaced, SlackPost, SlackProgress } from './send-slack.ts'
import type { WriteBack } from './send-webhook.ts'
import { createSubscriptions, type Subscriptions } from './subscriptions.ts'
import type { Claimed, FindingToSend, OutboxPort, TryResult } from './worker.ts'

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

  function claimOne({ id, recipient, recipient_kind: kind, finding_of }: DueRow, at: number): Claimed[] {
    const { send } = moveDelivery(db, id, { type: 'claim', at })
    const one = { deliveryId: id, recipientId: recipient, tries: send! }
    if (finding_of !== null) return [{ ...one, of: 'finding', kind: kind as FindingKind }]
    const target = subscriptions.target(recipient)
    if (target) return [{ ...one, of: 'firing', kind: kind as 'webhook' | 'slack', ...target }]
    moveDelivery(db, id, { type: 'refuse', at, reason: 'its subscription was removed' })
    return []
  }

  return {
    /** Takes what is due, at most `limit`, of none of the recipients in `busy`. */
    claim: (limit: number, busy: readonly string[]): Claimed[] => {
      const now = clock.now()
      leases.endLapsed()
      const due = rows.due.all({ now, busy: JSON.stringify(busy), limit })
      return due.length === 0 ? [] : store.tx(() => due.flatMap((row) => claimOne(row, now)))
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

    /** When the next one is due, or a lease ends, epoch ms; null: nothing waits. */
    nextDue: (): number | null => {
      const [sent, lapses] = [rows.next.get({ now: clock.now() }) ?? null, leases.nextEnd()]
      return sent === null || lapses === null ? (sent ?? lapses) : Math.min(sent, lapses)
    },

    /** A person sends it again, under the same id. @throws SvcError not_found; wrong_state; conflict */
    redeliver: (id: string): void => {
      store.tx(() => {
        const row = rows.byId.get(id) ?? fail('not_found', `no delivery has the id ${id}`)
        if (row.recipient_kind === 'agent') fail('conflict', rerunInstead(row.run_id))
        if (row.finding_of === null && !subscriptions.isThere(row.recipient))
          fail('conflict', 'its subscription was removed or disabled: there is nobody to send it to')
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
