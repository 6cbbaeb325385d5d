/**
 * Parts that a new plan makes under another name: whatever referred to one refers to its successor, so
 * that nothing that stays is unwired (SPEC.md, Ownership of template-project objects).
 */
import type { PartKind } from '../changes/declared.ts'
import type { Edit } from '../changes/edit.ts'
import { type ProjectDoc, projectOf } from '../wiring/project-doc.ts'

export class Renames {
  private readonly names = new Map<string, string>()

  add(kind: PartKind, from: string, to: string): void {
    this.names.set(`${kind}:${from}`, to)
  }

  get isEmpty(): boolean {
    return this.names.size === 0
  }

  /** The name a part has now. */
  now(kind: PartKind, name: string): string {
    return this.names.get(`${kind}:${name}`) ?? name
  }

  /** A project's wiring, and what a pause stopped, under the new names. */
  inWiringOf(doc: ProjectDoc): ProjectDoc {
    const trigger = (name: string) => this.now('trigger', name)
    const agent = (name: string) => this.now('agent', name)
    const source = (name: string) => this.now('source', name)
    const { wakes, handoffs, stopped } = doc
    return {
      ...doc,
      wakes: rekey(wakes, trigger, (agents) => rekey(agents, agent)),
      handoffs: rekey(handoffs, agent, (verdicts) => rekey(verdicts, same, (to) => rekey(to, agent))),
      ...(stopped
        ? {
            stopped: {
              wakes: rekey(stopped.wakes, trigger, (agents) => rekey(agents, agent)),
              triggers: rekey(stopped.triggers, trigger),
              sources: rekey(stopped.sources, source),
            },
          }
        : {}),
    }
  }
}

/** Triggers and agents of a project read and use renamed sources and MCP servers by their new names. */
export function rewireParts(edit: Edit, id: string, renames: Renames): void {
  const { uses } = projectOf(edit, id)
  for (const name of Object.keys(uses.trigger ?? {})) {
    const doc = edit.get('trigger', name)
    if (!doc) continue
    const sources = doc.sources.map((source) => renames.now('source', source))
    edit.put('trigger', name, { ...doc, sources: unique(sources) })
  }
  for (const name of Object.keys(uses.agent ?? {})) {
    const doc = edit.get('agent', name)
    const { mcp_servers, tools } = doc ?? {}
    if (!doc || !mcp_servers?.length) continue
    const server = (other: string) => renames.now('mcp_server', other)
    edit.put('agent', name, {
      ...doc,
      mcp_servers: unique(mcp_servers.map(server)),
      ...(tools ? { tools: tools.map((row) => ({ ...row, server: server(row.server) })) } : {}),
    })
  }
}

const same = (name: string): string => name
const unique = (names: readonly string[]): string[] => [...new Set(names)]

function rekey<T>(
  all: Record<string, T> | undefined,
  rename: (name: string) => string,
  inner: (value: T) => T = (value) => value,
): Record<string, T> {
  return Object.fromEntries(Object.entries(all ?? {}).map(([name, value]) => [rename(name), inner(value)]))
}
