/** Calls about what is declared: projects, parts, skills, change-sets, the catalog. */
import { type InputOf, requestOf } from '../api/client/call.ts'
import * as calls from '../api/client/calls.ts'
import type { Progress } from '../api/client/lines.ts'
import type {
  AgentUpdate,
  AgentWrite,
  CatalogCheck,
  CatalogImport,
  CatalogPullRequestAsk,
  CatalogRepositoryWrite,
  CatalogSyncAsk,
  EntityCoverageRequest,
  EntityWrite,
  MarkWrite,
  McpServerTest,
  McpServerWrite,
  PlanBacktestRequest,
  Project,
  ProjectCreate,
  ProjectDeletion,
  ProjectsResult,
  ProjectUpdate,
  ResourcesResult,
  SkillUpdate,
  SkillWrite,
  TriggerWrite,
} from '../schemas/types.ts'
import { ask, askTold, send } from './client.ts'
import { byName } from './lib/by-name.ts'
import { filtered } from './lib/filtered.ts'

type Dependent = NonNullable<InputOf<typeof calls.listDependents>['kind']>
type ProposalState = InputOf<typeof calls.listProposals>['state']
type Marked = Pick<InputOf<typeof calls.listResults>, 'mark' | 'before' | 'show'>
type ChangesQuery = InputOf<typeof calls.listChangeSets>

export type Removal = ProjectDeletion

/** The Default project first, as the API has it, then by name. */
function projectsIn(result: ProjectsResult): Project[] {
  const projects = byName(result.projects as Project[])
  return [...projects.filter((one) => one.default), ...projects.filter((one) => !one.default)]
}

