/**
 * Which calls only read, by hand from SPEC.md: what answers a GET, and what only computes (preview, backtest,
 * plan, check, test, discover). With what each is asked on the world of who-answers.test.ts.
 */
import { packReport } from '../../../engine/evals/reports.ts'
import { CATALOG } from '../../chaos/declared-operations.ts'
import { proposal } from '../setup/setup-world.ts'
import { NOW } from './split.ts'

const ME = { id: 'key:1', name: 'maria' }
const BY = { caller: ME, origin: 'api' as const }

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

export const READS: Record<string, (made: Made) => unknown[]> = {
  // parts and resources
  listSources: () => [],
  getSource: () => ['gateway'],
  listTriggers: () => [],
  getTrigger: () => ['gateway-errors'],
  listAgents: () => ['Storefront'],
  getAgent: () => ['first-look'],
  listMcpServers: () => [],
  getMcpServer: () => ['github'],
  resources: () => [],
  catalogListing: () => [null],
  describeHandle: () => ['source:gateway', null],
  dependents: () => ['source', 'gateway'],
  listSkills: () => [],
  listProjectSkills: () => ['Storefront'],
  getProjectSkill: () => ['Storefront', 'roll-back'],
  skillFile: () => ['Storefront', 'roll-back'],
  // projects
  listTemplates: () => [],
  getTemplate: () => ['webhook_watch'],
  detectTemplate: () => ['webhook_watch'],
  projectId: () => ['Storefront'],
  listProjects: () => [],
  getProject: () => ['Storefront'],
  projectCard: () => ['Storefront'],
  heldProjects: () => [],
  projectRemoval: () => ['Storefront'],
  projectOutline: () => ['Storefront'],
  projectHealth: () => ['Storefront'],
  projectSummary: () => ['Storefront'],
  projectResults: () => ['Storefront', { limit: 10 }],
  projectResult: ({ run }) => ['Storefront', run],
  projectFindings: () => ['Storefront', { limit: 10 }],
  projectToday: () => ['Storefront'],
  declaredGraph: () => ['Storefront'],
  // change-sets and the catalog
  listChangeSets: () => [{ limit: 10 }],
  getChangeSet: () => [1],
  catalogDrift: () => [],
  exportCatalog: () => [],
  updateCatalogFile: () => [CATALOG],
  checkCatalog: () => [{ yaml: CATALOG.replace('"> 5"', '"> 9"') }, true],
  readCatalogFile: () => [{ yaml: CATALOG }],
  catalogSchema: () => [],
  // proposals and guided setup
  listProposals: () => [{ limit: 10 }],
  getProposal: ({ proposal }) => [proposal],
  getSetup: ({ project }) => [project],
  checkSetup: () => [{ plan: proposal({ goal: 'Watch' }) }],
  // agents, triggers and deliveries at work
  previewAgent: ({ firing }) => ['first-look', firing],
  agentForecast: () => ['first-look'],
  listRuns: () => [{ limit: 10, offset: 0 }],
  getRun: ({ run }) => [run],
  listAgentExamples: () => ['first-look'],
  listAgentTests: () => ['first-look', { limit: 10, offset: 0 }],
  getAgentTest: () => ['first-look', 'test_gone'],
  listFirings: () => [{ limit: 10 }],
  getFiring: ({ firing }) => [firing],
  firingEvents: ({ firing }) => [firing],
  listDispatches: () => [10],
  getDispatch: ({ firing }) => [firing],
  listDeliveries: () => [{ limit: 10 }],
  getDelivery: () => ['dlv_gone'],
  deliveryMessage: () => ['dlv_gone'],
  why: ({ event }) => [event],
  evaluations: () => ['gateway-errors', { limit: 10 }],
  backtest: () => [{ trigger: 'gateway-errors', window: '1d' }],
  listSubscriptions: () => [{}],
  // events
  stats: () => [{ by: 'service' }],
  histogram: () => [{ selector: {} }],
  inspect: () => [{ tool: 'sources' }],
  entities: () => [10],
  entityValues: () => ['service', 10],
  event: ({ event }) => [event],
  sourceEvents: () => ['gateway', 10],
  sourceFields: () => ['gateway', 10],
  previewLabel: () => [{ label: { name: 'service', field: 'service' }, source: 'gateway' }],
  listEvalReports: () => [],
  getEvalReport: ({ report }) => [report],
  previewScenario: ({ run }) => [run, {}],
  scenarioOfRun: ({ run }) => [run, { causes: [] }],
  replay: () => [
    'Storefront',
    { limit: 10, from: new Date(NOW).toISOString(), to: new Date(NOW + 1).toISOString() },
  ],
  previewDraft: () => [
    'Storefront',
    {
      yaml: true,
      operations: [
        { op: 'patch', kind: 'trigger', name: 'nightly', spec: { cooldown: '7h' } },
        { op: 'put', kind: 'source', name: 'drafted', project: 'Storefront', spec: { connector: 'webhook' } },
        { op: 'put', kind: 'agent', name: 'drafted', project: 'Storefront', spec: { prompt: 'Dig.' } },
        { op: 'move', kind: 'source', name: 'gateway', event: 'pause' },
      ],
    },
    BY,
  ],
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
  // access, settings and the instance
  listConnectors: () => [],
  listKeys: () => [],
  directory: () => [],
  usage: () => [],
  status: () => [],
  listMcpTools: () => ['github'],
  mcpServersToConnect: () => [['github']],
  mcpServerToTry: () => [{ url: 'https://mcp.example/' }],
  listModelProviders: () => [],
  modelPrices: () => [],
  agentSettings: () => [],
  modelUsage: () => [7],
  modelConfig: () => [],
  listCredentials: () => [],
  credentialToAsk: () => ['main'],
  listAskSessions: () => [ME],
  getAskSession: ({ session }) => [session, ME],
  tracingConfig: () => [],
  storedTracing: () => [],
  slackSecret: () => ['bot_token'],
  slackAccess: () => [],
  slackSigningSecret: () => [],
  configToTest: () => [{ name: 'gateway', connector: 'webhook' }],
  configToDiscover: () => [{ connector: 'prometheus', config: { url: 'http://prometheus.example' } }],
}

/**
 * Calls that with dry_run only plan: how they are asked to, and how they are asked to do it. `applied` is the
 * change-set that the first of them made.
 */
export const PLANS: Record<string, (dryRun: boolean, applied: number) => unknown[]> = {
  applyChangeSet: (dry_run) => [
    { operations: [{ op: 'patch', kind: 'trigger', name: 'nightly', spec: { cooldown: '3h' } }], dry_run },
    BY,
  ],
  undoChangeSet: (dryRun, applied) => [applied, dryRun, BY],
  rollBack: (dryRun, applied) => [applied, { dryRun }, BY],
  importCatalog: (dry_run) => [{ yaml: CATALOG.replace('"> 5"', '"> 7"'), dry_run }, BY],
}

/** Of these there is none in that world. */
export const NONE = ['getAgentTest', 'getDelivery', 'deliveryMessage']

/** What the daemon's own workers, and what needs the writer for what it knows alone, ask it. */
export const OF_THE_WRITER: Record<string, string> = {
  loadSessions: 'forgets those that are too old',
  claimRuns: 'takes what waits',
  claimDeliveries: 'takes what waits',
  claimFiring: 'takes what waits',
  nextDelivery: 'one row by index, between two claims',
}
