import { createHmac } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Fields, type Instance, startBeforeEach, startInstance } from './instance.ts'

interface Project extends Fields {
  id: string
  objects: { kind: string; key: string; name: string; state: string }[]
  wiring: { wakes: Fields[]; handoffs: Fields[] }
  report: Record<string, string[]>
}

let svc: Instance
startBeforeEach(async () => {
  svc = await startInstance()
  return svc
})

const make = (template: string, params: Fields) =>
  svc.post<Project>('/api/projects', { template, name: 'P', params })
const replan = (id: string, params: Fields) => svc.put<Project>(`/api/projects/${id}`, { params })
const project = (id: string) => svc.get<Project>(`/api/projects/${id}`)
const stateOf = async (id: string, key: string) =>
  (await project(id)).objects.find((object) => object.key === key)?.state
const names = ({ objects }: Project, kind: string) =>
  objects.filter((object) => object.kind === kind).map(({ name }) => name)

describe('a secret parameter of a template', () => {
  const FIRST = { service: 'shop', github_secret: 'first-secret' }
  const SOURCE = '/api/sources/shop-deploys'

  /** Status of a delivery signed with a secret. */
  async function deliver(secret: string): Promise<number> {
    const { ingest_key } = await svc.get(SOURCE)
    const body = JSON.stringify({ ref: 'main', sent_with: secret, at: svc.clock.at })
    const signature = createHmac('sha256', secret).update(body).digest('hex')
    const { status } = await svc.call('POST', `/ingest/${ingest_key}`, body, {
      'content-type': 'application/json',
      'x-hub-signature-256': `sha256=${signature}`,
    })
    return status
  }

  it('PUT with a new secret applies it: the new one is valid, the old one is refused', async () => {
    const { id } = await make('deploy_watch', FIRST)
    expect([await deliver('first-secret'), await deliver('second-secret')]).toEqual([202, 401])
    const { report } = await replan(id, { ...FIRST, github_secret: 'second-secret' })
    expect(report.updated).toEqual(['source:shop-deploys'])
    expect([await deliver('first-secret'), await deliver('second-secret')]).toEqual([401, 202])
    expect(await stateOf(id, 'deploys')).toBe('planned')
    const blank = await replan(id, { ...FIRST, github_secret: '' })
    expect([blank.report.updated, await deliver('second-secret')]).toEqual([[], 202])
  })

  it('a secret that is cleared is gone from what was planned with it', async () => {
    const { id } = await make('deploy_watch', FIRST)
    expect(await svc.get(SOURCE)).toMatchObject({ config: { signature_secret: '••••••••' } })
    await replan(id, { service: 'shop', github_secret: null })
    const { config } = await svc.get<{ config: Fields }>(SOURCE)
    expect([config.signature_scheme, config.signature_secret]).toEqual([undefined, undefined])
    expect(await stateOf(id, 'deploys')).toBe('planned')
    await replan(id, { ...FIRST, github_secret: 'again' })
    expect([await deliver('again'), await deliver('first-secret')]).toEqual([202, 401])
    const { connector, poll, config: now } = await svc.get<Fields & { config: Fields }>(SOURCE)
    const { signature_scheme: _scheme, ...bare } = { ...now, signature_secret: '' } as Fields
    await svc.put(SOURCE, { name: 'shop-deploys', connector, ...(poll ? { poll } : {}), config: bare })
    expect(await stateOf(id, 'deploys')).toBe('customized')
  })

  it('a catalog import with a new secret shows it as changed, without its value, and applies it', async () => {
    await make('deploy_watch', FIRST)
    const yaml = `projects:
  - template: deploy_watch
    name: P
    params: { service: shop, github_secret: second-secret }
`
    const { plan } = await svc.post<{
      plan: { changes: { kind: string; name: string; fields: Fields[] }[] }
    }>('/api/catalog/import', { yaml, dry_run: true })
    const changed = plan.changes.filter(({ fields }) => fields.length > 0)
    const masked = { from: '••••••••', to: '••••••••' }
    expect(changed.find(({ kind }) => kind === 'source')).toMatchObject({
      name: 'shop-deploys',
      fields: [{ path: '/config/signature_secret', ...masked }],
    })
    expect(changed.find(({ kind }) => kind === 'project')!.fields).toContainEqual({
      path: '/params/github_secret',
      ...masked,
    })
    expect(JSON.stringify(plan)).not.toContain('second-secret')
    await svc.post('/api/catalog/import', { yaml })
    expect([await deliver('first-secret'), await deliver('second-secret')]).toEqual([401, 202])
  })

  it('a secret edited by hand makes its source customized; the plan’s secret put back makes it planned', async () => {
    const { id } = await make('deploy_watch', FIRST)
    const { name, connector, config } = await svc.get<Fields & { config: Fields }>(SOURCE)
    const edit = (secret: string) =>
      svc.put(SOURCE, { name, connector, config: { ...config, signature_secret: secret } })
    await edit('by-hand')
    expect(await stateOf(id, 'deploys')).toBe('customized')
    const { report } = await replan(id, { ...FIRST, github_secret: 'second-secret' })
    expect(report.kept).toContain('source:shop-deploys')
    expect([await deliver('by-hand'), await deliver('second-secret')]).toEqual([202, 401])
    await edit('second-secret')
    expect(await stateOf(id, 'deploys')).toBe('planned')
    await edit('by-hand')
    await svc.post(`/api/projects/${id}/repair`, { key: 'deploys' })
    expect([await deliver('by-hand'), await deliver('second-secret')]).toEqual([401, 202])
  })
})

