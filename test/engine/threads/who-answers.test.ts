/**
 * 15 E1: calls that only read never run on the writer. Each is asked of a reader whose connection cannot
 * write, and answers what the engine in process does; what is said to write does write.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CatalogRead } from '../../../engine/declared/catalog/apply.ts'
import { hashSecret } from '../../../engine/declared/keys.ts'
import { operations } from '../../../engine/operations/index.ts'
import { buildWorld, CATALOG } from '../../chaos/declared-operations.ts'
import { proposal } from '../declared/setup/setup-world.ts'
import {
  AS_OPERATIONS,
  type Made,
  NONE,
  OF_THE_WRITER,
  PLANS,
  READS,
  READS_BY_NAME,
  REPORT,
  type Said,
} from './calls-of-spec.ts'
import { NOW, openSplit, outcomeOf, type Split } from './split.ts'

const ME = { id: 'key:1', name: 'maria' }
const BY = { caller: ME, origin: 'api' as const }
/** Who asks, and what. */
const told = ({ params = {}, query = {}, body }: Said) => ({
  ...{ params, query, body, by: BY, caller: { ...ME, scopes: ['admin'] }, project: null, secured: false },
  asked: { by: ME.id, gone: new AbortController().signal },
})
const SESSION = '0123456789abcdef'
const FETCHER = { by: ME, own: false }
const FINDING = { entity: 'pay', label: 'service', finding: 'The deploy broke it.', verdict: 'dig' }

let svc: Split
let made: Made
let applied = 0

beforeAll(async () => {
  svc = openSplit()
  made = await madeIn(svc)
})
afterAll(() => svc.close())

async function madeIn({ engine }: Split): Promise<Made> {
  await buildWorld(engine)
  const plain = (await engine.listSources()).find(({ name }) => name === 'gateway')!
  await engine.updateSource(
    'gateway',
    {
      ...{ name: 'gateway', connector: 'webhook' },
      config: { labels: plain.config.labels as [], signature_secret: '' },
    },
    BY,
  )
  const items = Array.from({ length: 8 }, () => ({ service: 'pay', text: 'it broke' }))
  const stored = await engine.ingest({
    ingestKey: plain.ingest_key!,
    body: Buffer.from(JSON.stringify(items)),
    bypassCooldown: false,
    caller: ME.id,
  })
  const { run_id: run } = await engine.recordFinding('Storefront', FINDING, 'my-agent', FETCHER)
  const applied = await engine.applySetup({ plan: proposal({ goal: 'Watch' }) }, BY, false)
  const operations = [
    { op: 'patch' as const, kind: 'trigger' as const, name: 'nightly', spec: { cooldown: '2h' } },
  ]
  await engine.createCredential({ name: 'main', token: 'ghp_x', api_url: 'http://127.0.0.1:9' })
  await engine.saveAskSession(SESSION, { title: 'Why' }, ME)
  return {
    run,
    project: applied.project.id,
    proposal: (await engine.propose({ operations }, BY)).id,
    firing: (await engine.listFirings({ limit: 1 })).firings[0]!.dispatch_id,
    event: stored.ids![0]!,
    session: SESSION,
    report: (await engine.handInEvalReport(REPORT, 'maria')).id,
  }
}

