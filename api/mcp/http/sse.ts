/**
 * The older transport: GET /sse opens a stream and names the address that messages are posted to. That is
 * /sse/messages, so that a proxy that sends /sse* here needs no other rule; /messages is the same.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type JSONRPCMessage,
  type MessageExtraInfo,
  parseJSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/server'
import type { Credential } from '../access.ts'
import { Session, type Shared } from '../session.ts'
import { readMessage } from './body.ts'
import { Refusal } from './refuse.ts'
import { newSessionId, type Sessions } from './sessions.ts'

export type SseSessions = Sessions<SseTransport>

const MESSAGES = '/sse/messages'
const HEARTBEAT_MS = 15_000

/** Opens a session. @throws Refusal */
export async function openSse(
  shared: Shared,
  sessions: SseSessions,
  credential: Credential,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'GET')
    throw new Refusal(
      405,
      `${request.method} is not for /sse; it takes GET, and messages go to ${MESSAGES}`,
      {
        allow: 'GET',
      },
    )
  sessions.makeRoom(credential)
  const session = new Session(shared, credential, { transport: 'http', era: 'legacy' })
  const transport = new SseTransport(MESSAGES, response)
  const made = sessions.add(transport.sessionId, session, transport)
  made.streams = 1
  response.setHeader('x-accel-buffering', 'no')
  const quiet = shared.every(HEARTBEAT_MS, () => void response.write(': beat\n\n'))
  response.once('close', () => {
    quiet()
    sessions.end(made.id)
  })
  await session.server.connect(transport)
}

/** Takes one message; the answer goes out on the stream. @throws Refusal */
export async function takeSseMessage(
  sessions: SseSessions,
  credential: Credential,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'POST')
    throw new Refusal(405, `${request.method} is not for ${MESSAGES}; it takes POST`, { allow: 'POST' })
  const id = new URL(request.url ?? '', 'http://localhost').searchParams.get('sessionId')
  if (id === null)
    throw new Refusal(400, 'sessionId is missing; open /sse, which names the address to post to')
  const { transport } = sessions.open(id, credential)
  const message = await readMessage(request)
  try {
    transport.take(message)
  } catch {
    throw new Refusal(400, 'the body must be one JSON-RPC message')
  }
  response.writeHead(202).end('Accepted')
}

/*
 * The wire of the older transport (2024-11-05, Transports: HTTP with SSE), which the SDK has no more: one
 * stream of events, whose first names the address that messages are posted to.
 */

class SseTransport implements Transport {
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