export const declared = {
  /** Only a key of a project is told less of them, and that is for programs. */
  projects: async () => projectsIn(await ask(calls.listProjects)),
  /** Each with how it is doing. */
  projectsDoing: async () => projectsIn(await ask(calls.listProjects, { health: true })),
  /** With how it is doing. */
  project: (id: string) => ask(calls.getProject, { id, health: true }) as Promise<Project>,
  createProject: (body: ProjectCreate) => ask(calls.createProject, { body }),
  updateProject: (id: string, body: ProjectUpdate, version?: number) =>
    ask(calls.updateProject, { id, body }, { version }),
  pauseProject: (id: string, sources: boolean) => ask(calls.pauseProject, { id, body: { sources } }),
  resumeProject: (id: string) => ask(calls.resumeProject, { id }),
  takeOverProject: (id: string) => ask(calls.takeOverProject, { id }),
  releaseProject: (id: string) => ask(calls.releaseProject, { id }),
  repairProject: (id: string, key: string) => ask(calls.repairProject, { id, body: { key } }),
  /** @param picked kind:name of the parts that are to go; absent: those that go unless somebody picks */
  removal: (id: string, picked?: readonly string[]) =>
    ask(calls.getDeletion, { id, ...(picked && { delete: picked.join(',') }) }),
  deleteProject: (id: string, picked: readonly string[], purge: boolean) =>
    ask(calls.deleteProject, { id, purge_events: purge, delete: picked.join(',') }),
  outline: (id: string) => ask(calls.getOutline, { id }),
  health: (id: string) => ask(calls.getProjectHealth, { id }),
  /**
   * One of each incident: what was found of it so far.
   * @param mark right, wrong, partly, any or none; absent: all
   * @param show findings: without what found nothing
   */
  results: (
    id: string,
    of: { before?: string | undefined; mark?: string | undefined; show?: 'findings' | undefined },
  ) => ask(calls.listResults, { id, by: 'incident', ...filtered<Marked>(of) }),
  markHandled: (id: string, run: string, handled: boolean) =>
    ask(calls.markHandled, { id, run, body: { handled } }),
  markFinding: (id: string, run: string, body: MarkWrite) => ask(calls.markFinding, { id, run, body }),
  projectKeys: (id: string) => ask(calls.listProjectKeys, { id }),
  createProjectKey: (id: string, body: { name: string; scopes: ('read' | 'findings')[] }) =>
    ask(calls.createProjectKey, { id, body }),
  templates: async () => (await ask(calls.listTemplates)).templates,
  template: (key: string) => ask(calls.getTemplate, { key }),
  runAction: (id: string, name: string, body: Record<string, unknown>) =>
    ask(calls.runAction, { id, name, body }),
  detect: (key: string) => ask(calls.detectTemplate, { key }),

  triggers: async () => byName(await ask(calls.listTriggers)),
  trigger: (name: string) => ask(calls.getTrigger, { name }),
  createTrigger: (body: TriggerWrite) => ask(calls.createTrigger, { body }),
  updateTrigger: (body: TriggerWrite, version?: number) =>
    ask(calls.updateTrigger, { name: body.name, body }, { version }),
  deleteTrigger: (name: string) => ask(calls.deleteTrigger, { name }),
  moveTrigger: (name: string, event: 'pause' | 'resume') =>
    ask(event === 'pause' ? calls.pauseTrigger : calls.resumeTrigger, { name }),
  agents: async (project?: string) => {
    const { agents, ...rest } = await ask(calls.listAgents, { project })
    return { ...rest, agents: byName(agents) }
  },
  agent: (name: string) => ask(calls.getAgent, { name }),
  createAgent: (body: AgentWrite) => ask(calls.createAgent, { body }),
  updateAgent: (name: string, body: AgentUpdate, version?: number) =>
    ask(calls.updateAgent, { name, body }, { version }),
  deleteAgent: (name: string) => ask(calls.deleteAgent, { name }),
  switchAgent: (name: string, on: boolean) => ask(on ? calls.enableAgent : calls.disableAgent, { name }),
  mcpServers: async () => byName((await ask(calls.listMcpServers)).servers),
  mcpPrograms: async () => (await ask(calls.listMcpServers)).programs,
  mcpServer: (name: string) => ask(calls.getMcpServer, { name }),
  createMcpServer: (body: McpServerWrite) => ask(calls.createMcpServer, { body }),
  updateMcpServer: (body: McpServerWrite, version?: number) =>
    ask(calls.updateMcpServer, { name: body.name, body }, { version }),
  deleteMcpServer: (name: string) => ask(calls.deleteMcpServer, { name }),
  testMcpServer: (name: string) => ask(calls.testMcpServer, { name }),
  tryMcpServer: (body: McpServerTest) => ask(calls.tryMcpServer, { body }),
  mcpTools: async (name: string) => (await ask(calls.listMcpTools, { name })).tools,
  approveMcpTool: (name: string, tool: string, hash: string) =>
    ask(calls.approveMcpTool, { name, tool, body: { hash } }),
  dependents: (kind: Dependent, name: string) => ask(calls.listDependents, { kind, name }),
  resources: async (): Promise<ResourcesResult> => {
    const { sources, triggers, agents, tools, skills, keys } = await ask(calls.listResources)
    return {
      ...{ sources: byName(sources), triggers: byName(triggers), agents: byName(agents) },
      ...{ tools: byName(tools), skills: byName(skills), keys },
    }
  },

  skills: async () => byName(await ask(calls.listSkills)),
  projectSkills: (id: string) => ask(calls.listProjectSkills, { id }),
  skill: (id: string, name: string) => ask(calls.getProjectSkill, { id, name }),
  /** Address of its SKILL.md. */
  skillFile: (id: string, name: string) => requestOf(calls.downloadSkill, { id, name }).path,
  createSkill: (id: string, body: SkillWrite) => ask(calls.createSkill, { id, body }),
  uploadSkill: (id: string, text: string) => ask(calls.uploadSkill, { id, body: text }),
  updateSkill: (id: string, name: string, body: SkillUpdate, version?: number) =>
    ask(calls.updateSkill, { id, name, body }, { version }),
  removeSkill: (id: string, name: string) => ask(calls.removeSkill, { id, name }),

  entities: async () => byName((await ask(calls.listJoinedEntities)).entities),
  entity: (name: string) => ask(calls.getJoinedEntity, { name }),
  createEntity: (body: EntityWrite) => ask(calls.createJoinedEntity, { body }),
  updateEntity: (name: string, body: EntityWrite, version?: number) =>
    ask(calls.updateJoinedEntity, { name, body }, { version }),
  renameEntity: (name: string, to: string) => ask(calls.renameJoinedEntity, { name, body: { to } }),
  deleteEntity: (name: string) => ask(calls.deleteJoinedEntity, { name }),
  coverage: (body: EntityCoverageRequest) => ask(calls.entityCoverage, { body }),
  neighbours: (of: { label: string; value: string; to?: string }) => ask(calls.entityNeighbours, of),

  changes: (query: { project?: string; kind?: string; name?: string; before?: number }) =>
    ask(calls.listChangeSets, filtered<ChangesQuery>({ limit: 30, ...query })),
  changeSet: (id: number) => ask(calls.getChangeSet, { id }),
  undo: (id: number, dryRun: boolean) => ask(calls.undoChangeSet, { id, body: { dry_run: dryRun } }),

  backtestChange: (body: PlanBacktestRequest, signal: AbortSignal, told: (progress: Progress) => void) =>
    askTold(calls.backtestChange, { body }, signal, told),

  proposals: (state: string, before?: string) =>
    ask(calls.listProposals, { state: state as ProposalState, limit: 20, before: before || undefined }),
  /** How many wait for a person. */
  openProposals: async () => (await ask(calls.listProposals, { state: 'open', limit: 1 })).open,
  approveProposal: (id: string) => ask(calls.approveProposal, { id }),
  declineProposal: (id: string, reason: string) => ask(calls.declineProposal, { id, body: { reason } }),

  exportCatalog: async () => (await send(calls.exportCatalog)).text(),
  /** Address of the exported file. */
  catalogFile: requestOf(calls.exportCatalog).path,
  checkCatalog: (body: CatalogCheck) => ask(calls.checkCatalog, { body }),
  importCatalog: (body: CatalogImport) => ask(calls.importCatalog, { body }),
  forgetCatalogFile: (name: string) => ask(calls.forgetCatalogFile, { name }),
  drift: () => ask(calls.getDrift),
  catalogSync: () => ask(calls.getCatalogSync, {}),
  catalogSyncHistory: () => ask(calls.listCatalogSyncs),
  catalogAdoption: () => ask(calls.getAdoption),
  openPullRequest: (body: CatalogPullRequestAsk) => ask(calls.openPullRequest, { body }),
  followRepository: (body: CatalogRepositoryWrite) => ask(calls.followCatalogRepository, { body }),
  leaveRepository: () => ask(calls.leaveCatalogRepository),
  syncCatalog: (body: CatalogSyncAsk) => ask(calls.syncCatalog, { body }),
}

