import { describe, expect, it } from 'vitest'
import { createEngine } from '../../../../engine/local.ts'

const BY = { caller: { id: 'key:1', name: 'maria' }, origin: 'catalog' as const }
const open = () => createEngine({ dataFile: null, clock: { now: () => 1_800_000_000_000 }, env: {} })
type Engine = ReturnType<typeof open>

async function planned(engine: Engine, yaml: string, prune = false): Promise<string[]> {
  const { plan } = await engine.checkCatalog({ yaml, prune })
  return plan!.changes
    .filter(({ action }) => action !== 'none')
    .map(({ action, name }) => `${action} ${name}`)
}

const condition = '{ aggregate: count, predicate: "> 5", window: 5m }'

describe('a catalog that was applied is planned as no change', () => {
  it('where Default and a project share a source', async () => {
    const engine = open()
    const yaml = `sources:
  - { name: gw, connector: webhook, projects: [Shop] }
triggers:
  - { name: everywhere, sources: [gw], condition: ${condition} }
projects:
  - { template: custom, name: Shop }
`
    await engine.importCatalog({ yaml }, BY)
    expect(await planned(engine, yaml)).toEqual([])
    expect(await planned(engine, yaml, true)).toEqual([])
  })

  it('where a paused project has an agent that a trigger of none wakes', async () => {
    const engine = open()
    const yaml = `sources:
  - { name: gw, connector: webhook }
triggers:
  - { name: errs, sources: [gw], condition: ${condition} }
agents:
  - { name: first, prompt: Look., trigger: errs }
projects:
  - { template: custom, name: Shop, paused: true, objects: [{ kind: agent, name: first }] }
`
    await engine.importCatalog({ yaml }, BY)
    expect(await planned(engine, yaml)).toEqual([])
  })

  it('where wiring names the Default project, which is made by it', async () => {
    const engine = open()
    const yaml = `sources:
  - { name: gw, connector: webhook }
triggers:
  - { name: errs, sources: [gw], condition: ${condition} }
agents:
  - { name: first, prompt: Look. }
wiring:
  - { project: Default, wake: errs, agent: first }
`
    await engine.importCatalog({ yaml }, BY)
    expect(await planned(engine, yaml)).toEqual([])
  })

  it('and its export says which parts of a project are only shared with it', async () => {
    const engine = open()
    const yaml = `sources:
  - { name: gw, connector: webhook }
triggers: []
projects:
  - template: custom
    name: Shop
    objects:
      - { kind: source, name: gw, shared: true }
`
    await engine.importCatalog({ yaml }, BY)
    await engine.forgetCatalogFile('catalog')
    expect(await planned(engine, await engine.exportCatalog())).toEqual([])
    expect(await engine.exportCatalog()).toContain('{ kind: source, name: gw, shared: true }')
  })

  const joined = (shop: string) => `sources:
  # Of both teams.
  - { name: gw, connector: webhook, projects: [${shop}] }
  - { name: own, connector: webhook, projects: [Shop] }
triggers: []
projects:
  - { template: custom, name: Shop, goal: Sells }
  - { template: custom, name: Post, goal: Ships }
`

  it('and its export keeps, to the byte, a file whose sources say which projects have them', async () => {
    const engine = open()
    const yaml = joined('Post, Shop')
    await engine.importCatalog({ yaml }, BY)
    expect(await engine.exportCatalog()).toBe(yaml)
    expect(await engine.updateCatalogFile(yaml)).toBe(yaml)
  })

  it('and a file whose source is in another project is brought to say which', async () => {
    const engine = open()
    await engine.importCatalog({ yaml: joined('Post, Shop') }, BY)
    const wrong = joined('Post, Shop').replace('projects: [Shop]', 'projects: [Post]')
    const updated = await engine.updateCatalogFile(wrong)
    expect(updated).toContain(
      '# Of both teams.\n  - { name: gw, connector: webhook, projects: [Post, Shop] }',
    )
    expect(updated).toContain('- { name: own, connector: webhook }')
    expect(updated).toContain('{ kind: source, name: own }')
    expect(await planned(engine, updated)).toEqual([])
  })

  it.each([false, true])(
    'and a trigger whose project label was removed stays where the first apply put it (prune %s)',
    async (prune) => {
      const engine = open()
      const file = (label: string) => `sources:
  - { name: gw, connector: webhook }
triggers:
  - { name: errs, ${label}sources: [gw], condition: ${condition} }
agents:
  - { name: first, prompt: Look., trigger: errs, project: Shop }
projects:
  - { template: custom, name: Shop, objects: [{ kind: source, name: gw }] }
`
      await engine.importCatalog({ yaml: file('project: Shop, ') }, BY)
      const bare = { yaml: file(''), prune }
      await engine.importCatalog(bare, BY)
      expect(await planned(engine, bare.yaml, prune)).toEqual([])
      expect((await engine.importCatalog(bare, BY)).change_set).toBeNull()
    },
  )
})

