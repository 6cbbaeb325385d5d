import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  APP_ID,
  REPO as APP_REPO,
  githubAppServer,
} from '../../engine/declared/credentials/github-app-server.ts'
import { githubServer, REPO } from '../../engine/sources/connectors/github/github-server.ts'
import { svc } from './cli-harness.ts'
import { type Daemon, startDaemon } from './real-daemon.ts'

let daemon: Daemon
beforeEach(async () => {
  daemon = await startDaemon()
})
afterEach(() => daemon.stop())

it('svc credentials keeps a token in one place, read from standard input', async () => {
  const github = await githubServer()
  github.accounts = { ghp_one: 'octocat', ghp_two: 'octocat' }
  const run = (line: string, stdin = '') => svc([...line.split(' '), '--svcd', daemon.url], { stdin })
  expect((await run('credentials')).out).toContain('no credentials yet')
  expect(await run('credentials add main')).toMatchObject({
    code: 64,
    err: expect.stringContaining(
      'give the token, or the private key of an app, on standard input: svc credentials add main < token.txt',
    ),
  })
  expect(await run(`credentials add main --api-url ${github.url}`, 'ghp_one\n')).toMatchObject({
    code: 0,
    out: 'stored main: of octocat\n',
    err: '',
  })
  expect((await run('credentials test main')).out).toBe(
    'token of octocat; scopes repo, read:org; expires 2027-01-31\n',
  )
  expect((await run('credentials repos main shop')).out).toBe(`${REPO}\n`)
  delete github.accounts.ghp_one
  expect(await run('credentials test main')).toMatchObject({
    code: 1,
    err: 'svc: main: GitHub does not take the token (401); it may have expired, or be cut off\n',
  })
  expect((await run('credentials rotate main', 'ghp_two')).out).toBe('rotated main: of octocat\n')
  expect((await run('credentials')).out).toMatch(
    /main\s+token\s+octocat\s+127\.0\.0\.1:\d+\s+2027-01-31\s+ok/,
  )
  expect((await run('credentials delete main')).out).toBe('deleted main\n')
})

it('svc credentials keeps an app by its private key, and says where it is installed', async () => {
  // The daemon's clock stands still.
  const github = await githubAppServer(() => Date.parse('2026-11-20T12:00:00Z'))
  const run = (line: string, stdin = '') => svc([...line.split(' '), '--svcd', daemon.url], { stdin })
  const add = `credentials add app --api-url ${github.url}`
  expect(await run(add, github.privateKey)).toMatchObject({
    code: 64,
    err: expect.stringContaining('give the id of its app by --app-id'),
  })
  expect(await run(`${add} --app-id ${APP_ID} --installation-id all`, github.privateKey)).toMatchObject({
    ...{ code: 0, out: 'stored app: of shop-watch\n', err: '' },
  })
  expect((await run('credentials test app')).out).toBe(
    'app shop-watch; may checks: write, contents: read, issues: write, metadata: read\n' +
      'installation 1: acme, selected repositories\n',
  )
  expect((await run('credentials repos app')).out).toBe('acme/shop\nacme/docs\n')
  expect((await run(`credentials tree app ${APP_REPO}`)).out).toBe('src/\nREADME.md\n')
  expect((await run(`credentials tree app ${APP_REPO} src --ref main`)).out).toBe('src/a b.ts\nsrc/vendor\n')
  expect((await run('credentials installation app one')).code).toBe(64)
  expect(await run('credentials installation app 9')).toMatchObject({
    ...{ code: 0, err: expect.stringContaining('has no installation 9') },
  })
  expect((await run('credentials')).out).toMatch(/app\s+app 9\s+shop-watch/)
  expect((await run('credentials installation app all')).out).toBe('changed app: of shop-watch\n')
  expect((await run('credentials rotate app', github.privateKey)).out).toBe('rotated app: of shop-watch\n')
  expect(await run('credentials mcp app')).toMatchObject({
    err: expect.stringContaining('GitHub hosts no MCP server for 127.0.0.1'),
  })
})
