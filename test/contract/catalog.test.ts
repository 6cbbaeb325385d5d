import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Fields, type Instance, startBeforeEach, startInstance } from './instance.ts'

interface Refused {
  detail: string
  problems: { line: number; column: number; path: string; message: string }[]
}
interface Plan {
  creates: number
  updates: number
  deletes: number
  unchanged: number
  changes: { action: string; kind: string; name: string; fields: Fields[] }[]
}
interface Imported {
  change_set: number | null
  plan: Plan
}

const EVERY = readFileSync(new URL('./every-section.yaml', import.meta.url), 'utf8')
let svc: Instance

startBeforeEach(async () => {
  svc = await startInstance({ env: { SVC_SECRET_GATEWAY: 's3cret' } })
  return svc
})

const load = (yaml: string, more: Fields = {}) => svc.post<Imported>('/api/catalog/import', { yaml, ...more })
const exported = async (query = '') => (await svc.call('GET', `/api/catalog/export${query}`)).text
const version = async () => (await svc.get<{ version: number }>('/api/change-sets?limit=1')).version
const acted = ({ changes }: Plan) =>
  changes
    .filter(({ action }) => action !== 'none')
    .map(({ action, kind, name }) => `${action} ${kind} ${name}`)

describe('POST /api/catalog/import', () => {
  it('with dry_run answers the plan and writes nothing', async () => {
    const { plan, change_set } = await load(EVERY, { dry_run: true })
    expect(change_set).toBeNull()
    expect([plan.updates, plan.deletes, plan.creates > 15]).toEqual([0, 0, true])
    expect([await version(), await svc.get('/api/sources')]).toEqual([0, []])
  })

  it('the plan and what is then done are the same', async () => {
    await load(EVERY)
    const edited = EVERY.replace('"> 5"', '"> 9"').replace('  - name: nightly', '  - name: weekly')
    const planned = await load(edited, { dry_run: true })
    expect(acted(planned.plan)).toEqual([
      'update trigger gateway-errors',
      'create trigger weekly',
      'update project Default',
    ])
    const done = await load(edited)
    expect(done.plan).toEqual(planned.plan)
    const { changes } = await svc.get<{ changes: Fields[] }>(`/api/change-sets/${done.change_set}`)
    expect(changes.map(({ action, kind, name }) => `${action} ${kind} ${name}`).sort()).toEqual(
      acted(planned.plan).sort(),
    )
  })

  it('an undone import leaves nothing of it', async () => {
    const { change_set } = await load(EVERY)
    await svc.post(`/api/change-sets/${change_set}/undo`, {})
    for (const path of ['/api/sources', '/api/triggers', '/api/skills'])
      expect(await svc.get(path)).toEqual([])
    expect(await svc.get('/api/mcp-servers')).toMatchObject({ servers: [] })
  })

  it('with prune deletes what the file lacks, and says so first; a project made meanwhile goes, Default stays', async () => {
    await load(EVERY)
    await svc.post('/api/projects', { template: 'custom', name: 'Extra' })
    await svc.post('/api/sources', { name: 'extra', connector: 'webhook' })
    expect(acted((await load(EVERY, { dry_run: true })).plan)).toEqual([])
    const plan = (await load(EVERY, { prune: true, dry_run: true })).plan
    expect(acted(plan).sort()).toEqual([
      'delete project Extra',
      'delete source extra',
      'update project Default',
    ])
    await load(EVERY, { prune: true })
    expect(await exported()).toBe(EVERY)
  })

  it.each<[string, string, number, string]>([
    ['YAML that is none', 'sources: [', 1, ''],
    [
      'a name twice',
      'sources:\n  - { name: a, connector: webhook }\n  - { name: a, connector: webhook }\n',
      3,
      'a',
    ],
    ['a key twice', 'sources: []\nsources: []\n', 2, 'sources'],
    ['a section that is none', 'sources: []\nviews: []\n', 2, 'views'],
    ['a field that is none', 'sources:\n  - name: a\n    connector: webhook\n    colour: red\n', 4, 'colour'],
    [
      'a value of another type',
      'sources:\n  - name: a\n    connector: webhook\n    paused: maybe\n',
      4,
      'paused',
    ],
    ['a field that is missing', 'triggers:\n  - name: t\n    sources: [a]\n', 2, 'condition'],
    [
      'a connector that is none',
      'sources:\n  - name: a\n    connector: pigeon\n',
      3,
      'connector pigeon is not known; there are ',
    ],
    [
      'a reference to nothing',
      'agents:\n  - name: a\n    prompt: p\n    trigger: gone\n',
      4,
      'no trigger is named gone',
    ],
    ['a project of no template', 'projects:\n  - { template: gone, name: P }\n', 2, 'gone'],
    [
      'a parameter out of range',
      'projects:\n  - template: webhook_watch\n    name: P\n    params: { service: s, threshold: 0 }\n',
      4,
      'threshold',
    ],
    ['a skill with a capital', 'skills:\n  - { name: A, description: d, body: b }\n', 2, 'lowercase'],
    ['old and new words at once', 'projects: []\nusecases: []\n', 2, 'usecases'],
    ['a list at the top', '- a\n', 1, ''],
  ])('refuses %s with line and column, and writes nothing', async (_case, yaml, line, message) => {
    const { status, body } = await svc.call<Refused>('POST', '/api/catalog/import', { yaml })
    expect(status).toBe(400)
    expect(body.problems[0]).toMatchObject({
      line,
      column: expect.any(Number),
      message: expect.any(String),
    })
    expect(`${body.problems[0]!.path} ${body.problems[0]!.message}`).toContain(message)
    expect(body.detail).toContain(String(line))
    expect([await version(), await svc.get('/api/sources')]).toEqual([0, []])
    const checked = await svc.post<{ problems: unknown[]; plan: null }>('/api/catalog/check', { yaml })
    expect(checked).toMatchObject({ problems: body.problems, plan: null })
  })

  it('refuses aliases that unfold without end', async () => {
    const bomb = ['a: &a [x, x, x, x, x, x, x, x, x, x]']
    for (let i = 1; i < 9; i++) {
      const [now, before] = ['abcdefghi'[i], 'abcdefghi'[i - 1]]
      bomb.push(`${now}: &${now} [${Array(10).fill(`*${before}`).join(', ')}]`)
    }
    const { status, body } = await svc.call<Refused>('POST', '/api/catalog/import', { yaml: bomb.join('\n') })
    expect(status).toBe(400)
    expect(body.problems[0]).toMatchObject({ line: expect.any(Number) })
  })

  it.each<[string, unknown]>([
    ['no file', {}],
    ['a file that is no text', { yaml: 5 }],
    ['a field that is unknown', { yaml: '', mode: 5 }],
  ])('refuses a body with %s', async (_case, body) => {
    expect((await svc.refused('POST', '/api/catalog/import', body))[0]).toBe(400)
  })

  it('tells every problem of a file at once', async () => {
    const yaml = 'sources:\n  - { name: a, connector: pigeon }\n  - { name: b, connector: crow }\n'
    const { body } = await svc.call<Refused>('POST', '/api/catalog/import', { yaml })
    expect(body.problems.map(({ line }) => line)).toEqual([2, 3])
  })

  it('tells every fault of every part at once, those of one part too', async () => {
    const yaml = `sources:
  - { name: a, connector: webhook }
  - { name: b, connector: http_poll, config: { url: "ftp://x" } }
triggers:
  - name: t
    sources: [a, nowhere]
    cooldown: 99999d
    filters: [{ field: x, op: gte, value: few }, { field: x, op: eq, value: 1 }, { field: x, op: regex, value: "(" }]
    condition: { aggregate: count, predicate: "soon", window: 5m }
agents:
  - { name: look, prompt: p, trigger: missing, webhook_url: "ftp://x", handoffs: [{ verdict: dig, agent: nobody }] }
`
    const { status, body } = await svc.call<Refused>('POST', '/api/catalog/import', { yaml })
    expect(status).toBe(400)
    const all = [
      [3, 'sources[1].config.url: url must be'],
      [6, 'triggers[0]: no source is named nowhere'],
      [7, 'triggers[0]: cooldown must be at most'],
      [8, 'triggers[0]: filters[0].value must be a number'],
      [8, 'triggers[0]: filters[2].value is not supported'],
      [9, 'triggers[0].condition.predicate: predicate must be'],
      [11, 'agents[0].trigger: no trigger is named missing'],
      [11, 'agents[0].webhook_url: webhook_url must be'],
      [11, 'agents[0].handoffs: no agent is named nobody'],
    ]
    expect(body.problems).toHaveLength(all.length)
    const told = body.problems.map(({ line, path, message }) => `${line} ${path}: ${message}`)
    for (const [i, [line, text]] of all.entries()) expect(told[i]).toContain(`${line} ${text}`)
    const checked = await svc.post<Refused>('/api/catalog/check', { yaml })
    expect(checked.problems).toEqual(body.problems)
    expect(await version()).toBe(0)
  })

  it('tells of very many problems the first, and how many more there are', async () => {
    const yaml = `sources:\n${'  - { connector: webhook }\n'.repeat(250)}`
    const { body } = await svc.call<Refused>('POST', '/api/catalog/import', { yaml })
    expect(body.problems).toHaveLength(201)
    expect(body.problems.at(-1)).toMatchObject({ line: 201, message: 'and 50 more problems', more: 50 })
    expect(body.detail).toMatch(/ \(and 249 more\)$/)
  })

  it.each<[string, string, Fields]>([
    ['import', 'yaml', {}],
    ['import', 'others[0].yaml', { others: [{ name: 'ops' }] }],
    ['check', 'yaml', {}],
    ['export', 'yaml', {}],
  ])('refuses a file over 8 MiB at %s with 413 and the rule (%s)', async (door, field, { others }) => {
    const large = `# ${'é'.repeat(4 * 1024 * 1024)}\n`
    const body = others ? { yaml: '', others: [{ name: 'ops', yaml: large }] } : { yaml: large }
    const [status, detail] = await svc.refused('POST', `/api/catalog/${door}`, body)
    expect([status, detail]).toEqual([
      413,
      `${field} has 8 MiB (8,388,611 bytes); a catalog file has at most 8 MiB (8,388,608 bytes)`,
    ])
  })

  it('refuses a body over 17 MiB with what the route takes', async () => {
    const yaml = `# ${'x'.repeat(18 * 1024 * 1024)}\n`
    expect(await svc.refused('POST', '/api/catalog/import', { yaml })).toEqual([
      413,
      'the body is larger than this route takes (17 MiB)',
    ])
  })
})

