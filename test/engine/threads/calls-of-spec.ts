/**
 * Which calls only read, by hand from SPEC.md: what answers a GET, and what only computes (preview, backtest,
 * plan, check, test, discover). With what each is asked on the world of who-answers.test.ts.
 */
import { packReport } from '../../../engine/agents/evals/reports.ts'
import { CATALOG } from '../../chaos/declared-operations.ts'
import { proposal } from '../declared/setup/setup-world.ts'
import { NOW } from './split.ts'

/** Ids that the world makes. */
export interface Made {
  /** Of guided setup. */
  project: string
  run: string
  proposal: string
  firing: string
  event: string
  session: string
  /** Of svc evals. */
  report: string
}

export const REPORT = await packReport({
  ...{ version: 1 as const, at: '2026-11-20T11:00:00.000Z', release: '1.0.0', pack: 'mine', noise: [] },
  ...{ spent_usd: 0, stopped: false, scenes: [], runs: [], measured: [] },
})

/** What is said of an operation. */
export interface Said {
  params?: object
  query?: object
  body?: object
}

const named = (name: string): Said => ({ params: { name } })
const ofProject = (more: Said = {}): Said => ({ ...more, params: { id: 'Storefront', ...more.params } })

/** Operations that only read. */
export const READS: Record<string, (made: Made) => Said> = {
  // parts and resources
  listSources: () => ({}),
  getSource: () => named('gateway'),
  listTriggers: () => ({}),
  getTrigger: () => named('gateway-errors'),
  listAgents: () => ({ query: { project: 'Storefront' } }),
  getAgent: () => named('first-look'),
  listMcpServers: () => ({}),
  getMcpServer: () => named('github'),
  listResources: () => ({}),
  listCatalog: () => ({}),
  describeInCatalog: () => ({ params: { handle: 'source:gateway' } }),
  listDependents: () => ({ query: { kind: 'source', name: 'gateway' } }),
  listSkills: () => ({}),
  listProjectSkills: () => ofProject(),
  getProjectSkill: () => ofProject({ params: { name: 'roll-back' } }),
  downloadSkill: () => ofProject({ params: { name: 'roll-back' } }),
  // projects
  listTemplates: () => ({}),
  getTemplate: () => ({ params: { key: 'webhook_watch' } }),
  detectTemplate: () => ({ params: { key: 'webhook_watch' } }),
  listProjects: () => ({}),
  getProject: () => ofProject(),
  getProjectSummary: () => ofProject(),
  getWiring: () => ofProject(),
  getDeletion: () => ofProject(),
  listHeldProjects: () => ({}),
  getOutline: () => ofProject(),
  getProjectHealth: () => ofProject(),
  listResults: () => ofProject({ query: { limit: 10 } }),
  getResult: ({ run }) => ofProject({ params: { run } }),
  listAllFindings: () => ({ query: { limit: 10 } }),
  getFinding: ({ run }) => ({ params: { run } }),
  listFindings: () => ofProject({ query: { limit: 10 } }),
  getProjectGraph: () => ofProject(),
  // change-sets and the catalog
  listChangeSets: () => ({ query: { limit: 10 } }),
  getChangeSet: () => ({ params: { id: 1 } }),
  backtestChange: () => ({ body: { yaml: CATALOG.replace('"> 5"', '"> 9"'), window: '1d' } }),
  getDrift: () => ({}),
  exportCatalog: () => ({ query: { format: 'yaml' } }),
  updateCatalogFile: () => ({ body: { yaml: CATALOG } }),
  checkCatalog: () => ({ body: { yaml: CATALOG.replace('"> 5"', '"> 9"') } }),
  getCatalogSchema: () => ({}),
  getCatalogSync: () => ({ query: { parts: 'all' } }),
  listCatalogSyncs: () => ({}),
  // proposals and guided setup
  listProposals: () => ({ query: { limit: 10 } }),
  getProposal: ({ proposal }) => ({ params: { id: proposal } }),
  getSetup: ({ project }) => ({ params: { id: project } }),
  checkSetup: () => ({ body: { plan: proposal({ goal: 'Watch' }) } }),
  // agents and triggers at work
  previewAgent: ({ firing }) => ({ ...named('first-look'), query: { firing } }),
  agentForecast: () => named('first-look'),
  listRuns: () => ({ query: { limit: 10, offset: 0 } }),
  listAgentRuns: () => ({ ...named('first-look'), query: { limit: 10, offset: 0 } }),
  getRun: ({ run }) => ({ params: { id: run } }),
  listAgentExamples: () => named('first-look'),
  listAgentTests: () => ({ ...named('first-look'), query: { limit: 10, offset: 0 } }),
  getAgentTest: () => ({ params: { name: 'first-look', id: 'test_gone' } }),
  getDemo: () => ({}),
  getHome: () => ({}),
  listIncidents: () => ({ query: { limit: 10 } }),
  getIncident: () => ({ params: { incident: 'inc_1' } }),
  listMaintenance: () => ({}),
  listFirings: () => ({ query: { limit: 10 } }),
  getFiring: ({ firing }) => ({ params: { id: firing } }),
  getFiringEvidence: ({ firing }) => ({ params: { id: firing } }),
  listFiringEvents: ({ firing }) => ({ params: { id: firing } }),
  listDispatches: () => ({ query: { limit: 10 } }),
  getDispatch: ({ firing }) => ({ params: { id: firing } }),
  listDeliveries: () => ({ query: { limit: 10 } }),
  getDelivery: () => ({ params: { id: 'dlv_gone' } }),
  getDeliveryMessage: () => ({ params: { id: 'dlv_gone' } }),
  why: ({ event }) => ({ params: { id: event } }),
  listEvaluations: () => ({ ...named('gateway-errors'), query: { limit: 10 } }),
  backtest: () => ({ body: { trigger: 'gateway-errors', window: '1d' } }),
  listSubscriptions: () => ({}),
  listProjectSubscriptions: () => ofProject(),
  listExternalAgents: () => ofProject(),
  // events
  exportEvents: () => ({ query: { window: '7d', limit: 10, sample: 100 } }),
  stats: () => ({ body: { by: 'service' } }),
  histogram: () => ({ body: { selector: {} } }),
  listTraces: () => ({ query: { window: '1h' } }),
  getTrace: () => ({ params: { id: '0123456789abcdef' }, query: {} }),
  listSpans: () => ({ query: { window: '1h' } }),
  listMetricSeries: () => ({ query: { window: '1h' } }),
  listAgentActivity: () => ({ query: { window: '1h' } }),
  inspect: () => ({ body: { tool: 'sources' } }),
  listEntities: () => ({ query: { limit: 10 } }),
  listJoinedEntities: () => ({}),
  getJoinedEntity: () => named('api'),
  entityCoverage: () => ({ body: { is: ['service=api', 'repo=org/api'] } }),
  entityNeighbours: () => ({ query: { label: 'service', value: 'api', window: '24h' } }),
  getEvent: ({ event }) => ({ params: { id: event } }),
  listSourceEvents: () => ({ ...named('gateway'), query: { limit: 10 } }),
  listSourceFields: () => ({ ...named('gateway'), query: { limit: 10 } }),
  previewLabel: () => ({ body: { label: { name: 'service', field: 'service' }, source: 'gateway' } }),
  listEvalReports: () => ({}),
  getEvalReport: ({ report }) => ({ params: { id: report } }),
  previewScenario: ({ run }) => ({ params: { id: run }, body: {} }),
  downloadScenario: ({ run }) => ({ params: { id: run }, body: { causes: [] } }),
  getReplay: () =>
    ofProject({
      query: { limit: 10, from: new Date(NOW).toISOString(), to: new Date(NOW + 1).toISOString() },
    }),
  previewDraft: () =>
    ofProject({
      body: {
        yaml: true,
        operations: [
          { op: 'patch', kind: 'trigger', name: 'nightly', spec: { cooldown: '7h' } },
          { op: 'put', kind: 'entity', name: 'web', spec: { is: ['service=web', 'repo=org/web'] } },
          {
            op: 'put',
            kind: 'source',
            name: 'drafted',
            project: 'Storefront',
            spec: { connector: 'webhook' },
          },
          { op: 'put', kind: 'agent', name: 'drafted', project: 'Storefront', spec: { prompt: 'Dig.' } },
          { op: 'move', kind: 'source', name: 'gateway', event: 'pause' },
        ],
      },
    }),
  // access, settings and the instance
  listConnectors: () => ({}),
  listPresets: () => ({}),
  listKeys: () => ({}),
  listOauthSessions: () => ({}),
  listProjectKeys: () => ofProject(),
  getUsage: () => ({}),
  listMcpTools: () => named('github'),
  listModelProviders: () => ({}),
  getModelPrices: () => ({}),
  getAgentSettings: () => ({}),
  modelUsage: () => ({ query: { days: 7 } }),
  getProviderAKey: () => ({}),
  getGateway: () => ({}),
  getSlackBotToken: () => ({}),
  getSlackPeople: () => ({}),
  getSlackSigningSecret: () => ({}),
  getSlackTeam: () => ({}),
  listCredentials: () => ({}),
  listAskStarters: () => ({}),
  listAskSessions: () => ({}),
  getAskSession: ({ session }) => ({ params: { id: session } }),
}

