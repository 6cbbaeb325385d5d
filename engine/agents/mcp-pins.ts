/**
 * What was pinned of external tools, in rows: a tool is pinned as it is first seen, and one that says
 * something else later is noted as changed until a person approves it.
 */
import { didYouMean } from '../../schemas/near-names.ts'
import type {
  AgentSpec,
  McpServerSpec,
  McpServerTest,
  McpTestedTool,
  McpTestResult,
  McpTool,
} from '../../schemas/types.ts'
import type { Caller } from '../calls.ts'
import type { Clock } from '../clock.ts'
import { keepMcpSecrets, normaliseMcpServer } from '../documents/mcp-server.ts'
import { fail } from '../errors.ts'
import type { Database, StoreHandle } from '../log/store/handle.ts'
import type { UsableCredential } from '../model/credentials.ts'
import type { StoredOf } from '../model/documents.ts'
import { addressSecrets, hasMaskedSecret, isReference, storedName } from '../net/address-secrets.ts'
import { programFor, programNameOf, variablesOf } from '../net/programs.ts'
import { addressFault, openVariable } from '../net/secrets.ts'
import { type ExternalTool, type McpServerRef, offered, type SkippedServer } from './mcp-types.ts'

/** A tool as a server listed it. */
export type SeenTool = Pick<ExternalTool, 'tool' | 'description' | 'input' | 'readOnly' | 'hash'>

/** Of tools no longer listed this many are kept: a server that renames its tools for ever fills nothing. */
const GONE_KEPT = 500

export class Pins {
  private readonly queries: ToolQueries

  constructor(
    private readonly store: Pick<StoreHandle, 'db' | 'tx'>,
    private readonly clock: Clock,
  ) {
    this.queries = toolQueries(store.db)
  }

  /** Hashes by tool. */
  of(server: string): Map<string, string> {
    return new Map(this.queries.of(server).map(({ tool, hash }) => [tool, hash]))
  }

  /** All tools of a server, by name. */
  list(server: string): McpTool[] {
    return this.queries.of(server).map(presentTool)
  }

  /**
   * Notes what a server lists now: new tools are pinned, changed ones noted, missing ones marked gone.
   * @returns what is listed and what is gone, by name.
   */
  see(server: string, tools: readonly SeenTool[]): McpTestedTool[] {
    const at = this.clock.now()
    return this.store.tx(() => {
      const before = new Map(this.queries.of(server).map((row) => [row.tool, row]))
      for (const tool of tools) this.seeOne(server, tool, before.get(tool.tool), at)
      const listed = new Set(tools.map(({ tool }) => tool))
      for (const row of before.values())
        if (!listed.has(row.tool) && row.gone_at === null) this.queries.gone(server, row.tool, at)
      this.queries.dropGone(server, GONE_KEPT)
      return this.queries.of(server).map((row): McpTestedTool => {
        const { name, state } = presentTool(row)
        const now = row.changed_hash === null ? row : changeOf(row)
        const isNew = state === 'pinned' && !before.has(row.tool)
        return {
          name,
          description: now.description,
          read_only: now.read_only === 1,
          state: isNew ? 'new' : state,
        }
      })
    })
  }

  /**
   * Accepts what a tool says now.
   * @param hash of what was looked at; absent: whatever it is.
   * @throws SvcError not_found; conflict where nothing waits, or something else does by now
   */
  approve(server: string, tool: string, hash: string | undefined, by: string): McpTool {
    const at = this.clock.now()
    return this.store.tx(() => {
      const row = this.queries.one(server, tool) ?? fail('not_found', `${server} has no tool named ${tool}`)
      if (row.changed_hash === null) fail('conflict', `tool ${tool} of ${server} has no change to approve`)
      if (hash !== undefined && hash !== row.changed_hash)
        fail('conflict', `tool ${tool} of ${server} has changed again; look at it before you approve it`, {
          field: 'hash',
        })
      const { description, input, read_only } = changeOf(row)
      this.queries.approve({ server, tool, hash: row.changed_hash, description, input, read_only, at, by })
      return presentTool(this.queries.one(server, tool)!)
    })
  }

  private seeOne(server: string, seen: SeenTool, row: ToolRow | undefined, at: number): void {
    const { tool, hash } = seen
    const said = {
      server,
      tool,
      hash,
      // It is shown beside its server, without the prefix for models.
      description: seen.description.replace(`[${server}] `, ''),
      input: JSON.stringify(seen.input),
      read_only: seen.readOnly ? 1 : 0,
      at,
    }
    if (!row) this.queries.pin(said)
    else if (row.hash === hash) this.queries.asPinned(server, tool, at)
    else if (row.changed_hash === hash) this.queries.stillChanged(server, tool, at)
    else this.queries.change(said)
  }
}

