/**
 * One connection to an external MCP server, by the official client over Streamable HTTP, or over the standard input and
 * output of a program that the operator allows (mcp-program.ts). A server is asked
 * by `server/discover` whether it speaks revision 2026-07-28, and is else spoken to as those before it are,
 * with `initialize` and a session (2026-07-28, Streamable HTTP: Backward Compatibility). The client
 * declares no capability: a server can ask nothing of us, neither samples of a model nor input of people,
 * and the stream of its notifications is not opened.
 */
import { createHash } from 'node:crypto'
import type {
  Client,
  jsonSchemaValidator,
  StandardSchemaV1,
  Tool,
  Transport,
} from '@modelcontextprotocol/client'
import type { Clock, Timers } from '../clock.ts'
import { within, withoutNotifications } from '../net/fetch.ts'
import { storedFault, withoutSecrets } from '../net/redact.ts'
import { ProgramTransport } from './mcp-program.ts'
import { clipped, type McpServerRef, visible } from './mcp-types.ts'

interface ConnectionOptions {
  http: typeof fetch
  timers: Timers
  /** Ends what is under way. */
  signal?: AbortSignal | undefined
}

/** A result as far as it is read. */
export interface RawResult {
  content: unknown[]
  structured: unknown
  isError: boolean
}

export interface Connection {
  /** @returns all pages of the list. @throws Error with a sentence */
  list(): Promise<ListedTool[]>
  /** Whether the list may be another since it was read, by what the server says of it. */
  mayListOthers(): boolean
  /** @throws Error with a sentence */
  call(tool: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<RawResult>
  /** Why nothing can be called any more; null: something can. */
  over(): string | null
  /** Ends the session and the connection; bounded in time, never throws. */
  close(): Promise<void>
}

const CONNECT_MS = 15_000
const LIST_MS = 5_000
const CALL_MS = 60_000
const CLOSE_MS = 2_000
/** For a program, which has to start first. */
const START_MS = 30_000
/**
 * How long a program may take to answer `server/discover`. One that does not is of an older revision, or slow to start: svc
 * ends it and starts it again with `initialize`, within what is left of START_MS.
 */
const PROBE_MS = 12_000
/** A server that never ends its list is held to this many pages. */
const PAGES_MAX = 20
/** The client has timers of its own; ours come first. */
const OURS_FIRST = { timeout: 2 * CALL_MS }

/** @throws Error with a sentence that says why there is no connection */
export async function openConnection(server: McpServerRef, options: ConnectionOptions): Promise<Connection> {
  // Loaded when it is first used: most of a start is loading code.
  const sdk = await import('@modelcontextprotocol/client')
  const { timers, signal } = options
  let broken = new AbortController()
  let over: string | null = null
  /** What was listed is no more, or may be no more: of whose list may change each call may be what changes it. */
  let isOutdated = false
  const seen = { signIn: false }
  const http = seeingSignIn(options.http, seen)
  const begin = (mode: 'auto' | 'legacy') => {
    const wire = server.program
      ? new ProgramTransport(sdk, server.program, timers)
      : new sdk.StreamableHTTPClientTransport(new URL(server.url), {
          fetch: withoutNotifications(http),
          requestInit: { headers: server.headers },
        })
    // Ours ends it first.
    const probe = server.program ? { probe: { timeoutMs: START_MS } } : {}
    const made = new sdk.Client(
      { name: 'svc', version: '1' },
      { capabilities: {}, jsonSchemaValidator: unchecked, versionNegotiation: { mode, ...probe } },
    )
    over = null
    if (wire instanceof ProgramTransport)
      made.onclose = () => {
        if (client === made) over = wire.ended ?? 'its program was ended'
      }
    made.setNotificationHandler('notifications/tools/list_changed', () => {
      isOutdated = true
    })
    made.onerror = (error) => {
      if (!BROKEN.test(error.message)) return
      // The client itself would wait for an answer that cannot come any more.
      broken.abort(new Error('the connection broke off within the answer'))
      broken = new AbortController()
    }
    return { client: made, transport: wire, listed: listedBy(wire) }
  }
  let { client, transport, listed } = begin('auto')
  const within = async <T>(ms: number, run: (signal: AbortSignal) => Promise<T>, by?: AbortSignal) => {
    try {
      return await bounded({ timers, ms, signals: [signal, by, broken.signal] }, run)
    } catch (error) {
      const ended = transport instanceof ProgramTransport ? transport.ended : null
      const cause = ended === null || error instanceof CutOff ? error : new Error(ended)
      throw new Error(seen.signIn && statusOf(error) === 401 ? SIGN_IN : reasonOf(cause, server))
    }
  }
  let definitions: ReadonlyMap<string, ListedTool> = new Map()
  /** Of sessions that were ended: calls that were sent in them are yet to be told so. */
  const before: Client[] = []
  const end = () => Promise.all([...before.splice(0), client].map((one) => one.close().catch(() => {})))
  const connect = () => client.connect(transport, OURS_FIRST)
  const beginAgain = async () => {
    ;({ client, transport, listed } = begin('legacy'))
    await connect()
  }
  let beginning: Promise<void> = Promise.resolve()
  /**
   * A server that was deployed anew knows our session no more: it answers 404 and has done nothing, and a client is to begin
   * another (2025-11-25, Streamable HTTP: Session Management). Calls at the same time begin one together.
   */
  const inSession = async <T>(run: () => Promise<T>): Promise<T> => {
    const wire = transport
    const session = 'sessionId' in wire ? wire.sessionId : undefined
    try {
      return await run()
    } catch (error) {
      if (session === undefined || !isForgotten(error)) throw error
      if (wire === transport) {
        const old = { client, transport, listed }
        beginning = beginAgain().then(
          () => void before.push(old.client),
          (error: unknown) => {
            // Back to the old session: the server answers the next call with 404, and svc tries to begin one again.
            void client.close().catch(() => {})
            ;({ client, transport, listed } = old)
            throw error
          },
        )
      }
      await beginning
      return run()
    }
  }
  try {
    await within(server.program ? START_MS : CONNECT_MS, async (cut) => {
      try {
        if (server.program) await bounded({ timers, ms: PROBE_MS, signals: [cut] }, connect)
        else await connect()
      } catch (error) {
        if (cut.aborted || !isPuzzled(error, server)) throw error
        await end()
        // Ended meanwhile: nobody would end what is begun now.
        if (cut.aborted) throw error
        await beginAgain()
      }
    })
  } catch (error) {
    void end()
    throw error
  }
  return {
    list: () =>
      within(LIST_MS, async (cut) => {
        let cursor: unknown
        isOutdated = false
        const read = new Map<string, ListedTool>()
        for (let page = 0; page < PAGES_MAX; page++) {
          const params = typeof cursor === 'string' ? { cursor } : {}
          const asked = { method: 'tools/list' as const, params }
          const result = await client.request(asked, AS_IT_IS, { ...OURS_FIRST, signal: cut })
          // Of two with a name the first is meant.
          for (const tool of listed().filter(isListedTool))
            if (!read.has(tool.name)) read.set(tool.name, tool)
          cursor = result.nextCursor
          if (typeof cursor !== 'string' || cursor === '') break
        }
        // A list that fails midway leaves what was read before: calls go by it.
        definitions = read
        return [...read.values()]
      }),
    mayListOthers: () => over === null && isOutdated,
    call: (name, args, by) =>
      within(
        CALL_MS,
        async (cut) => {
          const params = { name, arguments: args }
          // Its notification may come on a stream that is not opened, or later than its answer.
          if (client.getServerCapabilities()?.tools?.listChanged === true) isOutdated = true
          const result = await inSession(() => callOf(client, definitions.get(name), params, cut))
          return {
            content: Array.isArray(result.content) ? result.content : [],
            structured: result.structuredContent,
            isError: result.isError === true,
          }
        },
        by,
      ),
    over: () => over,
    close: async () => {
      const wire = transport
      if (!(wire instanceof ProgramTransport))
        await bounded({ timers, ms: CLOSE_MS, signals: [] }, () => wire.terminateSession()).catch(() => {})
      await end()
    },
  }
}

const OLD_TRANSPORT =
  'an address that ends in /sse is mostly of the older transport HTTP+SSE, which svc does not speak; enter that of its Streamable HTTP, mostly /mcp'

const SIGN_IN =
  'the server answered 401 and asks for a sign-in by OAuth, which svc has not: enter a token that it takes as the credential (auth_value)'

/** Sees whether a refusal names where to sign in (RFC 9728, section 5.1), or calls itself OAuth as servers before it do. */
const seeingSignIn =
  (http: typeof fetch, seen: { signIn: boolean }): typeof fetch =>
  async (input, init) => {
    const answer = await http(input, init)
    const said = answer.headers.get('www-authenticate') ?? ''
    const isAnonymous = !new Headers(init?.headers).has('authorization')
    if (answer.status === 401 && isAnonymous) seen.signIn = /resource_metadata=|realm="?oauth/i.test(said)
    return answer
  }

/** HTTP, of a fault of the client or what it was caused by; null: none. */
function statusOf(error: unknown): number | null {
  const { status, cause } = (error ?? {}) as { status?: unknown; cause?: unknown }
  if (typeof status === 'number') return status
  return cause instanceof Error ? statusOf(cause) : null
}

/**
 * Over a revision with `_meta`, arguments that the schema says so of are sent as headers, too (2026-07-28,
 * Streamable HTTP: Custom Headers from Tool Parameters), which the client does where it knows the tool. It
 * is not told of the schema of answers: none is compiled.
 */
function callOf(
  client: Client,
  tool: ListedTool | undefined,
  params: { name: string; arguments: Record<string, unknown> },
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const how = { ...OURS_FIRST, signal }
  if (client.getProtocolEra() !== 'modern' || !tool)
    return client.request({ method: 'tools/call', params }, AS_IT_IS, how)
  const { name, inputSchema } = tool
  return client.callTool(params, { ...how, toolDefinition: { name, inputSchema } as Tool })
}

/**
 * The tools of the last list that came, as the server wrote them: the client would refuse the whole list
 * for one tool that is not as it should be, which must not hide the others.
 */
function listedBy(transport: Transport): () => unknown[] {
  let tools: unknown[] = []
  let hand: Transport['onmessage']
  Object.defineProperty(transport, 'onmessage', {
    get: () => hand && ((message: unknown) => hand!(without(message) as never)),
    set: (handler: typeof hand) => {
      hand = handler
    },
  })
  const without = (message: unknown): unknown => {
    const { result } = message as { result?: { tools?: unknown } }
    if (!Array.isArray(result?.tools)) return message
    tools = result.tools
    return { ...(message as object), result: { ...result, tools: [] } }
  }
  return () => tools.splice(0)
}

/** Results are read by hand. */
const AS_IT_IS: StandardSchemaV1<unknown, Record<string, unknown>> = {
  '~standard': {
    version: 1,
    vendor: 'svc',
    validate: (value) => ({ value: value as Record<string, unknown> }),
  },
}

/**
 * Whether a server says that it does not know the session. Those made with the Python SDK of before 2026-01, or after the examples
 * of the TypeScript SDK, say it with 400 and a sentence (modelcontextprotocol/python-sdk, issue 1727).
 */
function isForgotten(error: unknown): boolean {
  const { status, message } = error as { status?: unknown; message?: unknown }
  return status === 404 || (status === 400 && /\bsession\b/i.test(String(message)))
}

/** A server of before 2026-07-28 that fails at a request before `initialize` instead of refusing it. */
function isPuzzled(error: unknown, { program }: McpServerRef): boolean {
  const { code, status } = error as { code?: unknown; status?: unknown }
  // A program may end at what it does not know: it is started again.
  if (program) return error instanceof CutOff || code === 'ERA_NEGOTIATION_FAILED'
  return code === 'ERA_NEGOTIATION_FAILED' && typeof status === 'number' && status >= 500
}

const BROKEN = /^(SSE stream disconnected|Maximum reconnection attempts|Failed to reconnect)/

/** Results are text to us: compiling schemas that a server wrote would only give it a way to be slow. */
const unchecked: jsonSchemaValidator = {
  getValidator: () => {
    throw new Error('no schema of a server is compiled')
  },
}

function isListedTool(value: unknown): value is ListedTool {
  if (typeof value !== 'object' || value === null) return false
  const { name, description, inputSchema } = value as Record<string, unknown>
  return (
    typeof name === 'string' &&
    name !== '' &&
    (description === undefined || typeof description === 'string') &&
    typeof inputSchema === 'object' &&
    inputSchema !== null &&
    !Array.isArray(inputSchema)
  )
}

/* Work bounded in time and by signals, which it is told of. */

interface Bounds {
  timers: Timers
  ms: number
  signals: readonly (AbortSignal | undefined)[]
}

/** Ended by its time or by who asked for it. */
class CutOff extends Error {}

/**
 * @returns what `run` answers. @throws what it throws; CutOff, or an Error that a signal was aborted
 * with, whichever comes first. What goes on after that is told by the signal `run` is given.
 */
async function bounded<T>(
  { timers, ms, signals }: Bounds,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = new AbortController()
  const given = signals.filter((signal) => signal !== undefined)
  const abort = (event: Event) => own.abort((event.target as AbortSignal).reason)
  const cancel = timers.after(ms, () => own.abort(new CutOff(`no answer within ${Math.round(ms / 1_000)} s`)))
  for (const signal of given) signal.addEventListener('abort', abort, { once: true })
  try {
    return await new Promise<T>((resolve, reject) => {
      const cut = () => reject(own.signal.reason instanceof Error ? own.signal.reason : new CutOff('cut off'))
      own.signal.addEventListener('abort', cut, { once: true })
      if (given.some((signal) => signal.aborted)) return reject(new CutOff('cut off'))
      run(own.signal).then(resolve, reject)
    })
  } finally {
    cancel()
    for (const signal of given) signal.removeEventListener('abort', abort)
  }
}

/* What a server says of a tool, as it is pinned, shown and offered. */

/** A tool of a server's list, as far as it is read. */
export interface ListedTool {
  name: string
  description?: string | undefined
  inputSchema: object
  annotations?: { readOnlyHint?: boolean | undefined } | undefined
}

/** Characters of a description that reach the model, its prefix included. */
const DESCRIPTION_MAX = 1_024

export interface Definition {
  description: string
  input: object
  readOnly: boolean
  /** SHA-256, hex: of the description, the schema and the read-only mark, whatever the order of keys. */
  hash: string
}

/**
 * The mark is pinned with the text: a tool that was pinned as writing must not become free to call by
 * saying that it only reads.
 */
export function definitionOf(server: string, listed: ListedTool): Definition {
  const readOnly = listed.annotations?.readOnlyHint === true
  const description = listed.description ?? ''
  const hash = createHash('sha256')
    .update(canonical([description, listed.inputSchema, readOnly]))
    .digest('hex')
  return {
    description: clipped(`[${server}] ${visible(description)}`, DESCRIPTION_MAX),
    input: cleaned(listed.inputSchema) as object,
    readOnly,
    hash,
  }
}

/** JSON with the keys of every object in order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}

/** A schema's texts speak to the model too; its keys are names of arguments and stay. */
function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return visible(value)
  if (Array.isArray(value)) return value.map(cleaned)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cleaned(inner)]))
}