describe('GET and POST /api/catalog/export', () => {
  it('is what was imported, comments and layout included', async () => {
    await load(EVERY)
    const answer = await svc.call('GET', '/api/catalog/export')
    expect(answer.headers.get('content-type')).toBe('application/yaml; charset=utf-8')
    expect(answer.text).toBe(EVERY)
  })

  it('after one change differs in one line', async () => {
    await load(EVERY)
    await svc.put('/api/skills'.replace('skills', 'projects/Storefront/skills/roll-back'), {
      description: 'New.',
    })
    const [before, after] = [EVERY.split('\n'), (await exported()).split('\n')]
    expect(after.filter((line, i) => line !== before[i])).toEqual(['    description: New.'])
  })

  it('of some sources has those, and what reads only them', async () => {
    await load(EVERY)
    const text = await exported('?sources=docs')
    expect(text).toContain('name: docs')
    expect(text).toContain('name: nightly')
    for (const absent of ['gateway', 'projects:', 'skills:', 'wiring:']) expect(text).not.toContain(absent)
  })

  it('brings a given file up to date, with its own comments', async () => {
    await load('sources:\n  - { name: a, connector: webhook }\n')
    const given = '# mine\nsources:\n  - name: a # first\n    connector: webhook\n'
    expect((await svc.call('POST', '/api/catalog/export', { yaml: given })).text).toBe(given)
    await svc.post('/api/sources/a/pause')
    expect((await svc.call('POST', '/api/catalog/export', { yaml: given })).text).toBe(
      `${given}    paused: true\n`,
    )
  })

  it('has no credential, keeps references to them, and names projects, not ids', async () => {
    const canary = 'CANARY-4451'
    await load(EVERY.replace('credential:github/main', canary))
    const text = await exported()
    expect(text).not.toContain(canary)
    expect(text).toContain(['signature_secret: $', '{SVC_SECRET_GATEWAY}'].join(''))
    expect(text).not.toMatch(/uc_[0-9a-f]{10}/)
  })
})

