/** Several catalogs of one import: one plan, each remembered by its own name, and who owns what. */
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../../../engine/local.ts'

const BY = { caller: { id: 'key:1', name: 'maria' }, origin: 'catalog' as const }
const open = () => createEngine({ dataFile: null, clock: { now: () => 1_800_000_000_000 }, env: {} })
const json = (name: string, ...sources: string[]) =>
  JSON.stringify({ catalog: name, sources: sources.map((one) => ({ name: one, connector: 'webhook' })) })
const two = { yaml: json('shop', 'orders'), others: [{ name: 'ops', yaml: json('ops', 'logs') }] }

describe('several catalogs', () => {
  it('are one plan and one change, and each is remembered and compared by itself', async () => {
    const engine = open()
    const { plan, fingerprint } = await engine.checkCatalog(two)
    expect(plan).toMatchObject({ creates: 3 })
    const done = await engine.importCatalog({ ...two, fingerprint: fingerprint! }, BY)
    expect(done).toMatchObject({ name: 'shop', change_set: 1 })
    await engine.moveSource('logs', 'pause', BY)
    const { files } = await engine.catalogDrift()
    expect(files.map(({ name, plan: own }) => [name, own!.changes.length])).toEqual([
      ['ops', 1],
      ['shop', 0],
    ])
  })

  it('say nothing of what the trigger of another reads: it is shared with Default by that trigger', async () => {
    const engine = open()
    const shop = `catalog: shop
sources: [{ name: orders, connector: webhook }]
projects: [{ name: Shop, template: custom, objects: [{ kind: source, name: orders }] }]
`
    const ops = `catalog: ops
triggers: [{ name: quiet, sources: [orders], condition: { absent_for: 10m } }]
`
    await engine.importCatalog({ name: 'shop', yaml: shop }, BY)
    await engine.importCatalog({ name: 'ops', yaml: ops }, BY)
    expect(await engine.updateCatalogFile({ yaml: shop, name: 'shop', merge: true })).toBe(shop)
    const whole = await engine.exportCatalog()
    const copy = open()
    await copy.importCatalog({ yaml: whole }, BY)
    expect(await copy.exportCatalog()).toBe(whole)
    expect((await copy.catalogDrift()).files.map(({ plan }) => plan!.changes)).toEqual([[]])
  })

  it('are another plan when one of the others is another', async () => {
    const engine = open()
    const { fingerprint } = await engine.checkCatalog(two)
    const other = { ...two, others: [{ name: 'ops', yaml: json('ops', 'traces') }] }
    await expect(engine.importCatalog({ ...other, fingerprint: fingerprint! }, BY)).rejects.toMatchObject({
      code: 'conflict',
    })
    expect(await engine.listSources()).toEqual([])
  })

  it('may not name one part twice, nor one catalog, and tell which has a problem', async () => {
    const engine = open()
    const twice = await engine.checkCatalog({
      ...two,
      others: [{ name: 'ops', yaml: json('ops', 'orders') }],
    })
    expect(twice.problems).toMatchObject([
      {
        file: 'ops',
        message: expect.stringMatching(/is already defined at shop:1:\d+: one catalog can own it/),
      },
    ])
    await expect(
      engine.checkCatalog({ ...two, others: [{ name: 'shop', yaml: json('shop', 'x') }] }),
    ).rejects.toThrow('others: shop is given twice')
    const broken = await engine.checkCatalog({ ...two, others: [{ name: 'ops', yaml: 'sources: [{}]' }] })
    expect(broken.problems[0]).toMatchObject({ file: 'ops', line: 1 })
  })

  it('own what people gave another name: another prunes none of it, may not declare it, and the owner gives the name back', async () => {
    const engine = open()
    const shop = `catalog: shop
sources: [{ name: orders, connector: webhook }]
triggers: [{ name: many, sources: [orders], condition: { event: any } }]
projects: [{ name: Shop, template: custom, objects: [{ kind: trigger, name: many }] }]
`
    await engine.importCatalog({ yaml: shop, others: two.others }, BY)
    const [project] = (await engine.listProjects()).filter(({ name }) => name === 'Shop')
    await engine.renamePart('trigger', 'many', 'few', BY)
    await engine.renamePart('source', 'orders', 'sales', BY)
    await engine.updateProject(project!.id, { name: 'Store' }, BY)
    const pruned = await engine.checkCatalog({ yaml: json('ops', 'logs'), prune: true })
    expect([pruned.problems, pruned.plan?.deletes, pruned.plan?.updates]).toEqual([[], 0, 0])
    const taken = await engine.checkCatalog({ yaml: json('ops', 'logs', 'sales') })
    expect(taken.problems).toMatchObject([
      { message: expect.stringContaining('sales belongs to the catalog shop (shop:2:11)') },
    ])
    const { plan } = await engine.checkCatalog({ yaml: shop, prune: true })
    expect(plan!.changes.flatMap(({ name, renamed_from: was }) => (was ? [[was, name]] : []))).toEqual([
      ['sales', 'orders'],
      ['few', 'many'],
    ])
    expect(plan!.deletes).toBe(0)
    // A name that another catalog said before is that one's.
    await engine.forgetCatalogFile('shop')
    await engine.importCatalog({ yaml: json('ops', 'logs', 'sales') }, BY)
    expect((await engine.checkCatalog({ yaml: json('ops', 'logs', 'sales') })).problems).toEqual([])
  })

  it('own what they declare where they carry their name: another may not, and prunes none of it', async () => {
    const engine = open()
    await engine.importCatalog(two, BY)
    const taken = await engine.checkCatalog({ yaml: json('web', 'orders') })
    expect(taken.problems).toMatchObject([
      { message: expect.stringContaining('belongs to the catalog shop') },
    ])
    await expect(engine.importCatalog({ yaml: json('web', 'orders') }, BY)).rejects.toMatchObject({
      code: 'invalid',
    })
    await engine.importCatalog({ yaml: json('web', 'pages'), prune: true }, BY)
    expect((await engine.listSources()).map(({ name }) => name)).toEqual(['logs', 'orders', 'pages'])
    await engine.forgetCatalogFile('shop')
    const { plan } = await engine.checkCatalog({ yaml: json('web', 'pages'), prune: true })
    expect(plan!.changes.filter(({ action }) => action === 'delete').map(({ name }) => name)).toEqual([
      'orders',
    ])
  })

  it('are deleted by none what another names: that one could not be applied again', async () => {
    const engine = open()
    const ops = (...agents: string[]) => `catalog: ops
sources: [{ name: logs, connector: webhook }]
triggers: [{ name: errors, project: Ops, sources: [logs], condition: { event: any } }]
agents: [${['digger', ...agents].map((name) => `{ name: ${name}, prompt: p }`).join(', ')}]
mcp_servers: [{ name: runbooks, url: 'https://example.com/mcp' }]
projects: [{ template: custom, name: Ops, goal: g }]`
    const shop = (wiring: string) => `catalog: shop
agents:
  - { name: look, prompt: p${wiring} }`
    const used =
      ', trigger: errors, mcp_servers: [runbooks], handoffs: [{ verdict: dig, agent: digger }], project: Ops'
    await engine.importCatalog({ yaml: ops('spare') }, BY)
    await engine.importCatalog({ yaml: shop(used) }, BY)
    const gone = { yaml: 'catalog: ops\nlint: {}', prune: true, allow_empty: true }
    const { problems } = await engine.checkCatalog(gone)
    const columnOf = (name: string) => shop(used).split('\n')[2]!.indexOf(name) + 1
    const told = (part: string) =>
      `${part} is named by the catalog shop (shop:3:${columnOf(part.split(' ').at(-1)!)}), which could not be applied again without it: take it out there and apply that first, or end the comparison with it by "svc catalog forget shop"`
    expect(problems.map(({ message }) => message).toSorted()).toEqual(
      ['MCP server runbooks', 'agent digger', 'project Ops', 'trigger errors'].map(told),
    )
    await expect(engine.importCatalog(gone, BY)).rejects.toMatchObject({ code: 'invalid' })
    // What it does not name goes, and so does the rest once it names it no more.
    await engine.importCatalog({ yaml: ops(), prune: true }, BY)
    expect((await engine.listAgents()).agents.map(({ name }) => name).toSorted()).toEqual(['digger', 'look'])
    await engine.importCatalog({ yaml: shop(''), prune: true }, BY)
    await engine.importCatalog(gone, BY)
    expect((await engine.listAgents()).agents.map(({ name }) => name)).toEqual(['look'])
  })

  it('say which catalog has the trigger that reads a source which is pruned', async () => {
    const engine = open()
    const condition = 'condition: { event: any }'
    await engine.importCatalog({ yaml: 'catalog: ops\nsources: [{ name: logs, connector: webhook }]' }, BY)
    await engine.importCatalog(
      { yaml: `catalog: shop\ntriggers: [{ name: t, sources: [logs], ${condition} }]` },
      BY,
    )
    const gone = { yaml: 'catalog: ops\nsources: [{ name: web, connector: webhook }]', prune: true }
    const why =
      'source logs is named by the catalog shop (shop:2:33), which could not be applied again without it: take it out there'
    const { problems } = await engine.checkCatalog(gone)
    expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining(why)])
    await expect(engine.importCatalog(gone, BY)).rejects.toThrow(why)
  })

  it('tell what is wrong with all of them at once, each at its place', async () => {
    const part = (kind: string, ...lines: string[]) =>
      `${kind}:\n${lines.map((line) => `  - ${line}\n`).join('')}`
    const condition = 'condition: { event: any }'
    const body = {
      yaml: `catalog: shop\n${part('triggers', `{ name: a, sources: [nowhere], ${condition} }`, '{ name: b }')}`,
      others: [
        {
          name: 'ops',
          yaml: `catalog: ops\n${part('triggers', '{ name: c, sources: [gone] }', `{ name: d, sources: [gone], ${condition} }`)}`,
        },
      ],
    }
    const told = [
      'shop 3 triggers[0]',
      'shop 4 triggers[1]',
      'shop 4 triggers[1]',
      'ops 3 triggers[2]',
      'ops 3 triggers[2]',
      'ops 4 triggers[3]',
    ]
    const { problems } = await open().checkCatalog(body)
    expect(problems.map(({ file, line, path }) => `${file} ${line} ${path}`)).toEqual(told)
    await expect(open().importCatalog(body, BY)).rejects.toMatchObject({ extra: { problems } })
  })

  it('hold no secret in what is remembered of them', async () => {
    const engine = open()
    const source = {
      ...{ name: 'orders', connector: 'webhook' },
      config: { signature_scheme: 'github', signature_secret: 'CANARY-7' },
    }
    const yaml = JSON.stringify({ catalog: 'shop', sources: [source] })
    await engine.importCatalog({ ...two, yaml }, BY)
    expect(await engine.exportCatalog()).not.toContain('CANARY')
    expect((await engine.catalogDrift()).drifted).toBe(false)
  })
})

