/** What one client subscribed to: resources whose changes it is told of. */
import type { Logger } from 'pino'
import type { Firing } from '../../schemas/types.ts'
import type { Address } from './resources/uri.ts'
import { ToolError } from './tool.ts'
import type { Asker, Told, Watches } from './watches.ts'

export const SUBSCRIPTIONS_MAX = 50

/** Where new firings are told beside the change of a resource: logger of messages, and key of `_meta`. */
export const FIRINGS = 'svc.firings'
const FIRINGS_META = 'svc/firings'

export class Subscriptions {
  private readonly ends = new Map<string, () => void>()

  /** @param credential stands for the client's. @param told of each change. */
  constructor(
    private readonly credential: string,
    private readonly shared: { watches: Watches; log: Logger },
    private readonly told: Told,
  ) {}

  /** @throws ToolError for what cannot be watched; DaemonError for what may not be read */
  async add(uri: string, address: Address, asker: Asker): Promise<void> {
    if (this.ends.has(uri)) return
    if (this.ends.size >= SUBSCRIPTIONS_MAX)
      throw new ToolError(`a session watches at most ${SUBSCRIPTIONS_MAX} resources; unsubscribe one`, 'uri')
    // The watch outlives the request that began it.
    const lasting = { ...asker, signal: new AbortController().signal }
    const end = await this.shared.watches.add(this.credential, uri, address, lasting, this.told)
    if (this.ends.has(uri)) end()
    else this.ends.set(uri, end)
  }

  remove(uri: string): void {
    this.ends.get(uri)?.()
    this.ends.delete(uri)
  }

  end(): void {
    for (const uri of [...this.ends.keys()]) this.remove(uri)
  }
}

/** A firing as clients are told of it. */
export function shownFiring({ dispatch_id, trigger, key, fired_at, state, reason }: Firing) {
  return { dispatch_id, trigger, key, fired_at, state, reason }
}

/**
 * Params of `notifications/resources/updated` since 2026-07-28, which has no messages outside of a request:
 * the firings that are new come with the change.
 */
export function updateOf(uri: string, firings: readonly Firing[]) {
  return firings.length === 0 ? { uri } : { uri, _meta: { [FIRINGS_META]: firings.map(shownFiring) } }
}
