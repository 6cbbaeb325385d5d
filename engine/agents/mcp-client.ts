/**
 * External tools for one run: servers are connected in parallel and listed, one that is dead is
 * skipped with a reason, and what comes back is bounded. The connections live for the run only.
 */
import { createHash } from 'node:crypto'
import { ownField } from '../../schemas/fields-of.ts'
import type { McpTestedTool, McpTestResult, ToolPolicy } from '../../schemas/types.ts'
import type { Clock, Timers } from '../clock.ts'
import { compileWhole, patternFault } from '../model/pattern.ts'
import { type Egress, fetchOver } from '../net/fetch.ts'
import type { GithubTokens } from '../net/github-app.ts'
import {
  type Connection,
  type Definition,
  definitionOf,
  keptRunning,
  type ListedTool,
  openConnection,
  type RawResult,
  type Rests,
  scrubbed,
} from './mcp-connection.ts'
import type { McpToolTests, McpToolWrites, ServersToConnect } from './mcp-pins.ts'
import {
  boundedResult,
  type ExternalTool,
  type ExternalTools,
  type McpServerRef,
  RESULT_BYTES,
  type SkippedServer,
  type ToolResult,
  visible,
} from './mcp-types.ts'
import { bytesOf, IMAGES_MAX, imageOf, type ToolImage } from './models/types.ts'

interface ConnectOptions {
  http: typeof fetch
  /** Tokens of apps, where a server names one. */
  tokens: GithubTokens
  timers: Timers
  clock: Clock
  /** Ends connecting and every call. */
  signal?: AbortSignal
  /** Programs that did not start lately; absent: each is started. */
  rests?: Rests
  /** The hash a tool was pinned with; null: it is seen for the first time. */
  pinned(server: string, tool: string): string | null
}

/** Of one server; more would fill a model's context before it has read anything. */
const TOOLS_MAX = 200
/** Characters of a schema as JSON. */
const SCHEMA_MAX = 32 * 1024

interface Connected {
  server: McpServerRef
  connection: Connection
  /** Names and hashes of what it listed last. */
  listed: string
}

interface Found extends Omit<Connected, 'listed'> {
  listed: ListedTool
  definition: Definition
}

/**
 * Connects to the servers, 15 s each, and lists their tools, 5 s each.
 * @returns the tools, in the order of the servers; never throws for a server's sake.
 */
export async function connectTools(
  servers: readonly McpServerRef[],
  options: ConnectOptions,
): Promise<ExternalTools> {
  const { clock, pinned } = options
  const skipped: SkippedServer[] = []
  const connections: Connected[] = []
  const lists = await Promise.all(
    servers.map(async (server): Promise<Found[]> => {
      let connection: Connection | null = null
      try {
        connection = await open(server, options)
        const found = read(server, connection, await connection.list(), skipped)
        connections.push({ server, connection, listed: writtenOf(found) })
        return found
      } catch (error) {
        void connection?.close()
        skipped.push({ server: server.name, reason: (error as Error).message })
        return []
      }
    }),
  )
  const offer = offering(pinned)
  offer.add(lists.flat())
  const { tools, byName } = offer
  return {
    tools,
    skipped,
    relist: () => relist(connections, offer),
    async call(name, args, signal): Promise<ToolResult> {
      const at = clock.now()
      const failed = (text: string): ToolResult => ({ text, isError: true, ms: clock.now() - at })
      const called = byName.get(name.trim().toLowerCase())
      if (!called) return failed(`no external tool is named ${name}`)
      const { server, tool, connection } = called
      if (tool.changed) return failed(`${tool.name} has changed and waits for approval`)
      try {
        const result = await connection.call(tool.tool, args, signal)
        const { text: plain, images } = contentOf(result)
        const said = result.isError ? `${REPORTED}\n${plain}` : plain
        const text = boundedResult(scrubbed(said, server)).trim() || '(empty result)'
        const ms = clock.now() - at
        return { text, isError: result.isError, ms, ...(images.length ? { images } : {}) }
      } catch (error) {
        return failed(`${tool.name} was not answered: ${(error as Error).message}`)
      }
    },
    async close() {
      await Promise.all(connections.splice(0).map(({ connection }) => connection.close()))
    },
  }
}

