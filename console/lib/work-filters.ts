/** Filters of the lists of firings and deliveries as their address, so that every view is a permalink. */
import type { Delivery, Firing } from '../../schemas/types.ts'
import { durationMs, moment } from './time.ts'

export const FIRING_STATES: Firing['state'][] = ['gathering', 'held', 'fired', 'dropped']
/** Kinds of recipients, and what lists call them. */
export const DELIVERY_KINDS = [
  { value: 'agent', label: 'agents' },
  { value: 'webhook', label: 'webhooks' },
  { value: 'slack', label: 'Slack' },
  { value: 'mcp', label: 'fetched' },
  { value: 'write_back', label: 'write-backs' },
  { value: 'github', label: 'GitHub' },
]
export const DELIVERY_STATUSES: Delivery['status'][] = ['running', 'delivered', 'failed']
const SINCE_WORDS: Readonly<Record<string, string>> = {
  '1h': 'the last hour',
  '24h': 'the last 24 hours',
  '7d': 'the last 7 days',
  '30d': 'the last 30 days',
}
const isInstant = (since: string): boolean =>
  /^\d{4}-\d\d-\d\dT/.test(since) && !Number.isNaN(Date.parse(since))

/** Times to choose from, with the instant that the address has. @param now epoch ms */
export const timesFor = (since: string, now: number): { value: string; label: string }[] => [
  { value: '', label: 'all' },
  ...Object.entries(SINCE_WORDS).map(([value, label]) => ({ value, label })),
  ...(isInstant(since) ? [{ value: since, label: `since ${moment(Date.parse(since), now)}` }] : []),
]

/** A length of time that is offered, or an instant, as the figures of a day lead to; blank: all. */
export function readSince(address: URLSearchParams): string {
  const since = address.get('since') ?? ''
  return Object.hasOwn(SINCE_WORDS, since) || isInstant(since) ? since : ''
}

/** As the API asks for them. */
export interface FiringQuery {
  trigger?: string
  project?: string
  key?: string
  state?: string
}
export interface DeliveryQuery {
  status?: string
  trigger?: string
  /** Subscription by id, or agent by name. */
  recipient?: string
  kind?: string
  /** Of the finding of this run. */
  run?: string
}

export interface FiringFilter {
  query: FiringQuery
  /** Only of the time since; blank: all. */
  since: string
}

/** What the address has of these, other than blanks and words that there are not. */
function words<T extends string>(
  address: URLSearchParams,
  names: readonly T[],
  known: Partial<Record<T, readonly string[]>>,
): Partial<Record<T, string>> {
  const found = names.map((name) => [name, address.get(name)?.trim() ?? ''] as const)
  return Object.fromEntries(
    found.filter(([name, value]) => value && (known[name]?.includes(value) ?? true)),
  ) as Partial<Record<T, string>>
}

export function readFiringFilter(address: URLSearchParams): FiringFilter {
  return {
    query: words(address, ['trigger', 'project', 'state', 'key'], { state: FIRING_STATES }),
    since: readSince(address),
  }
}

export const readDeliveryFilter = (address: URLSearchParams): DeliveryQuery =>
  words(address, ['status', 'trigger', 'recipient', 'kind', 'run'], {
    status: DELIVERY_STATUSES,
    kind: DELIVERY_KINDS.map(({ value }) => value),
  })

/** The address with one of them set, or without it. */
export function withWord(address: URLSearchParams, name: string, value: string | null): URLSearchParams {
  const next = new URLSearchParams(address)
  if (value?.trim()) next.set(name, value)
  else next.delete(name)
  return next
}

/** @param since as `readSince` gives it @param now epoch ms @returns when it began, as the API takes it; blank: always */
export const instantOf = (since: string, now: number): string =>
  since === '' || isInstant(since) ? since : new Date(now - durationMs(since)).toISOString()

/** Whether something happened since. @param at ISO 8601 @param since as `readSince` gives it @param now epoch ms */
export function isSince(at: string, since: string, now: number): boolean {
  return since === '' || Date.parse(at) >= Date.parse(instantOf(since, now))
}
