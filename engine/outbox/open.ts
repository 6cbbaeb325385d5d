/**
 * The outbox: everything that is told to somebody outside, and to agents. A row of `deliveries` is one message to
 * one recipient, its machine (machines/delivery.ts) decides what becomes of it, and one worker sends what is due.
 *
 * | sender                | what it tells                                   | who carries it                  |
 * | --------------------- | ----------------------------------------------- | ------------------------------- |
 * | senders/webhook.ts    | firings, to subscribed addresses                | the worker                      |
 * | senders/slack.ts      | firings and findings, to channels of Slack      | the worker                      |
 * | senders/write-back.ts | findings, to the webhook of their agent         | the worker                      |
 * | senders/fetch.ts      | firings, to whoever asks for them               | the recipient, with a lease     |
 * | senders/agent.ts      | firings, to agents of this service              | the run, until it ends          |
 *
 * Ways in: rows.ts `addDelivery` writes one in the transaction of what it tells; queue.ts is what the worker and
 * people ask of it. rows.ts alone writes its tables, `deliveries` and `delivery_tries`.
 */
import type { Clock } from '../clock.ts'
import type { Secrets } from '../secrets.ts'
import type { StoreHandle } from '../store/handle.ts'
import { fetchWrites } from './fetching.ts'
import { createQueue, type FindingsToSend } from './queue.ts'
import { createLeases } from './senders/fetch.ts'
import { createSubscriptions } from './subscriptions.ts'

export interface OutboxParts {
  store: StoreHandle
  clock: Clock
  secrets: Secrets
  findings: FindingsToSend
  /** Called when a delivery waits again. */
  onPending(): void
}

export function openOutbox({ store, clock, secrets, findings, onPending }: OutboxParts) {
  const subscriptions = createSubscriptions({ store, clock, secrets })
  const leases = createLeases({ store, clock, onPending })
  const queue = createQueue({ store, clock, subscriptions, leases, findings, onPending })
  return { subscriptions, queue, ...fetchWrites(subscriptions, leases) }
}
