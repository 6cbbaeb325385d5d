/**
 * The HTTP transports. The order of checks: raw headers → Host → Origin → path → credential, by the
 * daemon's word → size → session → the protocol. Nothing of the protocol is looked at before the daemon
 * has said that it knows the caller.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { ownField } from '../../../schemas/fields-of.ts'
import { ambiguous, foreignHost, foreignOrigin } from '../../host-rules.ts'
import type { Credential } from '../access.ts'
import { explain } from '../call-tool.ts'
import { DaemonError } from '../daemon.ts'
import type { Session, Shared } from '../session.ts'
import type { McpSettings } from '../settings.ts'
import { WATCH_EVERY_MS } from '../watches.ts'
import { Refusal, refuse, sendJson } from './refuse.ts'
import { Sessions } from './sessions.ts'
import { SignIn } from './sign-in.ts'
import { openSse, type SseSessions, takeSseMessage } from './sse.ts'
import { Stateless } from './stateless.ts'
import { isModern, type StreamableSessions, serveStreamable } from './streamable.ts'

/** How often those with an open stream are asked about again, and idle sessions looked for. */
const LOOK_EVERY_MS = 1_000
/** Credentials asked about in one look: more take turns. */
const LOOKS_AT_ONCE = 50
const HEADERS_MS = 10_000

export interface McpHttp {
  server: Server
  sessions: Sessions<{ close(): Promise<void> }>
  /** Answers 503, ends every session; what is under way is answered. */
  beginStop(): Promise<void>
}

/** Builds the server; it listens when told to. @param now milliseconds, never going back */
export function buildMcpHttp(
  settings: McpSettings,
  shared: Shared,
  now: () => number,
  sessionsMax?: number,
): McpHttp {
  // Which transport they are of is looked at where they are served.
  const sessions = new Sessions<never>(now, sessionsMax) as unknown as Sessions<{ close(): Promise<void> }>
  const signIn = new SignIn({
    ...{ daemon: shared.daemon, ownUrl: settings.ownUrl, now, name: 'svc' },
    path: settings.transport === 'sse' ? '/sse' : '/mcp',
    scopes: ['read', 'ingest', 'respond', 'admin'],
  })
  const door = new Door(settings, shared, sessions, signIn)
  const server = createServer({ maxHeaderSize: 16_384, headersTimeout: HEADERS_MS }, (request, response) => {
    void door.serve(request, response)
  })
  server.maxConnections = 4_096
  const ends = [
    shared.every(LOOK_EVERY_MS, () => void door.look()),
    shared.every(WATCH_EVERY_MS, () => void shared.watches.tick()),
  ]
  server.once('close', () => {
    for (const end of ends) end()
  })
  return { server, sessions, beginStop: () => door.beginStop() }
}

class Door {
  private stopping = false
  private turn = 0
  private readonly stateless: Stateless

  constructor(
    private readonly settings: McpSettings,
    private readonly shared: Shared,
    private readonly sessions: Sessions<{ close(): Promise<void> }>,
    private readonly signIn: SignIn,
  ) {
    this.stateless = new Stateless(shared, sessions)
  }

