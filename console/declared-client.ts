/** Calls about what is declared: projects, parts, skills, change-sets, the catalog. */
import type {
  Agent,
  AgentsResult,
  AgentUpdate,
  AgentWrite,
  CatalogCheck,
  CatalogChecked,
  CatalogDrift,
  CatalogForgotten,
  CatalogImport,
  CatalogImported,
  ChangeApplied,
  ChangeSet,
  ChangeSetsResult,
  DependentsResult,
  DetectResult,
  KeyCreated,
  KeysResult,
  MarkWrite,
  McpServer,
  McpServersResult,
  McpServerTest,
  McpServerWrite,
  McpTestResult,
  McpTool,
  McpToolsResult,
  PartDeleted,
  PartWritten,
  Project,
  ProjectCreate,
  ProjectDeleted,
  ProjectHealth,
  ProjectOutline,
  ProjectReport,
  ProjectSkill,
  ProjectUpdate,
  Proposal,
  ProposalsResult,
  ResultMarked,
  ResultsResult,
  Skill,
  SkillRemoved,
  SkillSummary,
  SkillUpdate,
  SkillWrite,
  Template,
  TemplatesResult,
  Trigger,
  TriggerWrite,
} from '../schemas/types.ts'
import { call } from './client.ts'

const name = encodeURIComponent
const get = async <T>(path: string): Promise<T> => (await call('GET', path)).json() as Promise<T>
/** @param version that was shown: what others changed since is merged, or told as conflicts. */
const send = async <T>(method: string, path: string, body?: unknown, version?: number): Promise<T> =>
  (
    await call(method, path, body, undefined, version === undefined ? {} : { 'if-match': `"${version}"` })
  ).json() as Promise<T>
const project = (id: string) => `/api/projects/${name(id)}`

export interface Removal {
  deletes: { kind: string; name: string }[]
  releases: { kind: string; name: string }[]
  shared: { kind: string; name: string; projects: string[] }[]
  keys: number
  events: number
}

