/** What a repository may be, and how git is asked: nothing of it is an option, a prompt, or a secret in sight. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { loadRepository } from '../../../api/config-repository.ts'
import { systemTimers } from '../../../engine/clock.ts'
import {
  addressFaultOf,
  linksOf,
  mirrorOf,
  nameOfRepository,
  pathFaultOf,
  refFaultOf,
  runGit,
} from '../../../engine/reconcile/git.ts'
import { credentialFaultOf, Mirror } from '../../../engine/reconcile/mirror.ts'
import { gitWorld } from './git-world.ts'

const folders: string[] = []
const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'svc-git-'))
  folders.push(made)
  return made
}
afterEach(() => {
  for (const one of folders.splice(0)) rmSync(one, { recursive: true, force: true })
})

describe('the address of a repository', () => {
  it.each([
    'https://github.com/acme/catalog.git',
    'https://git.example.com:8443/acme/catalog',
    'ssh://git@github.com/acme/catalog.git',
    'git@github.com:acme/catalog.git',
    'file:///srv/git/catalog.git',
    '/srv/git/catalog.git',
  ])('may be %s', (address) => expect(addressFaultOf(address)).toBeNull())

  it.each([
    ['--upload-pack=touch /tmp/x', /dash/],
    ['-oProxyCommand=x', /dash/],
    ['ext::sh -c touch% /tmp/x', /https, ssh or file/],
    ['git://example.com/x.git', /git is none of these/],
    ['fd::17', /https, ssh or file/],
    ['ssh://-oProxyCommand=x/y', /dash|https/],
    ['https://maria:secret@github.com/acme/catalog', /no user or password/],
    ['https://github.com/acme/catalog?x=1', /no query/],
    ['relative/path', /absolute path/],
    ['https://github.com/a\nb', /control/],
  ])('may not be %s', (address, reason) => expect(addressFaultOf(address)).toMatch(reason))

  it.each([
    ['https://github.com/acme/catalog.git', 'https://github.com/acme/catalog/blob/COMMIT/PATH#LLINE'],
    ['git@github.com:acme/catalog.git', 'https://github.com/acme/catalog/blob/COMMIT/PATH#LLINE'],
    [
      'ssh://git@github.acme.com:2222/acme/catalog',
      'https://github.acme.com/acme/catalog/blob/COMMIT/PATH#LLINE',
    ],
    [
      'https://gitlab.acme.com:8443/ops/shop/catalog.git',
      'https://gitlab.acme.com:8443/ops/shop/catalog/-/blob/COMMIT/PATH#LLINE',
    ],
    ['git@bitbucket.org:acme/catalog.git', 'https://bitbucket.org/acme/catalog/src/COMMIT/PATH#lines-LINE'],
    ['https://codeberg.org/acme/catalog', 'https://codeberg.org/acme/catalog/src/commit/COMMIT/PATH#LLINE'],
  ])('of a host that is known, %s, has pages for people', (address, line) =>
    expect(linksOf(address)?.line).toBe(line),
  )

  it('of another host has none', () => {
    for (const address of [
      '/srv/github/catalog.git',
      'file://github.com/x',
      'https://example.com/github/x',
      'https://notgithub.com/a/b',
    ])
      expect(linksOf(address), address).toBeNull()
  })

  it('has a branch or a tag, and a path within it', () => {
    for (const ref of ['main', 'release/1.x', 'v1.2.3', 'feature/a+b'])
      expect(refFaultOf(ref), ref).toBeNull()
    for (const ref of ['-x', 'a..b', 'a:b', '+main', 'refs/*', 'a b', 'x.lock', 'a//b', 'a/', '@{u}', ''])
      expect(refFaultOf(ref), ref).not.toBeNull()
    for (const path of ['', 'catalog', '/catalog/shop.yaml/']) expect(pathFaultOf(path), path).toBeNull()
    for (const path of ['..', 'a/../..', 'a\\b', './a']) expect(pathFaultOf(path), path).not.toBeNull()
    expect(nameOfRepository({ address: 'git@github.com:acme/cata log.git', path: '' })).toBe('cata-log')
    expect(nameOfRepository({ address: '/x/y.git', path: 'apps/shop' })).toBe('shop')
  })

  it('is sent a credential only where that is for', () => {
    expect(credentialFaultOf('https://github.com/a/b', 'https://api.github.com')).toBeNull()
    expect(credentialFaultOf('https://ghe.example.com/a/b', 'https://ghe.example.com/api/v3')).toBeNull()
    expect(credentialFaultOf('https://evil.example.com/a/b', 'https://api.github.com')).toMatch(
      /is for api\.github\.com/,
    )
    expect(credentialFaultOf('http://github.com/a/b', 'https://api.github.com')).toMatch(/not sent over http/)
    expect(credentialFaultOf('git@github.com:a/b', 'https://api.github.com')).toMatch(/SSH key/)
  })
})

describe('the variables', () => {
  const at = { folder: '/data/catalog-mirror', environment: null, absolute: (path: string) => path }
  const load = (env: Record<string, string>) => loadRepository(env, at)
  const repo = { SVC_CATALOG_REPO: 'https://github.com/acme/catalog' }

  it('have their defaults', () => {
    expect(load({})).toBeNull()
    expect(load(repo)).toMatchObject({
      ref: 'main',
      path: '',
      policy: 'manual',
      intervalMs: 180_000,
      pushSecret: null,
    })
  })

  it.each([
    [{ SVC_CATALOG_REPO_REF: 'main' }, /SVC_CATALOG_REPO_REF is set, but no repository is/],
    [{ ...repo, SVC_CATALOG_REPO_POLICY: 'always' }, /SVC_CATALOG_REPO_POLICY/],
    [{ ...repo, SVC_CATALOG_REPO_INTERVAL: '1s' }, /from 5s to 1d/],
    [{ ...repo, SVC_CATALOG_REPO_REF: '-x' }, /SVC_CATALOG_REPO_REF must be the name of a branch/],
    [{ ...repo, SVC_CATALOG_REPO_PATH: '../x' }, /SVC_CATALOG_REPO_PATH/],
    [{ ...repo, SVC_CATALOG_REPO_SECRET: 'short' }, /at least 16/],
    [{ ...repo, SVC_CATALOG_REPO_CREDENTIAL: 'a', SVC_CATALOG_REPO_SSH_KEY: '/k' }, /exclude each other/],
    [{ ...repo, SVC_CATALOG_SYNC: 'on' }, /both set/],
  ])('%j stop the start', (env, reason) => expect(() => load(env as Record<string, string>)).toThrow(reason))
})

describe('git', () => {
  const world = (env: Record<string, string> = {}) => ({
    timers: systemTimers,
    env: { PATH: process.env.PATH, ...env },
  })

  it('runs without hooks, prompts, helpers, and the configuration of the machine', async () => {
    const home = folder()
    const touched = join(home, 'touched')
    const hooks = join(home, 'hooks')
    mkdirSync(hooks)
    for (const name of ['reference-transaction', 'post-checkout', 'pre-auto-gc'])
      writeFileSync(join(hooks, name), `#!/bin/sh\ntouch ${touched}\n`, { mode: 0o755 })
    writeFileSync(
      join(home, '.gitconfig'),
      `[core]\n\thooksPath = ${hooks}\n[alias]\n\tx = !touch ${touched}\n`,
    )
    const git = gitWorld()
    folders.push(git.folder)
    git.commit({ 'a.yaml': '{}\n' }, 'one')
    const mirror = new Mirror(git.repository(), world({ HOME: home }), new AbortController().signal)
    await mirror.bring(null)
    expect(() => readFileSync(touched)).toThrow()
    // The same hook bites where nothing keeps it out.
    execFileSync('git', ['-c', `core.hooksPath=${hooks}`, 'update-ref', 'refs/x', 'HEAD'], { cwd: git.bare })
    expect(readFileSync(touched, 'utf8')).toBe('')
  })

  it('has the token in its environment alone, and an SSH key by its path, quoted', async () => {
    const bin = folder()
    const seen = join(bin, 'seen')
    writeFileSync(
      join(bin, 'git'),
      `#!/bin/sh\nif [ "$3" = fetch ]; then printf '%s\\n' "$@" > ${seen}; env >> ${seen}; fi\nexec ${whichGit()} "$@"\n`,
    )
    chmodSync(join(bin, 'git'), 0o755)
    const git = gitWorld()
    folders.push(git.folder)
    const env = world({ PATH: `${bin}:${process.env.PATH}` })
    const http = { ...git.repository(), address: 'https://127.0.0.1:1/acme/catalog.git' }
    const mirror = new Mirror(http, env, new AbortController().signal)
    const failed = await mirror.bring({ token: 'ghp_secretsecretsecret' }).catch((error: Error) => error)
    const [args, variables] = cut(readFileSync(seen, 'utf8'))
    const basic = Buffer.from('x-access-token:ghp_secretsecretsecret').toString('base64')
    expect(args).not.toContain('ghp_')
    expect(args).not.toContain(basic)
    expect(variables).toContain(`Authorization: Basic ${basic}`)
    expect(variables).toContain('=http.https://127.0.0.1:1/.extraHeader')
    expect(variables).toContain('GIT_TERMINAL_PROMPT=0')
    expect(variables).toContain('GIT_ALLOW_PROTOCOL=https:http:ssh:file')
    expect(String(failed)).not.toContain(basic)
    const ssh = new Mirror(
      { ...git.repository(), address: 'git@127.0.0.1:a/b.git' },
      env,
      new AbortController().signal,
    )
    await ssh.bring({ sshKey: "/keys/it's; touch x" }).catch(() => {})
    expect(cut(readFileSync(seen, 'utf8'))[1]).toContain("-i '/keys/it'\\''s; touch x' -o IdentitiesOnly=yes")
  })

  it('is ended, with what it started, when its time is over or it says too much', async () => {
    const dir = folder()
    const bin = join(dir, 'git')
    writeFileSync(bin, `#!/bin/sh\nif [ "$1" = slow ]; then sleep 60 & wait; else yes; fi\n`, { mode: 0o755 })
    const env = world({ PATH: `${dir}:${process.env.PATH}` })
    const asked = { timeoutMs: 300, maxBytes: 1_000 }
    await expect(runGit(env, { ...asked, args: ['slow'] })).rejects.toMatchObject({ code: 'unreachable' })
    await expect(runGit(env, { ...asked, timeoutMs: 30_000, args: ['loud'] })).rejects.toMatchObject({
      code: 'too_large',
    })
    const none = world({ PATH: '/nonexistent' })
    await expect(runGit(none, { ...asked, args: ['x'] })).rejects.toThrow(
      'git is not installed where svc runs',
    )
  })

  it('says which branches there are, and that a page of a proxy is none', async () => {
    const git = gitWorld()
    folders.push(git.folder)
    git.commit({ 'a.yaml': '{}\n' }, 'one')
    for (const name of ['mian', 'trunk']) git.git('--git-dir', git.bare, 'branch', name, 'main')
    git.git('--git-dir', git.bare, 'branch', '-D', 'main')
    const bring = (address: string) =>
      new Mirror({ ...git.repository(), address }, world(), new AbortController().signal).bring(null)
    await expect(bring(git.bare)).rejects.toMatchObject({
      code: 'ref',
      message: 'the repository has no branch or tag main (did you mean mian?); it has mian, trunk',
    })
    // Git reads a page of one line as a repository without a branch.
    const page = (path: string) => (path.startsWith('/line/') ? '<html>Sign in</html>' : '<html>\n<b>x</b>\n')
    const proxy = createServer((request, response) =>
      response.setHeader('content-type', 'text/html').end(page(request.url!)),
    )
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const { port } = proxy.address() as AddressInfo
    const why = /what answers is (not git|no git repository), such as the page of a proxy or of a sign-in/
    await expect(bring(`http://127.0.0.1:${port}/line/x`)).rejects.toThrow(why)
    await expect(bring(`http://127.0.0.1:${port}/lines/x`)).rejects.toMatchObject({
      code: 'gone',
      message: expect.stringMatching(why),
    })
    await new Promise((resolve) => proxy.close(resolve))
  })

  it('takes links and submodules for no files, and reads names as they are', async () => {
    const git = gitWorld()
    folders.push(git.folder)
    execFileSync('ln', ['-s', '/etc/passwd', join(git.folder, 'clone', 'link.yaml')])
    const id = git.commit(
      { 'a b.yaml': 'x: 1\n', 'ü\n.yaml': 'y: 2\n', 'node_modules/z.yaml': '{}\n' },
      'odd names',
    )
    const mirror = new Mirror(git.repository(), world(), new AbortController().signal)
    await mirror.bring(null)
    const texts = await mirror.texts(id, '')
    expect(texts).toEqual([
      { path: 'a b.yaml', text: 'x: 1\n' },
      { path: 'ü\n.yaml', text: 'y: 2\n' },
    ])
  })

  it('looks for the few files it needs in a listing larger than it keeps', async () => {
    const git = gitWorld()
    folders.push(git.folder)
    git.commit({ 'a.yaml': 'x: 1\n', 'shop/run.yaml': 'y: 2\n' }, 'few')
    git.git('update-index', '--chmod=+x', 'shop/run.yaml')
    git.git('commit', '--quiet', '-m', 'run')
    git.git('push', '--quiet', 'origin', 'HEAD:main')
    const parent = git.git('rev-parse', 'HEAD')
    // 17 MiB of names in few files.
    const deep = Array.from({ length: 12 }, (_, i) => `${i}`.padEnd(250, 'x')).join('/')
    const many = Array.from({ length: 5_600 }, (_, i) => `M 100644 inline ${deep}/${i}.txt\ndata 0\n\n`).join(
      '',
    )
    execFileSync('git', ['fast-import', '--quiet'], {
      cwd: git.bare,
      input: `commit refs/heads/main\ncommitter A <a@b.c> 0 +0000\ndata 4\nmany\nfrom ${parent}\n${many}`,
    })
    const mirror = new Mirror(git.repository(), world(), new AbortController().signal)
    const { id } = await mirror.bring(null)
    expect((await mirror.texts(id, '')).map(({ path }) => path)).toEqual(['a.yaml', 'shop/run.yaml'])
    const who = { name: 'Ada', email: 'ada@example.com' }
    const files = [{ path: 'shop/run.yaml', before: 'y: 2\n', after: 'y: 3\n' }]
    const made = await mirror.commitOn(id, files, {
      author: who,
      committer: who,
      atMs: 0,
      message: 'by hand',
    })
    expect(await mirror.texts(made, 'shop')).toEqual([{ path: 'shop/run.yaml', text: 'y: 3\n' }])
    const listed = execFileSync('git', ['--git-dir', mirrorOf(git.repository()), 'ls-tree', made, 'shop/'])
    expect(listed.toString()).toMatch(/^100755 /)
  })

  it('says what to do where a repository of this machine belongs to another user', async () => {
    const dir = folder()
    const said = "fatal: detected dubious ownership in repository at '/srv/x.git'"
    writeFileSync(join(dir, 'git'), `#!/bin/sh\necho "${said}" >&2; exit 128\n`, { mode: 0o755 })
    const asked = { args: ['fetch'], timeoutMs: 30_000, maxBytes: 1_000 }
    await expect(runGit(world({ PATH: `${dir}:${process.env.PATH}` }), asked)).rejects.toMatchObject({
      code: 'gone',
      message: expect.stringMatching(
        /belongs to another user.*let that user own it, or follow it over https or ssh/,
      ),
    })
  })
})

const whichGit = (): string => execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
const cut = (text: string): [string, string] => {
  const at = text.search(/^[A-Z_]+=/m)
  return [text.slice(0, at), text.slice(at)]
}
