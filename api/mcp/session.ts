/**
 * One client's session, whatever the transport and the revision of the protocol: a server of the official
 * SDK whose handlers call the daemon with that client's credential. A client of revision 2026-07-28 has no
 * session: over HTTP one of these answers one request. The low-level server is used because our schemas are
 * JSON Schema files; it checks no arguments, so call-tool.ts does.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  CLIENT_INFO_META_KEY,
  type Implementation,
  type jsonSchemaValidator,
  type ProtocolEra,
  ProtocolErrorCode,
  type RequestId,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { Logger } from 'pino'
import type { Firing, Identity } from '../../schemas/types.ts'
import type { Access, Credential } from './access.ts'
import { callTool, explain, listed, toolsFor } from './call-tool.ts'
import { complete } from './completions.ts'
import { type Daemon, DaemonError } from './daemon.ts'
import { INSTRUCTIONS } from './instructions.ts'
import { Presence } from './presence.ts'
import { getPrompt, listPrompts } from './prompts.ts'
import { listResources } from './resources/list.ts'
import { readResource } from './resources/read.ts'
import { parseUri, TEMPLATES } from './resources/uri.ts'
import { FIRINGS, Subscriptions, shownFiring } from './subscriptions.ts'
import { type Context, isAllowed, type Tool, ToolError } from './tool.ts'
import { tools } from './tools/index.ts'
import { Waits } from './waits.ts'
import type { Told, Watches } from './watches.ts'
import { bounded, printable } from './words.ts'

/** What every session of the process shares. */
export interface Shared {
  daemon: Daemon
  access: Access
  watches: Watches
  version: string
  log: Logger
  /** Tools that this process offers; all when absent. */
  tools?: readonly Tool[]
  /** Address of the console, for links; that of the daemon when absent. */
  consoleUrl?: string
  /** Calls `fn` every `ms` until told to stop. */
  every(ms: number, fn: () => void): () => void
}

const PROGRESS_EVERY_MS = 2_000
/** Requests of one client at once. */
export const CALLS_MAX = 32
const RETRY_S = 2
/** The protocol's code for a resource that is not there; the SDK tells it as the revision has it. */
const NOT_FOUND = -32002

/** How a client comes. */
export interface Way {
  transport: 'stdio' | 'http'
  /** modern: revision 2026-07-28 and later; legacy: those that begin with `initialize`. */
  era: ProtocolEra
  /** Tells the daemon of the client; its own when absent. */
  presence?: Presence
  /** Tells the client that its tools are others; over its connection when absent. */
  toolsChanged?: () => void
}

export class Session {
  readonly server: Server
  private readonly subscriptions: Subscriptions
  private readonly presence: Presence
  private lastListed: string | null = null
  private underway = 0
  private idle: (() => void)[] = []
  private readonly waits = new Waits()

  /** @param credential of the client. */
  constructor(
    private readonly shared: Shared,
    readonly credential: Credential,
    private readonly way: Way,
  ) {
    this.server = new Server(
      { name: 'svc', title: 'svc', version: shared.version },
      {
        capabilities: {
          tools: { listChanged: true },
          resources: { subscribe: true },
          prompts: {},
          completions: {},
          // Logging is deprecated by 2026-07-28 (SEP-2577), and its clients hear of firings otherwise.
          ...(way.era === 'legacy' ? { logging: {} } : {}),
        },
        instructions: INSTRUCTIONS,
        jsonSchemaValidator: unused,
      },
    )
    this.server.onerror = (error) => shared.log.debug({ err: error }, 'a message of a client was not right')
    this.subscriptions = new Subscriptions(credential.id, shared, (uri, firings) =>
      this.tellUpdated(uri, firings),
    )
    this.presence = way.presence ?? new Presence(shared, shared.daemon.as(credential), way.transport)
    this.server.oninitialized = () => this.tell('connect')
    this.server.onclose = () => this.subscriptions.end()
    this.handleTools()
    this.handleResources()
    this.handlePrompts()
  }

  /** Requests that are being answered. */
  get busy(): number {
    return this.underway
  }

  /** The client went away from a request: its answer would reach nobody. */
  leave(request: RequestId): void {
    this.waits.leave(request)
  }

  /** Nothing is waited for any more: what would come is taken by nobody. @param why told to those that wait */
  endWaits(why?: DaemonError): void {
    this.waits.endAll(why)
  }

