import { afterEach, beforeEach, expect, it } from 'vitest'
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
    err: expect.stringContaining('give the token on standard input: svc credentials add main < token.txt'),
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
  expect((await run('credentials')).out).toMatch(/main\s+octocat\s+127\.0\.0\.1:\d+\s+2027-01-31\s+ok/)
  expect((await run('credentials delete main')).out).toBe('deleted main\n')
})
