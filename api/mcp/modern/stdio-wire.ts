/**
 * Between the SDK and standard input and output: what the SDK leaves to its caller. Requests of revisions
 * that nobody speaks are told which are; those of `subscriptions/listen` begin to watch before they are
 * acknowledged; and it knows which requests are not answered yet.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type JSONRPCMessage,
  type RequestId,
  SUBSCRIPTION_ID_META_KEY,
  type Transport,
} from '@modelcontextprotocol/server'
import type { Logger } from 'pino'
import { asMeant } from '../messages.ts'
import type { Session } from '../session.ts'
import { updateOf } from '../subscriptions.ts'
import { beginListen, LISTEN } from './listen.ts'
import { notSpoken, revisionOf, type WireError } from './revisions.ts'

export class StdioWire implements Transport {
  /** Whom the SDK made last; null before the first message. */
  session: Session | null = null
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: Transport['onmessage']
  /** Called when the wire is closed. */
  closed: () => void = () => {}
  private readonly unanswered = new Set<RequestId>()
  private readonly listens = new Map<RequestId, AbortController>()
  private idle: (() => void)[] = []

  constructor(
    private readonly wire: Transport,
    /** Looks at what a client wants to hear of. */
    private readonly watcher: Pick<Session, 'watch'>,
    private readonly log: Logger,
  ) {}

  serves(session: Session): void {
    this.session = session
  }

  async start(): Promise<void> {
    this.wire.onmessage = (message) => void this.take(message)
    this.wire.onerror = (error) => this.onerror?.(error)
    this.wire.onclose = () => {
      for (const one of this.listens.values()) one.abort()
      this.unanswered.clear()
      this.onclose?.()
      this.closed()
    }
    await this.wire.start()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if ('id' in message && !('method' in message) && message.id !== undefined) this.answered(message.id)
    await this.wire.send(message)
  }

  close(): Promise<void> {
    return this.wire.close()
  }

  /** Resolves when what was asked so far is answered; waits end. */
  async settled(): Promise<void> {
    // What was read is handed over a turn later.
    await nextTurn()
    await nextTurn()
    this.session?.endWaits()
    while (this.unanswered.size > 0) await new Promise<void>((resolve) => this.idle.push(resolve))
    await nextTurn()
  }

  private answered(id: RequestId): void {
    this.unanswered.delete(id)
    if (this.unanswered.size === 0) for (const resolve of this.idle.splice(0)) resolve()
  }

  private async take(given: JSONRPCMessage): Promise<void> {
    const message = asMeant(given)
    if (!('method' in message)) return this.onmessage?.(message)
    if (!('id' in message)) {
      if (message.method === 'notifications/cancelled') this.cancel(message.params?.requestId as RequestId)
      return this.onmessage?.(message)
    }
    const fault = notSpoken(message)
    if (fault) return this.refuse(message.id, fault)
    if (message.method === LISTEN && revisionOf(message) !== undefined)
      return this.listen(message.id, message)
    this.unanswered.add(message.id)
    this.onmessage?.(message)
  }

  /** A call that is cancelled is not answered. */
  private cancel(id: RequestId): void {
    this.listens.get(id)?.abort()
    this.listens.delete(id)
    this.answered(id)
  }

  private async listen(id: RequestId, message: JSONRPCMessage): Promise<void> {
    const gone = new AbortController()
    this.listens.set(id, gone)
    try {
      const begun = await beginListen(this.watcher, message, gone.signal, (uri, firings) => {
        const { _meta, ...params } = updateOf(uri, firings)
        void this.wire
          .send({
            jsonrpc: '2.0',
            method: 'notifications/resources/updated',
            params: { ...params, _meta: { ..._meta, [SUBSCRIPTION_ID_META_KEY]: id } },
          })
          .catch((error: Error) => this.log.debug({ err: error }, 'a client was not told of a change'))
      })
      if (typeof begun !== 'function') return await this.refuse(id, begun)
      if (gone.signal.aborted) return begun()
      gone.signal.addEventListener('abort', begun, { once: true })
      this.onmessage?.(message)
    } catch (error) {
      this.log.error({ err: error }, 'a fault of ours')
      await this.refuse(id, { code: -32603, message: 'a fault of ours; the log of svc mcp has it' })
    }
  }

  private async refuse(id: RequestId, error: WireError): Promise<void> {
    this.listens.delete(id)
    await this.wire.send({ jsonrpc: '2.0', id, error }).catch(() => {})
  }
}
