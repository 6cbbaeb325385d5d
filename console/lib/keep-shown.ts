/** A read that fails where something is shown already. */
import type { Query } from '@tanstack/react-query'
import { notifications } from './notices.ts'

/** Longer than pages wait before they ask anew, milliseconds. */
const STANDS_MS = 20_000

/**
 * A fault of the daemon takes nothing away: what was read before stays, and it is said. What is gone or may not be seen is
 * told in its place, and health by its banner.
 */
export function keepShown(error: Error, query: Query<unknown, unknown, unknown, readonly unknown[]>): void {
  // Of what the daemon refused (console/client.ts); what has no status is no fault of its own.
  if (!(Number((error as { status?: number }).status) >= 500)) return
  if (query.state.data === undefined || query.queryKey[0] === 'health') return
  query.setState({ status: 'success', error: null })
  notifications.show({
    id: 'kept',
    color: 'yellow',
    title: 'Shown from an earlier read',
    message: error.message,
    autoClose: STANDS_MS,
  })
}