describe('a call that only reads', () => {
  it('is listed by hand, like each that plans and each that writes', () => {
    const { names, calls } = svc
    const tables = [READS, PLANS, WRITES, NETWORK]
    const known = new Set([...tables.flatMap((table) => Object.keys(table)), ...OTHERS])
    const ids = operations.map(({ id }) => id).filter((id) => !id.startsWith('legacy'))
    expect(ids.filter((id) => !known.has(id))).toEqual([])
    expect([...known].filter((id) => !ids.includes(id))).toEqual([])
    const byName = new Set([
      ...Object.keys(READS_BY_NAME),
      ...AS_OPERATIONS,
      ...Object.keys(NAMED_WRITES),
      ...OTHER_NAMED,
    ])
    expect(names.filter((name) => !byName.has(name) && !(name in OF_THE_WRITER))).toEqual([])
    expect([...byName].filter((name) => calls[name] === undefined)).toEqual([])
  })

  it.each(Object.keys(READS))('operation %s is never asked of the writer, and writes nothing', async (id) => {
    await expectRead(
      () => svc.engine.perform(id, told(READS[id]!(made))),
      () => svc.perform(id, told(READS[id]!(made))),
      NONE.includes(id),
    )
  })

  it.each(Object.keys(READS_BY_NAME))('%s is never asked of the writer, and writes nothing', async (name) => {
    const args = READS_BY_NAME[name]!(made)
    const own = svc.engine as unknown as Split['calls']
    await expectRead(
      () => own[name]!(...args),
      () => svc.calls[name]!(...args),
      NONE.includes(name),
    )
  })

  async function expectRead(
    inProcess: () => Promise<unknown>,
    inThreads: () => Promise<unknown>,
    isNone: boolean,
  ): Promise<void> {
    const before = svc.commits()
    // What was measured up to a second ago is measured anew.
    svc.clock.at += 2_000
    const there = comparable(await outcomeOf(inProcess))
    svc.went()
    const here = comparable(await outcomeOf(inThreads))
    expect(svc.went()).not.toContain('writer')
    expect(svc.commits()).toBe(before)
    expect(here).toEqual(there)
    expect('answer' in (here as object)).toBe(!isNone)
  }

  it.each(Object.keys(PLANS))('is %s with dry_run, which plans what is then done', async (name) => {
    const asked = told(PLANS[name]!(true, applied))
    const before = svc.commits()
    const planned = await outcomeOf(() => svc.perform(name, asked))
    expect(svc.went()).toEqual(['wide'])
    expect(planned).toEqual(await outcomeOf(() => svc.engine.perform(name, asked)))
    expect(planned).toHaveProperty('answer')
    const did = (await svc.perform(name, told(PLANS[name]!(false, applied)))) as { change_set: number }
    applied ||= did.change_set
    expect(svc.went()).toEqual(name === 'importCatalog' ? ['wide', 'writer'] : ['writer'])
    expect(svc.commits()).not.toBe(before)
  })

  it('15 B7: is the reading of a catalog file: whoever imports it does not look at its text', async () => {
    const { engine, writer, reader } = svc
    const yaml = CATALOG.replace('Catch bad deploys', 'Catch them').replace(
      'not-to-be-shown',
      'in-plain-text',
    )
    const read = (await reader.readCatalogFile!({ yaml, name: 'read' })) as CatalogRead
    expect(JSON.stringify(read.files)).not.toContain('in-plain-text')
    const done = await writer.importCatalog({ yaml: 'no: [catalog' }, BY, read)
    expect(done).toMatchObject({ name: 'read', plan: { creates: 0 } })
    expect(await engine.getProject('Storefront')).toMatchObject({ goal: 'Catch them' })
    await expect(reader.readCatalogFile!({ yaml: 'no: [catalog' })).rejects.toMatchObject({ code: 'invalid' })
  })
})

/** Without what is other each time: ids that are made up for a plan, room on the volume, how many reads there were. */
function comparable(outcome: unknown): unknown {
  const text = JSON.stringify(outcome, (key, value) =>
    ['disk_free', 'reads', 'tallies'].includes(key) ? undefined : value,
  )
  return JSON.parse(text.replace(/uc_[0-9a-f]{10}/g, 'uc_made'))
}

describe('a call that writes', () => {
  it.each(Object.keys(WRITES))('%s goes to the writer, and does write', async (name) => {
    const said = told(await WRITES[name]!())
    const before = svc.commits()
    svc.went()
    await svc.perform(name, said)
    expect(svc.went()).toEqual(['writer'])
    expect(svc.commits()).not.toBe(before)
  })
})

const trigger = { sources: ['gateway'], condition: { event: 'any' as const } }
const skill = { description: 'How to look.', body: 'Look twice.' }
const file = Buffer.from('---\nname: fresh\ndescription: d\n---\nLook.')

