/**
 * One client's session, whatever the transport: a server of the official SDK whose handlers call the
 * daemon with that client's credential. The low-level server is used because our schemas are JSON Schema
 * files; it checks no arguments, so call-tool.ts does.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  type RequestId,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js'
import type { Logger } from 'pino'
import type { Identity } from '../../schemas/types.ts'
import { type Access, hashOf } from './access.ts'
import { callTool, explain, listed, toolsFor } from './call-tool.ts'
import { complete } from './completions.ts'
import { type Daemon, DaemonError } from './daemon.ts'
import { INSTRUCTIONS } from './instructions.ts'
import { Presence } from './presence.ts'
import { getPrompt, listPrompts } from './prompts.ts'
import { listResources } from './resources/list.ts'
import { readResource } from './resources/read.ts'
import { parseUri, TEMPLATES } from './resources/uri.ts'
import { Subscriptions } from './subscriptions.ts'
import { type Context, isAllowed, type Tool, ToolError } from './tool.ts'
import { tools } from './tools/index.ts'
import { Waits } from './waits.ts'
import type { Watches } from './watches.ts'
import { printable } from './words.ts'

/** What every session of the process shares. */
export interface Shared {
  daemon: Daemon
  access: Access
  watches: Watches
  version: string
  log: Logger
  /** Calls `fn` every `ms` until told to stop. */
  every(ms: number, fn: () => void): () => void
}

const PROGRESS_EVERY_MS = 2_000
/** Requests of one client at once. */
export const CALLS_MAX = 32
const RETRY_S = 2
/** The protocol's code for a resource that is not there. */
const NOT_FOUND = -32002

type Extra = Parameters<Parameters<Server['setRequestHandler']>[1]>[1]

export class Session {
  readonly server: Server
  readonly credential: string
  private readonly subscriptions: Subscriptions
  private readonly presence: Presence
  private lastListed: string | null = null
  private underway = 0
  private idle: (() => void)[] = []
  private readonly waits = new Waits()

