/**
 * A start with a catalog file, a seed, one more template. What of it the process or its threads may do otherwise is seen of
 * the built daemon (`boot`); the rest of an engine that this process starts over the same data, with what `svc up`
 * makes of the same environment (`start`): a thirtieth of the processor time.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bootOf } from '../../api/cli/commands/up.ts'
import { loadConfig } from '../../api/config.ts'
import { createEngine } from '../../engine/local.ts'
import type { ProjectGraph, Replay } from '../../schemas/types.ts'
import { currentDaemon } from '../../scripts/build.mjs'
import { type Daemon, startDaemon } from '../chaos/daemon.ts'
import { startMcpServer } from '../mcp/server.ts'
import { clientOf, type Fields, type Instance, serve } from './instance.ts'

const OUTPUT = 'dist/test-contract'
const near = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const beside = near(`../../${OUTPUT}`)
const bundle = join(beside, 'svc.mjs')
const EVERY = readFileSync(near('./every-section.yaml'), 'utf8')

interface History {
  change_sets: {
    id: number
    origin: string
    why: string
    objects: number
    changes: { action: string; kind: string; name: string; fields: Fields[] }[]
  }[]
  version: number
}

let folder: string
/** In one place for all tests: an instance remembers where its file was. */
const files = mkdtempSync(join(tmpdir(), 'svc-contract-'))
const file = join(files, 'given.yaml')
let daemon: Daemon | null
let instance: Instance | null

beforeAll(async () => {
  const built = dirname(await currentDaemon(OUTPUT))
  if (built !== beside) {
    // What V8 compiled of the run before stays.
    mkdirSync(beside, { recursive: true })
    for (const name of readdirSync(beside))
      if (name !== '.compiled') rmSync(join(beside, name), { recursive: true, force: true })
    for (const name of readdirSync(built))
      if (/\.mjs$|^(migrations|catalog)$/.test(name))
        cpSync(join(built, name), join(beside, name), { recursive: true })
  }
  const templates = join(beside, 'catalog/templates')
  cpSync(near('../chaos/seeded_watch.yaml'), join(templates, 'seeded_watch.yaml'))
  cpSync(near('./posted-demo.yaml'), join(templates, 'posted_demo.yaml'))
})
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-contract-'))
  rmSync(file, { force: true })
  daemon = null
  instance = null
})
afterEach(async () => {
  await daemon?.kill()
  await instance?.stop()
  rmSync(folder, { recursive: true })
})

it('is built of ASCII alone: with one other character a file takes twice the memory, in each thread', () => {
  const modules = readdirSync(beside).filter((name) => name.endsWith('.mjs'))
  expect(modules.length).toBeGreaterThan(10)
  const wide = modules.filter((name) => readFileSync(join(beside, name)).some((byte) => byte > 0x7f))
  expect(wide).toEqual([])
})

it('holds schemas as text, which it parses when they are asked for', () => {
  const modules = readdirSync(beside).filter((name) => name.endsWith('.mjs'))
  // Long lines are broken wherever their end falls, in a name, too.
  const texts = modules.map((name) => readFileSync(join(beside, name), 'utf8').replaceAll('\\\n', ''))
  expect(texts.filter((text) => text.includes('"catalog.json":'))).not.toEqual([])
  expect(texts.filter((text) => text.includes('$id:"catalog.json"'))).toEqual([])
})

/** Of an instance whose first boot had the whole file: its data, and what it exported. */
let exported: string | null = null
const imported = join(files, 'data')
afterAll(() => rmSync(files, { recursive: true }))

/** Before a boot: the instance had the whole file at its first one. @returns what it exported then */
async function givenEvery(): Promise<string> {
  writeFileSync(file, EVERY)
  const data = join(folder, 'data')
  if (exported === null) {
    const { text } = await (await start(withFile())).call('GET', '/api/catalog/export')
    await stopped()
    cpSync(data, imported, { recursive: true })
    exported = text
  } else cpSync(imported, data, { recursive: true })
  return exported
}

async function stopped(): Promise<void> {
  if (daemon) expect(await daemon.stop()).toBe(0)
  await instance?.stop()
  daemon = null
  instance = null
}

const SECRET = { SVC_SECRET_GATEWAY: 's3cret' }

/** Stops what runs, and starts the daemon over the same data. */
async function boot(env: Record<string, string> = {}) {
  await stopped()
  daemon = await startDaemon(join(folder, 'data'), [], { ...SECRET, ...env }, bundle)
  return clientOf(daemon.url)
}

