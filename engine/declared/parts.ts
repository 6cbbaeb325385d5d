/** Triggers, agents and MCP servers as they are read; secrets are only said to be there. */

import { kindWord } from '../../schemas/kinds.ts'
import { didYouMean } from '../../schemas/near-names.ts'
import type {
  Agent,
  AgentsResult,
  JoinedEntity,
  McpProgram,
  McpServer,
  Trigger,
} from '../../schemas/types.ts'
import { sentenceOf } from '../../schemas/words.ts'
import { countTools } from '../agents/mcp-pins.ts'
import type { AgentModels } from '../agents/models/calls.ts'
import { type Work, workOfAgents } from '../agents/runs/making.ts'
import { ROUNDS } from '../documents/agent.ts'
import { scheduleFaults, severityOf, TRIGGER_DEFAULTS } from '../documents/trigger.ts'
import { fail } from '../errors.ts'
import { groupsOfRule } from '../log/entity-rules.ts'
import { acceptedIn } from '../log/lifecycle.ts'
import type { NamedKind, Stored, StoredOf } from '../model/documents.ts'
import { handoffsOf, type ProjectDoc } from '../model/project.ts'
import { isoOrNull } from '../model/units.ts'
import { maskAddresses, storedName } from '../net/address-secrets.ts'
import { commandOf, programFor, programNameOf, programsOf } from '../net/programs.ts'
import { isElsewhere } from '../net/secrets.ts'
import { driftsOf } from '../sources/sources.ts'
import { type Activity, activities } from '../triggers/reads.ts'
import type { Declared } from './declared.ts'
import { belongings } from './operations.ts'

type Belongs = ReturnType<typeof belongings>

export function listTriggers(declared: Declared): Trigger[] {
  const belongs = belongings(declared)
  const docs = projectDocs(declared)
  const activity = activities(declared.store.db, declared.clock.now())
  const addresses = addressesOfProjects(declared.store.db)
  return declared.kinds.trigger
    .list()
    .map((stored) => presentTrigger(stored, belongs, docs, activity, addresses))
}

/** @throws SvcError not_found */
export function getTrigger(declared: Declared, name: string): Trigger {
  const trigger = presentTrigger(
    find(declared, 'trigger', name),
    belongings(declared),
    projectDocs(declared),
    activities(declared.store.db, declared.clock.now()),
    addressesOfProjects(declared.store.db),
  )
  const spec = find(declared, 'trigger', name).doc
  return { ...trigger, warnings: [...driftsOf(declared, 'trigger', name), ...scheduleFaults(spec)] }
}

/** Agents that projects let a trigger wake, by name. */
export const wokenBy = (trigger: string, docs: Iterable<ProjectDoc>): string[] => {
  const names = [...docs].flatMap(({ wakes }) =>
    Object.entries(wakes?.[trigger] ?? {}).flatMap(([agent, { enabled }]) => (enabled ? agent : [])),
  )
  return [...new Set(names)].sort()
}

/** Counts, by project id, the subscriptions to all firings of a project. */
function addressesOfProjects(db: Declared['store']['db']): Map<string, number> {
  const counted = db.prepare<[], [string, number]>(
    `SELECT project, count(*) FROM subscriptions
     WHERE trigger_name IS NULL AND project IS NOT NULL AND removed_at IS NULL AND disabled_at IS NULL GROUP BY 1`,
  )
  return new Map(counted.raw().all() as [string, number][])
}

/** The list of agents. @param models what there is to run them on. */
export function listAgents(declared: Declared, project: string | null, models: AgentModels): AgentsResult {
  return {
    agents: agentsOf(declared, project),
    ...models,
    default_max_rounds: ROUNDS.plain,
    default_max_rounds_with_mcp: ROUNDS.withMcp,
    max_rounds_limit: ROUNDS.limit,
    presets: agentPresets,
  }
}

/** @param project id: trigger, handoffs and enabled are then that project's, else of all. */
export function agentsOf(declared: Declared, project: string | null): Agent[] {
  const belongs = belongings(declared)
  const docs = projectDocs(declared)
  const work = workOfAgents(declared.store.db)
  return declared.kinds.agent
    .list()
    .filter(({ name }) => project === null || declared.projects.users('agent', name).includes(project))
    .map((stored) => presentAgent(stored, belongs, docs, project, work))
}

/** @throws SvcError not_found */
export function getAgent(declared: Declared, name: string, project: string | null): Agent {
  const stored = find(declared, 'agent', name)
  const work = workOfAgents(declared.store.db, name)
  const agent = presentAgent(stored, belongings(declared), projectDocs(declared), project, work)
  const faults = isElsewhere(declared.env) ? [] : declared.modelFaults(stored.doc)
  const warnings = [...driftsOf(declared, 'agent', name), ...faults]
  return { ...agent, warnings }
}