  /** @param token credential of the client; null: none. */
  constructor(
    private readonly shared: Shared,
    readonly token: string | null,
    transport: 'stdio' | 'http',
  ) {
    this.credential = hashOf(token)
    this.server = new Server(
      { name: 'svc', title: 'svc', version: shared.version },
      {
        capabilities: {
          tools: { listChanged: true },
          resources: { subscribe: true },
          prompts: {},
          completions: {},
          logging: {},
        },
        instructions: INSTRUCTIONS,
        jsonSchemaValidator: unused,
      },
    )
    this.server.onerror = (error) => shared.log.debug({ err: error }, 'a message of a client was not right')
    this.subscriptions = new Subscriptions(this.server, this.credential, shared)
    this.presence = new Presence(shared, shared.daemon.as(token), transport)
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

  /** Resolves when what was asked so far is answered, and the answers are on their way; waits end. */
  async settled(): Promise<void> {
    this.waits.endAll()
    // A message that was read is handed over a turn later, and an answer is written a turn later.
    await nextTurn()
    while (this.underway > 0) await new Promise<void>((resolve) => this.idle.push(resolve))
    await nextTurn()
  }

  /** Tells the client where the tools it may call are others than it was told. */
  async tellTools(identity: Identity): Promise<void> {
    const now = toolNames(identity)
    if (this.lastListed === null || this.lastListed === now) return
    this.lastListed = now
    await this.server.sendToolListChanged()
  }

  private tell(call: string): void {
    this.presence.tell(this.server.getClientVersion(), call)
  }

  private identify(): Promise<Identity> {
    return this.shared.access.identify(this.token)
  }

  private around({ signal, requestId }: Extra): Omit<Context, 'identity'> {
    const { name = 'mcp client' } = this.server.getClientVersion() ?? {}
    return {
      daemon: this.shared.daemon.as(this.token),
      signal,
      waits: () => this.waits.of(requestId, signal),
      client: printable(name),
    }
  }

  /** Runs a handler; what an agent can mend becomes an error of the protocol with the sentence. */
  private async handling<T>(run: () => Promise<T>, code: number = ErrorCode.InvalidParams): Promise<T> {
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
    if (error instanceof ToolError) return coded(code, error.message)
    if (error instanceof DaemonError)
      return coded(error.status === 404 ? code : ErrorCode.InternalError, explain(error))
    this.shared.log.error({ err: error }, 'a fault of ours')
    return coded(ErrorCode.InternalError, 'a fault of ours; the log of svc mcp has it')
  }

  private handleTools(): void {
    this.server.setRequestHandler(ListToolsRequestSchema, () =>
      this.handling(async () => {
        const identity = await this.identityIfThere()
        this.tell('list_tools')
        this.lastListed = identity === null ? '' : toolNames(identity)
        return { tools: toolsFor(identity).map((tool) => listed(tool, identity)) }
      }),
    )
    this.server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) =>
      this.handling(async () => {
        const tool = tools.find(({ name }) => name === params.name)
        if (!tool)
          throw new ToolError(`no tool is named ${printable(params.name)}; tools/list has those there are`)
        this.tell(tool.name)
        const quiet = this.progress(extra, tool)
        const over = this.waits.begin(extra.requestId)
        try {
          return await callTool(tool, params.arguments ?? {}, () => this.admit(), this.around(extra))
        } finally {
          quiet()
          over()
        }
      }),
    )
  }

  /** @throws DaemonError where the client has too many requests under way; it may ask again */
  private async admit(): Promise<Identity> {
    if (this.underway > CALLS_MAX)
      throw new DaemonError(`this session has ${CALLS_MAX} requests under way`, 429, RETRY_S)
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
  private progress({ _meta, sendNotification }: Extra, { awaits = 'the daemon' }: Tool): () => void {
    const progressToken = _meta?.progressToken
    if (progressToken === undefined) return () => {}
    let n = 0
    return this.shared.every(PROGRESS_EVERY_MS, () => {
      n++
      const message = `waiting for ${awaits}, ${(n * PROGRESS_EVERY_MS) / 1000} s`
      const params = { progressToken, progress: n, message }
      void sendNotification({ method: 'notifications/progress', params }).catch(() => {})
    })
  }

  private handleResources(): void {
    this.server.setRequestHandler(ListResourcesRequestSchema, ({ params }, extra) =>
      this.handling(async () => listResources(params?.cursor, await this.context(extra))),
    )
    this.server.setRequestHandler(ListResourceTemplatesRequestSchema, () =>
      this.handling(async () => ({ resourceTemplates: TEMPLATES.map((one) => ({ ...one })) })),
    )
    this.server.setRequestHandler(ReadResourceRequestSchema, ({ params }, extra) =>
      this.handling(async () => {
        const contents = await readResource(addressOf(params.uri), await this.context(extra))
        return { contents: [{ uri: params.uri, ...contents }] }
      }, NOT_FOUND),
    )
    this.server.setRequestHandler(SubscribeRequestSchema, ({ params }, extra) =>
      this.handling(async () => {
        await this.subscriptions.add(params.uri, addressOf(params.uri), await this.context(extra))
        return {}
      }, NOT_FOUND),
    )
    this.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) =>
      this.handling(async () => {
        this.subscriptions.remove(params.uri)
        return {}
      }),
    )
  }

  private handlePrompts(): void {
    this.server.setRequestHandler(ListPromptsRequestSchema, () =>
      this.handling(async () => ({ prompts: listPrompts(await this.identify()) })),
    )
    this.server.setRequestHandler(GetPromptRequestSchema, ({ params }, extra) =>
      this.handling(async () => getPrompt(params.name, params.arguments ?? {}, await this.context(extra))),
    )
    this.server.setRequestHandler(CompleteRequestSchema, ({ params }, extra) =>
      this.handling(async () => ({
        completion: await complete(
          {
            of: params.ref.type === 'ref/prompt' ? params.ref.name : params.ref.uri,
            argument: params.argument.name,
            value: params.argument.value,
            given: params.context?.arguments ?? {},
          },
          await this.context(extra),
        ),
      })),
    )
  }

  private async context(extra: Extra): Promise<Context> {
    return { ...this.around(extra), identity: await this.identify() }
  }
}

/** Not the SDK's McpError: it writes the code into the message, where the client's writes it again. */
const coded = (code: number, message: string): Error => Object.assign(new Error(message), { code })

const toolNames = (identity: Identity): string =>
  toolsFor(identity)
    .map((tool) => `${tool.name}${isAllowed(tool, identity) ? '' : '?'}`)
    .join()

function addressOf(uri: string) {
  const address = parseUri(uri)
  if (address) return address
  throw new ToolError(
    `${printable(uri)} is no resource; resources/templates/list has the forms, such as svc://entity/service/checkout`,
    'uri',
  )
}

/** We ask clients for nothing that a schema of theirs would have to check. */
const unused: jsonSchemaValidator = {
  getValidator: () => {
    throw new Error('no schema of a client is compiled')
  },
}