/** Query keys, in one place; what is declared is read again together. */
export const dkeys = {
  all: ['declared'],
  projects: ['declared', 'projects'],
  projectsDoing: ['declared', 'projects-doing'],
  project: (id: string) => ['declared', 'projects', id],
  of: (id: string, what: string) => ['declared', 'projects', id, what],
  proposals: (state: string) => ['declared', 'proposals', state],
  templates: ['templates'],
  triggers: ['declared', 'triggers'],
  trigger: (trigger: string) => ['declared', 'triggers', trigger],
  agents: ['declared', 'agents'],
  agent: (agent: string) => ['declared', 'agents', agent],
  mcpServers: ['declared', 'mcp-servers'],
  mcpPrograms: ['declared', 'mcp-programs'],
  mcpServer: (server: string) => ['declared', 'mcp-servers', server],
  mcpTools: (server: string) => ['declared', 'mcp-servers', server, 'tools'],
  skills: ['declared', 'skills'],
  skill: (id: string, skill: string) => ['declared', 'skills', id, skill],
  entities: ['declared', 'entities'],
  entity: (entity: string) => ['declared', 'entities', entity],
  coverage: (draft: string) => ['declared', 'coverage', draft],
  neighbours: (label: string, value: string, to: string) => ['declared', 'neighbours', label, value, to],
  changes: (of: string) => ['declared', 'changes', of],
  catalog: ['declared', 'catalog'],
} as const