/** Calls by name that only read: of routes made by hand, and of what works on the network thread. */
export const READS_BY_NAME: Record<string, (made: Made) => unknown[]> = {
  findOauthClient: () => ['svc_client_none'],
  projectCard: () => ['Storefront'],
  catalogSync: () => ['all'],
  planCommit: () => [
    {
      ...{ name: 'shop', texts: [{ path: 'shop.yaml', text: CATALOG }], included: {}, environment: null },
      ...{ prune: true, remembered: [], reads: true, merge: null },
    },
  ],
  adoptCommit: () => [
    { name: 'shop', texts: [{ path: 'shop.yaml', text: CATALOG }], included: {}, environment: null },
  ],
  adoptionState: () => [],
  projectId: () => ['Storefront'],
  listSources: () => [],
  getTrigger: () => ['gateway-errors'],
  listTemplates: () => [],
  allFindings: () => [{ limit: 10 }],
  listRuns: () => [{ limit: 10, offset: 0 }],
  getRun: ({ run }) => [run],
  event: ({ event }) => [event],
  entityValues: () => ['service', 10],
  inspect: () => [{ tool: 'sources' }],
  listFirings: () => [{ limit: 10 }],
  getFiring: ({ firing }) => [firing],
  firingEvents: ({ firing }) => [firing],
  why: ({ event }) => [event],
  deliveryMessage: () => ['dlv_gone'],
  // what runs read: their own tools
  briefFor: ({ project }) => [
    [project],
    { label: 'service', entity: 'pay', to: 1, asOf: 1, fired: [], budget: 1_000 },
  ],
  readFor: ({ project }) => [[project], { selector: { service: 'pay' } }],
  statsFor: ({ project }) => [[project], { by: 'service' }, NOW],
  inspectFor: ({ project }) => [[project], { tool: 'sources' }, NOW],
  eventsOf: ({ event }) => [[event]],
  skillOf: ({ project }) => [[project], 'roll-back'],
  // access and settings
  directory: () => [],
  revokedKey: () => ['0'.repeat(64)],
  status: () => [],
  mcpServersToConnect: () => [['github']],
  mcpServerToTry: () => [{ url: 'https://mcp.example/' }],
  modelConfig: () => [],
  credentialToAsk: () => ['main'],
  tracingConfig: () => [],
  storedTracing: () => [],
  slackSecret: () => ['bot_token'],
  slackAccess: () => [],
  slackPeople: () => [],
  slackPerson: () => ['U1', true],
  slackSigningSecret: () => [],
  slackTeam: () => [],
  configToTest: () => [{ name: 'gateway', connector: 'webhook' }],
  configToDiscover: () => [{ connector: 'prometheus', config: { url: 'http://prometheus.example' } }],
}

