/**
 * The wire of the older transport (2024-11-05, Transports: HTTP with SSE), which the SDK has no more: one
 * stream of events, whose first names the address that messages are posted to.
 */
import type { ServerResponse } from 'node:http'
import {
  type JSONRPCMessage,
  type MessageExtraInfo,
  parseJSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/server'
import { newSessionId } from './sessions.ts'

export class SseTransport implements Transport {
  readonly sessionId = newSessionId()
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: <T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void

  private isClosed = false

  /** @param address where messages are posted to. @param stream nothing has been written to it yet. */
  constructor(
    private readonly address: string,
    private readonly stream: ServerResponse,
  ) {}

  async start(): Promise<void> {
    this.stream.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      connection: 'keep-alive',
    })
    this.write('endpoint', `${this.address}?sessionId=${this.sessionId}`)
    this.stream.once('close', () => void this.close())
  }

  /** @throws Error for what is no JSON-RPC message */
  take(message: unknown): void {
    this.onmessage?.(parseJSONRPCMessage(message))
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.write('message', JSON.stringify(message))
  }

  async close(): Promise<void> {
    if (this.isClosed) return
    this.isClosed = true
    this.stream.end()
    this.onclose?.()
  }

  /** An answer that comes after the end reaches nobody. */
  private write(event: string, data: string): void {
    if (!this.isClosed && !this.stream.writableEnded) this.stream.write(`event: ${event}\ndata: ${data}\n\n`)
  }
}