export function listMcpServers(declared: Declared): McpServer[] {
  const belongs = belongings(declared)
  const counts = countTools(declared.store.db)
  return declared.kinds.mcp_server
    .list()
    .map((stored) => presentMcpServer(stored, belongs, counts, declared.env))
}

/** @throws SvcError not_found */
export function getMcpServer(declared: Declared, name: string): McpServer {
  const stored = find(declared, 'mcp_server', name)
  return presentMcpServer(stored, belongings(declared), countTools(declared.store.db), declared.env)
}

/** By name. */
export const listJoinedEntities = ({ kinds }: Declared): JoinedEntity[] =>
  kinds.entity.list().map(presentEntity)

/** @throws SvcError not_found */
export const getJoinedEntity = (declared: Declared, name: string): JoinedEntity =>
  presentEntity(find(declared, 'entity', name))

const presentEntity = ({ name, doc, changeSet, updatedAt }: StoredOf<'entity'>): JoinedEntity => ({
  name,
  ...doc,
  groups: groupsOfRule(doc),
  version: changeSet,
  updated_at: new Date(updatedAt).toISOString(),
})

function find<K extends NamedKind>({ kinds }: Declared, kind: K, name: string): StoredOf<K> {
  const found = kinds[kind].find(name)
  if (found) return found
  const names = kinds[kind].list().map(({ key }) => key)
  return fail('not_found', `no ${kindWord(kind)} is named ${name}${didYouMean(name, names)}`)
}

const projectDocs = ({ kinds }: Declared): Map<string, ProjectDoc> =>
  new Map(kinds.project.list().map((stored) => [stored.key, stored.doc]))

function common(kind: 'trigger' | 'agent' | 'mcp_server', stored: Stored, belongs: Belongs) {
  const belonging = belongs(kind, stored.name)
  return {
    project: belonging.owned_by ?? belonging.projects[0] ?? null,
    ...belonging,
    accepts: acceptedIn(kind, stored.state),
    version: stored.changeSet,
    created_at: new Date(stored.createdAt).toISOString(),
    updated_at: new Date(stored.updatedAt).toISOString(),
  }
}

function presentTrigger(
  stored: StoredOf<'trigger'>,
  belongs: Belongs,
  docs: ReadonlyMap<string, ProjectDoc>,
  activityOf: (name: string) => Activity,
  addresses: ReadonlyMap<string, number>,
): Trigger {
  const { paused, ...spec } = stored.doc
  const { lastFired, day, spark, subscriptions } = activityOf(stored.name)
  let subscribers = subscriptions
  for (const { wakes } of docs.values())
    subscribers += Object.values(wakes?.[stored.name] ?? {}).filter(({ enabled }) => enabled).length
  const shared = common('trigger', stored, belongs)
  const ofProjects = shared.projects.reduce((sum, id) => sum + (addresses.get(id) ?? 0), 0)
  return {
    name: stored.name,
    ...shared,
    ...spec,
    filters: spec.filters ?? [],
    key_field: spec.key_field ?? '',
    emit: {
      kind: spec.emit?.kind ?? stored.name,
      context_window: spec.emit?.context_window ?? TRIGGER_DEFAULTS.context_window,
    },
    cooldown: spec.cooldown ?? TRIGGER_DEFAULTS.cooldown,
    max_late: spec.max_late ?? TRIGGER_DEFAULTS.max_late,
    severity: severityOf(spec),
    severity_field: spec.severity_field ?? '',
    ...(spec.joined ? { joined: true } : {}),
    description: spec.description ?? '',
    paused: paused ?? false,
    state: stored.state as Trigger['state'],
    subscribers,
    wakes: wokenBy(stored.name, docs.values()),
    subscriptions: subscriptions + ofProjects,
    sentence: sentenceOf(spec),
    last_fired: isoOrNull(lastFired),
    firings_24h: day,
    spark,
  }
}