/** Stops what runs, and starts over the same data in this process. */
async function start(more: Record<string, string> = {}, home = 'data') {
  await stopped()
  const env = { ...SECRET, ...more }
  const config = loadConfig({ dataDir: join(folder, home) }, env)
  mkdirSync(config.home, { recursive: true })
  const bootFailures: string[] = []
  const clock = { at: Date.now(), now: () => Date.now() }
  const { dataFile, models } = config
  const engine = createEngine({ dataFile, models, env, boot: bootOf(config, bootFailures), clock })
  bootFailures.push(...(await engine.bootReport()).failed)
  const served = await serve(engine, clock, { bootFailures })
  instance = served
  return served
}
type Svc = ReturnType<typeof clientOf>
const withFile = (more: Record<string, string> = {}) => ({ SVC_CATALOG: file, ...more })
const SYNC = { SVC_CATALOG_SYNC: '1' }
/** Nothing answers there; without a provider an instance whose agents are on is degraded. */
const MODEL = { PROVIDERA_API_KEY: 'k', PROVIDERA_BASE_URL: 'http://127.0.0.1:9' }
const changed = (history: History) =>
  history.change_sets[0]!.changes.map(({ action, kind, name, fields }) => [
    action,
    kind,
    name,
    fields.map(({ path, from, to }) => [path, from, to]),
  ])

describe('a folder of catalog files', () => {
  it('is imported as one with its environment, in step on each boot, and says where a problem is', async () => {
    const root = join(folder, 'shop')
    mkdirSync(join(root, 'parts'), { recursive: true })
    const write = (name: string, text: string) => writeFileSync(join(root, name), text)
    write('catalog.yaml', 'catalog: shop\nvalues: { type: order }\n')
    write(
      'parts/orders.yaml',
      'kind: source\nname: orders\nconnector: webhook\nconfig: { event_type: ((values.type)) }\n',
    )
    write('prod.yaml', 'environment: prod\nvalues: { type: sale }\n')
    const env = { SVC_CATALOG: root, SVC_CATALOG_ENV: 'prod', ...SYNC }
    const type = async (svc: Svc) =>
      (await svc.get<{ config: Fields }>('/api/sources/orders')).config.event_type
    const svc = await start(env)
    expect(await type(svc)).toBe('sale')
    expect(await svc.get('/api/catalog/drift')).toMatchObject({ drifted: false, files: [{ name: 'shop' }] })
    write('prod.yaml', 'environment: prod\nvalues: { type: 5 }\n')
    const again = await start(env)
    expect(await type(again)).toBe('sale')
    expect(JSON.stringify(await again.get('/health'))).toContain(
      'prod.yaml:2:17: the value type must be text',
    )
    write('prod.yaml', 'environment: prod\nvalues: { type: return }\n')
    expect(await type(await start(env))).toBe('return')
  })
})

