/** The tool get_part: what is declared, in the form in which a change of it is proposed. */
import { specSchema } from '../../../schemas/tools.ts'
import type { Project, ToolGetPart, ToolGetPartResult } from '../../../schemas/types.ts'
import type { Call } from '../../client/call.ts'
import * as calls from '../../client/calls.ts'
import type { Caller } from '../daemon.ts'
import { more, pageOf } from '../paging.ts'
import { listProjects, projectOf } from '../project.ts'
import { type Context, defineTool, READS } from '../tool.ts'
import { warned } from './proposals.ts'

type Kind = Exclude<ToolGetPart['kind'], 'project'>
type Named = { name: string }

/** What there is of each kind. */
const LIST: Record<Kind, (daemon: Caller, signal: AbortSignal) => Promise<readonly Named[]>> = {
  source: (daemon, signal) => daemon.ask(calls.listSources, {}, signal),
  trigger: (daemon, signal) => daemon.ask(calls.listTriggers, {}, signal),
  agent: async (daemon, signal) => (await daemon.ask(calls.listAgents, {}, signal)).agents,
  mcp_server: async (daemon, signal) => (await daemon.ask(calls.listMcpServers, {}, signal)).servers,
  entity: async (daemon, signal) => (await daemon.ask(calls.listJoinedEntities, {}, signal)).entities,
}

const ONE: Record<Kind, Call<Named, Named>> = {
  source: calls.getSource,
  trigger: calls.getTrigger,
  agent: calls.getAgent,
  mcp_server: calls.getMcpServer,
  entity: calls.getJoinedEntity,
}

const WIRING =
  'A project takes patch alone: wakes and handoffs as whole lists, as get_part with its name shows them, or by name, which leaves the others as they are: {"wakes":{"<trigger>":{"<agent>":{"enabled":true}}}}. uses are its parts: {"uses":{"agent":{"<agent>":{}}}} takes one in, null in place of {} takes it out, once no wake or handoff of the project names it; both in one change move it to another project. A new part joins a project by the project of its put.'

export const getPart = defineTool<ToolGetPart, ToolGetPartResult>({
  name: 'get_part',
  title: 'Look at what is declared',
  description:
    'The spec of one source, trigger, agent, MCP server or entity, or the parts and wiring of a project, as propose_change takes it. Without a name: the names, and the JSON Schema of a spec. Skills are {description, body}.',
  scope: 'read',
  ofProject: false,
  hints: READS,
  async run({ kind, name, cursor }, context) {
    if (name !== undefined) {
      const { spec, warnings = [] } = await specOf(kind, name, context)
      const text = JSON.stringify(spec)
      return {
        text: text + warned(warnings),
        content: { kind, name, names: [], text, next_cursor: null, warnings },
      }
    }
    const { entries, next_cursor } = pageOf(await namesOf(kind, context), cursor)
    const form = kind === 'project' ? WIRING : JSON.stringify(specSchema(kind))
    return {
      text: `${entries.join(', ') || `there is no ${kind}`}${more(next_cursor)}\n${form}`,
      content: { kind, name: null, names: entries, text: form, next_cursor, warnings: [] },
    }
  },
})

async function namesOf(kind: ToolGetPart['kind'], context: Context): Promise<string[]> {
  if (kind === 'project') return (await listProjects(context)).map(({ name }) => name)
  const all = await LIST[kind](context.daemon, context.signal)
  return all.map(({ name }) => name)
}

/** The parts of a project by kind and name, as a change of them is written. */
function usesOf(objects: Project['objects']): Record<string, Record<string, object>> {
  const uses: Record<string, Record<string, object>> = {}
  for (const { kind, name, missing } of objects) if (!missing) uses[kind] = { ...uses[kind], [name]: {} }
  return uses
}

/** Of what the daemon tells, what is declared, and what is wrong with it. @throws DaemonError not_found */
async function specOf(
  kind: ToolGetPart['kind'],
  name: string,
  context: Context,
): Promise<{ spec: object; warnings?: string[] }> {
  const { daemon, signal } = context
  if (kind === 'project') {
    const { id } = await projectOf(name, context)
    // It is for keys of the instance, which see the whole of a project.
    const { objects, wiring } = (await daemon.ask(calls.getProject, { id }, signal)) as Project
    return { spec: { uses: usesOf(objects), ...wiring } }
  }
  const told: Named & { warnings?: string[] } = await daemon.ask(ONE[kind], { name }, signal)
  const declared = Object.keys(specSchema(kind).properties)
  const spec = Object.fromEntries(Object.entries(told).filter(([field]) => declared.includes(field)))
  return { spec, ...(told.warnings ? { warnings: told.warnings } : {}) }
}