function presentAgent(
  stored: StoredOf<'agent'>,
  belongs: Belongs,
  docs: ReadonlyMap<string, ProjectDoc>,
  project: string | null,
  work: (agent: string) => Work,
): Agent {
  const { slack_webhook, webhook_token, ...spec } = stored.doc
  const shown = common('agent', stored, belongs)
  const ids = project === null ? shown.projects : [project]
  const wakes = ids.flatMap((id) =>
    Object.entries(docs.get(id)?.wakes ?? {}).flatMap(([trigger, agents]) => {
      const wake = agents[stored.name]
      return wake ? [{ trigger, enabled: wake.enabled }] : []
    }),
  )
  const handoffProject = project ?? shown.project
  const handoffDoc = handoffProject === null ? undefined : docs.get(handoffProject)
  const mcpServers = spec.mcp_servers ?? []
  return {
    name: stored.name,
    prompt: spec.prompt,
    model: spec.model ?? '',
    provider: spec.provider ?? '',
    fallback_provider: spec.fallback_provider ?? '',
    fallback_model: spec.fallback_model ?? '',
    mcp_servers: mcpServers,
    tools: spec.tools ?? [],
    max_rounds: spec.max_rounds ?? null,
    context: spec.context ?? 'brief',
    budget_usd: spec.budget_usd ?? null,
    daily_cap: spec.daily_cap ?? null,
    run_budget_usd: spec.run_budget_usd ?? null,
    remembers: spec.remembers ?? false,
    concurrency: spec.concurrency ?? null,
    concludes: spec.concludes ?? false,
    verdicts: spec.verdicts ?? [],
    slack_channel: spec.slack_channel ?? '',
    webhook_url: maskAddresses(spec.webhook_url ?? ''),
    webhook_key_label: spec.webhook_key_label ?? '',
    github: spec.github ?? '',
    github_writes: spec.github_writes ?? [],
    slack_configured: Boolean(spec.slack_channel || slack_webhook),
    webhook_token_configured: Boolean(webhook_token) || stored.unreadable.includes('webhook_token'),
    trigger: wakes[0]?.trigger ?? '',
    triggers: [...new Set(wakes.map((wake) => wake.trigger))].sort(),
    handoffs: handoffDoc ? handoffsOf(handoffDoc, stored.name) : [],
    enabled: wakes.some((wake) => wake.enabled),
    effective_max_rounds: spec.max_rounds ?? (mcpServers.length ? ROUNDS.withMcp : ROUNDS.plain),
    ...work(stored.name),
    state: 'active',
    ...shown,
  }
}

/** Programs of this machine that an MCP server may be, as the operator lists them. */
export const listPrograms = ({ env }: Declared): McpProgram[] =>
  programsOf(env).map((program) => ({
    name: program.name,
    url: `stdio:${program.name}`,
    command: commandOf(program),
    takes_credential: program.takesCredential,
  }))

/** The command line of a program; null: it is none, or none that the operator allows by now. */
function commandLineOf(url: string, env: Declared['env']): string | null {
  const name = programNameOf(url)
  const program = name === null ? null : programFor(name, env)
  return program === null || typeof program === 'string' ? null : commandOf(program)
}

function presentMcpServer(
  stored: StoredOf<'mcp_server'>,
  belongs: Belongs,
  counts: ReturnType<typeof countTools>,
  env: Declared['env'],
): McpServer {
  const { url, auth_header, auth_value, headers } = stored.doc
  return {
    name: stored.name,
    url: maskAddresses(url),
    command: commandLineOf(url, env),
    auth_header: auth_header ?? (auth_value ? 'Authorization' : ''),
    auth_value_configured: Boolean(auth_value) || stored.unreadable.includes('auth_value'),
    auth_credential: storedName(auth_value),
    headers: (headers ?? {}) as McpServer['headers'],
    ...(counts.get(stored.name) ?? { tools: 0, changed: 0 }),
    state: 'active',
    ...common('mcp_server', stored, belongs),
  }
}

/* Prompts to start an agent from. */

const agentPresets: AgentsResult['presets'] = [
  {
    id: 'what-changed',
    label: 'What changed',
    prompt:
      'Read the timeline of this entity for the last hour. Say what changed shortly before the trigger fired: deploys, configuration, traffic, dependencies. Name each change with its time. If nothing changed, say so.',
  },
  {
    id: 'error-investigation',
    label: 'Error investigation',
    prompt:
      'Find the most likely cause of the errors on this entity. Start with the first error, look at what happened just before it on every source, and separate what you saw from what you conclude. End with one next step a person can take now.',
  },
  {
    id: 'summarise-window',
    label: 'Summarise the window',
    prompt:
      'Summarise what happened on this entity in the window: what is normal, what stands out, and what a person should look at. Three short paragraphs at most, with numbers.',
  },
  {
    id: 'triage-schedule',
    label: 'Triage on a schedule',
    prompt:
      'Look through the summary of the window. Pick the one entity that most needs a closer look and give the verdict investigate with its name; if none does, conclude that there is nothing to report.',
  },
  {
    id: 'root-cause',
    label: 'Root cause after a handoff',
    prompt:
      'Another agent looked first and handed this entity to you. Read its finding, then find the root cause: widen the window, compare with other entities, test each explanation against the events. Give the verdict rca with the cause and its evidence, or resolved when it is over.',
  },
]
