/** `svc login` and `svc logout` against a real daemon; the browser's part is the calls the page makes. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Instance, ROOT, startInstance } from '../../contract/instance.ts'
import { svc } from './cli-harness.ts'

let daemon: Instance
let home: string
beforeEach(async () => {
  daemon = await startInstance({ secured: true })
  home = mkdtempSync(join(tmpdir(), 'svc-login-'))
})
afterEach(async () => {
  await daemon.stop()
  rmSync(home, { recursive: true })
})

interface Approved {
  code: string
  redirect: string | null
}
interface Saved {
  url: string
  key: string
  key_id: string
}

const file = () => join(home, 'login.json')
const saved = () => JSON.parse(readFileSync(file(), 'utf8')) as Saved
const whoami = async (token: string) =>
  (await daemon.call('GET', '/api/whoami', undefined, { authorization: `Bearer ${token}` })).status

/** What the page makes of its address, and of what the person chose. */
function askOf(address: string, more: object = {}) {
  const query = new URL(address).searchParams
  const port = query.get('port')
  return {
    challenge: query.get('challenge'),
    state: query.get('state'),
    machine: query.get('machine'),
    port: port === null ? null : Number(port),
    scopes: query.get('scopes')!.split(','),
    ...more,
  }
}
const approve = (address: string, more: object = {}) =>
  daemon.post<Approved>('/api/logins', askOf(address, more))
const at = () => ['--svcd', daemon.url, '--data-dir', home]

/** Logs in with a browser that does what `inBrowser` says. */
async function login(inBrowser: (address: string) => Promise<void>, argv: string[] = []) {
  let browsing: Promise<void> = Promise.resolve()
  const ran = await svc(['login', ...at(), ...argv], {
    browse: (address) => {
      browsing = inBrowser(address)
    },
  })
  await browsing
  return ran
}
const approving = async (address: string) => {
  const { redirect } = await approve(address)
  const page = await (await fetch(redirect!)).text()
  expect(page).toContain('This machine is logged in')
}