  /** Answers one request, whatever happens. */
  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      this.checkPlace(request)
      const path = (request.url ?? '').split('?')[0]!
      if (path === '/health') return await this.health(response)
      if (path === this.signIn.metadataPath) return await this.resource(request, response)
      const serve = this.routeOf(path)
      if (this.stopping) throw new Refusal(503, 'svc mcp is stopping; connect again', { 'retry-after': '2' })
      const token = tokenOf(request)
      await serve(await this.checkCredential(token, path, request), request, response)
    } catch (error) {
      if (error instanceof Refusal) return refuse(response, error)
      this.shared.log.error({ err: error }, 'a fault of ours')
      refuse(response, new Refusal(500, 'a fault of ours; the log of svc mcp has it'))
    }
  }

  async beginStop(): Promise<void> {
    this.stopping = true
    // An answer that is due goes out before the stream it goes to is closed.
    await Promise.all([
      this.stateless.settled(),
      ...this.sessions.all().map(async ({ id, session }) => {
        await session.settled()
        this.sessions.end(id)
      }),
    ])
  }

  /** Ends what is idle, and what credentials have open that the daemon no longer knows. */
  async look(): Promise<void> {
    this.sessions.expire()
    const byCredential = new Map<string, Session[]>()
    const open = this.sessions.all().filter(({ streams, session }) => streams > 0 || session.busy > 0)
    const all = [...open.map(({ session }) => session), ...this.stateless.open]
    for (const session of all.filter(({ credential }) => !credential.isLapsed))
      byCredential.set(session.credential.id, [...(byCredential.get(session.credential.id) ?? []), session])
    const groups = [...byCredential.values()]
    const first = groups.length > LOOKS_AT_ONCE ? this.turn++ * LOOKS_AT_ONCE : 0
    const due = Array.from(
      { length: Math.min(LOOKS_AT_ONCE, groups.length) },
      (_, i) => groups[(first + i) % groups.length]!,
    )
    await Promise.all(due.map((group) => this.lookAt(group)))
  }

  private async lookAt(group: readonly Session[]): Promise<void> {
    const { credential } = group[0]!
    const { token } = credential
    try {
      const identity = await this.shared.access.identify(token)
      for (const session of group) await session.tellTools(identity)
    } catch (error) {
      // It may have been refreshed meanwhile.
      if (error instanceof DaemonError && credential.token === token) this.forget(credential, error)
      else this.shared.log.debug({ err: error }, 'a client was not told of its tools')
    }
  }

  private checkPlace(request: IncomingMessage): void {
    const fault = ambiguous(request)
    if (fault !== null) throw new Refusal(400, fault)
    const foreign =
      foreignHost(request, this.settings, 'MCP server') ?? foreignOrigin(request, this.settings, 'MCP server')
    if (foreign !== null) throw new Refusal(403, foreign)
  }

  private routeOf(path: string) {
    const { transport } = this.settings
    const { shared, stateless } = this
    // A server has one transport, and its sessions are those of it.
    const sessions = this.sessions as unknown as StreamableSessions & SseSessions
    type Serve = (credential: Credential, request: IncomingMessage, response: ServerResponse) => Promise<void>
    const routes: Record<string, Serve> =
      transport === 'streamable-http'
        ? {
            '/mcp': (...of) => serveStreamable(shared, sessions, stateless, ...of),
          }
        : {
            '/sse': (...of) => openSse(shared, sessions, ...of),
            '/sse/messages': (...of) => takeSseMessage(sessions, ...of),
            '/messages': (...of) => takeSseMessage(sessions, ...of),
          }
    const serve = ownField(routes, path)
    if (serve) return serve
    throw new Refusal(
      404,
      transport === 'sse'
        ? 'this server speaks the older transport at /sse; start svc mcp with --transport streamable-http for /mcp'
        : 'this server speaks Streamable HTTP at /mcp; start svc mcp with --transport sse for /sse',
    )
  }

  /**
   * A session that is there goes on while the daemon is away, and so does a client that needs none: their calls say so,
   * and work again after.
   */
  private async checkCredential(
    token: string | null,
    path: string,
    request: IncomingMessage,
  ): Promise<Credential> {
    const { access } = this.shared
    try {
      const hasSession = path.endsWith('/messages') || request.headers['mcp-session-id'] !== undefined
      // One without a session begins nothing: it is as good as a request of a session.
      const identity = await access.identify(token, !hasSession && !isModern(request))
      // An open daemon checks nothing; whoever set a token here wants it all the same.
      if (identity.id === 'open' && !this.settings.admits(token)) throw notAdmitted(token)
      if (!this.signIn.isFor(identity, request))
        throw unknownCredential(token, await this.signIn.metadataUrl(request))
      return access.credentialOf(token, identity)
    } catch (error) {
      if (!(error instanceof DaemonError)) throw error
      const credential = access.credentialOf(token, null)
      this.forget(credential, error)
      if (error.status === 401) throw unknownCredential(token, await this.signIn.metadataUrl(request))
      const hasSession = path.endsWith('/messages') || request.headers['mcp-session-id'] !== undefined
      const beginsNone = hasSession || (isModern(request) && this.settings.admits(token))
      if (beginsNone && error.retryAfter !== null && error.status !== 429) return credential
      throw new Refusal(error.status === 429 ? 429 : 503, explain(error), {
        'retry-after': String(error.retryAfter ?? 2),
      })
    }
  }

  /**
   * The daemon no longer knows a credential: its waiting calls end with that error, and then its sessions end. Sessions of
   * a client that signed in stay, as it may refresh its token; until then their calls are refused here.
   */
  private forget(credential: Credential, why: DaemonError): void {
    if (why.status !== 401) return
    credential.isLapsed = credential.isRefreshed
    for (const session of this.stateless.open)
      if (session.credential.id === credential.id) session.endWaits(why)
    for (const { id, session } of this.sessions.all()) {
      if (session.credential.id !== credential.id) continue
      session.endWaits(why)
      if (credential.isLapsed) continue
      if (session.busy === 0) this.sessions.end(id)
      else void session.settled().then(() => this.sessions.end(id))
    }
  }

  /** RFC 9728: where clients that cannot set headers sign in. */
  private async resource(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const metadata = await this.signIn.metadata(request)
    if (!metadata) throw new Refusal(404, 'the daemon signs nobody in: it is open, or older')
    sendJson(response, 200, metadata)
  }

  private async health(response: ServerResponse): Promise<void> {
    const detail = this.stopping ? 'stopping' : await this.shared.daemon.fault()
    const { version } = this.shared
    const status = this.stopping ? 'stopping' : detail === null ? 'ok' : 'degraded'
    sendJson(response, this.stopping ? 503 : 200, {
      status,
      version,
      transport: this.settings.transport,
      sessions: this.sessions.size,
      ...(detail === null || this.stopping ? {} : { detail }),
    })
  }
}

/** In front of an open daemon it is this server that asks for a credential, and for one alone. */
const notAdmitted = (token: string | null): Refusal =>
  new Refusal(
    401,
    `${token === null ? 'svc mcp was started with SVC_AUTH_TOKEN, and the request has no credential' : 'the credential is not the one svc mcp was started with'}: send Authorization: Bearer <the value of SVC_AUTH_TOKEN>`,
    { 'www-authenticate': 'Bearer' },
  )

/** @param metadata address of the metadata of who signs in; null: nobody does */
const unknownCredential = (token: string | null, metadata: string | null): Refusal =>
  new Refusal(
    401,
    `${token === null ? 'this instance is secured, and the request has no credential' : 'the credential is not known'}: send Authorization: Bearer <API key>`,
    {
      'www-authenticate':
        metadata === null
          ? 'Bearer'
          : `Bearer ${token === null ? '' : 'error="invalid_token", '}scope="read", resource_metadata="${metadata}"`,
    },
  )

/** Authorization: Bearer, or the header that producers use. */
function tokenOf({ headers }: IncomingMessage): string | null {
  const match = /^bearer +(\S+)\s*$/i.exec(headers.authorization ?? '')
  if (match) return match[1]!
  const other = headers['x-svc-token']
  return typeof other === 'string' && other.trim() !== '' ? other.trim() : null
}