describe('a catalog file with every section', () => {
  it('imports on the first boot, exports as it is, and imports again as no change', async () => {
    writeFileSync(file, EVERY)
    const svc = await boot(withFile(MODEL))
    expect(await svc.get('/health')).toMatchObject({ status: 'ok' })
    expect((await svc.call('GET', '/api/catalog/export')).text).toBe(EVERY)
    const again = await svc.post<{ change_set: null; plan: Fields }>('/api/catalog/import', { yaml: EVERY })
    expect(again).toMatchObject({ change_set: null, plan: { creates: 0, updates: 0, deletes: 0 } })
    expect(await svc.get('/api/catalog/drift')).toMatchObject({
      plan: { creates: 0, updates: 0, deletes: 0 },
    })
    const history = await svc.get<History>('/api/change-sets')
    expect(history.change_sets).toMatchObject([
      { id: 1, origin: 'catalog', why: `imported from ${file} on the first boot` },
    ])
    const { projects } = await svc.get<{ projects: Fields[] }>('/api/projects')
    expect(projects.map(({ name, state }) => [name, state])).toEqual([
      ['Default', 'running'],
      ['Reports', 'paused'],
      ['Storefront', 'running'],
      ['Watch checkout', 'running'],
    ])
    // The reader's thread draws the graph of then, without the writer's key.
    const now = new Date()
    const query = `from=${new Date(now.getTime() - 600_000).toISOString()}&to=${now.toISOString()}`
    const replay = await svc.get<Replay>(`/api/projects/Storefront/replay?${query}`)
    const graph = await svc.get<ProjectGraph>('/api/projects/Storefront/graph')
    expect(replay.versions.at(-1)!.graph.nodes.map(({ id }) => id)).toEqual(graph.nodes.map(({ id }) => id))
    expect(replay.versions.at(-1)!.graph.edges.map(({ id }) => id)).toEqual(graph.edges.map(({ id }) => id))
    expect(JSON.stringify(replay)).not.toContain('s3cret')
  })

  it('exports into another instance, which then exports the same', async () => {
    const text = await givenEvery()
    const other = await start({}, 'other')
    await other.post('/api/catalog/import', { yaml: text })
    expect((await other.call('GET', '/api/catalog/export')).text).toBe(text)
  })

  it('changed, applies just the difference on a boot that syncs, and nothing on one that does not', async () => {
    await givenEvery()
    const edited = EVERY.replace('cooldown: 10m', 'cooldown: 1h').replace(
      'Look twice.\n    used_by',
      'Ask.\n    used_by',
    )
    writeFileSync(file, edited)
    const idle = await start(withFile())
    expect((await idle.get<History>('/api/change-sets')).version).toBe(1)
    expect((await idle.call('GET', '/api/catalog/export')).text).toBe(EVERY)
    const synced = await boot(withFile(SYNC))
    const history = await synced.get<History>('/api/change-sets')
    expect(history.version).toBe(2)
    expect(history.change_sets[0]).toMatchObject({
      origin: 'catalog',
      why: `synced from ${file}`,
      objects: 2,
    })
    expect(changed(history)).toEqual([
      ['update', 'skill', 'roll-back', [['/body', '# Roll back\n\nLook twice.', '# Roll back\n\nAsk.']]],
      ['update', 'trigger', 'gateway-errors', [['/cooldown', '10m', '1h']]],
    ])
    expect((await synced.call('GET', '/api/catalog/export')).text).toBe(edited)
    expect((await (await start(withFile(SYNC))).get<History>('/api/change-sets')).version).toBe(2)
  })

  it('is the source of truth on a boot that syncs: what was edited meanwhile is as the file says, what was added stays', async () => {
    await givenEvery()
    const svc = await start(withFile(SYNC))
    await svc.post('/api/agents/builtin/first-look/disable')
    await svc.del('/api/agents/builtin/digger')
    await svc.post('/api/sources', { name: 'extra', connector: 'webhook' })
    const synced = await start(withFile(SYNC))
    expect(await synced.get('/api/agents/builtin/first-look?project=Storefront')).toMatchObject({
      enabled: true,
      handoffs: [{ verdict: 'investigate', agent: 'digger' }],
    })
    expect(await synced.get('/api/sources/extra')).toMatchObject({ name: 'extra' })
    expect(await synced.post('/api/catalog/import', { yaml: EVERY })).toMatchObject({ change_set: null })
  })

  it('in the old words is read: usecases with a recipe', async () => {
    writeFileSync(file, 'usecases:\n  - { recipe: webhook_watch, name: Old, params: { service: old } }\n')
    const svc = await start(withFile())
    expect(await svc.get('/api/projects/Old')).toMatchObject({ template: 'webhook_watch', state: 'running' })
  })
})

describe('a file that cannot be imported', () => {
  const BROKEN = EVERY.replace('connector: webhook', 'connector: pigeon')

  it('at a later boot leaves the old catalog running, and /health says why', async () => {
    await givenEvery()
    writeFileSync(file, BROKEN)
    const svc = await boot(withFile(SYNC))
    expect(await svc.get('/health')).toMatchObject({
      status: 'degraded',
      detail: expect.stringMatching(
        /given\.yaml was not imported, and what was declared before stays: .*connector pigeon is not known/,
      ),
    })
    expect((await svc.get<History>('/api/change-sets')).version).toBe(1)
    expect((await svc.call('GET', '/api/catalog/export')).text).toBe(EVERY)
    writeFileSync(file, EVERY)
    const mended = await start(withFile({ ...SYNC, ...MODEL }))
    expect(await mended.get('/health')).toMatchObject({ status: 'ok' })
  })

  it.each<[string, string | null, RegExp]>([
    [
      'is not YAML',
      'sources:\n  - name: [',
      /given\.yaml was not imported: \S+given\.yaml:2:\d+: not valid YAML: /,
    ],
    [
      'has a problem',
      BROKEN,
      /imported: \S+given\.yaml:\d+:\d+: sources\[\d\]: connector pigeon is not known/,
    ],
    ['is not there', null, /given\.yaml/],
  ])('at the first boot (it %s) leaves an instance that runs, empty', async (_case, text, why) => {
    if (text !== null) writeFileSync(file, text)
    const svc = await start(withFile())
    expect(await svc.get('/health')).toMatchObject({ status: 'degraded', detail: expect.stringMatching(why) })
    expect(await svc.get('/api/sources')).toEqual([])
    expect((await svc.get<History>('/api/change-sets')).version).toBe(0)
    expect((await svc.call('POST', '/api/sources', { name: 'gw', connector: 'webhook' })).status).toBe(201)
  })
})