const time = (at: number): string => new Date(at).toISOString()

function presentTool(row: ToolRow): McpTool {
  const state = row.gone_at !== null ? 'gone' : row.changed_hash !== null ? 'changed' : 'pinned'
  const change = row.changed_hash === null ? null : changeOf(row)
  return {
    name: row.tool,
    state,
    description: row.description,
    input: JSON.parse(row.input) as McpTool['input'],
    read_only: row.read_only === 1,
    hash: row.hash,
    change: change && {
      description: change.description,
      input: JSON.parse(change.input) as McpTool['input'],
      read_only: change.read_only === 1,
      hash: row.changed_hash!,
      at: time(row.changed_at!),
    },
    first_seen_at: time(row.first_seen_at),
    seen_at: time(row.seen_at),
    approved_at: row.approved_at === null ? null : time(row.approved_at),
    approved_by: row.approved_by,
  }
}

/** What waits for approval, of a row that has it. */
const changeOf = (row: ToolRow) => ({
  description: row.changed_description!,
  input: row.changed_input!,
  read_only: row.changed_read_only!,
})

/* The SQL of pinned tools. */

interface ToolRow {
  server: string
  tool: string
  hash: string
  description: string
  /** JSON. */
  input: string
  read_only: number
  first_seen_at: number
  seen_at: number
  gone_at: number | null
  /** This and the four after it: all null, or none. */
  changed_hash: string | null
  changed_description: string | null
  changed_input: string | null
  changed_read_only: number | null
  changed_at: number | null
  approved_at: number | null
  approved_by: string | null
}

/** What a server says of a tool, at a time (epoch ms). */
interface ToolSaid {
  server: string
  tool: string
  hash: string
  description: string
  input: string
  read_only: number
  at: number
}

type ToolQueries = ReturnType<typeof toolQueries>

const UNCHANGED =
  'changed_hash = NULL, changed_description = NULL, changed_input = NULL, changed_read_only = NULL, changed_at = NULL'

function toolQueries(db: Database) {
  const of = db.prepare<[string], ToolRow>('SELECT * FROM mcp_tools WHERE server = ? ORDER BY tool')
  const one = db.prepare<[string, string], ToolRow>('SELECT * FROM mcp_tools WHERE server = ? AND tool = ?')
  const pin = db.prepare<[ToolSaid]>(
    `INSERT INTO mcp_tools (server, tool, hash, description, input, read_only, first_seen_at, seen_at)
     VALUES (@server, @tool, @hash, @description, @input, @read_only, @at, @at)`,
  )
  const asPinned = db.prepare(
    `UPDATE mcp_tools SET seen_at = ?, gone_at = NULL, ${UNCHANGED} WHERE server = ? AND tool = ?`,
  )
  const stillChanged = db.prepare(
    'UPDATE mcp_tools SET seen_at = ?, gone_at = NULL WHERE server = ? AND tool = ?',
  )
  const change = db.prepare<[ToolSaid]>(
    `UPDATE mcp_tools SET seen_at = @at, gone_at = NULL, changed_hash = @hash, changed_description = @description,
       changed_input = @input, changed_read_only = @read_only, changed_at = @at
     WHERE server = @server AND tool = @tool`,
  )
  const gone = db.prepare('UPDATE mcp_tools SET gone_at = ? WHERE server = ? AND tool = ?')
  const dropGone = db.prepare(
    `DELETE FROM mcp_tools WHERE server = @server AND gone_at IS NOT NULL AND tool NOT IN
       (SELECT tool FROM mcp_tools WHERE server = @server AND gone_at IS NOT NULL ORDER BY gone_at DESC, tool LIMIT @kept)`,
  )
  const approve = db.prepare<[ToolSaid & { by: string }]>(
    `UPDATE mcp_tools SET hash = @hash, description = @description, input = @input, read_only = @read_only,
       approved_at = @at, approved_by = @by, ${UNCHANGED}
     WHERE server = @server AND tool = @tool`,
  )
  return {
    of: (server: string) => of.all(server),
    one: (server: string, tool: string) => one.get(server, tool),
    pin: (said: ToolSaid) => pin.run(said),
    asPinned: (server: string, tool: string, at: number) => asPinned.run(at, server, tool),
    stillChanged: (server: string, tool: string, at: number) => stillChanged.run(at, server, tool),
    change: (said: ToolSaid) => change.run(said),
    gone: (server: string, tool: string, at: number) => gone.run(at, server, tool),
    dropGone: (server: string, kept: number) => dropGone.run({ server, kept }),
    approve: (said: ToolSaid & { by: string }) => approve.run(said),
  }
}