  /** Resolves when what was asked so far is answered, and the answers are on their way; waits end. */
  async settled(): Promise<void> {
    this.endWaits()
    // A message that was read is handed over a turn later, and an answer is written a turn later.
    await nextTurn()
    while (this.underway > 0) await new Promise<void>((resolve) => this.idle.push(resolve))
    await nextTurn()
  }

  /** Tells the client where the tools it may call are others than it was told. */
  async tellTools(identity: Identity): Promise<void> {
    const now = this.toolNames(identity)
    if (this.lastListed === null || this.lastListed === now) return
    this.lastListed = now
    await (this.way.toolsChanged ?? (() => this.server.sendToolListChanged()))()
  }

  /** From here on the client wants to know when its tools change. @param identity whose tools it knows */
  knows(identity: Identity): void {
    this.lastListed ??= this.toolNames(identity)
  }

  /**
   * Watches resources for a request of `subscriptions/listen` (2026-07-28, Subscriptions).
   * @returns ends it. @throws ToolError for what cannot be watched; DaemonError for what may not be read
   */
  async watch(uris: readonly string[], signal: AbortSignal, told: Told): Promise<() => void> {
    const { credential, shared } = this
    const subscriptions = new Subscriptions(credential.id, shared, told)
    const identity = await this.identify()
    const asker = { daemon: shared.daemon.as(credential), identity, signal }
    try {
      for (const uri of new Set(uris)) await subscriptions.add(uri, addressOf(uri), asker)
    } catch (error) {
      subscriptions.end()
      throw error
    }
    this.knows(identity)
    return () => subscriptions.end()
  }

  private async tellUpdated(uri: string, firings: readonly Firing[]): Promise<void> {
    const { server, shared } = this
    try {
      await server.sendResourceUpdated({ uri })
      for (const one of firings)
        await server.sendLoggingMessage(
          { level: 'notice', logger: FIRINGS, data: shownFiring(one) },
          server.transport?.sessionId,
        )
    } catch (error) {
      shared.log.debug({ err: error }, 'a client was not told of a change')
    }
  }

  private tell(call: string, context?: ServerContext): void {
    this.presence.tell(this.clientOf(context), call)
  }

  /** Who the client says it is: with each request since 2026-07-28, before that once. */
  private clientOf(context?: ServerContext): Implementation | undefined {
    // Not in the SDK's type of it, though it says that it is there.
    const envelope = context?.mcpReq.envelope as Record<string, Implementation | undefined> | undefined
    return envelope?.[CLIENT_INFO_META_KEY] ?? this.server.getClientVersion()
  }

  private get offered(): readonly Tool[] {
    return this.shared.tools ?? tools
  }

  private toolNames(identity: Identity): string {
    return toolsFor(identity, this.offered)
      .map((tool) => `${tool.name}${isAllowed(tool, identity) ? '' : '?'}`)
      .join()
  }

  private identify(): Promise<Identity> {
    return this.shared.access.identify(this.credential.token)
  }

  private around(request: ServerContext): Omit<Context, 'identity'> {
    const { name = 'mcp client' } = this.clientOf(request) ?? {}
    const { id, signal } = request.mcpReq
    return {
      daemon: this.shared.daemon.as(this.credential),
      signal,
      waits: () => this.waits.of(id, signal),
      client: printable(name),
      consoleUrl: this.shared.consoleUrl ?? this.shared.daemon.url,
    }
  }

  /** Runs a handler; what an agent can mend becomes an error of the protocol with the sentence. */
  private async handling<T>(
    run: () => Promise<T>,
    code: number = ProtocolErrorCode.InvalidParams,
  ): Promise<T> {
    this.underway++
    try {
      return await run()
    } catch (error) {
      throw this.protocolError(error as Error, code)
    } finally {
      if (--this.underway === 0) for (const resolve of this.idle.splice(0)) resolve()
    }
  }

  private protocolError(error: Error, code: number): Error {
    if (error instanceof ToolError) return coded(code, bounded(error.message))
    if (error instanceof DaemonError)
      return coded(error.isClients ? code : ProtocolErrorCode.InternalError, bounded(explain(error)))
    this.shared.log.error({ err: error }, 'a fault of ours')
    return coded(ProtocolErrorCode.InternalError, 'a fault of ours; the log of svc mcp has it')
  }

