/** Stored credentials over HTTP: what they are named by, who may touch them, and that no token ever leaves. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'
import { createLog } from '../../api/log.ts'
import { githubServer, REPO } from '../engine/sources/connectors/github/github-server.ts'
import { type Fields, startInstance } from './instance.ts'

const BASE = '/api/integrations/github'
const TOKEN = 'ghp_canary0first'
const NEXT = 'ghp_canary0second'

async function open(more: Parameters<typeof startInstance>[0] = {}) {
  const github = await githubServer()
  github.accounts = { [TOKEN]: 'octocat', [NEXT]: 'octocat' }
  const svc = await startInstance(more)
  onTestFinished(() => svc.stop())
  const write = { name: 'main', token: TOKEN, api_url: github.url }
  return { github, svc, write }
}

it('are stored by name, rotated, tested and deleted', async () => {
  const { svc, write, github } = await open()
  expect(await svc.post(BASE, write)).toEqual({ ok: true, name: 'main', account: 'octocat' })
  expect(await svc.refused('POST', BASE, write)).toEqual([
    409,
    'a credential named main exists; rotate it, or choose another name',
  ])
  const near = 'no credential is named mian (did you mean main?)'
  expect(await svc.refused('DELETE', `${BASE}/mian`)).toEqual([404, near])
  const mistyped = { name: 'code', connector: 'github', config: { repo: REPO, credential: 'mian' } }
  expect(await svc.refused('POST', '/api/sources', mistyped)).toEqual([
    404,
    `credential: ${near}; add it under Settings, GitHub first`,
  ])
  expect(await svc.post(`${BASE}/main/test`)).toEqual({
    ok: true,
    login: 'octocat',
    scopes: ['repo', 'read:org'],
    expires_at: '2027-01-31T10:00:00.000Z',
  })
  delete github.accounts![TOKEN]
  expect(await svc.post(`${BASE}/main/test`)).toEqual({
    ok: false,
    error: 'GitHub does not take the token (401); it may have expired, or be cut off',
  })
  expect(await svc.put(`${BASE}/main`, { token: NEXT })).toMatchObject({ account: 'octocat' })
  expect(await svc.get(`${BASE}/main/repos?query=shop`)).toMatchObject({ repos: [{ repo: REPO }] })
  expect(await svc.del(`${BASE}/main`)).toEqual({ ok: true, sources: [], mcp_servers: [] })
  for (const [method, path] of [
    ['PUT', ''],
    ['DELETE', ''],
    ['POST', '/test'],
    ['GET', '/repos'],
  ] as const)
    expect(await svc.refused(method, `${BASE}/main${path}`, method === 'PUT' ? {} : undefined)).toEqual([
      404,
      'no credential is named main',
    ])
})

it('are refused with the field and the rule, never with the value', async () => {
  const { svc, write } = await open()
  const refused = (more: Fields) => svc.refused('POST', BASE, { ...write, ...more })
  expect(await refused({ token: `${TOKEN} ${TOKEN}` })).toEqual([
    400,
    'token must be the token alone: letters, digits and signs without blanks',
  ])
  expect((await refused({ name: 'a b' }))[1]).toContain('name')
  expect((await refused({ api_url: 'ftp://x' }))[1]).toContain('api_url')
  expect((await refused({ api_url: 'http://169.254.169.254/' }))[1]).toContain('api_url')
  const source = { name: 'code', connector: 'github', config: { repo: REPO, credential: 'none' } }
  const missing = [404, 'credential: no credential is named none; add it under Settings, GitHub first']
  expect(await svc.refused('POST', '/api/sources', source)).toEqual(missing)
  const server = { name: 'hub', url: 'https://mcp.example/', auth_value: 'credential:github/none' }
  expect(await svc.refused('POST', '/api/mcp-servers', server)).toEqual(missing)
  const params = { credential: 'none', context_repo: 'acme/notes', source_repos: [{ repo: REPO }] }
  expect(await svc.refused('POST', '/api/projects', { template: 'shared_code_context', params })).toEqual(
    missing,
  )
})

it('may be missing when a catalog is imported: the source says so until one is added', async () => {
  const { svc, write } = await open()
  const yaml = `sources:\n  - name: code\n    connector: github\n    config:\n      repo: ${REPO}\n      credential: main\n`
  await svc.post('/api/catalog/import', { yaml })
  expect(await svc.get('/api/sources/code')).toMatchObject({
    health: { status: 'error', reason: expect.stringContaining('no credential is named main') },
  })
  await svc.post(BASE, write)
  expect(await svc.get('/api/sources/code')).toMatchObject({ health: { status: 'starting', reason: null } })
})

it('never leave: not in an answer, the export, the record of changes, the log or the data file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-credentials-'))
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
  await ask('PUT', `${BASE}/main`, { token: `${NEXT} x` })
  await ask('POST', '/api/sources', {
    name: 'code',
    connector: 'github',
    config: { repo: REPO, credential: 'main' },
  })
  await ask('POST', '/api/sources/test', {
    name: 'x',
    connector: 'github',
    config: { repo: REPO, credential: 'main' },
  })
  await ask('POST', '/api/sources/discover', {
    connector: 'github',
    config: { repo: REPO, credential: 'main' },
  })
  await ask('POST', '/api/mcp-servers', {
    name: 'hub',
    url: `${github.url}/mcp`,
    auth_value: 'credential:github/main',
  })
  await ask('POST', '/api/mcp-servers/hub/test')
  // A GitHub that says back what it was sent.
  github.says = () => ({ status: 403, body: { message: `Bad token ${TOKEN}` } })
  await ask('POST', `${BASE}/main/test`)
  await ask('GET', `${BASE}/main/repos`)
  await ask('POST', '/api/sources/test', {
    name: 'x',
    connector: 'github',
    config: { repo: REPO, credential: 'main' },
  })
  github.says = () => null
  await ask('PUT', `${BASE}/main`, { token: NEXT })
  for (const path of [
    ...[BASE, '/api/sources', '/api/mcp-servers', '/api/resources', '/api/changes', '/metrics'],
    ...['/api/catalog/export', '/api/catalog/export?include_secrets=true', '/api/projects'],
  ])
    await ask('GET', path)
  await ask('DELETE', `${BASE}/main`)
  expect(github.received.some(({ headers }) => headers.authorization === `Bearer ${TOKEN}`)).toBe(true)
  expect(answers.join('\n')).toContain('main')
  expect(answers.filter((text) => text.includes('ghp_canary'))).toEqual([])
  expect(lines.join('')).not.toContain('ghp_canary')
  for (const file of readdirSync(folder))
    expect(readFileSync(join(folder, file)).includes('ghp_canary'), file).toBe(false)
})
