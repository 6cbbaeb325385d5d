/** Tools that say what is declared on the instance. */
import type { Source } from '../../../schemas/types.ts'
import { fail } from '../../errors.ts'
import type { ToolCallOf, ToolWorld } from './tool.ts'

const SCHEMA_OF = 40

/** Without the address events are sent to: who knows it can send. */
const told = ({ ingest_key: _key, accepts: _accepts, ...source }: Source) => source

export const listSources: ToolCallOf = async (_args, { reads }) => ({
  found: (await reads.listSources()).map((source) => {
    const { name, connector, mode, state, config, projects, health } = told(source)
    return { name, connector, mode, state, labels: config.labels ?? [], projects, health }
  }),
})

export const listConnectors: ToolCallOf = async ({ connector }: { connector?: string }, { reads }) => {
  const all = await reads.listConnectors()
  if (connector !== undefined)
    return {
      found:
        all[connector] ??
        fail('not_found', `no connector is named ${connector}; there are ${Object.keys(all).join(', ')}`),
    }
  return {
    found: Object.entries(all)
      .slice(0, SCHEMA_OF)
      .map(([kind, { mode, discover, fields }]) => ({
        connector: kind,
        mode,
        discover,
        fields: fields.map(({ name, required, secret }) => ({ name, required, secret })),
      })),
  }
}

export const catalog: ToolCallOf = async (_args, { reads }) => {
  const [sources, triggers, agents, servers, skills, projects] = await Promise.all([
    reads.listSources(),
    reads.listTriggers(),
    reads.listAgents(),
    reads.listMcpServers(),
    reads.listSkills(),
    reads.listProjects(),
  ])
  return {
    found: {
      sources: sources.map(({ name, connector, state }) => ({ name, connector, state })),
      triggers: triggers.map(({ name, sentence, state, sources: of }) => ({
        name,
        sentence,
        state,
        sources: of,
      })),
      agents: agents.agents.map(({ name, last_run }) => ({ name, last_run })),
      mcp_servers: servers.servers.map(({ name }) => name),
      skills: skills.map(({ name, description }) => ({ name, description })),
      projects: projects.map(({ id, name, template, status }) => ({ id, name, template, status })),
    },
  }
}

const KINDS: Record<string, (reads: ToolWorld['reads'], name: string) => Promise<unknown>> = {
  source: async (reads, name) => told(await reads.getSource(name)),
  trigger: (reads, name) => reads.getTrigger(name),
  agent: (reads, name) => reads.getAgent(name),
  mcp_server: (reads, name) => reads.getMcpServer(name),
  project: async (reads, name) => ({
    ...(await reads.getProject(name)),
    outline: await reads.projectOutline(name),
  }),
  firing: (reads, name) => reads.getFiring(name),
  run: async (reads, name) => {
    // What it was told and did is long; what came of it is what is asked for.
    const { steps, chain: _chain, definition: _definition, ...run } = await reads.getRun(name)
    const tools = steps.flatMap(({ kind, data }) =>
      kind === 'tool' || kind === 'refused' ? [(data.call as { name?: string } | undefined)?.name] : [],
    )
    return { ...run, tools }
  },
}

export const describe: ToolCallOf = async ({ handle }: { handle: string }, { reads }) => {
  const at = handle.indexOf(':')
  const kind = handle.slice(0, Math.max(0, at))
  const look =
    KINDS[kind] ??
    fail('invalid', `handle must be kind:name, its kind one of ${Object.keys(KINDS).join(', ')}`)
  return { found: await look(reads, handle.slice(at + 1)) }
}

export const listProjects: ToolCallOf = async (_args, { reads }) => ({ found: await reads.listProjects() })

export const listTemplates: ToolCallOf = async (_args, { reads }) => ({
  found: (await reads.listTemplates()).templates.map(({ key, title, description, params, objects }) => ({
    key,
    title,
    description,
    params,
    objects: objects.map(({ kind, key: of }) => `${kind} ${of}`),
  })),
})

export const detectTemplate: ToolCallOf = async ({ key }: { key: string }, { reads }) => ({
  found: await reads.detectTemplate(key),
})