describe('a new plan that renames its parts', () => {
  const AGENT = '/api/agents/builtin/checkout-first-look'
  const TRIGGER = '/api/triggers/checkout-errors'
  const SOURCE = '/api/sources/checkout-events'
  const editTrigger = async () => {
    const { name, sources, filters, key_field, emit, condition } = await svc.get(TRIGGER)
    await svc.put(TRIGGER, { name, sources, filters, key_field, emit, condition, cooldown: '2h' })
  }
  const editSource = () =>
    svc.put(SOURCE, {
      name: 'checkout-events',
      connector: 'webhook',
      config: { labels: [{ name: 'service', const: 'mine', primary: true }] },
    })
  const watch = () => make('webhook_watch', { service: 'checkout' })
  const RENAMED = { service: 'payments' }

  it('keeps an edited agent wired, under its name: its wake and its handoff', async () => {
    const { id } = await watch()
    await svc.put(AGENT, { prompt: 'Mine.' })
    const renamed = await replan(id, RENAMED)
    expect(renamed.report.kept).toEqual(['agent:checkout-first-look'])
    expect(renamed.wiring).toEqual({
      wakes: [{ trigger: 'payments-errors', agent: 'checkout-first-look', enabled: true }],
      handoffs: [
        {
          agent: 'checkout-first-look',
          verdict: 'investigate',
          to: 'payments-investigator',
          cooldown: '30m',
        },
      ],
    })
    expect(await svc.get(AGENT)).toMatchObject({ prompt: 'Mine.', trigger: 'payments-errors' })
    expect(await stateOf(id, 'first_look')).toBe('customized')
  })

  it('renames them: what is posted to a source arrives as before, and the answer names each', async () => {
    const { id } = await watch()
    const { ingest_key } = await svc.get(SOURCE)
    await svc.post(`/ingest/${ingest_key}`, { status: 200 })
    await svc.post(`/api/projects/${id}/pause`, { sources: true })
    const { report, wiring } = await replan(id, RENAMED)
    expect(report).toMatchObject({ created: [], deleted: [] })
    expect(report.renamed).toContainEqual({ kind: 'source', from: 'checkout-events', to: 'payments-events' })
    expect(report.renamed).toHaveLength(5)
    expect(wiring).toMatchObject({
      wakes: [{ trigger: 'payments-errors', agent: 'payments-first-look' }],
      handoffs: [{ agent: 'payments-first-look', to: 'payments-investigator' }],
    })
    await svc.post(`/api/projects/${id}/resume`)
    await svc.post(`/ingest/${ingest_key}`, { status: 500 })
    const source = await svc.get('/api/sources/payments-events')
    expect(source).toMatchObject({ ingest_key, health: { events_total: 2 } })
    expect((await project(id)).objects.map(({ state }) => state)).toEqual(Array(5).fill('planned'))
  })

  it('makes one anew whose old name another project uses, and says so', async () => {
    const { id } = await watch()
    const other = await svc.post<Project>('/api/projects', { template: 'custom', name: 'Other' })
    await svc.put(`/api/projects/${other.id}`, { objects: [{ kind: 'source', name: 'checkout-events' }] })
    const { report } = await replan(id, RENAMED)
    expect(report.created).toEqual(['source:payments-events'])
    expect(report.remade).toEqual([{ kind: 'source', from: 'checkout-events', to: 'payments-events' }])
    expect(await svc.get(SOURCE)).toMatchObject({ name: 'checkout-events' })
  })

  it('an edited trigger stays and reads the source the new plan makes', async () => {
    const { id } = await watch()
    await editTrigger()
    const renamed = await replan(id, RENAMED)
    expect(names(renamed, 'source')).toEqual(['payments-events'])
    expect(await svc.get(TRIGGER)).toMatchObject({ cooldown: '2h', sources: ['payments-events'] })
    expect(renamed.wiring.wakes).toEqual([
      { trigger: 'checkout-errors', agent: 'payments-first-look', enabled: true },
    ])
  })

  it('an edited source stays, and the trigger the new plan makes reads it', async () => {
    const { id } = await watch()
    await editSource()
    const renamed = await replan(id, RENAMED)
    expect(names(renamed, 'source')).toEqual(['checkout-events'])
    expect(await svc.get('/api/triggers/payments-errors')).toMatchObject({ sources: ['checkout-events'] })
  })

  it('keeps what a hand wired and switched, and what a pause stopped', async () => {
    const { id } = await watch()
    await svc.post('/api/agents/builtin', { name: 'mine', prompt: 'Look.', project: id })
    await svc.put(`/api/projects/${id}/wiring`, {
      wakes: [
        { trigger: 'checkout-errors', agent: 'checkout-first-look', enabled: false },
        { trigger: 'checkout-errors', agent: 'mine', enabled: true },
      ],
      handoffs: [{ agent: 'checkout-first-look', verdict: 'investigate', to: 'mine', cooldown: '5m' }],
    })
    await svc.post(`/api/projects/${id}/pause`, {})
    const renamed = await replan(id, RENAMED)
    expect(await svc.get('/api/triggers/payments-errors')).toMatchObject({ paused: true })
    expect(renamed.wiring.wakes.map(({ enabled }) => enabled)).toEqual([false, false])
    const resumed = await svc.post<Project>(`/api/projects/${id}/resume`)
    expect(resumed.wiring.wakes).toEqual([
      { trigger: 'payments-errors', agent: 'mine', enabled: true },
      { trigger: 'payments-errors', agent: 'payments-first-look', enabled: false },
    ])
    expect(resumed.wiring.handoffs).toContainEqual({
      agent: 'payments-first-look',
      verdict: 'investigate',
      to: 'mine',
      cooldown: '5m',
    })
    expect(await svc.get('/api/triggers/payments-errors')).toMatchObject({ paused: false })
  })

  it.each([
    ['the same parts', { service: 'checkout', threshold: 9 }],
    ['parts of other names', RENAMED],
  ])('does not wire again what a hand took away, with %s', async (_parts, params) => {
    const { id } = await watch()
    await svc.put(`/api/projects/${id}/wiring`, { wakes: [], handoffs: [] })
    expect((await replan(id, params)).wiring).toEqual({ wakes: [], handoffs: [] })
    await svc.post(`/api/projects/${id}/pause`, {})
    await replan(id, { ...params, model: 'other' })
    expect((await svc.post<Project>(`/api/projects/${id}/resume`)).wiring).toEqual({
      wakes: [],
      handoffs: [],
    })
  })

  const EDITS = {
    agent: () => svc.put(AGENT, { prompt: 'Mine.' }),
    trigger: editTrigger,
    source: editSource,
    'deleted trigger': () => svc.del(TRIGGER),
    'deleted agent': () => svc.del(AGENT),
    'deleted skill': async () => {
      const [{ id }] = (await svc.get<{ projects: Project[] }>('/api/projects')).projects as [Project]
      await svc.del(`/api/projects/${id}/skills/checkout-runbook`)
    },
  }
  const subsets = Object.keys(EDITS).flatMap((one, i, all) => [
    [one],
    ...all.slice(i + 1).map((other) => [one, other]),
  ]) as (keyof typeof EDITS)[][]

  it.each(subsets.map((edits) => [edits.join(' and '), edits] as const))(
    'no parameter becomes impossible to save: %s',
    async (_name, edits) => {
      const { id } = await watch()
      const both = edits.some((edit) => edit === 'trigger') && edits.includes('deleted trigger')
      for (const edit of both ? edits.slice(1) : edits)
        if (!(edit === 'agent' && edits.includes('deleted agent'))) await EDITS[edit]()
      await replan(id, RENAMED)
      const again = await replan(id, RENAMED)
      expect([again.report.created, again.report.updated, again.report.deleted]).toEqual([[], [], []])
      await replan(id, { service: 'checkout' })
      for (const { key, state } of (await project(id)).objects)
        if (state === 'missing' || state === 'customized')
          await svc.post(`/api/projects/${id}/repair`, { key })
      const { objects, wiring } = await project(id)
      expect(objects.map(({ state }) => state)).toEqual(objects.map(() => 'planned'))
      expect([wiring.wakes.length, wiring.handoffs.length]).toEqual([1, 1])
    },
  )

  it('repairing a part that kept an earlier name makes it under the plan’s, and wires it', async () => {
    const { id } = await watch()
    await svc.put(AGENT, { prompt: 'Mine.' })
    await replan(id, RENAMED)
    const repaired = await svc.post<Project>(`/api/projects/${id}/repair`, { key: 'first_look' })
    expect(names(repaired, 'agent')).toEqual(['payments-first-look', 'payments-investigator'])
    expect(repaired.wiring.wakes).toEqual([
      { trigger: 'payments-errors', agent: 'payments-first-look', enabled: true },
    ])
    expect((await svc.call('GET', AGENT)).status).toBe(404)
  })
})

