/** Streamable HTTP at /mcp: POST for messages, GET for the stream of notifications, DELETE to end. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { hashOf } from '../access.ts'
import { Session, type Shared } from '../session.ts'
import { readMessage } from './body.ts'
import { Refusal } from './refuse.ts'
import { newSessionId, type Sessions } from './sessions.ts'

export type StreamableSessions = Sessions<StreamableHTTPServerTransport>

/** One request. @param token credential of the caller; null: none. @throws Refusal */
export async function serveStreamable(
  shared: Shared,
  sessions: StreamableSessions,
  token: string | null,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method } = request
  if (method !== 'POST' && method !== 'GET' && method !== 'DELETE')
    throw new Refusal(405, `${method} is not for /mcp; it takes POST, GET and DELETE`, {
      allow: 'GET, POST, DELETE',
    })
  const message = method === 'POST' ? await readMessage(request) : undefined
  const id = request.headers['mcp-session-id']
  if (id === undefined && message?.method === 'initialize') {
    const transport = await begin(shared, sessions, token)
    return transport.handleRequest(request, response, message)
  }
  if (typeof id !== 'string')
    throw new Refusal(
      400,
      'the Mcp-Session-Id header is missing; send initialize first, and the id it answers with',
    )
  const found = sessions.open(id, hashOf(token))
  if (method === 'GET') {
    found.streams++
    response.once('close', () => {
      found.streams--
    })
  }
  // Streams are not resumable: who lets go of one has no more use for the answer.
  const asked = message?.id
  if (typeof asked === 'string' || typeof asked === 'number')
    response.once('close', () => found.session.leave(asked))
  await found.transport.handleRequest(request, response, message)
}

async function begin(
  shared: Shared,
  sessions: StreamableSessions,
  token: string | null,
): Promise<StreamableHTTPServerTransport> {
  sessions.makeRoom(token === null ? null : hashOf(token))
  const session = new Session(shared, token, 'http')
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: newSessionId,
    onsessioninitialized: (id) => void sessions.add(id, session, transport),
    onsessionclosed: (id) => sessions.end(id),
  })
  // The SDK's class says of its own handlers that they may be undefined, which its interface does not.
  await session.server.connect(transport as Parameters<typeof session.server.connect>[0])
  return transport
}
