/** Calls about triggers at work: firings, deliveries, subscriptions, why, backtests. */
import type { InputOf } from '../api/client/call.ts'
import * as calls from '../api/client/calls.ts'
import type { BacktestRequest, SubscribeRequest } from '../schemas/types.ts'
import { ask, send } from './client.ts'
import { filtered } from './lib/filtered.ts'
import type { DeliveryQuery, FiringQuery } from './lib/work-filters.ts'

const PAGE = 30
type Page = Omit<InputOf<typeof calls.listEvaluations>, 'name'>

export const work = {
  firings: (query: FiringQuery, before?: string, limit = PAGE) =>
    ask(calls.listFirings, filtered<InputOf<typeof calls.listFirings>>({ ...query, before, limit })),
  firing: (id: string) => ask(calls.getFiring, { id }),
  /** What stands around the moment it fired. @param before 0: what came after it alone */
  evidence: (id: string, sides: { before: number; after: number }, signal?: AbortSignal) =>
    ask(calls.getFiringEvidence, { id, ...sides }, { signal }),
  /** Ids of its events beyond the first 100 that it lists: 10,000 of them. */
  firingEvents: async (id: string) => (await ask(calls.listFiringEvents, { id })).event_ids,
  deliveries: (query: DeliveryQuery, before?: string) =>
    ask(
      calls.listDeliveries,
      filtered<InputOf<typeof calls.listDeliveries>>({ ...query, before, limit: PAGE }),
    ),
  redeliver: (id: string) => ask(calls.redeliver, { id }),
  /** As text: what is posted is shown digit for digit. */
  message: async (id: string) => (await send(calls.getDeliveryMessage, { id })).text(),
  why: (id: string) => ask(calls.why, { id }),
  evaluations: (name: string, reason: string, before?: string, limit = PAGE) =>
    ask(calls.listEvaluations, { name, ...filtered<Page>({ reason, before, limit }) }),
  backtest: (body: BacktestRequest, signal?: AbortSignal) => ask(calls.backtest, { body }, { signal }),
  subscriptions: async () => (await ask(calls.listSubscriptions)).subscriptions,
  subscribe: (body: SubscribeRequest) => ask(calls.subscribe, { body }),
  unsubscribe: (id: string) => ask(calls.unsubscribe, { body: { subscription_id: id } }),
  event: async (id: string) => (await ask(calls.getEvent, { id })).event,
}

/** Query keys, in one place; what triggers did is read again together. */
export const wkeys = {
  all: ['work'],
  firings: (query: FiringQuery) => ['work', 'firings', query],
  firing: (id: string) => ['work', 'firing', id],
  evidence: (id: string, side: string) => ['work', 'firing', id, 'evidence', side],
  evidenceSince: (id: string, side: string) => ['work', 'firing', id, 'evidence', side, 'since'],
  firingEvents: (id: string) => ['work', 'firing', id, 'events'],
  deliveries: (query: DeliveryQuery) => ['work', 'deliveries', query],
  message: (id: string) => ['work', 'message', id],
  why: (event: string) => ['work', 'why', event],
  evaluations: (trigger: string, reason: string) => ['work', 'evaluations', trigger, reason],
  subscriptions: ['work', 'subscriptions'],
} as const
