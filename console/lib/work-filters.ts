/** Filters of the lists of firings and deliveries as their address, so that every view is a permalink. */
import type { Delivery, Firing } from '../../schemas/types.ts'
import { durationMs } from './time.ts'

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
export const SINCE = ['1h', '24h', '7d', '30d']

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
  const since = address.get('since') ?? ''
  return {
    query: words(address, ['trigger', 'project', 'state', 'key'], { state: FIRING_STATES }),
    since: SINCE.includes(since) ? since : '',
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

/** Whether a firing began since. @param now epoch ms */
export function isSince({ opened_at }: Pick<Firing, 'opened_at'>, since: string, now: number): boolean {
  return since === '' || Date.parse(opened_at) >= now - durationMs(since)
}