describe('one text', () => {
  it('does not take what only files that are put together say', async () => {
    const { problems } = await open().checkCatalog({
      yaml: 'include: [a.yaml]\nenvironment: prod\nvalues: { a: 1 }\n',
    })
    expect(problems.map(({ line, message }) => [line, message.split(' ')[0]])).toEqual([
      [1, 'include'],
      [2, 'environment'],
      [3, 'values'],
    ])
  })

  it('of compact JSON is read as the same text of YAML is, and its problems have places', async () => {
    const engine = open()
    const nested = `{"sources":[{"name":"a","connector":"webhook","config":${'['.repeat(150)}${']'.repeat(150)}}]}`
    expect((await engine.checkCatalog({ yaml: nested })).problems[0]!.message).toContain('deep')
    const twice = '{"sources":[{"name":"a","name":"b","connector":"webhook"}]}'
    expect((await engine.checkCatalog({ yaml: twice })).problems[0]).toMatchObject({
      message: 'name is already given at line 1',
      column: 25,
    })
  })
})

describe('two catalogs, of which one puts parts into a project of the other', () => {
  const platform = JSON.stringify({
    catalog: 'platform',
    sources: [{ name: 'gateway', connector: 'webhook', projects: ['Shop'] }],
    agents: [{ name: 'digger', prompt: 'Dig.', project: 'Shop', trigger: '', handoffs: [] }],
    projects: [{ template: 'custom', name: 'Shop' }],
  })
  const team = JSON.stringify({
    catalog: 'team',
    sources: [{ name: 'orders', connector: 'webhook', projects: ['Shop'] }],
    triggers: [
      { name: 'errors', project: 'Shop', sources: ['gateway'], condition: { event: 'any' } },
      { name: 'slow', project: 'Shop', sources: ['orders'], condition: { event: 'any' } },
    ],
    agents: [{ name: 'first-look', prompt: 'Look.', project: 'Shop', trigger: 'errors', enabled: true }],
    entities: [{ name: 'checkout', is: ['service=checkout', 'deployment=checkout'] }],
    wiring: [
      { project: 'Shop', wake: 'slow', agent: 'digger' },
      { project: 'Shop', agent: 'digger', verdict: 'dig', to: 'first-look' },
    ],
  })
  const changesOf = async (engine: ReturnType<typeof open>, yaml: string) =>
    (await engine.checkCatalog({ yaml, prune: true })).plan?.changes.filter(({ action }) => action !== 'none')

  it('are no drift, and pruning by either takes nothing of the other away', async () => {
    const engine = open()
    await engine.importCatalog({ yaml: platform, others: [{ name: 'team', yaml: team }] }, BY)
    const { files } = await engine.catalogDrift()
    expect(files.map(({ name, plan }) => [name, plan?.changes])).toEqual([
      ['platform', []],
      ['team', []],
    ])
    for (const yaml of [platform, team]) expect(await changesOf(engine, yaml)).toEqual([])
  })

  it('let what the project has by hand alone go, as pruning always did', async () => {
    const engine = open()
    await engine.importCatalog({ yaml: platform, others: [{ name: 'team', yaml: team }] }, BY)
    const spec = { prompt: 'Mine.' }
    const operations = [{ op: 'put' as const, kind: 'agent' as const, name: 'mine', project: 'Shop', spec }]
    await engine.applyChangeSet({ operations }, BY)
    expect(await changesOf(engine, platform)).toMatchObject([{ action: 'delete', name: 'mine' }, {}])
  })

  it('may not both declare an entity', async () => {
    const engine = open()
    await engine.importCatalog({ yaml: team, others: [{ name: 'platform', yaml: platform }] }, BY)
    const entities = [{ name: 'checkout', is: ['service=checkout', 'deployment=checkout'] }]
    const { problems } = await engine.checkCatalog({ yaml: JSON.stringify({ catalog: 'web', entities }) })
    expect(problems).toMatchObject([{ message: expect.stringContaining('belongs to the catalog team') }])
  })
})
