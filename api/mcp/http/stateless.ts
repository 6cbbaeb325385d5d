/**
 * Revision 2026-07-28 at /mcp: each POST is one request with its revision, client and capabilities in
 * `_meta`, answered by a server of its own; there is no session and no GET (Streamable HTTP, Sending
 * Messages). A request of `subscriptions/listen` is answered by a stream that stays open; it counts, ends
 * and is told of other tools as a session does.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import {
  CLIENT_INFO_META_KEY,
  createMcpHandler,
  type Implementation,
  type McpHttpHandler,
  type ServerEvent,
} from '@modelcontextprotocol/server'
import type { Credential } from '../access.ts'
import { beginListen, LISTEN } from '../modern/listen.ts'
import { notSpoken, type WireError } from '../modern/revisions.ts'
import { Presence } from '../presence.ts'
import { Session, type Shared } from '../session.ts'
import { updateOf } from '../subscriptions.ts'
import { Refusal, sendJson } from './refuse.ts'
import { newSessionId, SESSIONS_MAX, SESSIONS_OF_ONE, type Sessions } from './sessions.ts'

/** Requests of one credential that are answered at once; all clients of an open instance share the larger. */
const REQUESTS_OF_ONE = SESSIONS_OF_ONE
const REQUESTS_OF_OPEN = SESSIONS_MAX
const RETRY_S = 1
/** Clients whose last word to the daemon is remembered. */
const CLIENTS_MAX = 200

/** Something that is listed among the sessions and ends as they do. */
type Closing = { close(): Promise<void> }

export class Stateless {
  private readonly underway = new Map<string, number>()
  private readonly answering = new Set<Session>()
  private readonly presences = new Map<string, Presence>()

  constructor(
    private readonly shared: Shared,
    private readonly sessions: Sessions<Closing>,
  ) {}

  /**
   * Answers one message of a client of 2026-07-28 or later.
   * @param credential its own. @throws Refusal
   */
  async serve(
    credential: Credential,
    message: Record<string, unknown>,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const fault = notSpoken(message)
    if (fault) return sendError(response, 400, fault, message)
    const presence = this.presenceOf(credential, message)
    if (message.method === LISTEN) return this.listen(credential, presence, message, request, response)
    if (message.method === 'server/discover') presence.tell(clientOf(message), 'connect')
    const session = new Session(this.shared, credential, { transport: 'http', era: 'modern', presence })
    response.once('close', this.begin(session))
    await toNodeHandler(createMcpHandler(() => session.server, { legacy: 'reject' }))(
      request,
      response,
      message,
    )
  }

  /** Those of requests that are being answered. */
  get open(): Iterable<Session> {
    return this.answering
  }

  /** No more is waited for. Resolves when what was asked is answered. */
  async settled(): Promise<void> {
    await Promise.all([...this.answering].map((session) => session.settled()))
  }

  /** @returns what to call when it is answered. @throws Refusal 429 */
  private begin(session: Session): () => void {
    const { id: credential, token } = session.credential
    const max = token === null ? REQUESTS_OF_OPEN : REQUESTS_OF_ONE
    const now = this.underway.get(credential) ?? 0
    if (now >= max)
      throw new Refusal(429, `${max} requests of this credential are in progress; wait for one`, {
        'retry-after': String(RETRY_S),
      })
    this.underway.set(credential, now + 1)
    this.answering.add(session)
    return () => {
      // Who lets go of the connection cancels the request (Streamable HTTP, Cancellation).
      session.endWaits()
      this.answering.delete(session)
      const left = this.underway.get(credential)! - 1
      if (left > 0) this.underway.set(credential, left)
      else this.underway.delete(credential)
    }
  }

  private async listen(
    credential: Credential,
    presence: Presence,
    message: Record<string, unknown>,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { shared, sessions } = this
    let tell: (event: ServerEvent) => void = () => {}
    const toolsChanged = () => tell({ kind: 'tools_list_changed' })
    const session = new Session(shared, credential, {
      transport: 'http',
      era: 'modern',
      presence,
      toolsChanged,
    })
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const begun = await beginListen(session, message, gone.signal, (uri, firings) =>
      tell({ kind: 'resource_updated', uri, params: updateOf(uri, firings) }),
    )
    if (typeof begun !== 'function') return sendError(response, 200, begun, message)
    try {
      // Only of a caller whom the daemon knows: another has no session to make room for.
      sessions.makeRoom(credential)
    } catch (error) {
      begun()
      throw error
    }
    // The stream of one client: a bus of its own, so that nobody hears what another credential may read.
    const bus = {
      publish: () => {},
      subscribe(listener: typeof tell) {
        tell = listener
        return () => {
          tell = () => {}
        }
      },
    }
    const handler: McpHttpHandler = createMcpHandler(() => session.server, { legacy: 'reject', bus })
    const made = sessions.add(newSessionId(), session, handler)
    made.streams = 1
    const end = () => {
      begun()
      sessions.end(made.id)
    }
    if (response.destroyed) return end()
    response.once('close', end)
    await toNodeHandler(handler)(request, response, message)
  }

  /** One for all requests of a client, so that the daemon hears of it as seldom as of one with a session. */
  private presenceOf(credential: Credential, message: object): Presence {
    const { name, version } = clientOf(message) ?? { name: '', version: '' }
    const key = JSON.stringify([credential.id, name, version])
    const known = this.presences.get(key)
    if (known) return known
    if (this.presences.size >= CLIENTS_MAX) this.presences.clear()
    const made = new Presence(this.shared, this.shared.daemon.as(credential), 'http')
    this.presences.set(key, made)
    return made
  }
}

/** Who the client says it is; undefined: it does not, or not as the protocol has it. */
function clientOf(message: object): Implementation | undefined {
  const { params } = message as { params?: { _meta?: Record<string, unknown> } }
  const client = params?._meta?.[CLIENT_INFO_META_KEY] as Partial<Implementation> | null | undefined
  return typeof client?.name === 'string' && typeof client.version === 'string'
    ? { name: client.name, version: client.version }
    : undefined
}

function sendError(response: ServerResponse, status: number, error: WireError, message: object): void {
  const { id } = message as { id?: unknown }
  const isId = typeof id === 'string' || typeof id === 'number'
  sendJson(response, status, { jsonrpc: '2.0', error, id: isId ? id : null })
}