const named = (name: string, body?: object): Said => ({ params: { name }, ...(body ? { body } : {}) })
const ofProject = (body?: object, params: object = {}): Said => ({
  params: { id: 'Storefront', ...params },
  ...(body ? { body } : {}),
})
const ofMade = (body?: object): Said => ({ params: { id: 'Made' }, ...(body ? { body } : {}) })

/** Operations that write, in an order in which each can. */
const ofIncident = (body: object): Said => ({ params: { incident: 'inc_1' }, body })
const WRITES: Record<string, () => Promise<Said> | Said> = {
  startDemo: () => ({}),
  breakDemo: () => ({ body: { service: 'cart' } }),
  mendDemo: () => ({ query: {} }),
  removeDemo: () => ({}),
  acknowledgeIncident: () => ofIncident({ version: 1 }),
  assignIncident: () => ofIncident({ assignee: 'mara', version: 2 }),
  snoozeIncident: () => ofIncident({ version: 3 }),
  unsnoozeIncident: () => ofIncident({ version: 4 }),
  setIncidentSeverity: () => ofIncident({ severity: 'critical', version: 5 }),
  noteOnIncident: () => ofIncident({ text: 'looking' }),
  handleIncident: () => ofIncident({ version: 6 }),
  reopenIncident: () => ofIncident({ version: 7 }),
  actOnIncidents: () => ({ body: { ids: ['inc_1'], action: 'handle' } }),
  createMaintenance: () => ({ body: { reason: 'Upgrade', entities: ['service=shop'], for: '1h' } }),
  setMaintenanceEnd: () => ({
    params: { window: 'mnt_1' },
    body: { until: '2026-11-20T15:00:00Z' },
  }),
  endMaintenance: () => ({ params: { window: 'mnt_1' }, body: {} }),
  createSource: () => ({ body: { name: 'app', connector: 'webhook' } }),
  updateSource: () =>
    named('app', {
      ...{ name: 'app', connector: 'webhook' },
      config: { labels: [{ name: 'a', field: 'a' }] },
    }),
  pauseSource: () => named('app'),
  resumeSource: () => named('app'),
  renameSource: () => named('app', { to: 'app-2' }),
  deleteSource: () => ({ ...named('app-2'), query: { cascade: false, purge_events: false } }),
  createTrigger: () => ({ body: { name: 'any', ...trigger } }),
  updateTrigger: () => named('any', { name: 'any', ...trigger, cooldown: '2h' }),
  pauseTrigger: () => named('any'),
  resumeTrigger: () => named('any'),
  renameTrigger: () => named('any', { to: 'any-2' }),
  deleteTrigger: () => named('any-2'),
  createMcpServer: () => ({ body: { name: 'tools', url: 'https://mcp.example/tools' } }),
  updateMcpServer: () => named('tools', { name: 'tools', url: 'https://mcp.example/others' }),
  renameMcpServer: () => named('tools', { to: 'tools-2' }),
  deleteMcpServer: () => named('tools-2'),
  createAgent: () => ({ body: { name: 'helper', prompt: 'Help.' } }),
  updateAgent: () => named('helper', { name: 'helper', prompt: 'Help more.' }),
  disableAgent: () => named('first-look'),
  enableAgent: () => named('first-look'),
  renameAgent: () => named('helper', { to: 'helper-2' }),
  deleteAgent: () => named('helper-2'),
  createJoinedEntity: () => ({ body: { name: 'web', is: ['service=web', 'repo=org/web'] } }),
  updateJoinedEntity: () => named('web', { is: ['service=web', 'repo=org/web2'] }),
  renameJoinedEntity: () => named('web', { to: 'web-2' }),
  deleteJoinedEntity: () => named('web-2'),
  createSkill: () => ofProject({ name: 'look', ...skill }),
  updateSkill: () => ofProject({ description: 'Other.' }, { name: 'look' }),
  useSkill: () => ({ params: { id: 'Checkout', name: 'look' } }),
  uploadSkill: () => ofProject(file),
  renameSkill: () => named('look', { to: 'look-2' }),
  removeSkill: () => ofProject(undefined, { name: 'look-2' }),
  createProject: () => ({ body: { template: 'custom', name: 'Made' } }),
  updateProject: () => ofMade({ goal: 'Look' }),
  updateWiring: () => ofProject({ wakes: [], handoffs: [] }),
  pauseProject: () => ofMade(),
  resumeProject: () => ofMade(),
  deleteProject: () => ({ ...ofMade(), query: { purge_events: false } }),
  holdProject: () => ofProject(),
  releaseProject: () => ofProject(),
  repairProject: async () => {
    const { objects } = await svc.engine.getProject('Broken')
    return {
      params: { id: 'Broken' },
      body: { key: objects.find(({ state }) => state === 'missing')!.key },
    }
  },
  runAction: async () => {
    const body = { template: 'challenger_workflow', name: 'Sessions', params: {} }
    const { id } = await svc.engine.createProject(body, BY)
    return { params: { id, name: 'summarize' }, body: { session: 's' } }
  },
  createProjectKey: () => ofProject({ name: 'other', scopes: ['read'] }),
  markHandled: () => ofProject({ handled: true }, { run: made.run }),
  markFinding: () => ofProject({ mark: 'wrong' }, { run: made.run }),
  forgetCatalogFile: () => named('catalog'),
  propose: () => ({
    body: {
      operations: [{ op: 'patch', kind: 'trigger', name: 'nightly', spec: { cooldown: '5h' } }],
    },
  }),
  declineProposal: () => ({ params: { id: made.proposal }, body: { reason: 'no' } }),
  revokeOauthSession: async () => ({ params: { id: (await signedIn()).grant } }),
  createKey: () => ({ body: { name: 'k', scopes: ['read'] } }),
  revokeKey: async () => ({
    params: { id: (await svc.engine.listKeys()).find(({ name }) => name === 'k')!.id },
  }),
  endLogin: async () => ({
    params: { id: (await svc.engine.createKey({ name: 'l', scopes: ['read'] }, ME, true)).id },
  }),
  saveSlackTeam: () => ({ body: { team_id: 'T1', team_name: 'Acme' } }),
  forgetSlackTeam: () => ({}),
  saveModelPrices: () => ({ body: { prices: [{ prefix: 'm', input: 1, output: 2 }] } }),
  saveAgentSettings: () => ({ body: { daily_cap: 7 } }),
  saveAskSession: () => ({ params: { id: SESSION }, body: { title: 'Why not' } }),
  deleteAskSession: () => ({ params: { id: SESSION } }),
  deleteEvalReport: () => ({ params: { id: made.report } }),
  addCredentialServer: async () => {
    await svc.engine.createCredential({ name: 'hub', token: 'ghp_x', api_url: 'https://api.acme.ghe.com' })
    return named('hub')
  },
  deleteCredential: () => named('main'),
  subscribe: () => ({ body: { trigger: 'nightly', fetch: true } }),
  subscribeProject: () => ofProject({ fetch: true }),
  placeGraphNodes: () => ofProject({ positions: [{ node: 'source:gateway', x: 1, y: 2 }] }),
  moveGraphNodes: () => ofProject({ put: [{ node: 'source:gateway', x: 3, y: 4 }] }),
}

