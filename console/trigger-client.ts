/** Calls about triggers at work: firings, deliveries, subscriptions, why, backtests. */
import type {
  BacktestRequest,
  BacktestResult,
  DeliveriesResult,
  Delivery,
  EvaluationsResult,
  FiringDetail,
  FiringEventsResult,
  FiringsResult,
  Subscription,
  SubscriptionCreated,
  SubscriptionsResult,
  WhyResult,
} from '../schemas/types.ts'
import { type ApiEvent, call } from './client.ts'
import type { DeliveryQuery, FiringQuery } from './lib/work-filters.ts'

const name = encodeURIComponent
const get = async <T>(path: string, signal?: AbortSignal): Promise<T> =>
  (await call('GET', path, undefined, signal)).json() as Promise<T>
const send = async <T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> =>
  (await call(method, path, body, signal)).json() as Promise<T>

/** A query string of what is given. */
function asked(query: Record<string, string | number | undefined>): string {
  const set = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  return set.length ? `?${new URLSearchParams(set.map(([key, value]) => [key, String(value)]))}` : ''
}

const PAGE = 30

export const work = {
  firings: (query: FiringQuery, before?: string, limit = PAGE) =>
    get<FiringsResult>(`/api/firings${asked({ ...query, before, limit })}`),
  firing: (id: string) => get<FiringDetail>(`/api/firings/${name(id)}`),
  /** Ids of its events beyond the first 100 that it lists: 10,000 of them. */
  firingEvents: async (id: string) =>
    (await get<FiringEventsResult>(`/api/firings/${name(id)}/events`)).event_ids,
  deliveries: (query: DeliveryQuery, before?: string) =>
    get<DeliveriesResult>(`/api/deliveries${asked({ ...query, before, limit: PAGE })}`),
  redeliver: (id: string) => send<Delivery>('POST', `/api/deliveries/${name(id)}/redeliver`),
  /** As text: what is posted is shown digit for digit. */
  message: async (id: string) => (await call('GET', `/api/deliveries/${name(id)}/message`)).text(),
  why: (event: string) => get<WhyResult>(`/api/events/${name(event)}/why`),
  evaluations: (trigger: string, reason: string, before?: string, limit = PAGE) =>
    get<EvaluationsResult>(`/api/triggers/${name(trigger)}/evaluations${asked({ reason, before, limit })}`),
  backtest: (body: BacktestRequest, signal?: AbortSignal) =>
    send<BacktestResult>('POST', '/api/triggers/backtest', body, signal),
  subscriptions: async (): Promise<Subscription[]> =>
    (await get<SubscriptionsResult>('/api/subscriptions')).subscriptions,
  subscribe: (body: { trigger: string; url: string; name?: string }) =>
    send<SubscriptionCreated>('POST', '/subscribe', body),
  unsubscribe: (id: string) => send<unknown>('POST', '/unsubscribe', { subscription_id: id }),
  event: async (id: string) => (await get<{ event: ApiEvent }>(`/api/events/${name(id)}`)).event,
}

/** Query keys, in one place; what triggers did is read again together. */
export const wkeys = {
  all: ['work'],
  firings: (query: FiringQuery) => ['work', 'firings', query],
  firing: (id: string) => ['work', 'firing', id],
  firingEvents: (id: string) => ['work', 'firing', id, 'events'],
  deliveries: (query: DeliveryQuery) => ['work', 'deliveries', query],
  message: (id: string) => ['work', 'message', id],
  why: (event: string) => ['work', 'why', event],
  evaluations: (trigger: string, reason: string) => ['work', 'evaluations', trigger, reason],
  subscriptions: ['work', 'subscriptions'],
} as const
