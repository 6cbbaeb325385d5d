/**
 * A secret in an address, such as ?token=…, is a secret: a mask wherever it is shown, kept where the mask comes
 * back, entered again where the host changes, and in the clear for the request alone.
 */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startReceiver } from '../engine/net/egress/receiver.ts'
import { type Fields, type Instance, startInstance } from './instance.ts'

const MASK = '•'.repeat(8)
const SECRET = 'hunter2-hunter2'
const HERE = `http://127.0.0.1:9/a?q=1&token=${SECRET}`
const SHOWN = `http://127.0.0.1:9/a?q=1&token=${MASK}`
const THERE = `http://127.0.0.2:9/a?q=1&token=${MASK}`

let folder: string
let svc: Instance
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-addresses-'))
  svc = await startInstance({ dataFile: join(folder, 'svc.db') })
})
afterEach(async () => {
  await svc.stop()
  rmSync(folder, { recursive: true })
})

const again = async () => {
  await svc.stop()
  svc = await startInstance({ dataFile: join(folder, 'svc.db') })
}

/** Everything that has an address somebody enters, with how it is read and written. */
const PLACES: [string, string, string, string, (url: string) => Fields][] = [
  [
    'an http_poll source',
    '/api/sources',
    '/api/sources/up',
    'config.url',
    (url) => ({ name: 'up', connector: 'http_poll', config: { url } }),
  ],
  ['an MCP server', '/api/mcp-servers', '/api/mcp-servers/up', 'url', (url) => ({ name: 'up', url })],
  [
    "an agent's receiver",
    '/api/agents/builtin',
    '/api/agents/builtin/up',
    'webhook_url',
    (webhook_url) => ({ name: 'up', prompt: 'Look.', webhook_url }),
  ],
]