/** Begins the text of a result that is an error: chat completions have no mark for one, and a model took it for an answer. */
const REPORTED = '[the tool reports an error]'

/** The tools of a run by their names, to which those are added that a server lists later. */
function offering(pinned: ConnectOptions['pinned']) {
  const tools: ExternalTool[] = []
  const byName = new Map<string, Found & { tool: ExternalTool }>()
  const isKnown =
    ({ server, listed }: Found) =>
    (one: ExternalTool) =>
      one.server === server.name && one.tool === listed.name
  return {
    tools,
    byName,
    /** @returns the tools that were listed: one that is known keeps its name and what it was offered with */
    add(found: readonly Found[]): ExternalTool[] {
      const fresh = found.filter((one) => !tools.some(isKnown(one)))
      const names = namesOf(
        fresh.map(({ server, listed }) => ({ server: server.name, tool: listed.name })),
        new Set(byName.keys()),
      )
      for (const [i, one] of fresh.entries()) {
        const was = pinned(one.server.name, one.listed.name)
        const tool = {
          name: names[i]!,
          server: one.server.name,
          tool: one.listed.name,
          ...one.definition,
          changed: was !== null && was !== one.definition.hash,
        }
        tools.push(tool)
        byName.set(tool.name.toLowerCase(), { ...one, tool })
      }
      return found.map((one) => {
        const known = tools.find(isKnown(one))!
        if (known.hash !== one.definition.hash) known.changed = true
        return { ...known, ...one.definition }
      })
    },
  }
}

const writtenOf = (found: readonly Found[]): string =>
  JSON.stringify(found.map(({ listed, definition }) => [listed.name, definition.hash]))

async function relist(
  connections: readonly Connected[],
  { tools, add }: ReturnType<typeof offering>,
): Promise<Map<string, ExternalTool[]>> {
  const others = new Map<string, ExternalTool[]>()
  await Promise.all(
    connections.map(async (one) => {
      const { server, connection } = one
      if (!connection.mayListOthers()) return
      const list = await connection.list().catch(() => null)
      // What cannot be read now is looked at after its next call; until then what was listed holds.
      if (list === null) return
      const found = read(server, connection, list, [])
      const written = writtenOf(found)
      if (written === one.listed) return
      one.listed = written
      const known = new Set(tools.flatMap((tool) => (tool.server === server.name ? [tool.tool] : [])))
      // Names that are new each time would otherwise fill what a model reads.
      let room = TOOLS_MAX - known.size
      const taken = found.filter(({ listed: { name } }) => known.has(name) || room-- > 0)
      others.set(server.name, add(taken))
    }),
  )
  return others
}

/** @throws Error with a sentence */
async function open(server: McpServerRef, options: ConnectOptions): Promise<Connection> {
  const { rests, timers, signal } = options
  const begin = () => openConnection(server, { ...options, http: httpFor(server, options) })
  if (!server.program) return begin()
  const rest = rests?.of(server.url) ?? null
  if (rest !== null) throw new Error(rest)
  try {
    const connection = await keptRunning(begin, timers, signal)
    rests?.tell(server.url, null)
    return connection
  } catch (error) {
    rests?.tell(server.url, (error as Error).message)
    throw error
  }
}

/**
 * The way to a server: of an app each request carries a token that holds, since a run may outlast one. What was sent is
 * among what no text of the server's may carry on.
 */
function httpFor(
  server: McpServerRef,
  { http, tokens }: Pick<ConnectOptions, 'http' | 'tokens'>,
): typeof fetch {
  const { app } = server
  if (!app) return http
  return async (input, init) => {
    const { token } = await tokens.use(app.credential, null)
    server.secrets ??= []
    if (!server.secrets.includes(token)) server.secrets.push(token)
    const headers = new Headers(init?.headers)
    headers.set(app.header, `Bearer ${token}`)
    const answer = await http(input, { ...init, headers })
    if (answer.status === 401) tokens.drop(token)
    return answer
  }
}