  private handleTools(): void {
    this.server.setRequestHandler('tools/list', (_request, context) =>
      this.handling(async () => {
        const identity = await this.identityIfThere()
        this.tell('list_tools', context)
        this.lastListed = identity === null ? '' : this.toolNames(identity)
        return { tools: toolsFor(identity, this.offered).map((tool) => listed(tool, identity)) }
      }),
    )
    this.server.setRequestHandler('tools/call', ({ params }, context) =>
      this.handling(async () => {
        const tool = this.offered.find(({ name }) => name === params.name)
        if (!tool)
          throw new ToolError(`no tool is named ${printable(params.name)}; tools/list has those there are`)
        this.tell(tool.name, context)
        const quiet = this.progress(context, tool)
        const over = this.waits.begin(context.mcpReq.id)
        try {
          return await callTool(tool, params.arguments ?? {}, () => this.admit(), this.around(context))
        } finally {
          quiet()
          over()
        }
      }),
    )
  }

  /** @throws DaemonError where the client has too many requests in progress; it may ask again */
  private async admit(): Promise<Identity> {
    if (this.underway > CALLS_MAX)
      throw new DaemonError(`this session has ${CALLS_MAX} requests in progress`, 429, RETRY_S)
    return this.identify()
  }

  /** While the daemon is away every tool is listed: a client that saw none would not come back. */
  private async identityIfThere(): Promise<Identity | null> {
    try {
      return await this.identify()
    } catch (error) {
      if (error instanceof DaemonError && error.retryAfter !== null) return null
      throw error
    }
  }

  /** Says every two seconds that a call is still under way, where the client asked to be told. */
  private progress({ mcpReq }: ServerContext, { awaits = 'the daemon' }: Tool): () => void {
    const progressToken = mcpReq._meta?.progressToken
    if (progressToken === undefined) return () => {}
    let n = 0
    return this.shared.every(PROGRESS_EVERY_MS, () => {
      n++
      const message = `waiting for ${awaits}, ${(n * PROGRESS_EVERY_MS) / 1000} s`
      const params = { progressToken, progress: n, message }
      void mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
    })
  }

  private handleResources(): void {
    this.server.setRequestHandler('resources/list', ({ params }, context) =>
      this.handling(async () => listResources(params?.cursor, await this.context(context))),
    )
    this.server.setRequestHandler('resources/templates/list', () =>
      this.handling(async () => ({ resourceTemplates: TEMPLATES.map((one) => ({ ...one })) })),
    )
    this.server.setRequestHandler('resources/read', ({ params }, context) =>
      this.handling(async () => {
        const contents = await readResource(addressOf(params.uri), await this.context(context))
        return { contents: [{ uri: params.uri, ...contents }] }
      }, NOT_FOUND),
    )
    this.server.setRequestHandler('resources/subscribe', ({ params }, context) =>
      this.handling(async () => {
        await this.subscriptions.add(params.uri, addressOf(params.uri), await this.context(context))
        return {}
      }, NOT_FOUND),
    )
    this.server.setRequestHandler('resources/unsubscribe', ({ params }) =>
      this.handling(async () => {
        this.subscriptions.remove(params.uri)
        return {}
      }),
    )
  }

  private handlePrompts(): void {
    this.server.setRequestHandler('prompts/list', () =>
      this.handling(async () => ({ prompts: listPrompts(await this.identify()) })),
    )
    this.server.setRequestHandler('prompts/get', ({ params }, context) =>
      this.handling(async () => getPrompt(params.name, params.arguments ?? {}, await this.context(context))),
    )
    this.server.setRequestHandler('completion/complete', ({ params }, context) =>
      this.handling(async () => ({
        completion: await complete(
          {
            of: params.ref.type === 'ref/prompt' ? params.ref.name : params.ref.uri,
            argument: params.argument.name,
            value: params.argument.value,
            given: params.context?.arguments ?? {},
          },
          await this.context(context),
        ),
      })),
    )
  }

  private async context(request: ServerContext): Promise<Context> {
    return { ...this.around(request), identity: await this.identify() }
  }
}

/** Not the SDK's McpError: it writes the code into the message, where the client's writes it again. */
const coded = (code: number, message: string): Error => Object.assign(new Error(message), { code })

function addressOf(uri: string) {
  const address = parseUri(uri)
  if (address) return address
  throw new ToolError(
    `${printable(uri)} is no resource; resources/templates/list has the forms, such as svc://entity/service/checkout; a slash in a value is written %2F`,
    'uri',
  )
}

/** We ask clients for nothing that a schema of theirs would have to check. */
const unused: jsonSchemaValidator = {
  getValidator: () => {
    throw new Error('no schema of a client is compiled')
  },
}
