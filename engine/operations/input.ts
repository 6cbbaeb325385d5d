/** What a call of an operation says, as it crosses to the thread that answers. */
import type { Asked, Caller, Tell } from '../calls.ts'
import type { WriteBy } from '../declared/declared.ts'
import { fail } from '../errors.ts'

/** What a call says. */
export interface OperationInput<P = unknown, Q = unknown, B = unknown> {
  params: P
  query: Q
  body: B
  /** Who writes, by which door, why, and the version it saw. */
  by: WriteBy
  caller: Caller & { scopes: readonly string[] }
  /** Id of the project of a project key, which sees that project alone; null for any other credential. */
  project: string | null
  /** What the header says that SVC_USER_HEADER names, of a proxy in front; absent: nothing, or none is named. */
  user?: string | null
  /** Whether callers need a credential. */
  secured: boolean
  /** Hears how far it is; absent: nobody asked. */
  told?: Tell
  /** Its Idempotency-Key: sent again with it, it is done once and answered as it was. */
  repeat?: string | undefined
  /** Answered as the bytes of its JSON text: of a long list the network thread then holds no objects. */
  asText?: true | undefined
}

/** On the network thread: also who waits, and whether it still does. */
export interface NetworkInput<P = unknown, Q = unknown, B = unknown> extends OperationInput<P, Q, B> {
  asked: Asked & Required<Pick<Asked, 'by' | 'gone'>>
}

/** Whether the credential has scope admin. */
export const isAdmin = ({ caller }: Pick<OperationInput, 'caller'>): boolean =>
  caller.scopes.includes('admin')

/* Pages of lists that are whole unless a `limit` is asked for. */

/** Query fields of such a list. */
export const PAGED = {
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: 500,
    description: 'Rows of a page, at most; absent: all there are.',
  },
  before: {
    type: 'string',
    minLength: 1,
    maxLength: 64,
    description: 'next_before of the page before.',
  },
} as const

export interface Page {
  limit?: number | undefined
  before?: string | undefined
}

/**
 * A page of rows that are never taken out of their list.
 * @throws SvcError invalid for a `before` that is the id of none
 */
export function pageOf<T extends { id: string }>(
  all: readonly T[],
  { limit = all.length, before }: Page,
): { rows: T[]; next_before: string | null } {
  const last = before === undefined ? -1 : all.findIndex(({ id }) => id === before)
  if (before !== undefined && last < 0)
    fail('invalid', 'before must be next_before of an earlier answer of the same list', { field: 'before' })
  const rows = all.slice(last + 1, last + 1 + limit)
  return { rows, next_before: last + 1 + limit < all.length ? rows.at(-1)!.id : null }
}

/* How a wide operation that takes too long is made smaller. */

export const PLAN_ADVICE = 'compare fewer objects at once'
export const BACKTEST_ADVICE = 'ask for fewer days'
export const SCENARIO_ADVICE = 'make it with svc evals new, which reads in pages'