/** Names of the same kind that have an operation too, which is asked above. */
export const AS_OPERATIONS = [
  ...['listTriggers', 'listAgents', 'listMcpServers', 'listSkills', 'listProjects', 'listConnectors'],
  ...['getSource', 'getAgent', 'getMcpServer', 'getProject', 'projectOutline', 'detectTemplate'],
  ...['sourceFields', 'sourceEvents', 'entities', 'listMcpTools', 'listModelProviders'],
]

/**
 * Operations that with dry_run only plan: how they are asked to, and how they are asked to do it. `applied` is the
 * change-set that the first of them made.
 */
export const PLANS: Record<string, (dryRun: boolean, applied: number) => Said> = {
  applyChangeSet: (dry_run) => ({
    body: {
      operations: [{ op: 'patch', kind: 'trigger', name: 'nightly', spec: { cooldown: '3h' } }],
      dry_run,
    },
  }),
  undoChangeSet: (dry_run, id) => ({ params: { id }, body: { dry_run } }),
  rollBack: (dry_run, id) => ({ params: { id }, body: { dry_run } }),
  importCatalog: (dry_run) => ({ body: { yaml: CATALOG.replace('"> 5"', '"> 7"'), dry_run } }),
}

/** Of these there is none in that world. */
export const NONE = ['getAgentTest', 'getTrace', 'getDelivery', 'getDeliveryMessage', 'deliveryMessage']

/** What the daemon's own workers, and what needs the writer for what it knows alone, ask it. */
export const OF_THE_WRITER: Record<string, string> = {
  loadSessions: 'forgets those that are too old',
  claimRuns: 'takes what waits',
  claimDeliveries: 'takes what waits',
  claimFiring: 'takes what waits',
  nextDelivery: 'one row by index, between two claims',
}