/** The tools of one server that can be offered; what is left out is noted. */
function read(
  server: McpServerRef,
  connection: Connection,
  list: readonly ListedTool[],
  skipped: SkippedServer[],
): Found[] {
  const note = (reason: string) => skipped.push({ server: server.name, reason })
  // A name that is listed twice is the first of them: the second would take its place.
  const once = [...new Map([...list].reverse().map((listed) => [listed.name, listed])).values()].reverse()
  if (once.length > TOOLS_MAX) note(`it lists ${once.length} tools, of which ${TOOLS_MAX} are taken`)
  return once.slice(0, TOOLS_MAX).flatMap((listed) => {
    const name = visible(listed.name)
    // A call needs the name as it is, and people who approve it could not see what it is.
    if (name !== listed.name) {
      note(`a tool is left out, for its name has characters that are not seen: ${name.slice(0, 64)}`)
      return []
    }
    try {
      if (JSON.stringify(listed.inputSchema).length <= SCHEMA_MAX)
        return [{ server, listed, connection, definition: definitionOf(server.name, listed) }]
    } catch (error) {
      // A schema nested so deep that it cannot be written is too large as well.
      if (!(error instanceof RangeError)) throw error
    }
    note(`a tool is left out, for its schema is over ${SCHEMA_MAX / 1024} KB: ${listed.name.slice(0, 64)}`)
    return []
  })
}

/* Names of external tools that model providers take: 64 characters of [A-Za-z0-9_-] at most. */

const MAX = 64
const DIGITS = 8

interface Named {
  server: string
  tool: string
}

/**
 * A name for each tool, `server__tool`, unique in any case of letters, since models do not keep to it.
 * Where that is too long, or two would share it, the end is a hash of both names, so that a tool's name
 * does not depend on the order in which servers answer. No name is one of ours: none of ours has `__`.
 * @param taken names of others, in small letters; those that are given are added
 * @returns in the order given.
 */
function namesOf(tools: readonly Named[], taken: Set<string>): string[] {
  const plain = tools.map(({ server, tool }) => `${server}__${tool}`.replace(/[^A-Za-z0-9_-]/g, '_'))
  const sharing = new Map<string, number>()
  for (const name of plain) sharing.set(name.toLowerCase(), (sharing.get(name.toLowerCase()) ?? 0) + 1)
  const names = plain.map((name) => {
    const isAlone = sharing.get(name.toLowerCase()) === 1 && !taken.has(name.toLowerCase())
    const isFree = name.length <= MAX && isAlone
    if (isFree) taken.add(name.toLowerCase())
    return isFree ? name : null
  })
  return names.map((name, i) => name ?? hashed(plain[i]!, tools[i]!, taken))
}

function hashed(plain: string, { server, tool }: Named, taken: Set<string>): string {
  // A tool may be named like another's hash: the next hash is as good.
  for (let salt = 0; ; salt++) {
    const digest = createHash('sha256')
      .update(JSON.stringify([server, tool, salt]))
      .digest('hex')
    const name = `${plain.slice(0, MAX - DIGITS - 1)}_${digest.slice(0, DIGITS)}`
    if (taken.has(name.toLowerCase())) continue
    taken.add(name.toLowerCase())
    return name
  }
}

/*
 * Which calls an agent may make of external tools. Assume that the model obeys whatever it reads: what it
 * may do is decided here, by names and arguments alone.
 */

type Decision = { allowed: true } | { allowed: false; reason: string }

const refused = (reason: string): Decision => ({ allowed: false, reason })

/**
 * Read-only tools may be called unless the agent lists tools of their server: then only the listed ones.
 * Any other only where the agent lists it by name, and each listed pattern matches its argument wholly.
 * @param hasReadOutsideText whether the run has read events, payloads or results: it is told in the
 * reason; a tool that is not listed is refused in either case.
 * @returns the reason for a refusal as a sentence for the model and the run's steps.
 */