/* Why a server is left out or a call failed, as a sentence for people and models. */

const REASON_MAX = 300

/**
 * What went wrong. Of what a server wrote only the message of a protocol error is told, bounded and without
 * our credential; the body of an answer that is none of MCP may be a page of another service's insides.
 */
function reasonOf(error: unknown, server: McpServerRef): string {
  return clipped(storedFault(visible(sentenceOf(error, server)), server.secrets ?? []), REASON_MAX)
}

/** Text without the server's credential: a server may echo what it was sent. */
export function scrubbed(text: string, { secrets }: McpServerRef): string {
  return withoutSecrets(text, secrets ?? [])
}

/** Classes of the client by name, since it is loaded only when it is used. */
function sentenceOf(error: unknown, server: McpServerRef): string {
  if (!(error instanceof Error)) return 'the connection failed'
  if (error instanceof CutOff) return error.message
  if (error.name === 'AbortError') return 'cut off'
  const { name } = error.constructor
  const code = (error as { code?: unknown }).code
  if (name === 'SdkHttpError') return httpSentence(Number((error as { status?: unknown }).status), server)
  if (name === 'InsufficientScopeError') return scopeSentence(error)
  if (name === 'SdkError') return sdkSentence(error, code, server)
  // Its classes keep the name of the first of them.
  if (error.name === 'ProtocolError')
    return `the server says: ${error.message.replace(/^MCP error -?\d+: /, '')}`
  if (name === 'EgressError' || name === 'GithubAppFault') return error.message
  if (/^(ZodError|\$ZodError|SyntaxError)$/.test(name) || error.name === 'ZodError')
    return 'the answer is not MCP: check the address'
  if (error instanceof TypeError) return 'the server cannot be reached'
  return error.message
}