describe.each(PLACES)('B10: a secret in the address of %s', (_what, made, path, field, body) => {
  const changes = async () => {
    const { change_sets: sets } = await svc.get<{ change_sets: { id: number }[] }>('/api/change-sets')
    return await Promise.all(
      sets.map(async ({ id }) => (await svc.call('GET', `/api/change-sets/${id}`)).text),
    )
  }

  it('is masked in answers, lists, plans, history, resources and exports, and sealed at rest', async () => {
    await svc.post(made, body(HERE))
    const answers = await Promise.all(
      [path, made, '/api/resources', '/catalog', '/api/catalog/drift', '/api/projects'].map(
        async (from) => (await svc.call('GET', from)).text,
      ),
    )
    expect(answers[0]).toContain(SHOWN)
    const yaml = (await svc.call('GET', '/api/catalog/export')).text
    expect(yaml).toContain(SHOWN)
    const planned = await svc.post('/api/catalog/check', { yaml: yaml.replace(MASK, 'other-other') })
    const all = [...answers, yaml, JSON.stringify(planned), ...(await changes())].join('\n')
    expect(all).not.toMatch(/hunter2|other-other"|enc:v1/)
    expect(JSON.stringify(planned)).toContain(`"from":"${MASK}","to":"${MASK}"`)
    const db = new BetterSqlite3(join(folder, 'svc.db'), { readonly: true })
    const tables = ['sources', 'mcp_servers', 'agents', 'changes'].flatMap((table) =>
      db.prepare(`SELECT * FROM ${table}`).all(),
    )
    db.close()
    expect(JSON.stringify(tables)).not.toContain('hunter2')
  })

  it('is kept where the mask comes back by PUT, change-set and import, over a restart', async () => {
    await svc.post(made, body(HERE))
    await svc.put(path, body(SHOWN))
    await again()
    const yaml = (await svc.call('GET', '/api/catalog/export')).text
    expect(await svc.post('/api/catalog/import', { yaml })).toMatchObject({
      plan: { creates: 0, updates: 0, deletes: 0 },
    })
    await svc.put(path, body(SHOWN.replace('q=1', 'q=2')))
    const open = await svc.post('/api/catalog/check', {
      yaml: yaml.replace(MASK, SECRET).replace('q=1', 'q=2'),
    })
    expect(open).toMatchObject({ plan: { updates: 0 }, warnings: [{ code: 'plain_secret' }] })
  })

  it('is entered again where the host changes, and a mask with nothing behind it is refused', async () => {
    const param = `${field}: token is the mask of a secret; enter the secret itself`
    expect(await svc.refused('POST', made, body(SHOWN))).toEqual([400, param])
    await svc.post(made, body(HERE))
    expect(await svc.refused('PUT', path, body(THERE))).toEqual([
      400,
      `${field}: enter token in it again: the address changed`,
    ])
    await svc.put(path, body(THERE.replace(MASK, 'entered-again')))
  })

  it('sealed with another key it is named in health, and asked for instead of lost', async () => {
    await svc.post(made, body(HERE))
    await svc.stop()
    rmSync(join(folder, 'secret.key'))
    svc = await startInstance({ dataFile: join(folder, 'svc.db') })
    const name = field.replace('config.', '')
    const { unreadable_secrets: named } = await svc.get<{ unreadable_secrets: string[] }>('/health')
    expect(named).toEqual([expect.stringContaining(`${name}?token of `)])
    expect(await svc.refused('PUT', path, body(SHOWN))).toEqual([
      400,
      `${field}: token in the address cannot be read here; enter it again`,
    ])
    await svc.put(path, body(HERE))
    expect((await svc.get('/health')).unreadable_secrets).toBeUndefined()
  })
})

describe('B10: a secret in a source’s address', () => {
  it.each([
    ['loki', { url: HERE, query: '{app="a"}' }],
    ['prometheus', { url: HERE, queries: [{ promql: 'up' }] }],
    ['prometheus_alerts', { url: HERE }],
    ['github', { repo: 'o/r', api_url: HERE }],
  ])('%s takes none: its address has no query', async (connector, config) => {
    const [status, sentence] = await svc.refused('POST', '/api/sources', { name: 'up', connector, config })
    expect(status).toBe(400)
    expect(sentence).not.toContain('hunter2')
  })

  it('is sent, and taken out of the fault of an API that repeats it', async () => {
    const api = await startReceiver(({ path }, response) => {
      response.writeHead(500, { 'content-type': 'text/plain' }).end(`cannot serve ${path}`)
    })
    const source = {
      name: 'up',
      connector: 'http_poll',
      config: { url: `${api.url}list?token=${SECRET}` },
    }
    await svc.post('/api/sources', source)
    const masked = { ...source, config: { url: `${api.url}list?token=${MASK}` } }
    const tested = await svc.post('/api/sources/test', masked)
    expect(api.received.at(-1)!.path).toBe(`/list?token=${SECRET}`)
    expect(tested).toMatchObject({ ok: false })
    const discovered = await svc.call('POST', '/api/sources/discover', masked)
    expect(JSON.stringify(tested) + discovered.text).not.toContain('hunter2')
    await api.close()
  })

  it('discovery of a stored source proposes its address with the mask', async () => {
    const api = await startReceiver((_asked, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('[{"id":1,"name":"a"}]')
    })
    const config = { url: `${api.url}list?token=${SECRET}` }
    await svc.post('/api/sources', { name: 'up', connector: 'http_poll', config })
    const { proposed_config: proposed } = await svc.post<{ proposed_config: Fields }>(
      '/api/sources/discover',
      {
        name: 'up',
        connector: 'http_poll',
        config: { url: `${api.url}list?token=${MASK}` },
      },
    )
    expect(proposed.url).toBe(`${api.url}list?token=${MASK}`)
    // Of what is not stored, the caller's own comes back to be saved.
    const fresh = await svc.post<{ proposed_config: Fields }>('/api/sources/discover', {
      connector: 'http_poll',
      config,
    })
    expect(fresh.proposed_config.url).toBe(config.url)
    await api.close()
  })
})

describe('B10: a secret in an address among the parameters of a template', () => {
  const PARAMS = {
    mcp_url: 'http://127.0.0.1:9/mcp',
    mcp_token: 'Bearer m-m-m-m',
    callback_url: HERE,
    callback_token: 'c-c-c-c',
  }
  interface Project extends Fields {
    id: string
    params: Fields
    objects: { kind: string; state: string }[]
  }
  const make = () =>
    svc.post<Project>('/api/projects', { template: 'rca_partner', name: 'P', params: PARAMS })
  const agentOf = async ({ id }: Project) =>
    (await svc.get<Project>(`/api/projects/${id}`)).objects.find(({ kind }) => kind === 'agent')!

  it('is masked in the project and its parts, kept where the mask comes back, entered again elsewhere', async () => {
    const project = await make()
    const shown = await svc.get<Project>(`/api/projects/${project.id}`)
    expect(shown.params.callback_url).toBe(SHOWN)
    const everywhere = ['/api/projects', `/api/projects/${project.id}/summary`, '/api/catalog/export']
    for (const path of everywhere) expect((await svc.call('GET', path)).text).not.toContain('hunter2')
    const params = { ...PARAMS, callback_token: '', mcp_token: '', callback_url: SHOWN }
    const { report } = await svc.put<{ report: Fields }>(`/api/projects/${project.id}`, { params })
    expect(report).toMatchObject({ updated: [] })
    expect(
      await svc.refused('PUT', `/api/projects/${project.id}`, { params: { ...params, callback_url: THERE } }),
    ).toEqual([400, 'params.callback_url: enter token in it again: the address changed'])
  })

  it('a project planned by a release that knew none of this stays as planned after the upgrade', async () => {
    const project = await make()
    await svc.stop()
    asBefore(join(folder, 'svc.db'))
    svc = await startInstance({ dataFile: join(folder, 'svc.db') })
    const agents = await svc.get<{ agents: (Fields & { name: string; webhook_url: string })[] }>(
      '/api/agents/builtin',
    )
    const { name, prompt, webhook_url: url } = agents.agents[0]!
    expect(url).toBe(SHOWN)
    // Touched, as a save of the form does, and then edited.
    const save = (more: Fields) => svc.put(`/api/agents/builtin/${name}`, { name, prompt, ...more })
    await save({ webhook_url: SHOWN, max_rounds: 11 })
    const db = new BetterSqlite3(join(folder, 'svc.db'), { readonly: true })
    expect(JSON.stringify(db.prepare('SELECT spec FROM agents').all())).not.toContain('hunter2')
    db.close()
    expect(await agentOf(project)).toMatchObject({ state: 'customized' })
    await save({ webhook_url: SHOWN, max_rounds: 10 })
    expect(await agentOf(project)).toMatchObject({ state: 'planned' })
    await save({ webhook_url: `${SHOWN}&x=1` })
    expect(await agentOf(project)).toMatchObject({ state: 'customized' })
  })

  it('another secret in it, edited by hand, makes its part customized', async () => {
    const project = await make()
    const { agents } = await svc.get<{ agents: { name: string; prompt: string }[] }>('/api/agents/builtin')
    const { name, prompt } = agents[0]!
    const webhook_url = HERE.replace(SECRET, 'another-one')
    await svc.put(`/api/agents/builtin/${name}`, { name, prompt, webhook_url, webhook_token: 'c-c-c-c' })
    expect(await agentOf(project)).toMatchObject({ state: 'customized' })
  })
})

/** The rows as a release wrote them that masked secret fields alone: the address as it was entered. */
function asBefore(file: string): void {
  const db = new BetterSqlite3(file)
  const opened = (json: string) => json.replace(/(token=)enc:v1:[\w-]+/g, `$1${SECRET}`)
  for (const { id, spec } of db.prepare('SELECT id, spec FROM agents').all() as {
    id: number
    spec: string
  }[])
    db.prepare('UPDATE agents SET spec = ? WHERE id = ?').run(opened(spec), id)
  const agent = db.prepare('SELECT spec FROM agents').pluck().get() as string
  const { webhook_token: _token, ...fields } = JSON.parse(agent) as Fields
  const digest = createHash('sha256')
    .update(stable({ ...fields, webhook_token: MASK }))
    .digest('hex')
  const planned = db.prepare("SELECT id, plan FROM planned_objects WHERE kind = 'agent'").get() as {
    id: number
    plan: string
  }
  const { secrets: _secrets, ...plan } = JSON.parse(planned.plan) as Fields
  db.prepare('UPDATE planned_objects SET plan = ? WHERE id = ?').run(
    JSON.stringify({ ...plan, digest }),
    planned.id,
  )
  db.close()
}

/** JSON with its keys sorted. */
function stable(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stable).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, entry]) => `${JSON.stringify(key)}:${stable(entry)}`)
    .join(',')}}`
}