/** A client that a person consented to. */
async function grantOf() {
  const { id } = await svc.engine.registerOauthClient({ name: 'c', redirectUris: ['https://a.example/'] })
  const resource = 'https://svc.example/telemetry/mcp'
  return { clientId: id, approver: 'env:auth', approverHash: 'a', resource, scopes: ['read'] }
}
async function signedIn() {
  const grant = await grantOf()
  return { ...grant, ...(await svc.engine.openOauthGrant(grant)) }
}

/** Run on the network thread: what asks other systems, and what is made of calls to several threads. */
const NETWORK: Record<string, true> = Object.fromEntries(
  [
    ...['explainDiscover', 'discoverSource', 'discoverEnvironment', 'testSource'],
    ...['tryMcpServer', 'testMcpServer', 'createCredential', 'updateCredential', 'testCredential'],
    ...[
      'listCredentialRepositories',
      'readCredentialTree',
      'saveModelProvider',
      'discoverModels',
      'testModelProvider',
    ],
    ...['getTracing', 'saveTracing', 'testTracing', 'saveProviderAKey', 'forgetProviderAKey', 'saveGateway'],
    ...['forgetGateway', 'cancelRun', 'cancelAsk', 'handInEvalReport', 'read', 'fetchFiring'],
    ...['saveSlackBotToken', 'forgetSlackBotToken', 'testSlack', 'saveSlackSigningSecret'],
    ...['forgetSlackSigningSecret', 'listSlackChannels', 'dropSlackChannels', 'syncCatalog'],
    ...['getSlackManifest', 'listWorkspaces', 'saveSlackPeople'],
    ...['followCatalogRepository', 'leaveCatalogRepository'],
    ...['getAdoption', 'openPullRequest', 'recordFinding'],
  ].map((id) => [id, true]),
)