/** How many tools each server listed last, and how many of them wait for approval. */
export function countTools(db: Database): Map<string, { tools: number; changed: number }> {
  const rows = db
    .prepare<[], { server: string; tools: number; changed: number }>(
      'SELECT server, count(*) AS tools, count(changed_hash) AS changed FROM mcp_tools WHERE gone_at IS NULL GROUP BY server',
    )
    .all()
  return new Map(rows.map(({ server, tools, changed }) => [server, { tools, changed }]))
}

/** How many tools of its MCP servers an agent is offered, by what they listed last. */
export function countOffered(db: Database, { mcp_servers = [], tools = [] }: Partial<AgentSpec>): number {
  const listed = db.prepare<[string], { tool: string; read_only: number; changed: number }>(
    'SELECT tool, read_only, changed_hash IS NOT NULL AS changed FROM mcp_tools WHERE server = ? AND gone_at IS NULL',
  )
  const all = mcp_servers.flatMap((server) =>
    listed.all(server).map(({ tool, read_only, changed }) => ({
      ...{ server, tool },
      readOnly: read_only === 1,
      changed: changed === 1,
    })),
  )
  return offered(all, tools).length
}

/** A server is gone, and with it what was pinned of its tools. */
export function forgetTools(db: Database, server: string): void {
  db.prepare('DELETE FROM mcp_tools WHERE server = ?').run(server)
}

/** What was pinned of the tools of a server goes along when it gets another name. */
export function renameTools(db: Database, from: string, to: string): void {
  db.prepare('UPDATE mcp_tools SET server = ? WHERE server = ?').run(to, from)
}

/* A declared MCP server as it can be connected to: references in its credential become values. */

interface ResolveWith {
  /** What `${NAME}` refers to. */
  env: Readonly<Record<string, string | undefined>>
  /** A stored credential, by a name such as github/main, or a sentence why there is none. */
  credential(name: string): UsableCredential | string
}

/** Shorter values are too common in text to be taken out of it. */
const SECRET_MIN = 8

/**
 * The declared headers, then the credential in its header. A stored credential is sent as a bearer
 * token, any other as it was entered.
 * @returns a sentence where the credential cannot be had.
 */
function resolveServer(
  name: string,
  spec: McpServerSpec,
  { env, credential }: ResolveWith,
): McpServerRef | string {
  const { url, auth_header, auth_value, headers } = spec
  const program = programNameOf(url)
  if (program !== null) return resolveProgram(name, program, auth_value ?? '', { env, credential })
  if (hasMaskedSecret(url)) return 'the secret in its url cannot be read here; enter it again'
  const fault = addressFault(url)
  if (fault !== null) return `url: ${fault}`
  const inUrl = addressSecrets(url).filter(({ length }) => length >= SECRET_MIN)
  const server: McpServerRef = {
    name,
    url,
    headers: { ...headers },
    ...(inUrl.length ? { secrets: inUrl } : {}),
  }
  if (!auth_value) return server
  let value = auth_value
  if (isReference(auth_value)) {
    const stored = storedName(auth_value)
    const found = stored === null ? openVariable(auth_value.slice(2, -1), env) : credential(stored)
    if (typeof found === 'string') return found
    // Its tokens are made where the server is called, so that one that ends meanwhile is followed by another.
    if ('app' in found)
      return { ...server, secrets: inUrl, app: { credential: found, header: auth_header || 'Authorization' } }
    value = 'value' in found ? found.value : `Bearer ${found.token}`
  }
  if (!/^[\t\x20-\x7e\x80-\xff]+$/.test(value))
    return 'its credential has characters that a header cannot carry'
  // The token alone too: a server may echo it without the word before it.
  const secrets = [value, value.replace(/^\S+ /, '')].filter(({ length }) => length >= SECRET_MIN)
  secrets.push(...inUrl)
  return { ...server, headers: { ...server.headers, [auth_header || 'Authorization']: value }, secrets }
}

