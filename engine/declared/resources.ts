/** Every part with the projects that use it, and what depends on a part. */
import type { DependentsResult, ResourceRow, ResourcesResult, Source } from '../../schemas/types.ts'
import { sentenceOf } from '../../schemas/words.ts'
import type { PartKind } from '../changes/declared.ts'
import { partKinds } from '../changes/declared.ts'
import { Edit } from '../changes/edit.ts'
import { fail } from '../errors.ts'
import { projectsOf } from '../wiring/project-doc.ts'
import { belongings } from './belonging.ts'
import type { Declared } from './declared.ts'
import { agentsOf, listMcpServers, listTriggers } from './parts.ts'
import { dependentsOf } from './source-writes.ts'

export function listResources(declared: Declared): ResourcesResult {
  const belongs = belongings(declared)
  const names = new Map(declared.kinds.project.list().map(({ key, name }) => [key, name]))
  const row = (
    kind: PartKind,
    name: string,
    what: string,
    state: string,
    more: Partial<ResourceRow>,
  ): ResourceRow => {
    const { projects, owned_by, customized } = belongs(kind, name)
    return {
      name,
      what,
      state,
      used_by: projects.map((id) => ({ id, name: names.get(id) ?? id })),
      owned_by,
      customized,
      ...more,
    }
  }
  const sources = declared.sources.list((name) => belongs('source', name))
  return {
    sources: sources.map((source) =>
      row('source', source.name, whatOfSource(source), source.health.status, {
        connector: source.connector,
        last_event_at: source.health.last_ingest,
      }),
    ),
    triggers: listTriggers(declared).map((trigger) =>
      row('trigger', trigger.name, sentenceOf(trigger), trigger.state, { sources: trigger.sources }),
    ),
    agents: agentsOf(declared, null).map((agent) =>
      row('agent', agent.name, firstLine(agent.prompt), agent.enabled ? 'on' : 'off', {}),
    ),
    tools: listMcpServers(declared).map((server) =>
      row('mcp_server', server.name, `tools of ${new URL(server.url).host}`, 'active', { url: server.url }),
    ),
    skills: declared.kinds.skill
      .list()
      .map(({ name, doc }) => row('skill', name, doc.description, 'exists', {})),
    keys: declared.keys
      .list()
      .filter(({ state }) => state === 'active')
      .map((key) => ({
        name: key.name,
        what: `API key with the scopes ${key.scopes.join(', ')}`,
        state: key.state,
        used_by: key.project ? [{ id: key.project, name: names.get(key.project) ?? key.project }] : [],
        prefix: key.prefix,
        last_used_at: key.last_used_at,
      })),
  }
}

/**
 * What would go or be changed with a part: of a source or trigger in the order a cascade deletes;
 * of others the parts that refer to it.
 * @throws SvcError not_found; invalid for a kind that is none
 */
export function listDependents(declared: Declared, kind: string, name: string): DependentsResult {
  if (!(partKinds as readonly string[]).includes(kind))
    fail('invalid', `kind must be one of ${partKinds.join(', ')}`, { field: 'kind' })
  const edit = new Edit(declared.kinds, () => undefined)
  edit.require(kind as PartKind, name)
  if (kind === 'source' || kind === 'trigger') return { dependents: dependentsOf(edit, kind, name) }
  if (kind === 'skill') return { dependents: [] }
  const dependents = new Set<string>()
  if (kind === 'mcp_server') {
    for (const [agent, doc] of edit.all('agent'))
      if ((doc.mcp_servers ?? []).includes(name)) dependents.add(agent)
  } else
    for (const { handoffs } of projectsOf(edit).values())
      for (const [from, verdicts] of Object.entries(handoffs ?? {}))
        if (Object.values(verdicts).some((targets) => targets[name])) dependents.add(from)
  return { dependents: [...dependents].sort().map((agent) => ({ kind: 'agent', name: agent })) }
}

function whatOfSource({ connector, mode }: Source): string {
  const how = { push: 'pushed to its ingest URL', poll: 'polled', reference: 'documents, always surfaced' }
  return `${connector} events, ${how[mode]}`
}

function firstLine(prompt: string): string {
  const line = prompt.trim().split('\n')[0]!
  return line.length > 120 ? `${line.slice(0, 117)}…` : line
}
