/** What can break in the demo shop: one fault per service, begun by a change that its deploys show. */

/** A fault of a service, from when to when, epoch ms; `to` null: it goes on. `n` counts those of the service. */
export interface DemoFault {
  service: string
  n: number
  from: number
  to: number | null
}

export interface FaultKind {
  /** Type of the event that begins it. */
  type: 'deploy' | 'config_change' | 'flag'
  /** Its text. @param n which fault of the service it is, from 1 */
  change(n: number): string
  /** Text of the event that ends it. */
  mend(n: number): string
  /** What the service logs meanwhile: always the same, so that it is counted and not read one by one. */
  error: string
  route: string
  status: number
  /** What a customer writes. */
  complaint: string
}

/** A release of a line of versions: 2.4.0 before the first fault, 2.4.1 with it. */
const release = (line: string, n: number): string => `v${line}.${n}`

export const FAULTS: Readonly<Record<string, FaultKind>> = {
  checkout: {
    type: 'deploy',
    change: (n) => `Deploy of checkout ${release('2.4', n)}, before ${release('2.4', n - 1)}, by mara`,
    mend: (n) => `Rollback of checkout to ${release('2.4', n - 1)}, by mara`,
    error: 'POST /orders 503: pool exhausted, 20 of 20 connections busy',
    route: 'POST /orders',
    status: 503,
    complaint: 'Order is refused at the last step',
  },
  payments: {
    type: 'config_change',
    change: () => 'Config of payments: provider_timeout_ms from 2000 to 200, by jonas',
    mend: () => 'Config of payments: provider_timeout_ms set back to 2000, by jonas',
    error: 'POST /charge 504: card provider timed out after 200 ms',
    route: 'POST /charge',
    status: 504,
    complaint: 'Card is declined again and again',
  },
  cart: {
    type: 'deploy',
    change: (n) => `Deploy of cart ${release('5.1', n)}, before ${release('5.1', n - 1)}, by lena`,
    mend: (n) => `Rollback of cart to ${release('5.1', n - 1)}, by lena`,
    error: 'GET /cart 500: TypeError: cannot read "items" of undefined at CartStore.load',
    route: 'GET /cart',
    status: 500,
    complaint: 'Cart is empty after signing in',
  },
  search: {
    type: 'flag',
    change: () => 'Flag search_v2 of search from 5 to 100 percent, by omar',
    mend: () => 'Flag search_v2 of search set back to 5 percent, by omar',
    error: 'GET /search 500: index products_v2 is not found',
    route: 'GET /search',
    status: 500,
    complaint: 'Search finds nothing at all',
  },
}

/** Services that the switch breaks. */
export const BREAKABLE = Object.keys(FAULTS)

/** Services of the shop; those without a fault never break. */
export const SERVICES = [...BREAKABLE, 'catalog', 'shipping']