describe('GET /api/catalog/drift and /schema', () => {
  it('drift says how the instance differs from the file last imported', async () => {
    await load(EVERY)
    expect(await svc.get('/api/catalog/drift')).toMatchObject({
      plan: { updates: 0, creates: 0, deletes: 0 },
    })
    await svc.post('/api/triggers/gateway-errors/pause')
    const { plan } = await svc.get<{ plan: Plan }>('/api/catalog/drift')
    expect(acted(plan)).toEqual(['update trigger gateway-errors'])
    expect(plan.changes.find(({ action }) => action === 'update')!.fields).toEqual([
      { path: '/paused', from: true },
    ])
  })

  it('the schema is the one that is committed, for editors', async () => {
    const committed = readFileSync(new URL('../../schemas/catalog.schema.json', import.meta.url), 'utf8')
    expect(await svc.get('/api/catalog/schema')).toEqual(JSON.parse(committed))
  })
})

describe('a mixed instance', () => {
  it('imports over what was made by hand by name: an update, not a second one', async () => {
    await svc.post('/api/sources', { name: 'gateway', connector: 'webhook' })
    const { ingest_key } = await svc.get('/api/sources/gateway')
    const { plan } = await load(EVERY)
    expect(acted(plan)).toContain('update source gateway')
    expect(await svc.get('/api/sources/gateway')).toMatchObject({
      ingest_key,
      config: { event_type: 'request' },
    })
  })

  it('imports into a project that is there, which keeps its id, and keeps a secret left blank', async () => {
    const { id } = await svc.post<{ id: string }>('/api/projects', { template: 'custom', name: 'Storefront' })
    await load(EVERY)
    expect(await svc.get('/api/projects/Storefront')).toMatchObject({ id, goal: 'Catch bad deploys' })
    const file = (value: string) =>
      `mcp_servers:\n  - { name: m, url: "https://m.example/", auth_value: "${value}" }\n`
    await load(file('s3cret'))
    expect((await load(file(''))).change_set).toBeNull()
    expect(await svc.get('/api/mcp-servers/m')).toMatchObject({ auth_value_configured: true })
  })
})