export const declared = {
  projects: async () => (await get<{ projects: Project[] }>('/api/projects')).projects,
  project: (id: string) => get<Project>(project(id)),
  createProject: (body: ProjectCreate) => send<Project>('POST', '/api/projects', body),
  updateProject: (id: string, body: ProjectUpdate, version?: number) =>
    send<Project & { report: ProjectReport }>('PUT', project(id), body, version),
  pauseProject: (id: string, sources: boolean) => send<Project>('POST', `${project(id)}/pause`, { sources }),
  resumeProject: (id: string) => send<Project>('POST', `${project(id)}/resume`),
  takeOverProject: (id: string) => send<Project>('POST', `${project(id)}/takeover`),
  releaseProject: (id: string) => send<Project>('POST', `${project(id)}/release`),
  repairProject: (id: string, key: string) => send<Project>('POST', `${project(id)}/repair`, { key }),
  removal: (id: string) => get<Removal>(`${project(id)}/deletion`),
  deleteProject: (id: string, picked: readonly string[], purge: boolean) =>
    send<ProjectDeleted>('DELETE', `${project(id)}?purge_events=${purge}&delete=${name(picked.join(','))}`),
  outline: (id: string) => get<ProjectOutline>(`${project(id)}/outline`),
  health: (id: string) => get<ProjectHealth>(`${project(id)}/health`),
  /**
   * One of each incident: what was found of it so far.
   * @param mark right, wrong, partly, any or none; absent: all
   */
  results: (id: string, { before, mark }: { before?: string | undefined; mark?: string | undefined }) =>
    get<ResultsResult>(
      `${project(id)}/results?${new URLSearchParams({ by: 'incident', ...(mark ? { mark } : {}), ...(before ? { before } : {}) })}`,
    ),
  result: (id: string, run: string) => get<{ note: string }>(`${project(id)}/results/${name(run)}`),
  markHandled: (id: string, run: string, handled: boolean) =>
    send<{ ok: true }>('POST', `${project(id)}/results/${name(run)}/handled`, { handled }),
  markFinding: (id: string, run: string, mark: MarkWrite) =>
    send<ResultMarked>('POST', `${project(id)}/results/${name(run)}/mark`, mark),
  projectKeys: (id: string) => get<KeysResult>(`${project(id)}/keys`),
  createProjectKey: (id: string, body: { name: string; scopes: ('read' | 'findings')[] }) =>
    send<KeyCreated>('POST', `${project(id)}/keys`, body),
  templates: async () => (await get<TemplatesResult>('/api/projects/templates')).templates,
  template: (key: string) => get<Template>(`/api/projects/templates/${name(key)}`),
  runAction: (id: string, action: string, args: Record<string, unknown>) =>
    send<{ message: string; run_id?: string }>(
      'POST',
      `/api/projects/${name(id)}/actions/${name(action)}`,
      args,
    ),
  detect: (key: string) => send<DetectResult>('POST', `/api/projects/templates/${name(key)}/detect`),

  triggers: () => get<Trigger[]>('/api/triggers'),
  trigger: (trigger: string) => get<Trigger>(`/api/triggers/${name(trigger)}`),
  createTrigger: (body: TriggerWrite) => send<PartWritten>('POST', '/api/triggers', body),
  updateTrigger: (body: TriggerWrite, version?: number) =>
    send<PartWritten>('PUT', `/api/triggers/${name(body.name)}`, body, version),
  deleteTrigger: (trigger: string) => send<PartDeleted>('DELETE', `/api/triggers/${name(trigger)}`),
  moveTrigger: (trigger: string, event: 'pause' | 'resume') =>
    send<{ ok: true }>('POST', `/api/triggers/${name(trigger)}/${event}`),
  agents: (of?: string) => get<AgentsResult>(`/api/agents/builtin${of ? `?project=${name(of)}` : ''}`),
  agent: (agent: string) => get<Agent>(`/api/agents/builtin/${name(agent)}`),
  createAgent: (body: AgentWrite) => send<PartWritten>('POST', '/api/agents/builtin', body),
  updateAgent: (agent: string, body: AgentUpdate, version?: number) =>
    send<PartWritten>('PUT', `/api/agents/builtin/${name(agent)}`, body, version),
  deleteAgent: (agent: string) => send<PartDeleted>('DELETE', `/api/agents/builtin/${name(agent)}`),
  switchAgent: (agent: string, on: boolean) =>
    send<{ ok: true }>('POST', `/api/agents/builtin/${name(agent)}/${on ? 'enable' : 'disable'}`),
  mcpServers: async () => (await get<McpServersResult>('/api/mcp-servers')).servers,
  mcpServer: (server: string) => get<McpServer>(`/api/mcp-servers/${name(server)}`),
  createMcpServer: (body: McpServerWrite) => send<PartWritten>('POST', '/api/mcp-servers', body),
  updateMcpServer: (body: McpServerWrite, version?: number) =>
    send<PartWritten>('PUT', `/api/mcp-servers/${name(body.name)}`, body, version),
  deleteMcpServer: (server: string) => send<PartDeleted>('DELETE', `/api/mcp-servers/${name(server)}`),
  testMcpServer: (server: string) => send<McpTestResult>('POST', `/api/mcp-servers/${name(server)}/test`),
  tryMcpServer: (body: McpServerTest) => send<McpTestResult>('POST', '/api/mcp-servers/test', body),
  mcpTools: async (server: string) =>
    (await get<McpToolsResult>(`/api/mcp-servers/${name(server)}/tools`)).tools,
  approveMcpTool: (server: string, tool: string, hash: string) =>
    send<McpTool>('POST', `/api/mcp-servers/${name(server)}/tools/${name(tool)}/approve`, { hash }),
  dependents: (kind: string, part: string) =>
    get<DependentsResult>(`/api/catalog/dependents?kind=${kind}&name=${name(part)}`),

  skills: () => get<SkillSummary[]>('/api/skills'),
  projectSkills: (id: string) => get<ProjectSkill[]>(`${project(id)}/skills`),
  skill: (id: string, skill: string) => get<Skill>(`${project(id)}/skills/${name(skill)}`),
  createSkill: (id: string, body: SkillWrite) => send<Skill>('POST', `${project(id)}/skills`, body),
  uploadSkill: async (id: string, text: string) =>
    (
      await call('POST', `${project(id)}/skills/upload`, text, undefined, { 'content-type': 'text/markdown' })
    ).json() as Promise<Skill>,
  updateSkill: (id: string, skill: string, body: SkillUpdate, version?: number) =>
    send<Skill>('PUT', `${project(id)}/skills/${name(skill)}`, body, version),
  removeSkill: (id: string, skill: string) =>
    send<SkillRemoved>('DELETE', `${project(id)}/skills/${name(skill)}`),

  changes: (query: { project?: string; kind?: string; name?: string; before?: number }) => {
    const asked = new URLSearchParams({ limit: '30' })
    if (query.project) asked.set('project', query.project)
    if (query.kind) asked.set('kind', query.kind)
    if (query.name) asked.set('name', query.name)
    if (query.before) asked.set('before', String(query.before))
    return get<ChangeSetsResult>(`/api/change-sets?${asked}`)
  },
  changeSet: (id: number) => get<ChangeSet>(`/api/change-sets/${id}`),
  undo: (id: number, dryRun: boolean) =>
    send<ChangeApplied>('POST', `/api/change-sets/${id}/undo`, { dry_run: dryRun }),

  proposals: (state: string, before?: string) =>
    get<ProposalsResult>(
      `/api/proposals?state=${name(state)}&limit=20${before ? `&before=${name(before)}` : ''}`,
    ),
  /** How many wait for a person. */
  openProposals: async () => (await get<ProposalsResult>('/api/proposals?state=open&limit=1')).open,
  approveProposal: (id: string) => send<Proposal>('POST', `/api/proposals/${name(id)}/approve`),
  declineProposal: (id: string, reason: string) =>
    send<Proposal>('POST', `/api/proposals/${name(id)}/decline`, { reason }),

  exportCatalog: async () => (await call('GET', '/api/catalog/export')).text(),
  checkCatalog: (body: CatalogCheck) => send<CatalogChecked>('POST', '/api/catalog/check', body),
  importCatalog: (body: CatalogImport) => send<CatalogImported>('POST', '/api/catalog/import', body),
  forgetCatalogFile: (file: string) => send<CatalogForgotten>('DELETE', `/api/catalog/files/${name(file)}`),
  drift: () => get<CatalogDrift>('/api/catalog/drift'),
}

/** Query keys, in one place; what is declared is read again together. */
export const dkeys = {
  all: ['declared'],
  projects: ['declared', 'projects'],
  project: (id: string) => ['declared', 'projects', id],
  of: (id: string, what: string) => ['declared', 'projects', id, what],
  proposals: (state: string) => ['declared', 'proposals', state],
  templates: ['templates'],
  triggers: ['declared', 'triggers'],
  trigger: (trigger: string) => ['declared', 'triggers', trigger],
  agents: ['declared', 'agents'],
  agent: (agent: string) => ['declared', 'agents', agent],
  mcpServers: ['declared', 'mcp-servers'],
  mcpServer: (server: string) => ['declared', 'mcp-servers', server],
  mcpTools: (server: string) => ['declared', 'mcp-servers', server, 'tools'],
  skills: ['declared', 'skills'],
  skill: (id: string, skill: string) => ['declared', 'skills', id, skill],
  changes: (of: string) => ['declared', 'changes', of],
  catalog: ['declared', 'catalog'],
} as const
