/** A read that fails in the daemon, or on the way to it: it is made again, and what is shown stays. */
import { focusManager, type Query } from '@tanstack/react-query'
import { notifications } from './notices.ts'

/** As the banner says that it is tried again, milliseconds. */
export const RETRY_MS = 5_000
/** Longer than pages wait before they ask anew, milliseconds. */
const STANDS_MS = 20_000

type Failed = Query<unknown, unknown, unknown, readonly unknown[]>

/** Those that are read again in a moment. */
const waiting = new Set<Failed>()

/**
 * A fault of the daemon takes nothing away: what was read before stays, and it is said until it is read again. It is
 * where its page does not do so meanwhile, until it is there. What is gone or may not be seen is told in its place, and health by its banner.
 */
export function keepShown(error: Error, query: Failed): void {
  // Of what the daemon refused (console/client.ts); what has no status is no fault of its own.
  if (!(Number((error as { status?: number }).status) >= 500) || query.queryKey[0] === 'health') return
  const { data, dataUpdatedAt: read } = query.state
  if (!waiting.has(query)) {
    waiting.add(query)
    setTimeout(async () => {
      waiting.delete(query)
      const isOld = () => query.isActive() && query.state.dataUpdatedAt === read
      // A page that is not looked at reads again once it is. What fails comes here once more.
      if (isOld() && focusManager.isFocused()) await query.fetch().catch(() => undefined)
      if (!waiting.size && !isOld()) notifications.hide('kept')
    }, RETRY_MS)
  }
  if (data === undefined) return
  query.setState({ status: 'success', error: null })
  notifications.show({
    id: 'kept',
    color: 'yellow',
    title: 'Shown from an earlier read',
    message: error.message,
    autoClose: STANDS_MS,
  })
}
