/**
 * What was pinned of external tools, in rows: a tool is pinned as it is first seen, and one that says
 * something else later is noted as changed until a person approves it.
 */
import type { McpTestedTool, McpTool } from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import { fail } from '../errors.ts'
import type { StoreHandle } from '../store/handle.ts'
import { type ToolQueries, type ToolRow, toolQueries } from './rows.ts'
import type { ExternalTool } from './types.ts'

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