export function decide(
  tool: ExternalTool,
  args: Record<string, unknown>,
  policy: readonly ToolPolicy[],
  hasReadOutsideText: boolean,
): Decision {
  if (tool.changed)
    return refused(
      `${tool.name} is not what it was when it was first seen; a person has to approve the change`,
    )
  const ofServer = policy.filter(({ server }) => server === tool.server)
  if (tool.readOnly && ofServer.length === 0) return { allowed: true }
  const rows = ofServer.filter((row) => row.tool === tool.tool || (row.tool === '*' && tool.readOnly))
  if (rows.length === 0) return refused(notListed(tool, hasReadOutsideText))
  const faults = rows.map((row) => argumentFault(tool, args, row))
  if (faults.includes(null)) return { allowed: true }
  return refused(faults[0]!)
}

function notListed({ name, readOnly }: ExternalTool, hasReadOutsideText: boolean): string {
  if (readOnly) return `${name} is not among the tools this agent lists of its server`
  const because = hasReadOutsideText ? ' and this run has read text from outside' : ''
  return `${name} may change things${because}; this agent's policy does not list it`
}

function argumentFault(tool: ExternalTool, args: Record<string, unknown>, row: ToolPolicy): string | null {
  for (const [name, pattern] of Object.entries(row.arguments ?? {})) {
    const value = ownField(args, name)
    if (value === undefined) return `${tool.name} needs the argument ${name}: this agent's policy limits it`
    if (!holds(pattern, textOf(value)))
      return `${tool.name}: the argument ${name} is not one that this agent's policy allows (${pattern})`
  }
  return null
}

/** A pattern that no longer compiles allows nothing. */
function holds(pattern: string, text: string): boolean {
  return patternFault(pattern, '') === null && compileWhole(pattern)(text)
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/* The answer of a tool, as a model is shown it: text, and images of a type that models take. */

interface Block {
  type?: unknown
  text?: unknown
  data?: unknown
  mimeType?: unknown
  uri?: unknown
  name?: unknown
  title?: unknown
  description?: unknown
  resource?: { uri?: unknown; text?: unknown; blob?: unknown; mimeType?: unknown }
}

/**
 * Text blocks and text of resources as they are, images as such, and of all else a note that names type and
 * size: base64 as text would tell a model nothing, and cost much. Behind them the structured content, where the text
 * does not say the same: some servers write a sentence, and what was asked for is there alone. Behind a text that is cut
 * it would not be seen.
 */
export function contentOf({ content, structured }: RawResult): { text: string; images: ToolImage[] } {
  const images: ToolImage[] = []
  const text = content.map((block) => blockText((block ?? {}) as Block, images)).join('\n')
  const isSaid = structured === undefined || structured === null || text.length > RESULT_BYTES
  if (isSaid || saysAll(text, structured)) return { text, images }
  const json = JSON.stringify(structured)
  return { text: text === '' ? json : `${text}\n${json}`, images }
}

/** Whether a text has each value of a structure, as one that is its JSON has. */
function saysAll(text: string, value: unknown): boolean {
  if (text === '') return false
  if (typeof value === 'object' && value !== null)
    return Object.values(value).every((one) => saysAll(text, one))
  if (value === null) return true
  if (typeof value === 'string')
    return text.includes(value) || text.includes(JSON.stringify(value).slice(1, -1))
  return saysWord(text, String(value))
}

/** A number, true or false by itself: 13 says no 3. */
function saysWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (
      !/[\w.]/.test(text[at - 1] ?? '') &&
      !/^(\w|\.\d)/.test(text.slice(at + word.length, at + word.length + 2))
    )
      return true
  return false
}

/** @param images those before it; its own is put behind them */
function blockText(block: Block, images: ToolImage[]): string {
  const { type, text, data, mimeType, resource } = block
  if (type === 'text' && typeof text === 'string') return text
  if (type === 'image' && typeof data === 'string') return imageText('image', mimeType, data, images)
  if (type === 'resource' && typeof resource?.text === 'string')
    return `[resource ${String(resource.uri ?? '')}]\n${resource.text}`
  if (type === 'resource' && typeof resource?.blob === 'string')
    return imageText(`resource ${String(resource.uri ?? '')}`, resource.mimeType, resource.blob, images)
  if (type === 'resource_link') {
    const said = [block.title ?? block.name, block.description, mimeType].filter(
      (one) => typeof one === 'string' && one !== '',
    )
    return `[resource ${String(block.uri ?? '')}: ${said.join(', ')}]`
  }
  if (typeof data === 'string') return leftOut(String(type), mimeType, data, 'it is not shown to you')
  return JSON.stringify(block)
}

