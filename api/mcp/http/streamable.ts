/**
 * Streamable HTTP at /mcp, for every revision that is spoken. A request that names a revision without
 * sessions is answered by itself (stateless.ts); one that does not belongs to a session, which begins with
 * `initialize`: POST for messages, GET for the stream of notifications, DELETE to end (2025-11-25,
 * Transports: Streamable HTTP; 2026-07-28, Versioning: a dual-era server selects by how the client opens).
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node'
import type { Credential } from '../access.ts'
import { acceptsAll } from '../messages.ts'
import { MODERN, revisionOf } from '../modern/revisions.ts'
import { Session, type Shared } from '../session.ts'
import { readMessage } from './body.ts'
import { Refusal } from './refuse.ts'
import { newSessionId, type Sessions } from './sessions.ts'
import type { Stateless } from './stateless.ts'

export type StreamableSessions = Sessions<NodeStreamableHTTPServerTransport>

/** One request. @param credential of the caller. @throws Refusal */
export async function serveStreamable(
  shared: Shared,
  sessions: StreamableSessions,
  stateless: Stateless,
  credential: Credential,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method } = request
  if (method !== 'POST' && method !== 'GET' && method !== 'DELETE')
    throw new Refusal(405, `${method} is not for /mcp; it takes POST, GET and DELETE`, {
      allow: 'GET, POST, DELETE',
    })
  acceptsAll(request)
  const message = method === 'POST' ? await readMessage(request) : undefined
  if (message !== undefined && (isModern(request) || revisionOf(message) !== undefined))
    return stateless.serve(credential, message, request, response)
  const id = request.headers['mcp-session-id']
  if (id === undefined && message?.method === 'initialize') {
    const transport = await begin(shared, sessions, credential)
    return transport.handleRequest(request, response, message)
  }
  if (typeof id !== 'string')
    throw new Refusal(
      400,
      `the Mcp-Session-Id header is missing; send initialize first, and the id it answers with, or name revision ${MODERN[0]} in _meta`,
    )
  const found = sessions.open(id, credential)
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

/** Whether it says by its header that it belongs to no session. */
export const isModern = ({ headers }: IncomingMessage): boolean =>
  (MODERN as readonly unknown[]).includes(headers['mcp-protocol-version'])

async function begin(
  shared: Shared,
  sessions: StreamableSessions,
  credential: Credential,
): Promise<NodeStreamableHTTPServerTransport> {
  sessions.makeRoom(credential)
  const session = new Session(shared, credential, { transport: 'http', era: 'legacy' })
  const transport: NodeStreamableHTTPServerTransport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: newSessionId,
    onsessioninitialized: (id) => void sessions.add(id, session, transport),
    onsessionclosed: (id) => sessions.end(id),
  })
  await session.server.connect(transport)
  return transport
}