it('an export says what a hand wired of planned parts, and an import elsewhere wires it so', async () => {
  const { id } = await make('webhook_watch', { service: 'shop' })
  const handoff = { agent: 'shop-first-look', verdict: 'investigate', to: 'shop-investigator' }
  const wiring = {
    wakes: [
      { trigger: 'shop-errors', agent: 'shop-first-look', enabled: true },
      { trigger: 'shop-errors', agent: 'shop-investigator', enabled: true },
    ],
    handoffs: [
      { ...handoff, cooldown: '5m' },
      { ...handoff, verdict: 'look', cooldown: '30m' },
    ],
  }
  const exported = async (from: Instance) => (await from.call('GET', '/api/catalog/export')).text
  expect(await exported(svc)).not.toContain('wiring:')
  await svc.put(`/api/projects/${id}/wiring`, wiring)
  const yaml = await exported(svc)
  expect(yaml.slice(yaml.indexOf('wiring:'))).toBe(`wiring:
  - { project: P, wake: shop-errors, agent: shop-investigator }
  - { project: P, agent: shop-first-look, verdict: investigate, to: shop-investigator, cooldown: 5m }
  - { project: P, agent: shop-first-look, verdict: look, to: shop-investigator }
`)
  const other = await startInstance()
  onTestFinished(() => other.stop())
  await other.post('/api/catalog/import', { yaml })
  expect((await other.get<Project>('/api/projects/P')).wiring).toEqual(wiring)
  expect(await exported(other)).toBe(yaml)
})