/** A program that the operator allows, with what its environment has. A list that no longer has it ends its use. */
function resolveProgram(
  name: string,
  means: string,
  authValue: string,
  { env, credential }: ResolveWith,
): McpServerRef | string {
  const program = programFor(means, env)
  if (typeof program === 'string') return program
  let value = authValue
  if (isReference(authValue)) {
    const stored = storedName(authValue)
    const found = stored === null ? openVariable(authValue.slice(2, -1), env) : credential(stored)
    if (typeof found === 'string') return found
    // What it is started with cannot be followed by another.
    if ('app' in found)
      return 'a GitHub App has tokens that end, which a program cannot be given: store a token'
    value = 'value' in found ? found.value : found.token
  }
  const filled = variablesOf(program, value, env)
  if (typeof filled === 'string') return filled
  const secrets = [value, ...filled.secrets].filter(({ length }) => length >= SECRET_MIN)
  return {
    name,
    url: `stdio:${means}`,
    headers: {},
    secrets,
    program: { words: program.words, env: filled.env },
  }
}

/*
 * External tools as the callers of the engine see them. Rows are read and written in the writer's thread;
 * connecting is the main thread's (mcp-client.ts).
 */

/** What a run needs to connect to its servers. */
export interface ServersToConnect {
  servers: McpServerRef[]
  /** Those that are not there, or whose credential cannot be had. */
  skipped: SkippedServer[]
  /** Hashes by server, then by tool. */
  pins: Map<string, Map<string, string>>
}

export interface McpToolWrites {
  /** With their credentials in the clear: never for a door to answer with. */
  mcpServersToConnect(names: readonly string[]): Promise<ServersToConnect>
  /** A server that is not saved; where it names one that is, a blank auth_value is the stored one. @throws SvcError invalid */
  mcpServerToTry(body: McpServerTest): Promise<ServersToConnect>
  /** Notes what a server lists: new tools are pinned, changed ones noted. @throws SvcError not_found */
  seenMcpTools(server: string, tools: readonly SeenTool[]): Promise<McpTestedTool[]>
  /** @throws SvcError not_found */
  listMcpTools(server: string): Promise<McpTool[]>
  /** @throws SvcError not_found; conflict where nothing waits, or not what `hash` says */
  approveMcpTool(server: string, tool: string, hash: string | undefined, by: Caller): Promise<McpTool>
}

export interface McpToolTests {
  /** Connects, lists and pins. A server that does not answer is a result. @throws SvcError not_found */
  testMcpServer(name: string): Promise<McpTestResult>
  /** The same for one that is not saved; nothing is pinned. @throws SvcError invalid */
  tryMcpServer(body: McpServerTest): Promise<McpTestResult>
}

export type McpToolCalls = McpToolWrites & McpToolTests

export function mcpToolWrites(parts: {
  pins: Pins
  find(server: string): StoredOf<'mcp_server'> | undefined
  /** Of all there are. */
  names(): readonly string[]
  resolveWith: ResolveWith
}): McpToolWrites {
  const { pins, find, names, resolveWith } = parts
  const require = (server: string): StoredOf<'mcp_server'> =>
    find(server) ?? fail('not_found', `no MCP server is named ${server}${didYouMean(server, names())}`)
  const toConnect = (given: readonly { name: string; spec: McpServerSpec | null }[]): ServersToConnect => {
    const answer: ServersToConnect = { servers: [], skipped: [], pins: new Map() }
    for (const { name, spec } of given) {
      const found = spec === null ? `no MCP server is named ${name}` : resolveServer(name, spec, resolveWith)
      if (typeof found === 'string') answer.skipped.push({ server: name, reason: found })
      else answer.servers.push(found)
      answer.pins.set(name, pins.of(name))
    }
    return answer
  }
  const specOf = (stored: StoredOf<'mcp_server'> | undefined): McpServerSpec | null =>
    stored ? stored.doc : null
  return {
    mcpServersToConnect: async (names) =>
      toConnect(names.map((name) => ({ name, spec: specOf(find(name)) }))),
    mcpServerToTry: async ({ name = '', ...given }) =>
      toConnect([{ name, spec: normaliseMcpServer(keepMcpSecrets({ ...given }, find(name))) }]),
    seenMcpTools: async (server, tools) => {
      require(server)
      return pins.see(server, tools)
    },
    listMcpTools: async (server) => {
      require(server)
      return pins.list(server)
    },
    approveMcpTool: async (server, tool, hash, by) => {
      require(server)
      return pins.approve(server, tool, hash, by.name)
    },
  }
}