describe('SVC_SEED_PROJECT', () => {
  const SEED = { SVC_SEED_PROJECT: 'seeded_watch' }

  it('makes its project once, beside the catalog, and not again when that is deleted', async () => {
    writeFileSync(file, EVERY)
    const svc = await boot(withFile(SEED))
    const names = async (of: Svc) =>
      (await of.get<{ projects: Fields[] }>('/api/projects')).projects.map(({ name }) => name)
    expect(await names(svc)).toContain('Seeded watch')
    const { change_sets } = await svc.get<History>('/api/change-sets')
    expect(change_sets.map(({ why }) => why)).toEqual([
      'SVC_SEED_PROJECT',
      `imported from ${file} on the first boot`,
    ])
    expect(await svc.get('/api/agents/builtin/seeded-reader')).toMatchObject({ enabled: true })
    const second = await boot(withFile(SEED))
    expect((await names(second)).filter((name) => name === 'Seeded watch')).toHaveLength(1)
    await second.del('/api/projects/Seeded%20watch')
    expect(await names(await boot(withFile(SEED)))).not.toContain('Seeded watch')
  })

  it('of a template that is not there leaves an instance that runs, and /health says why', async () => {
    const svc = await start({ SVC_SEED_PROJECT: 'gone' })
    expect(await svc.get('/health')).toMatchObject({
      status: 'degraded',
      detail: expect.stringContaining('SVC_SEED_PROJECT=gone: template: no template has the key gone'),
    })
  })
})

describe('one more template in catalog/templates', () => {
  it('is served, makes projects and runs their actions, without any code', async () => {
    const asked: unknown[] = []
    const shop = createServer((request, response) => {
      let text = ''
      request.on('data', (chunk) => {
        text += chunk
      })
      request.on('end', () => {
        asked.push([request.url, JSON.parse(text)])
        response.end('{}')
      })
    })
    await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
    const shop_url = `http://127.0.0.1:${(shop.address() as AddressInfo).port}`
    try {
      const svc = await boot()
      expect(await svc.get('/api/projects/templates/posted_demo')).toMatchObject({
        actions: [{ name: 'inject' }, { name: 'clear' }],
      })
      await svc.post('/api/projects', { template: 'posted_demo', name: 'Demo', params: { shop_url } })
      const actions = '/api/projects/Demo/actions'
      expect(await svc.post(`${actions}/inject`, { scenario: 'latency' })).toMatchObject({
        ok: true,
        action: 'inject',
      })
      expect(await svc.post(`${actions}/clear`)).toMatchObject({ ok: true })
      expect(asked).toEqual([
        ['/inject', { scenario: 'latency' }],
        ['/inject', { scenario: 'clear' }],
      ])
      for (const scenario of ['flood', 5])
        expect(await svc.refused('POST', `${actions}/inject`, { scenario })).toEqual([
          400,
          expect.stringContaining('scenario'),
        ])
      expect(await svc.refused('POST', `${actions}/gone`)).toEqual([404, expect.stringContaining('gone')])
      shop.close()
      shop.closeAllConnections()
      expect((await svc.refused('POST', `${actions}/clear`))[0]).toBe(502)
      // Issue 16, A13: what was done to the shop, and what was tried, is in the log of the project.
      const { host } = new URL(shop_url)
      const log = await svc.get<{ change_sets: Fields[] }>('/api/change-sets?project=Demo')
      expect(log.change_sets.map(({ summary, actor, objects }) => [summary, actor, objects])).toEqual([
        [expect.stringMatching(`^action clear failed: ${host} cannot be reached`), 'no auth configured', 0],
        [`action clear: ${host} answered 200`, 'no auth configured', 0],
        [`action inject (scenario: latency): ${host} answered 200`, 'no auth configured', 0],
        [expect.any(String), 'no auth configured', expect.any(Number)],
      ])
      expect(await svc.refused('POST', `/api/change-sets/${log.change_sets[1]!.id}/undo`, {})).toEqual([
        409,
        expect.stringContaining('cannot be undone'),
      ])
    } finally {
      shop.close()
    }
  })
})

describe('tools of an MCP server', () => {
  it('are still pinned after a restart', async () => {
    const desk = await startMcpServer([{ name: 'find', description: 'Finds tickets.' }])
    try {
      const before = await start()
      await before.post('/api/mcp-servers', { name: 'desk', url: desk.url })
      expect(await before.post('/api/mcp-servers/desk/test')).toMatchObject({ tools: [{ state: 'new' }] })
      expect(await before.post('/api/mcp-servers/test', { url: desk.url })).toMatchObject({ ok: true })
      desk.tools = [{ name: 'find', description: 'Finds secrets.' }]
      const svc = await start()
      expect(await svc.post('/api/mcp-servers/desk/test')).toMatchObject({ tools: [{ state: 'changed' }] })
      expect(await svc.post('/api/mcp-servers/desk/tools/find/approve')).toMatchObject({ state: 'pinned' })
      expect(await svc.get('/api/mcp-servers/desk')).toMatchObject({ tools: 1, changed: 0 })
    } finally {
      await desk.close()
    }
  })
})