function imageText(what: string, mimeType: unknown, data: string, images: ToolImage[]): string {
  const type = typeof mimeType === 'string' ? mimeType.toLowerCase().split(';')[0]!.trim() : ''
  if (!type.startsWith('image/')) return leftOut(what, mimeType, data, 'it is not shown to you')
  const image = images.length < IMAGES_MAX ? imageOf(type, data) : `${IMAGES_MAX} of a result are shown`
  if (typeof image === 'string') return leftOut(what, mimeType, data, image)
  images.push(image)
  return `[${what}: ${type}, ${bytesOf(data)} bytes; shown as image ${images.length}]`
}

/** @param base64 of what is no text */
function leftOut(what: string, mimeType: unknown, base64: string, why: string): string {
  const type = typeof mimeType === 'string' ? mimeType : 'of no stated type'
  return `[${what} left out: ${type}, ${bytesOf(base64)} bytes; ${why}]`
}

export type { ToolPolicy } from '../../schemas/types.ts'
export type {
  ExternalTool,
  ExternalTools,
  McpServerRef,
} from './mcp-types.ts'

/* Tests of MCP servers: connecting to one and listing its tools, as a run does. */

interface TestsParts {
  calls: Pick<McpToolWrites, 'mcpServersToConnect' | 'mcpServerToTry' | 'seenMcpTools' | 'listMcpTools'>
  egress: Egress
  tokens: GithubTokens
  clock: Clock
  timers: Timers
}

/** Beyond what the client waits for a call itself. */
const REQUEST_MS = 65_000
const ANSWER_BYTES = 16 * 1024 * 1024

/** The way out to MCP servers; an operator registered them, so they may be inside the network. */
export const mcpFetch = (egress: Egress): typeof fetch =>
  fetchOver(egress, { audience: 'operator', timeoutMs: REQUEST_MS, maxResponseBytes: ANSWER_BYTES })

export function mcpToolTests({ calls, egress, tokens, clock, timers }: TestsParts): McpToolTests {
  const http = mcpFetch(egress)

  /** @param note what becomes of the tools that were listed. */
  async function ask(
    { servers, skipped, pins }: ServersToConnect,
    note: (tools: readonly ExternalTool[]) => Promise<McpTestedTool[]>,
  ): Promise<McpTestResult> {
    if (skipped[0]) return { ok: false, ms: 0, tools: [], error: skipped[0].reason }
    const at = clock.now()
    const pinned = (server: string, tool: string) => pins.get(server)?.get(tool) ?? null
    const external = await connectTools(servers, { http, tokens, timers, clock, pinned })
    const ms = clock.now() - at
    try {
      const reasons = external.skipped.map(({ reason }) => reason)
      if (external.tools.length === 0 && reasons[0]) return { ok: false, ms, tools: [], error: reasons[0] }
      const tools = await note(external.tools)
      return { ok: true, ms, tools, ...(reasons.length ? { notes: reasons } : {}) }
    } finally {
      await external.close()
    }
  }

  return {
    testMcpServer: async (name) => {
      // Answers 404 for a name that is none; a run skips it instead.
      await calls.listMcpTools(name)
      return ask(await calls.mcpServersToConnect([name]), (tools) => calls.seenMcpTools(name, tools))
    },
    tryMcpServer: async (body) => {
      const to = await calls.mcpServerToTry(body)
      const known = to.pins.get(body.name ?? '')
      return ask(to, async (tools) =>
        tools.map(({ tool, server, description, readOnly, changed }) => ({
          name: tool,
          description: description.replace(`[${server}] `, ''),
          read_only: readOnly,
          state: changed ? 'changed' : known?.has(tool) ? 'pinned' : 'new',
        })),
      )
    },
  }
}