/** Of the client itself: what it met is told where it is an error, and else that it is no MCP. */
function sdkSentence({ message, cause }: Error, code: unknown, server: McpServerRef): string {
  if (code === 'CONNECTION_CLOSED') return 'the connection was closed'
  if (cause instanceof Error && cause.constructor.name !== 'SdkError') return sentenceOf(cause, server)
  if (/^(ERA_NEGOTIATION_FAILED|INVALID_RESULT|CLIENT_HTTP_UNEXPECTED_CONTENT)$/.test(String(code)))
    return 'the answer is not MCP: check the address'
  return message
}

/** Of a challenge for a scope (RFC 6750, section 3). */
function scopeSentence(error: Error): string {
  const { requiredScope: scope } = error as { requiredScope?: string }
  return `the server answered 403: its credential lacks ${scope ? `the scope ${scope}` : 'a scope'}`
}

function httpSentence(status: number, { url }: McpServerRef): string {
  if (status === 401 || status === 403) return `the server answered ${status}: check its credential`
  if (status === 404 || status === 405)
    return `the server answered ${status}: ${/\/sse\/?([?#]|$)/.test(url) ? OLD_TRANSPORT : 'check its address'}`
  if (status >= 300 && status < 400)
    return `the server answered ${status}, a redirect to elsewhere, which is not followed`
  return status > 0 ? `the server answered ${status}` : 'the answer is not MCP: check the address'
}

