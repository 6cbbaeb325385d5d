/** Credentials that are apps of GitHub, over HTTP: rules, what uses them, and that nothing secret leaves. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import examples from '@octokit/webhooks-examples'
import { sign } from '@octokit/webhooks-methods'
import { expect, it, onTestFinished } from 'vitest'
import { createLog } from '../../api/log.ts'
import {
  APP_ID,
  githubAppServer,
  makeKey,
  place,
  REPO,
} from '../engine/declared/credentials/github-app-server.ts'
import { startMcpServer } from '../mcp/server.ts'
import { type Fields, startInstance, T0 } from './instance.ts'

const BASE = '/api/integrations/github'

async function open(more: Parameters<typeof startInstance>[0] = {}) {
  const clock = { at: T0, now: () => clock.at }
  const github = await githubAppServer(() => clock.at)
  const svc = await startInstance({ clock, ...more })
  onTestFinished(() => svc.stop())
  const write = { name: 'main', app_id: APP_ID, private_key: github.privateKey, api_url: github.url }
  return { github, svc, clock, write }
}

it('are stored by name beside tokens, tested, rotated, and say where they are installed', async () => {
  const { svc, write, github } = await open()
  github.installations.push(place(2, 'globex', ['globex/site']))
  expect(await svc.post(BASE, write)).toEqual({ ok: true, name: 'main', account: 'shop-watch' })
  expect(await svc.get(BASE)).toMatchObject({
    credentials: [
      {
        name: 'main',
        kind: 'app',
        app_id: APP_ID,
        installation_id: null,
        account: 'shop-watch',
        problem: null,
      },
    ],
  })
  expect(await svc.post(`${BASE}/main/test`)).toEqual({
    ...{ ok: true, login: 'shop-watch', scopes: null, expires_at: null },
    permissions: { checks: 'write', contents: 'read', issues: 'write', metadata: 'read' },
    installations: [
      { id: 1, account: 'acme', repositories: 'selected', suspended: false },
      { id: 2, account: 'globex', repositories: 'selected', suspended: false },
    ],
  })
  const next = makeKey()
  github.publicKeys = [next.publicKey]
  expect(await svc.post(`${BASE}/main/test`)).toMatchObject({
    ok: false,
    error: expect.stringContaining('GitHub does not take the key of the app 4711 (401)'),
  })
  const rotated = { private_key: next.privateKey, installation_id: 2 }
  expect(await svc.put(`${BASE}/main`, rotated)).toEqual({ ok: true, name: 'main', account: 'shop-watch' })
  expect(await svc.get(`${BASE}/main/repos`)).toMatchObject({ repos: [{ repo: 'globex/site' }], more: false })
  expect(await svc.put(`${BASE}/main`, { installation_id: 9 })).toMatchObject({
    warning: 'the app of main has no installation 9, or it is suspended; installation_id names another',
  })
})

it('are refused with the field and the rule, never with the value', async () => {
  const { svc, write, github } = await open()
  const refused = async (body: Fields) => {
    const [status, said] = await svc.refused('POST', BASE, body)
    return [status, said]
  }
  const { private_key: _key, ...without } = write
  expect(await refused({ ...write, token: 'ghp_x' })).toEqual([
    400,
    'token and app_id exclude each other: a credential is a token or an app',
  ])
  expect(await refused({ name: 'main' })).toEqual([
    400,
    'token is required, or app_id and private_key of an app',
  ])
  expect(await refused(without)).toEqual([400, 'private_key is required beside app_id'])
  expect(await refused({ name: 'main', private_key: github.privateKey })).toEqual([
    400,
    'app_id is required beside private_key',
  ])
  const { publicKey } = makeKey()
  const wrong = await svc.refused('POST', BASE, { ...write, private_key: publicKey })
  expect(wrong).toEqual([
    400,
    'private_key must be the PEM file of the app: an RSA key of 2,048 bits or more, without a password',
  ])
  expect((await svc.refused('POST', BASE, { ...write, installation_id: 0 }))[1]).toContain('installation_id')
  await svc.post(BASE, write)
  const changed = async (body: Fields) => (await svc.refused('PUT', `${BASE}/main`, body))[1]
  expect(await changed({ token: 'ghp_x' })).toContain('main is an app')
  expect(await changed({ app_id: '12' })).toContain('private_key is required for another app_id')
  // What is stored goes to no other host.
  expect(await changed({ api_url: 'https://github.example/api/v3' })).toContain('private_key')
})

it('read sources of repositories, polled and by HTTP, and go on with a new token after an hour', async () => {
  const { svc, write, github, clock } = await open()
  await svc.post(BASE, write)
  const config = { repo: REPO, credential: 'main' }
  const test = (connector: string, given: Fields) =>
    svc.post('/api/sources/test', { name: 'x', connector, config: given })
  const read = { ok: true, events: 1, sample: ['9c1f0a4 ada: Faster carts'] }
  expect(await test('github', config)).toEqual(read)
  expect(await svc.post('/api/sources/discover', { connector: 'github', config })).toMatchObject({
    summary: 'acme/shop, private: branch main, last commit 2026-11-20.',
    proposed_config: { repo: REPO, credential: 'main', branch: 'main' },
  })
  const http = {
    url: `${github.url}/repos/${REPO}/commits?per_page=5`,
    credential: 'credential:github/main',
    id_field: 'sha',
  }
  expect(await test('http_poll', http)).toMatchObject({ ok: true, events: 1 })
  expect(github.tokens.size).toBe(1)
  clock.at += 59 * 60_000
  expect(await test('github', config)).toEqual(read)
  expect(github.tokens.size).toBe(2)
  // One that GitHub took back is followed by another.
  github.tokens.clear()
  expect(await test('github', config)).toMatchObject({ ok: false, error: expect.stringContaining('(401)') })
  expect(await test('github', config)).toEqual(read)
  // It is sent nowhere else.
  expect(await test('http_poll', { ...http, url: 'http://127.0.0.1:9/repos/a/b' })).toMatchObject({
    ok: false,
    error: expect.stringContaining('is sent nowhere else'),
  })
  await svc.post('/api/sources', { name: 'code', connector: 'github', config })
  await svc.post('/api/sources', { name: 'api', connector: 'http_poll', config: http })
  expect(await svc.get('/api/sources/api')).toMatchObject({
    config: { credential: 'credential:github/main' },
  })
  expect(await svc.get(BASE)).toMatchObject({ credentials: [{ sources: ['api', 'code'] }] })
  expect(await svc.del(`${BASE}/main`)).toMatchObject({ sources: ['api', 'code'] })
  expect(await svc.get('/api/sources/api')).toMatchObject({
    health: { status: 'error', reason: expect.stringContaining('no credential is named main') },
  })
})

it('list repositories and folders of them', async () => {
  const { svc, write, github } = await open()
  github.installations.push(place(2, 'globex', ['globex/site', 'globex/shop']))
  await svc.post(BASE, write)
  expect(await svc.get(`${BASE}/main/repos?query=shop`)).toEqual({
    repos: [REPO, 'globex/shop'].map((repo) => ({
      ...{ repo, default_branch: 'main', private: true, pushed_at: '2026-11-20T10:00:00Z' },
    })),
    more: false,
  })
  expect(await svc.get(`${BASE}/main/tree?repo=${REPO}`)).toEqual({
    ...{ repo: REPO, ref: null, path: '', more: false },
    entries: [
      { path: 'src', type: 'folder', size: 0 },
      { path: 'README.md', type: 'file', size: 12 },
    ],
  })
  expect(await svc.get(`${BASE}/main/tree?repo=${REPO}&ref=feature/x&path=/src/`)).toMatchObject({
    ...{ ref: 'feature/x', path: 'src' },
    entries: [
      { path: 'src/a b.ts', type: 'file', size: 3 },
      { path: 'src/vendor', type: 'submodule' },
    ],
  })
  expect(github.asked).toContain(`GET /repos/${REPO}/contents/src?ref=feature%2Fx`)
  const refused = (query: string) => svc.refused('GET', `${BASE}/main/tree?${query}`)
  expect(await refused(`repo=${REPO}&path=none`)).toEqual([
    404,
    `GitHub has no none in ${REPO} that it may read (404)`,
  ])
  expect((await refused(`repo=${REPO}&path=../x`))[0]).toBe(400)
  expect((await refused('repo=shop'))[1]).toContain('repo must be owner/name')
  expect((await refused(''))[0]).toBe(400)
  expect(await refused('repo=other/thing')).toEqual([
    502,
    'the app 4711 is not installed for other/thing (404); install it on GitHub',
  ])
})

it('call MCP servers with a token of now, and register the one that GitHub hosts', async () => {
  const { svc, write, github, clock } = await open()
  const mcp = await startMcpServer([{ name: 'look', description: 'Looks', inputSchema: { type: 'object' } }])
  onTestFinished(() => mcp.close())
  await svc.post(BASE, write)
  await svc.post('/api/mcp-servers', { name: 'code', url: mcp.url, auth_value: 'credential:github/main' })
  expect(await svc.post('/api/mcp-servers/code/test')).toMatchObject({ ok: true, tools: [{ name: 'look' }] })
  const [first] = [...github.tokens.keys()]
  expect(new Set(mcp.requests.map(({ headers }) => headers.authorization))).toEqual(
    new Set([`Bearer ${first}`]),
  )
  clock.at += 58 * 60_000
  await svc.post('/api/mcp-servers/code/test')
  expect(mcp.requests.at(-1)!.headers.authorization).toBe(`Bearer ${[...github.tokens.keys()][1]}`)
  github.installations.push(place(2, 'globex', []))
  clock.at += 58 * 60_000
  expect(await svc.post('/api/mcp-servers/code/test')).toMatchObject({
    ok: false,
    error: expect.stringContaining('give the credential an installation_id: 1 (acme), 2 (globex)'),
  })

  expect(await svc.refused('POST', `${BASE}/main/mcp`)).toEqual([
    400,
    'GitHub hosts no MCP server for 127.0.0.1; add the one that you run under MCP servers',
  ])
  await svc.post(BASE, { name: 'hub', token: 'ghp_canary0hosted', api_url: 'https://api.acme.ghe.com' })
  expect(await svc.post(`${BASE}/hub/mcp`, {})).toMatchObject({ ok: true, server: 'github-hub' })
  expect(await svc.get('/api/mcp-servers/github-hub')).toMatchObject({
    url: 'https://copilot-api.acme.ghe.com/mcp/',
    headers: { 'X-MCP-Readonly': 'true' },
    auth_credential: 'github/hub',
  })
  expect((await svc.refused('POST', `${BASE}/hub/mcp`, { write: true }))[0]).toBe(409)
  expect((await svc.refused('POST', `${BASE}/none/mcp`, {}))[0]).toBe(404)
})

it('never leave: neither key nor token in an answer, the export, the record, the log or the data file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-app-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const lines: string[] = []
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString())
      done()
    },
  })
  const log = createLog({ level: 'debug', format: 'json' }, output)
  const { svc, write, github } = await open({ dataFile: join(folder, 'svc.db'), log })
  const answers: string[] = []
  const ask = async (...of: Parameters<typeof svc.call>) => {
    const { text, headers } = await svc.call(...of)
    answers.push(text, JSON.stringify([...headers]))
  }
  await ask('POST', BASE, write)
  await ask('POST', BASE, write)
  const config = { repo: REPO, credential: 'main' }
  await ask('POST', '/api/sources', { name: 'code', connector: 'github', config })
  await ask('POST', '/api/sources/test', { name: 'x', connector: 'github', config })
  await ask('POST', '/api/sources/discover', { connector: 'github', config })
  await ask('POST', '/api/mcp-servers', {
    ...{ name: 'hub', url: `${github.url}/mcp`, auth_value: 'credential:github/main' },
  })
  await ask('POST', '/api/mcp-servers/hub/test')
  const [token] = [...github.tokens.keys()]
  // A GitHub that says back what it was sent.
  const body = { message: `Bad token ${token} of ${github.privateKey}` }
  for (const path of [/\/installation\/repositories/, /\/commits/, /^\/app$/])
    github.refusals.push({ method: 'GET', path, status: 400, body })
  await ask('GET', `${BASE}/main/repos`)
  await ask('POST', '/api/sources/test', { name: 'x', connector: 'github', config })
  await ask('POST', `${BASE}/main/test`)
  expect(github.refusals).toEqual([])
  await ask('PUT', `${BASE}/main`, { private_key: 'x' })
  for (const path of [
    ...[BASE, '/api/sources', '/api/mcp-servers', '/api/resources', '/api/changes', '/metrics'],
    ...['/api/catalog/export', '/api/catalog/export?include_secrets=true', '/api/projects'],
  ])
    await ask('GET', path)
  await ask('DELETE', `${BASE}/main`)
  const line = github.privateKey.split('\n')[3]!
  const isSecret = (text: string) => text.includes('ghs_canary') || text.includes(line)
  expect(answers.join('\n')).toContain('main')
  expect(answers.filter(isSecret)).toEqual([])
  expect(lines.filter(isSecret)).toEqual([])
  for (const file of readdirSync(folder))
    expect(isSecret(readFileSync(join(folder, file)).toString('latin1')), file).toBe(false)
})

it('push by one webhook: signed, once for each delivery, of the repositories that are wanted', async () => {
  const { svc, write } = await open()
  await svc.post(BASE, write)
  const secret = 'It is a secret to everybody'
  const config = { signature_secret: secret, credential: 'main', repositories: ['Codertocat/Hello-World'] }
  const refused = (given: Fields) =>
    svc.refused('POST', '/api/sources', { name: 'hub', connector: 'github_app', config: given })
  expect((await refused({}))[1]).toContain('signature_secret')
  expect((await refused({ ...config, credential: 'none' }))[0]).toBe(404)
  expect((await refused({ ...config, repositories: ['shop'] }))[1]).toContain(
    'config.repositories: shop must be owner/name, or owner/* for all of an owner',
  )
  const { ingest_key: key } = await svc.post<{ ingest_key: string }>('/api/sources', {
    ...{ name: 'hub', connector: 'github_app', config },
  })
  const deliver = async (payload: unknown, more: Record<string, string> = {}, id = 'd-1') => {
    const body = JSON.stringify(payload)
    const headers = {
      ...{ 'content-type': 'application/json', 'x-github-event': 'pull_request', 'x-github-delivery': id },
      'x-hub-signature-256': await sign(secret, body),
      ...more,
    }
    const { status, body: said } = await svc.call<Fields>('POST', `/ingest/${key}`, body, headers)
    return [status, said]
  }
  const pull = examples.find(({ name }) => name === 'pull_request')!.examples[0] as unknown as Fields
  expect(
    (await deliver(pull, { 'x-hub-signature-256': await sign('another', JSON.stringify(pull)) }))[0],
  ).toBe(401)
  expect((await deliver(pull, { 'x-hub-signature-256': '' }))[0]).toBe(401)
  expect((await deliver(pull))[0]).toBe(202)
  await deliver(pull)
  const other = { ...pull, repository: { ...(pull.repository as Fields), full_name: 'other/thing' } }
  expect((await deliver(other, {}, 'd-2'))[0]).toBe(202)
  const events = await svc.get<Fields[]>('/api/sources/hub/events?limit=10')
  expect(events).toHaveLength(1)
  expect(events[0]).toMatchObject({
    event_type: 'pull_request',
    labels: { key: 'Codertocat/Hello-World#2', repo: 'Codertocat/Hello-World', number: '2' },
  })
  expect(await svc.get('/api/sources/hub')).toMatchObject({ health: { status: 'push' } })
  expect(JSON.stringify(await svc.get('/api/sources/hub'))).not.toContain(secret)
})