it('what runs on the network thread is listed by hand, with what it passes on', () => {
  const there = operations.filter(({ role }) => role === 'network').map(({ id }) => id)
  expect(there.sort()).toEqual([...Object.keys(NETWORK), 'importCatalog', 'inspect'].sort())
})

/** Operations that write too: each is tested where it belongs. */
const OTHERS = [
  ...['approveProposal', 'withdrawProposal', 'takeOverProject', 'approveMcpTool'],
  ...['startDraft', 'planDraft', 'stopPlanning', 'saveSetup', 'applySetup', 'sendTestEvent', 'startPractice'],
  ...['rerun', 'rerunOfAgent', 'removeModelProvider', 'chooseModelProvider'],
  ...['addAgentExample', 'removeAgentExample', 'startAgentTest'],
  ...['unsubscribe', 'unsubscribeProject', 'redeliver', 'acknowledgeFiring', 'releaseFiring', 'extendLease'],
]

/** Calls by name that write: of routes made by hand, and of what works on the network thread. */
const NAMED_WRITES: Record<string, () => Promise<unknown[]> | unknown[]> = {
  remember: () => [{ text: 'It broke.', entity: 'pay' }, ME],
  createKey: () => [{ name: 'm', scopes: ['read'] }, ME],
  touchKeys: async () => [[(await svc.engine.listKeys())[0]!.id]],
  saveSessions: () => [[{ idHash: 'a', tokenHash: 'b', usedAt: NOW }]],
  dropSession: () => ['a'],
  registerOauthClient: () => [{ name: 'c', redirectUris: ['https://a.example/'] }],
  keepOauthClient: () => [{ id: 'https://a.example/c', name: 'c', redirectUris: ['https://a.example/'] }],
  openOauthGrant: async () => [await grantOf()],
  refreshOauthTokens: async () => {
    const { refresh, clientId } = await signedIn()
    return [{ hash: hashSecret(refresh), clientId, resource: null, scopes: null }]
  },
  endOauthToken: async () => {
    const { access, clientId } = await signedIn()
    return [{ hash: hashSecret(access), clientId }]
  },
  endOauthGrant: async () => [(await signedIn()).grant],
  touchOauthGrants: async () => {
    const { grant } = await signedIn()
    svc.clock.at += 120_000
    return [[grant]]
  },
  handInEvalReport: () => [REPORT, 'maria'],
  recordFinding: () => ['Storefront', FINDING, 'my-agent', FETCHER],
}

it.each(Object.keys(NAMED_WRITES))('the call %s goes to the writer, and does write', async (name) => {
  const args = await NAMED_WRITES[name]!()
  const before = svc.commits()
  svc.went()
  await svc.calls[name]!(...args)
  expect(svc.went()).toEqual(['writer'])
  expect(svc.commits()).not.toBe(before)
})

/** Write too: each is tested where it belongs. */
const OTHER_NAMED = [
  ...['makeFirstSource', 'removeModelProvider', 'cancelRun', 'importCatalog', 'recordModelUsage'],
  ...['recordSteps', 'beginCall', 'finishRun', 'parkRun', 'rememberFor', 'seenMcpTools'],
  ...['settleDelivery', 'releaseFiring'],
  // Of buttons in Slack.
  ...['actOnIncident', 'rerun', 'approveProposal', 'declineProposal'],
]