describe('a pruning file', () => {
  const lines = {
    dt: `triggers:
  - { name: dt, project: DP, sources: [ds], condition: ${condition} }
`,
    dm: `mcp_servers:
  - { name: dm, project: DP, url: "https://mcp.example/x" }
`,
    db: `  - { name: db, project: DP, prompt: Look. }
`,
    ds: `sources:
  - { name: ds, connector: webhook, projects: [DP] }
`,
    DP: `projects:
  - { template: custom, name: DP }
`,
  }
  const file = (left?: keyof typeof lines) => {
    const { dt, dm, db, ds, DP }: Record<keyof typeof lines, string> = left ? { ...lines, [left]: '' } : lines
    return `${ds}${dt}${dm}${DP}agents:
  - { name: da, project: DP, prompt: Look., trigger: dt, handoffs: [{ verdict: bad, agent: db }], mcp_servers: [dm] }
${db}`
  }

  it.each([
    ['dt', 'agents[0].trigger', 'no trigger is named dt'],
    ['db', 'agents[0].handoffs[0].agent', 'no agent is named db'],
    ['dm', 'agents[0].mcp_servers[0]', 'no MCP server is named dm'],
    ['ds', 'triggers[0].sources[0]', 'no source is named ds'],
    ['DP', 'agents[0].project', 'no project is named DP, here or in the file'],
  ] as const)('is refused where it still names %s, which it would delete', async (left, path, message) => {
    const engine = open()
    await engine.importCatalog({ yaml: file() }, BY)
    const { problems } = await engine.checkCatalog({ yaml: file(left), prune: true })
    expect(problems).toContainEqual(
      expect.objectContaining({ path, message: expect.stringContaining(message) }),
    )
    await expect(engine.importCatalog({ yaml: file(left), prune: true }, BY)).rejects.toThrow(message)
    expect(await planned(engine, file(), true)).toEqual([])
  })

  it('takes the wiring of an agent along to the project it is moved to', async () => {
    const engine = open()
    const moved = (project: string) => `sources:
  - { name: gw, connector: webhook }
triggers:
  - { name: wt, sources: [gw], condition: ${condition} }
agents:
  - { name: wa, project: ${project}, prompt: Look., trigger: wt, enabled: true, handoffs: [{ verdict: bad, agent: wb }] }
  - { name: wb, prompt: Look. }
projects:
  - { template: custom, name: W1 }
  - { template: custom, name: W2 }
`
    await engine.importCatalog({ yaml: moved('W1') }, BY)
    await engine.importCatalog({ yaml: moved('W2'), prune: true }, BY)
    expect(await engine.exportCatalog()).not.toContain('project: W1')
    expect(await planned(engine, moved('W2'), true)).toEqual([])
  })

  /** Applies two files after each other, and plans the second anew. */
  async function plannedAfter(first: string, second: string): Promise<string[]> {
    const engine = open()
    await engine.importCatalog({ yaml: first, name: 'all' }, BY)
    await engine.importCatalog({ yaml: second, name: 'all', prune: true, max_deletions: 99 }, BY)
    return planned(engine, second, true)
  }
  const watch = `projects:
  - { template: webhook_watch, name: Watch, params: { service: checkout } }
`

  it('and took a handoff to the agent of another project away, which asks a server of a third', async () => {
    const first = `agents:
  - { name: first, prompt: Look., handoffs: [{ verdict: dig, agent: second }] }
  - { name: second, prompt: Look., project: Watch }
${watch}`
    const second = `agents:
  - { name: first, prompt: Look. }
  - { name: second, prompt: Look., mcp_servers: [logs] }
mcp_servers:
  - { name: logs, url: https://logs.example/, project: One }
${watch}  - { template: custom, name: One }
`
    expect(await plannedAfter(first, second)).toEqual([])
  })

  it('and took away what the trigger of another project wakes, and says of its source where it is', async () => {
    const sources = (gw: string, errs: string) => `sources:
  - { name: gw, connector: webhook${gw} }
  - { name: other, connector: webhook }
triggers:
  - { name: errs, sources: [gw, other]${errs}, condition: ${condition} }
`
    const first = `${sources('', ', project: Watch')}agents:
  - { name: first, prompt: Look., trigger: errs }
${watch}`
    const second = `${sources(', projects: [Watch]', '')}agents: []
${watch}`
    expect(await plannedAfter(first, second)).toEqual([])
  })

  it('but for a custom project named Default, which is refused before and after the real one is made', async () => {
    const engine = open()
    const yaml = 'projects:\n  - { template: custom, name: Default }\n'
    const told = async () => (await engine.checkCatalog({ yaml })).problems.map(({ message }) => message)
    const refused = [expect.stringContaining('name must not be Default: so svc itself calls the project')]
    expect(await told()).toEqual(refused)
    await engine.importCatalog({ yaml: 'sources:\n  - { name: gw, connector: webhook }\n' }, BY)
    expect(await told()).toEqual(refused)
  })

  it('and took away what a template wires, which its export says to another instance, too', async () => {
    const engine = open()
    await engine.importCatalog({ yaml: watch, name: 'all' }, BY)
    const { id } = (await engine.listProjects()).find(({ name }) => name === 'Watch')!
    await engine.wireProject(id, { wakes: [], handoffs: [] }, BY)
    const yaml = await engine.exportCatalog()
    expect(yaml.match(/wired: false/g)).toHaveLength(2)
    expect(await planned(engine, yaml)).toEqual([])
    const other = open()
    await other.importCatalog({ yaml }, BY)
    expect(await planned(other, yaml)).toEqual([])
    await engine.importCatalog({ yaml: yaml.replaceAll(', wired: false', '') }, BY)
    expect(await engine.exportCatalog()).not.toContain('wired')
  })
})
