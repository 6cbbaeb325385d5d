/** What is done to the declared side while it is killed, on a world where each of it means much. */
import { createEngine, type EngineOptions, type LocalEngine } from '../../engine/local.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')
const BY = { caller: { id: 'key:1', name: 'maria' }, origin: 'api' as const }

export const openWorld = (dataFile: string, boot: EngineOptions['boot'] = {}): LocalEngine =>
  createEngine({ dataFile, clock: { now: () => NOW }, boot })

/** The catalog of the world: every kind of part, with secrets, documents, wiring and sharing. */
export const CATALOG = `sources:
  - name: docs
    connector: reference
    config:
      attachments:
        - { name: runbook, format: md, content: Look twice. }
        - { name: owners, format: md, content: Maria owns checkout. }
  - name: gateway
    connector: webhook
    config:
      signature_scheme: github
      signature_secret: not-to-be-shown
      labels:
        - { name: service, field: service, primary: true }
triggers:
  - name: gateway-errors
    project: Storefront
    sources: [gateway]
    condition: { aggregate: count, predicate: "> 5", window: 5m }
  - name: nightly
    sources: [docs]
    condition: { every: 24h }
agents:
  - name: digger
    project: Storefront
    prompt: Find the cause.
  - name: first-look
    project: Storefront
    trigger: gateway-errors
    prompt: Say what broke.
    mcp_servers: [github]
    concludes: true
    handoffs:
      - { verdict: investigate, agent: digger }
    enabled: true
mcp_servers:
  - { name: github, url: "https://mcp.example/", auth_value: not-to-be-shown-either }
projects:
  - template: custom
    name: Reports
    objects:
      - { kind: agent, name: digger, shared: true }
  - template: custom
    name: Storefront
    goal: Catch bad deploys
    objects:
      - { kind: source, name: gateway }
      - { kind: source, name: docs }
entities:
  - { name: api, is: ["service=api", "repo=org/api"], owned_by: ["team=shop"] }
skills:
  - project: Storefront
    name: roll-back
    description: How to roll back.
    body: Look twice.
    used_by: [Reports]
wiring:
  - { project: Reports, wake: gateway-errors, agent: first-look }
`

const EDITED = CATALOG.replace('Look twice.', 'Look three times.')
  .replace('"> 5"', '"> 9"')
  .replace('{ verdict: investigate, agent: digger }', '{ verdict: dig, agent: digger }')
  .replace('    goal: Catch bad deploys\n', '')
  .replace('sources:\n', 'sources:\n  - { name: extra, connector: webhook, projects: [Storefront] }\n')

/** What a start can find to do, on an empty file: each does one thing more than the one before. */
export const BOOT: Record<string, NonNullable<EngineOptions['boot']>> = {
  'start with nothing': {},
  'start with a catalog': { catalog: { path: 'catalog.yaml', yaml: CATALOG } },
  'start with a catalog and a seed': {
    catalog: { path: 'catalog.yaml', yaml: CATALOG },
    seedProject: 'seeded_watch',
  },
}

/** A world with running, paused, broken and deleted projects, their keys and their history. */
export async function buildWorld(engine: LocalEngine): Promise<void> {
  await engine.importCatalog({ yaml: CATALOG }, BY)
  for (const name of ['Checkout', 'Paused', 'Broken', 'Gone'])
    await engine.createProject(
      { template: 'webhook_watch', name, params: { service: name.toLowerCase() } },
      BY,
    )
  await engine.moveProject('Paused', 'pause', true, BY)
  await engine.createSource(
    {
      name: 'pulse',
      connector: 'webhook',
      config: { labels: [{ name: 'service', field: 'service', primary: true }] },
    },
    BY,
    false,
  )
  const beat = { sources: ['pulse'], condition: { event: 'any' as const }, cooldown: '1s' }
  await engine.createTrigger({ name: 'beat', severity_field: 'level', ...beat }, BY)
  for (const service of ['checkout', 'search']) await pulse(engine, service)
  const [agent] = (await engine.listAgents('Broken')).agents
  await engine.deleteAgent(agent!.name, BY)
  await engine.createProjectKey('Gone', { name: 'reader', scopes: ['read'] }, BY)
  await engine.createProjectKey('Checkout', { name: 'reader', scopes: ['read', 'findings'] }, BY)
  await engine.deleteProject('Gone', { purgeEvents: false, picked: undefined }, BY)
}

/** An event that fires a trigger, whose incident it opens or adds to. */
async function pulse(engine: LocalEngine, service: string, level = 'warn'): Promise<unknown> {
  const source = (await engine.listSources()).find(({ name }) => name === 'pulse')!
  return engine.ingest({
    ingestKey: source.ingest_key!,
    body: Buffer.from(JSON.stringify({ service, level })),
    // The world's clock stands still.
    bypassCooldown: true,
    caller: 'key:1',
  })
}

const MARIA = { by: 'maria', via: 'key' as const }

/** The change-set that deleted the project Gone. */
async function deletion(engine: LocalEngine): Promise<number> {
  return (await engine.listChangeSets({ limit: 1 })).change_sets[0]!.id
}

async function missingKey(engine: LocalEngine): Promise<string> {
  const { objects } = await engine.getProject('Broken')
  return objects.find(({ state }) => state === 'missing')!.key!
}

/** Each is one request; each changes rows in several tables. */
export const OPERATIONS: Record<string, (engine: LocalEngine) => Promise<unknown>> = {
  'create from a template': (engine) =>
    engine.createProject({ template: 'webhook_watch', name: 'New', params: { service: 'new' } }, BY),
  'create from objects': (engine) =>
    engine.createProject(
      {
        template: 'custom',
        name: 'Second',
        objects: [
          { kind: 'trigger', name: 'nightly' },
          { kind: 'mcp_server', name: 'github' },
        ],
      },
      BY,
    ),
  pause: (engine) => engine.moveProject('Checkout', 'pause', true, BY),
  resume: (engine) => engine.moveProject('Paused', 'resume', false, BY),
  'update of parameters': (engine) =>
    engine.updateProject('Checkout', { params: { service: 'payments' }, goal: 'Look first' }, BY),
  'update of objects': (engine) =>
    engine.updateProject('Storefront', { objects: [{ kind: 'agent', name: 'digger' }], name: 'Shop' }, BY),
  repair: async (engine) => engine.repairProject('Broken', await missingKey(engine), BY),
  'delete of a template project': (engine) =>
    engine.deleteProject('Checkout', { purgeEvents: true, picked: undefined }, BY),
  'delete of a custom project': (engine) =>
    engine.deleteProject('Storefront', { purgeEvents: true, picked: 'source:docs,agent:first-look' }, BY),
  'undo of a delete': async (engine) => engine.undoChangeSet(await deletion(engine), false, BY),
  'roll back to the import': (engine) => engine.rollBack(1, { dryRun: false }, BY),
  'firing that opens an incident': (engine) => pulse(engine, 'payments'),
  'firing of an open incident': (engine) => pulse(engine, 'checkout'),
  'acknowledgement of an incident': (engine) =>
    engine.actOnIncident('inc_1', { action: 'acknowledge', version: 1 }, MARIA),
  'snooze of an incident': (engine) => engine.actOnIncident('inc_1', { action: 'snooze', version: 1 }, MARIA),
  'handling of many incidents': (engine) =>
    engine.actOnIncidents({ ids: ['inc_1', 'inc_2'], action: 'handle' }, MARIA),
  'catalog import': (engine) => engine.importCatalog({ yaml: EDITED, prune: true, max_deletions: 100 }, BY),
}