describe('whoever has the answer to a write', () => {
  it('finds it in the next read, also what is held in memory', async () => {
    const { engine, reader } = svc
    const source = { name: 'late', connector: 'webhook', config: {} }
    await expect(reader.getSource!('late')).rejects.toMatchObject({ code: 'not_found' })
    await engine.createSource(source, BY, false)
    expect(await reader.getSource!('late')).toMatchObject({ name: 'late', paused: false, signed: false })
    const config = { signature_scheme: 'github', signature_secret: 's3cret', labels: [] }
    await engine.updateSource('late', { ...source, config }, BY)
    expect(await reader.getSource!('late')).toMatchObject({ signed: true })
    await engine.moveSource('late', 'pause', BY)
    expect(await reader.getSource!('late')).toMatchObject({ paused: true, signed: true })
    const { id } = await engine.createKey({ name: 'fresh', scopes: ['read'] }, ME)
    expect(await reader.listKeys!()).toContainEqual(expect.objectContaining({ id, state: 'active' }))
    await engine.revokeKey(id, ME)
    expect(await reader.listKeys!()).toContainEqual(expect.objectContaining({ id, state: 'revoked' }))
    await engine.deleteSource('late', { cascade: false, purgeEvents: false }, BY)
    await expect(reader.getSource!('late')).rejects.toMatchObject({ code: 'not_found' })
    await engine.importCatalog({ yaml: CATALOG.replace('Catch bad deploys', 'Catch all'), name: 'other' }, BY)
    expect(await reader.getProject!('Storefront')).toMatchObject({ goal: 'Catch all' })
  })

  it('finds what only the process counts', async () => {
    const { engine, reader } = svc
    const { ingest_key: ingestKey } = await engine.createSource(
      { name: 'n', connector: 'webhook' },
      BY,
      false,
    )
    const send = (body: string) =>
      engine.ingest({ ingestKey: ingestKey!, body: Buffer.from(body), bypassCooldown: false, caller: ME.id })
    await send('[{"a":1},{"a":2}]')
    await send('{"a":3}\nnothing\n')
    expect(await reader.getSource!('n')).toMatchObject({
      health: { events_since_start: 3, rejected: 1, events_total: 3 },
    })
    expect(await reader.status!()).toMatchObject({
      bySource: expect.arrayContaining([
        { id: expect.any(Number), source: 'n', ingested: 3, rejected: 1, state: 'active' },
      ]),
    })
  })
})

it('a source that is refused for want of storage says so to a reader at once, and no more once there is room', async () => {
  const small = openSplit({ maxDbSize: 3_000_000 })
  try {
    const { engine, reader, clock } = small
    const { ingest_key } = await engine.createSource({ name: 's', connector: 'webhook' }, BY, false)
    const body = () => Buffer.from(JSON.stringify({ text: 'x'.repeat(200_000) }))
    const send = () =>
      engine.ingest({ ingestKey: ingest_key!, body: body(), bypassCooldown: false, caller: ME.id })
    const status = async () =>
      ((await reader.getSource!('s')) as { health: { status: string } }).health.status
    expect(await status()).toBe('push')
    await expect(
      (async () => {
        for (let i = 0; i < 40; i++) await send()
      })(),
    ).rejects.toMatchObject({ code: 'storage_full' })
    expect(await status()).toBe('refused')
    expect(await reader.usage!()).toMatchObject({ ingest_paused: true })
    await engine.deleteSource('s', { cascade: false, purgeEvents: true }, BY)
    for (let i = 0; i < 50; i++) {
      clock.at += 2_000
      engine.maintain()
    }
    expect(await reader.usage!()).toMatchObject({ ingest_paused: false })
  } finally {
    await small.close()
  }
})

it('a reader goes on without the writer', async () => {
  const alone = openSplit()
  try {
    await buildWorld(alone.engine)
    const sources = await alone.engine.listSources()
    await alone.endWriter()
    expect(await alone.reader.listSources!()).toEqual(sources)
  } finally {
    await alone.close()
  }
})