describe('an MCP server that the new plan makes under another name', () => {
  const demo = {
    partner: 'acme',
    mcp_url: 'https://tools.acme.example/mcp',
    mcp_token: 'Bearer a-token',
    callback_url: 'https://acme.example/findings',
    callback_token: 'a-token',
  }

  it('is what an agent edited by hand uses from then on', async () => {
    const { id } = await make('rca_partner', demo)
    await svc.put('/api/agents/builtin/acme_investigator', { prompt: 'Mine.' })
    await replan(id, { ...demo, partner: 'emca' })
    expect(await svc.get('/api/agents/builtin/acme_investigator')).toMatchObject({
      prompt: 'Mine.',
      mcp_servers: ['emca_tools'],
    })
  })
})

describe('repair', () => {
  it('keeps the ingest key: a source deleted by hand comes back with its URL', async () => {
    const { id } = await make('webhook_watch', { service: 'checkout' })
    const before = await svc.get('/api/sources/checkout-events')
    const events = [{ status: 500 }]
    await svc.post(`/ingest/${before.ingest_key}`, events)
    await svc.ok('DELETE', '/api/sources/checkout-events?cascade=true')
    await svc.post(`/api/projects/${id}/repair`, { key: 'events' })
    expect(await svc.get('/api/sources/checkout-events')).toMatchObject({
      ingest_key: before.ingest_key,
      config: before.config,
    })
    expect(await stateOf(id, 'events')).toBe('planned')
    await svc.post(`/ingest/${before.ingest_key}`, events)
  })
})
