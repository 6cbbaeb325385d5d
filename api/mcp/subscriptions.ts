/** What one client subscribed to, and how it is told of changes. */
import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { Logger } from 'pino'
import type { Firing } from '../../schemas/types.ts'
import type { Address } from './resources/uri.ts'
import { type Context, ToolError } from './tool.ts'
import type { Watches } from './watches.ts'

export const SUBSCRIPTIONS_MAX = 50

export class Subscriptions {
  private readonly ends = new Map<string, () => void>()

  /** @param credential stands for the client's. */
  constructor(
    private readonly server: Server,
    private readonly credential: string,
    private readonly shared: { watches: Watches; log: Logger },
  ) {}

  /** @throws ToolError for what cannot be watched; DaemonError for what may not be read */
  async add(uri: string, address: Address, context: Context): Promise<void> {
    if (this.ends.has(uri)) return
    if (this.ends.size >= SUBSCRIPTIONS_MAX)
      throw new ToolError(`a session watches at most ${SUBSCRIPTIONS_MAX} resources; unsubscribe one`)
    // The watch outlives the request that began it.
    const asker = { ...context, signal: new AbortController().signal }
    const told = (of: string, firings: readonly Firing[]) => void this.tell(of, firings)
    const end = await this.shared.watches.add(this.credential, uri, address, asker, told)
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

  private async tell(uri: string, firings: readonly Firing[]): Promise<void> {
    try {
      await this.server.sendResourceUpdated({ uri })
      for (const { dispatch_id, trigger, key, fired_at, state, reason } of firings)
        await this.server.sendLoggingMessage(
          {
            level: 'notice',
            logger: 'svc.firings',
            data: { dispatch_id, trigger, key, fired_at, state, reason },
          },
          this.server.transport?.sessionId,
        )
    } catch (error) {
      this.shared.log.debug({ err: error }, 'a client was not told of a change')
    }
  }
}
