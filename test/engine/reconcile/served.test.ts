/** The sync over the API: scopes, pushes, credentials of a real smart-HTTP host, and what GitHub is told. */
import { createHmac } from 'node:crypto'
import { mkdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import type { Repository } from '../../../engine/reconcile/git.ts'
import { startHere } from '../../contract/instance.ts'
import { eventually } from '../../eventually.ts'
import { APP_ID, githubAppServer, place } from '../declared/credentials/github-app-server.ts'
import { gitServer } from './git-server.ts'
import { gitWorld, SHOP } from './git-world.ts'

const SECRET = 'a-secret-of-sixteen-and-more'
const TOKEN = 'ghp_canary0token0of0the0repository'
const opened: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

function world() {
  const git = gitWorld()
  opened.push(() => git.remove())
  return git
}

async function serve(repository: Repository | null, more: Parameters<typeof startHere>[0] = {}) {
  const svc = await startHere({ repository, ...more })
  opened.push(() => svc.stop())
  return svc
}

const signed = (body: string, secret = SECRET) =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`

describe('the sync over HTTP', () => {
  it('is looked at by readers, and moved by admins alone', async () => {
    const git = world()
    git.commit({ 'shop.yaml': SHOP() }, 'five')
    const svc = await serve(git.repository(), { secured: true })
    const { secret } = await svc.post<{ secret: string }>('/api/keys', { name: 'reader', scopes: ['read'] })
    const reader = svc.as(secret)
    expect(await reader.get('/api/catalog/sync')).toMatchObject({ state: 'off' })
    expect((await reader.refused('POST', '/api/catalog/sync', {}))[0]).toBe(403)
    const looked = await svc.post<{ fingerprint: string }>('/api/catalog/sync')
    expect(await reader.get('/api/catalog/sync')).toMatchObject({
      state: 'out_of_sync',
      repository: { address: git.bare, ref: 'main', policy: 'manual', interval_seconds: 60 },
      parts: [{ state: 'out_of_sync' }, { state: 'out_of_sync' }],
    })
    const other = {
      apply: true,
      fingerprint: looked.fingerprint.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
    }
    expect((await svc.refused('POST', '/api/catalog/sync', other))[0]).toBe(409)
    expect(await svc.post('/api/catalog/sync', { ...other, fingerprint: looked.fingerprint })).toMatchObject({
      state: 'synced',
    })
    expect(await reader.get('/api/catalog/sync?parts=all')).toMatchObject({
      counts: { synced: 2, out_of_sync: 0, failed: 0, unmanaged: 0 },
      parts: [
        { name: 'gateway', state: 'synced' },
        { name: 'gateway-errors', state: 'synced' },
      ],
    })
    expect(await reader.get('/api/catalog/sync/history')).toMatchObject({
      entries: [{ outcome: 'applied' }, { outcome: 'held' }],
    })
    expect(await svc.get('/health')).toMatchObject({
      status: 'ok',
      catalog_sync: { state: 'synced', reason: null },
    })
    const { text } = await svc.call('GET', '/metrics')
    expect(text).toContain('svc_catalog_sync_state{state="synced"} 1')
    expect(text).toContain('svc_catalog_sync_looks_total{outcome="applied"} 1')
  })

  it('takes pushes that are signed, of its branch alone, and looks', async () => {
    const git = world()
    git.commit({ 'shop.yaml': SHOP() }, 'five')
    const svc = await serve(git.repository({ policy: 'auto', pushSecret: SECRET }))
    const push = (body: string, headers: Record<string, string>) =>
      svc.call<{ looks: boolean }>('POST', '/hooks/catalog', body, {
        'content-type': 'application/json',
        ...headers,
      })
    const body = JSON.stringify({ ref: 'refs/heads/main', after: 'x' })
    expect((await push(body, {})).status).toBe(401)
    expect(
      (await push(body, { 'x-hub-signature-256': signed(body, 'another secret of its own') })).status,
    ).toBe(401)
    expect((await push(`${body} `, { 'x-hub-signature-256': signed(body) })).status).toBe(401)
    expect(await svc.get('/api/catalog/sync')).toMatchObject({ state: 'off' })
    const other = JSON.stringify({ ref: 'refs/heads/other' })
    expect((await push(other, { 'x-hub-signature-256': signed(other) })).body).toEqual({
      ok: true,
      looks: false,
    })
    const ping = JSON.stringify({ zen: 'x', ref: 'refs/heads/main' })
    const pinged = await push(ping, { 'x-github-event': 'ping', 'x-hub-signature-256': signed(ping) })
    expect(pinged.body).toEqual({ ok: true, looks: false })
    expect((await push('[]', { 'x-hub-signature-256': signed('[]') })).status).toBe(400)
    expect(
      (await push(body, { 'x-hub-signature-256': signed(body), 'x-github-event': 'push' })).body,
    ).toEqual({
      ok: true,
      looks: true,
    })
    await eventually(async () =>
      expect(await svc.get('/api/catalog/sync')).toMatchObject({ state: 'synced' }),
    )
    git.commit({ 'shop.yaml': SHOP(9) }, 'nine')
    const form = new URLSearchParams({ payload: body }).toString()
    const type = { 'content-type': 'application/x-www-form-urlencoded', 'x-hub-signature-256': signed(form) }
    expect((await push(form, type)).body).toMatchObject({ looks: true })
    await eventually(async () =>
      expect(await svc.get('/api/catalog/sync')).toMatchObject({
        head: { message: 'nine' },
        state: 'synced',
      }),
    )
    const gitlab = { 'x-gitlab-token': SECRET, 'x-gitlab-event': 'Push Hook' }
    expect((await push(body, gitlab)).body).toMatchObject({ looks: true })
    expect((await push(body, { ...gitlab, 'x-gitlab-token': 'no' })).status).toBe(401)
    // Bitbucket Cloud, and Data Center.
    const cloud = (name: string | null) =>
      JSON.stringify({
        push: { changes: [{ new: name && { type: 'branch', name }, old: { name: 'other' } }] },
      })
    const center = JSON.stringify({ changes: [{ refId: 'refs/heads/main', type: 'UPDATE' }] })
    const asked: [string, string, unknown][] = [
      ['repo:push', cloud('main'), { ok: true, looks: true }],
      ['repo:push', cloud(null), { ok: true, looks: false }],
      ['repo:refs_changed', center, { ok: true, looks: true }],
      ['diagnostics:ping', JSON.stringify({ test: true }), { ok: true, looks: false }],
    ]
    for (const [event, sent, answer] of asked) {
      const headers = { 'x-event-key': event, 'x-hub-signature': signed(sent) }
      expect((await push(sent, headers)).body, event).toEqual(answer)
      expect((await push(`${sent} `, headers)).status, event).toBe(401)
    }
    const without = await serve(git.repository({ folder: join(git.folder, 'other') }))
    expect((await without.refused('POST', '/hooks/catalog', '{}'))[0]).toBe(404)
  })
})

describe('a repository that asks who reads it', () => {
  async function hosted(over: Partial<Repository> = {}) {
    const git = world()
    const host = await gitServer(git.folder)
    opened.push(() => host.close())
    host.tokens = new Set([TOKEN])
    renameSync(git.bare, join(git.folder, 'catalog.git'))
    git.git('remote', 'set-url', 'origin', join(git.folder, 'catalog.git'))
    // What GitHub calls owner/name.
    const address = `${host.url}/acme/catalog.git`
    mkdirSync(join(git.folder, 'acme'))
    symlinkSync(join(git.folder, 'catalog.git'), join(git.folder, 'acme', 'catalog.git'))
    const lines: string[] = []
    const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
    const svc = await serve(
      git.repository({ address, policy: 'auto', credential: 'main', pushSecret: SECRET, ...over }),
      { log },
    )
    const store = (token: string) =>
      svc.post('/api/integrations/github', { name: 'main', token, api_url: `${host.url}/api/v3` })
    return { git, host, svc, store, lines }
  }

  it('is read with the stored credential; one that expired changes nothing, is said, and mends with the next', async () => {
    const { git, host, svc, store, lines } = await hosted()
    git.commit({ 'shop.yaml': SHOP() }, 'five')
    expect(await svc.post('/api/catalog/sync')).toMatchObject({
      ...{ state: 'failed', code: 'credential' },
      reason: 'no credential is named main; add it under Settings, GitHub, or by "svc credentials add main"',
    })
    await store(TOKEN)
    expect(await svc.post('/api/catalog/sync')).toMatchObject({ state: 'synced', reason: null })
    git.commit({ 'shop.yaml': SHOP(9) }, 'nine')
    host.tokens = new Set(['ghp_another'])
    const failed = await svc.post<{ reason: string }>('/api/catalog/sync')
    expect(failed).toMatchObject({ state: 'failed', code: 'credential', head: { message: 'five' } })
    expect(failed.reason).toContain('refuses the credential')
    expect(JSON.stringify(await svc.get('/api/triggers'))).toContain('> 5')
    expect(await svc.get('/health')).toMatchObject({ status: 'degraded', catalog_sync: { state: 'failed' } })
    await svc.put('/api/integrations/github/main', { token: 'ghp_another' })
    expect(await svc.post('/api/catalog/sync')).toMatchObject({ state: 'synced', head: { message: 'nine' } })
    const told = JSON.stringify(await svc.get('/api/catalog/sync/history')) + lines.join('')
    for (const token of [TOKEN, 'ghp_another'])
      for (const form of [token, Buffer.from(`x-access-token:${token}`).toString('base64')])
        expect(told).not.toContain(form)
  })

  it('is read with tokens of an app, each until it ends', async () => {
    const { git, host, svc } = await hosted()
    const app = await githubAppServer(() => svc.clock.at)
    app.installations = [place(1, 'acme', ['acme/catalog'])]
    // The host takes those that the app was given, and no other.
    host.tokens = app.tokens as unknown as Set<string>
    git.commit({ 'shop.yaml': SHOP() }, 'five')
    await svc.post('/api/integrations/github', {
      ...{ name: 'main', app_id: APP_ID, private_key: app.privateKey, api_url: app.url },
    })
    expect(await svc.post('/api/catalog/sync')).toMatchObject({ state: 'synced', reason: null })
    expect(app.tokens.size).toBe(1)
    app.installations = []
    svc.clock.at += 59 * 60_000
    git.commit({ 'shop.yaml': SHOP(9) }, 'nine')
    expect(await svc.post('/api/catalog/sync')).toMatchObject({
      ...{ state: 'failed', code: 'credential' },
      reason: expect.stringContaining('the app 4711 is not installed for acme/catalog (404)'),
    })
    expect(JSON.stringify(await svc.get('/api/triggers'))).toContain('> 5')
  })

  it('is sent no token that is for another host', async () => {
    const { git, host, svc } = await hosted()
    git.commit({ 'shop.yaml': SHOP() }, 'five')
    await svc.post('/api/integrations/github', {
      ...{ name: 'main', token: TOKEN },
      api_url: `${host.url.replace('127.0.0.1', 'localhost')}/api/v3`,
    })
    expect(await svc.post('/api/catalog/sync')).toMatchObject({
      ...{ state: 'failed', code: 'credential' },
      reason: 'the credential is for localhost, and the repository is at 127.0.0.1',
    })
  })

  it('is told what became of each commit: a status, and one comment on its pull request', async () => {
    const { git, host, svc, store } = await hosted()
    await store(TOKEN)
    const first = git.commit({ 'shop.yaml': SHOP() }, 'five')
    await svc.post('/api/catalog/sync')
    const path = '/repos/acme/catalog'
    expect(host.asked).toEqual([
      [
        'POST',
        `${path}/statuses/${first}`,
        { state: 'success', context: 'svc/test', description: 'Applied: 2 created, 1 changed, 0 deleted' },
      ],
      ['GET', `${path}/commits/${first}/pulls`, null],
      ['GET', `${path}/issues/7/comments?per_page=100`, null],
      ['POST', `${path}/issues/7/comments`, { body: expect.stringContaining('Applied: 2 created') }],
    ])
    host.asked.splice(0)
    await svc.post('/api/catalog/sync')
    expect(host.asked).toEqual([])
    const second = git.commit({ 'shop.yaml': SHOP(9).replace('[gateway]', '[gatewya]') }, 'a slip')
    await svc.post('/api/catalog/sync')
    expect(host.asked[0]).toEqual([
      'POST',
      `${path}/statuses/${second}`,
      expect.objectContaining({ state: 'failure', description: expect.stringContaining('shop.yaml:12:15') }),
    ])
    expect(host.asked.at(-1)?.slice(0, 2)).toEqual(['PATCH', `${path}/issues/comments/1`])
    expect([...host.comments.values()]).toEqual([expect.stringContaining('gatewya')])
  })
})