/* Programs that ended are started again within a run. */

/** Of one program within a run. */
const STARTS_MAX = 4
const WAIT_MS = 1_000

/**
 * A connection to a program that is started again by the call after it ended: after 1, 2 and 4 s, three times at most.
 * @param signal of the run: it is not waited for, and no program is started, once that is aborted
 * @throws Error with a sentence where the first start fails
 */
export async function keptRunning(
  open: () => Promise<Connection>,
  timers: Timers,
  signal?: AbortSignal,
): Promise<Connection> {
  let now = await open()
  let starts = 1
  let isClosed = false
  let starting: Promise<Connection> | null = null
  const again = async (): Promise<Connection> => {
    const why = now.over()
    if (starts >= STARTS_MAX)
      throw new Error(`${why}; it was started ${starts} times and is not again in this run`)
    await now.close()
    await within(timers, WAIT_MS * 2 ** (starts - 1), signal, new Promise<never>(() => {}))
    if (isClosed || signal?.aborted) throw new Error('the run has ended')
    starts++
    now = await open()
    if (isClosed) await now.close()
    return now
  }
  const live = async (): Promise<Connection> => {
    if (now.over() === null) return now
    starting ??= again().finally(() => {
      starting = null
    })
    return starting
  }
  return {
    list: async () => (await live()).list(),
    mayListOthers: () => now.mayListOthers(),
    call: async (tool, args, signal) => (await live()).call(tool, args, signal),
    over: () => now.over(),
    close: async () => {
      isClosed = true
      await now.close()
    },
  }
}

/* Programs that do not start are left alone between runs. */

/** From one start that fails to the next. */
const REST_MS = 1_000
const REST_MAX_MS = 60_000

/** Programs that did not start are left alone for a while, which doubles: a run must not wait for what cannot be. */
export function createRests(clock: Clock) {
  const failed = new Map<string, { times: number; until: number; why: string }>()
  return {
    /** Why one is not started now; null: it may be. @param name address of a program */
    of(name: string): string | null {
      const rest = failed.get(name)
      const left = rest ? rest.until - clock.now() : 0
      return left > 0 ? `${rest!.why}; it is started again in ${Math.ceil(left / 1_000)} s` : null
    },
    tell(name: string, why: string | null): void {
      if (why === null) return void failed.delete(name)
      const times = (failed.get(name)?.times ?? 0) + 1
      const ms = Math.min(REST_MAX_MS, REST_MS * 2 ** (times - 1))
      failed.set(name, { times, until: clock.now() + ms, why })
    },
  }
}

export type Rests = ReturnType<typeof createRests>
