/** Stored credentials in the engine: polls before a server that speaks GitHub's API, and MCP servers. */
import { expect, it } from 'vitest'
import { githubServer, REPO } from '../../sources/connectors/github/github-server.ts'
import { ME, setup } from '../../sources/polling/setup.ts'

async function world() {
  const upstream = await githubServer()
  upstream.accounts = { 'ghp_first-token': 'octocat', 'ghp_second-token': 'hubot' }
  const polled = setup()
  const { engine } = polled
  const store = (token: string, more = {}) =>
    engine.createCredential({ name: 'main', token, api_url: upstream.url, ...more })
  const source = (config: Record<string, unknown> = {}) =>
    engine.createSource(
      {
        name: 'code',
        connector: 'github',
        poll: '30s',
        config: { repo: REPO, credential: 'main', ...config },
      },
      ME,
      false,
    )
  /** Tokens that were sent, by what they asked for. */
  const sent = (path: string) =>
    upstream.received.filter((one) => one.path.startsWith(path)).map(({ headers }) => headers.authorization)
  return { ...polled, upstream, store, source, sent }
}

it('read a repository, and a rotated token is used by the next poll without an edit of the source', async () => {
  const { engine, upstream, store, source, sent, until, asleep, health } = await world()
  expect(await store('ghp_first-token')).toEqual({ ok: true, name: 'main', account: 'octocat' })
  await source()
  const { version } = await engine.getSource('code')
  await until(1)
  expect(await health('code')).toMatchObject({ status: 'ok' })
  expect(new Set(sent('/repos/'))).toEqual(new Set(['Bearer ghp_first-token']))
  await asleep()

  // Revoked upstream; what is stored is rotated, and polled with at once.
  delete upstream.accounts!['ghp_first-token']
  upstream.received.length = 0
  expect(await engine.updateCredential('main', { token: ' ghp_second-token\n' })).toMatchObject({
    account: 'hubot',
  })
  await until(2)
  expect(new Set(sent('/repos/'))).toEqual(new Set(['Bearer ghp_second-token']))
  expect(await health('code')).toMatchObject({ status: 'ok' })
  expect((await engine.getSource('code')).version).toBe(version)
})

it('say on the source what to do when GitHub refuses the token, and when the credential is gone', async () => {
  const { engine, store, source, until, health } = await world()
  expect(await store('ghp_expired')).toMatchObject({
    account: null,
    warning: 'GitHub does not take the token (401); it may have expired, or be cut off',
  })
  await source()
  await until(1)
  expect((await health('code')).last_error).toBe(
    'GitHub does not take the token of the credential main (401); it may have expired: rotate it under Settings, GitHub',
  )
  expect(await engine.deleteCredential('main')).toEqual({ ok: true, sources: ['code'], mcp_servers: [] })
  expect(await health('code')).toMatchObject({
    status: 'error',
    reason: 'it is not polled: no credential is named main; add it under Settings, GitHub, or name another',
  })
  await store('ghp_first-token')
  await until(2)
  expect(await health('code')).toMatchObject({ status: 'ok' })
})

it('are sent to their own host alone, and a source keeps one kind of token', async () => {
  const { store, source, engine, upstream, health } = await world()
  await store('ghp_first-token', { api_url: 'https://127.0.0.1:1/api/v3/' })
  await source({ api_url: upstream.url })
  expect((await health('code')).reason).toContain(
    'the credential main is for 127.0.0.1:1 and is sent nowhere else; clear api_url',
  )
  expect(upstream.received).toEqual([])
  await expect(engine.updateCredential('main', { api_url: upstream.url })).rejects.toThrow(
    'token: enter it again: the address changed',
  )
  await expect(
    engine.createSource(
      { name: 'two', connector: 'github', config: { repo: REPO, credential: 'main', token: 'x' } },
      ME,
      false,
    ),
  ).rejects.toThrow('config.token and config.credential exclude each other')
  await expect(
    engine.createSource(
      { name: 'three', connector: 'github', config: { repo: REPO, credential: 'other' } },
      ME,
      false,
    ),
  ).rejects.toThrow('credential: no credential is named other; add it under Settings, GitHub first')
})

it('of another GitHub begin the reading anew', async () => {
  const { engine, store, source, until, health, asleep } = await world()
  await store('ghp_first-token')
  await source()
  await until(1)
  await asleep()
  const other = await githubServer()
  await engine.updateCredential('main', { token: 'ghp_first-token', api_url: other.url })
  await until(2)
  expect(other.received.some(({ path }) => path.startsWith('/repos/'))).toBe(true)
  expect((await health('code')).notice).toContain('It reads anew, because the address of main changed.')
})

it('are what discovery asks with, and are named in what it proposes', async () => {
  const { engine, store, upstream } = await world()
  await store('ghp_first-token')
  const config = { repo: REPO, credential: 'main' }
  const found = await engine.discoverSource({ connector: 'github', config })
  expect(found.proposed_config).toMatchObject({ repo: REPO, credential: 'main', branch: 'main' })
  expect(JSON.stringify(found)).not.toContain('ghp_')
  expect(found.proposed_config).not.toHaveProperty('api_url')
  expect(await engine.testSource({ name: 'new', connector: 'github', config })).toMatchObject({ ok: true })
  upstream.repos = ['acme/shop', 'acme/payments', 'other/site']
  expect(await engine.credentialRepositories('main', 'PAY')).toEqual({
    repos: [
      { repo: 'acme/payments', default_branch: 'main', private: true, pushed_at: '2026-11-20T10:00:00Z' },
    ],
    more: false,
  })
  upstream.accounts = {}
  await expect(engine.credentialRepositories('main', '')).rejects.toMatchObject({ code: 'upstream' })
})

it('list what uses them, whose they are and when they expire', async () => {
  const { engine, store, source } = await world()
  await store('ghp_first-token')
  await source()
  await engine.createMcpServer(
    { name: 'hub', url: 'https://mcp.example/', auth_value: 'credential:github/main' },
    ME,
  )
  const { credentials } = await engine.listCredentials()
  expect(credentials).toEqual([
    expect.objectContaining({
      ...{ name: 'main', kind: 'token', account: 'octocat', expires_at: '2027-01-31T10:00:00.000Z' },
      ...{ problem: null, sources: ['code'], mcp_servers: ['hub'] },
    }),
  ])
  const { servers, skipped } = await engine.mcpServersToConnect(['hub'])
  expect(skipped).toEqual([])
  expect(servers[0]!.headers).toEqual({ Authorization: 'Bearer ghp_first-token' })
  await engine.updateCredential('main', { token: 'ghp_second-token' })
  expect((await engine.mcpServersToConnect(['hub'])).servers[0]!.headers).toEqual({
    Authorization: 'Bearer ghp_second-token',
  })
  await engine.deleteCredential('main')
  expect((await engine.mcpServersToConnect(['hub'])).skipped).toEqual([
    {
      server: 'hub',
      reason: 'no credential is named main; add it under Settings, GitHub, or name another',
    },
  ])
  // What already names one that is gone can be edited all the same.
  await engine.updateMcpServer(
    'hub',
    { name: 'hub', url: 'https://mcp.example/v2', auth_value: 'credential:github/main' },
    ME,
  )
})