describe('svc login', () => {
  it('saves a key of this machine, for its owner alone, and client commands use it', async () => {
    const ran = await login(approving)
    expect(ran).toMatchObject({
      code: 0,
      out: expect.stringContaining(`logged in to ${daemon.url} with admin`),
    })
    expect(statSync(file()).mode & 0o777).toBe(0o600)
    expect(readdirSync(home)).toEqual(['login.json'])
    const { key, url } = saved()
    expect(url).toBe(daemon.url)
    expect(`${ran.out}${ran.err}`).not.toContain(key)
    expect((await svc(['whoami', '--data-dir', home])).out).toMatch(
      /^svc login, .+ \(key:[0-9a-f]{8}\) at .+: admin\nby the saved login\n$/,
    )
  })

  it.each(['/proc/x', '/dev/null/x'])('asks nobody where the key could not be saved: %s', async (folder) => {
    const ran = await svc(['login', '--svcd', daemon.url, '--data-dir', folder], {
      browse: () => expect.unreachable('a person was asked'),
    })
    expect(ran).toMatchObject({ code: 78, out: '' })
    expect(ran.err).toMatch(new RegExp(`^svc: ${folder} .*; choose another with --data-dir\n$`))
  })

  it('has nothing in the address but what is no secret, and nothing but the code in the way back', async () => {
    await login(async (address) => {
      const { redirect, code } = await approve(address)
      const query = new URL(address).searchParams
      expect([...query.keys()].sort()).toEqual(['challenge', 'machine', 'port', 'scopes', 'state'])
      expect(redirect).toBe(`http://127.0.0.1:${query.get('port')}/?code=${code}&state=${query.get('state')}`)
      await fetch(redirect!)
    })
  })

  it('takes the scopes that the person chose, whatever was proposed', async () => {
    const ran = await login(
      async (address) => {
        expect(askOf(address).scopes).toEqual(['read', 'ingest'])
        await fetch((await approve(address, { scopes: ['read'] })).redirect!)
      },
      ['--scope', 'read,ingest'],
    )
    expect(ran.out).toContain('with read;')
    const { err } = await svc(['keys', 'list', '--data-dir', home])
    expect(err).toContain("lacks the 'admin' scope")
    expect(err).toContain('"svc whoami" says what it may do; pass one that has the scope with --token')
  })

  it('goes on waiting when something else knocks: another state, host, method or path', async () => {
    const ran = await login(async (address) => {
      const { redirect } = await approve(address)
      const wrong = new URL(redirect!)
      wrong.searchParams.set('state', 'x'.repeat(43))
      const elsewhere = redirect!.replace('127.0.0.1', 'localhost')
      expect((await fetch(wrong)).status).toBe(404)
      expect((await fetch(elsewhere).catch(() => ({ status: 404 }))).status).toBe(404)
      expect((await fetch(redirect!, { method: 'POST' })).status).toBe(404)
      expect((await fetch(redirect!.replace('/?', '/other?'))).status).toBe(404)
      expect((await fetch(redirect!)).status).toBe(200)
    })
    expect(ran.code).toBe(0)
  })

  it('refuses a code of another login, and one that came too late, and says so on the page', async () => {
    const injected = await login(async (address) => {
      const mine = new URL((await approve(address)).redirect!)
      const { code } = await approve(address, { challenge: 'c'.repeat(43) })
      mine.searchParams.set('code', code)
      expect(await (await fetch(mine)).text()).toContain('was not finished')
    })
    const late = await login(async (address) => {
      const { redirect } = await approve(address)
      daemon.clock.at += 60_001
      await fetch(redirect!)
    })
    for (const { code, err } of [injected, late])
      expect([code, err]).toEqual([77, expect.stringContaining('this login code is not good')])
    expect(existsSync(file())).toBe(false)
    expect((await daemon.get<{ keys: unknown[] }>('/api/keys')).keys).toEqual([])
  })

  it('ends when the person declines', async () => {
    const ran = await login(async (address) => {
      const { port, state } = askOf(address)
      const page = await fetch(`http://127.0.0.1:${port}/?declined=true&state=${state}`)
      expect(await page.text()).toContain('Declined')
    })
    expect([ran.code, ran.err]).toEqual([1, expect.stringContaining('declined in the console')])
  })

  it('takes the code by hand where there is no browser', async () => {
    async function* pasted(said: () => string): AsyncGenerator<Uint8Array> {
      const { code, redirect } = await approve(/http\S+connect\/login\S+/.exec(said())![0])
      expect(redirect).toBeNull()
      yield Buffer.from(`  ${code}\n`)
    }
    const ran = await svc(['login', ...at(), '--no-browser'], { stdin: pasted })
    expect([ran.code, saved().url]).toEqual([0, daemon.url])
  })

  it('is approved by a person alone: no API key, no page of another site', async () => {
    const key = await daemon.post<{ secret: string }>('/api/keys', { name: 'k', scopes: ['admin'] })
    const ask = { challenge: 'c'.repeat(43), state: 's'.repeat(43), port: 1, machine: 'm', scopes: ['admin'] }
    const by = { authorization: `Bearer ${key.secret}` }
    expect(await daemon.call('POST', '/api/logins', ask, by)).toMatchObject({
      status: 403,
      body: { detail: "only a person's session can approve a login" },
    })
    const session = await daemon.call('POST', '/api/session', { token: ROOT })
    const cookie = session.headers.get('set-cookie')!.split(';')[0]!
    const page = { authorization: '', cookie, origin: 'https://evil.example' }
    expect((await daemon.call('POST', '/api/logins', ask, page)).status).toBe(403)
    expect((await daemon.call('POST', '/api/logins', ask, { ...page, origin: daemon.url })).status).toBe(201)
  })

  it('gives no key once the credential of who approved is revoked', async () => {
    // A person approves: here one who logged in before, since a key that was made by hand stands for a program.
    await login(approving)
    const { key, key_id } = saved()
    const session = await daemon.call('POST', '/api/session', { token: key })
    const cookie = session.headers.get('set-cookie')!.split(';')[0]!
    const ran = await login(async (address) => {
      const by = { authorization: '', cookie }
      const { body } = await daemon.call<Approved>('POST', '/api/logins', askOf(address), by)
      await daemon.del(`/api/keys/${key_id}`)
      await fetch(body.redirect!)
    })
    expect([ran.code, ran.err]).toEqual([77, expect.stringContaining('has been revoked since')])
  })

  it('revokes the key of the login before', async () => {
    await login(approving)
    const before = saved()
    const ran = await login(approving)
    expect(ran.err).toContain(`the key ${before.key_id} of ${daemon.url} is revoked`)
    expect(await Promise.all([before.key, saved().key].map(whoami))).toEqual([401, 200])
  })
})

describe('svc logout', () => {
  it('revokes the key, whatever its scope, and removes the file', async () => {
    await login(approving, ['--scope', 'read'])
    const { key, key_id } = saved()
    const ran = await svc(['logout', '--data-dir', home])
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining(`the key ${key_id} of`) })
    expect([existsSync(file()), await whoami(key)]).toEqual([false, 401])
    expect((await svc(['logout', '--data-dir', home])).out).toBe('no login is saved here\n')
  })

  it('says what remains to be revoked where the daemon is away, and removes the file all the same', async () => {
    writeFileSync(
      file(),
      JSON.stringify({ url: 'http://127.0.0.1:9', key: 'svc_0a1b2c3d_x', key_id: '0a1b2c3d' }),
    )
    const ran = await svc(['logout', '--data-dir', home])
    expect(ran.code).toBe(1)
    expect(ran.err).toContain('its key still opens')
    expect(ran.err).toContain('revoke 0a1b2c3d at http://127.0.0.1:9')
    expect(existsSync(file())).toBe(false)
  })

  it('is no way to revoke the key of another', async () => {
    const [mine, other] = await Promise.all(
      ['a', 'b'].map((name) =>
        daemon.post<{ id: string; secret: string }>('/api/keys', { name, scopes: ['read'] }),
      ),
    )
    const by = { authorization: `Bearer ${mine!.secret}` }
    expect((await daemon.call('DELETE', `/api/logins/${other!.id}`, undefined, by)).status).toBe(404)
    expect(await whoami(other!.secret)).toBe(200)
  })
})
