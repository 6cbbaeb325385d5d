/** svc slack: who of Slack may do what, against a real daemon. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { svc } from './cli-harness.ts'
import { type Daemon, startDaemon } from './real-daemon.ts'

let daemon: Daemon
beforeEach(async () => {
  daemon = await startDaemon()
})
afterEach(() => daemon.stop())

const run = (...words: string[]) => svc(['slack', ...words, '--svcd', daemon.url])
const mapped = async () =>
  (await (await fetch(`${daemon.url}/api/settings/slack-people`)).json()) as {
    people: object[]
    everyone: string
  }

describe('svc slack', () => {
  it('maps one person after the other, and leaves the rest of the mapping as it is', async () => {
    await fetch(`${daemon.url}/api/settings/slack-people`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ people: [], everyone: 'none' }),
    })
    expect(await run('allow', 'U012ABCDEF', 'respond', '--as', 'Ada')).toMatchObject({
      code: 0,
      out: 'U012ABCDEF has the rights respond; 1 person is mapped\n',
    })
    await run('allow', 'U0SECOND', 'read')
    expect((await run('allow', 'U012ABCDEF', 'admin')).out).toBe(
      'U012ABCDEF has the rights admin; 2 people are mapped\n',
    )
    expect(await mapped()).toMatchObject({
      everyone: 'none',
      people: [
        { user: 'U0SECOND', rights: 'read' },
        { user: 'U012ABCDEF', rights: 'admin' },
      ],
    })
    expect((await run('disallow', 'U0SECOND')).out).toBe('U0SECOND is not mapped any more; 1 person is\n')
    expect((await run('people')).out).toMatch(/U012ABCDEF\s+admin/)
  })

  it('says who is meant where nobody is, and which rights there are', async () => {
    expect(await run('disallow', 'U0NOBODY')).toMatchObject({
      code: 1,
      err: 'svc: nobody is mapped as U0NOBODY: svc slack people lists who is\n',
    })
    expect((await run('allow', 'U012ABCDEF', 'owner')).err).toMatch(/read, respond, admin/)
    expect(await run('allow', 'ada', 'read')).toMatchObject({ code: 1, err: expect.stringContaining('user') })
  })

  it('check exits with 1 and says what is missing where there is no token to ask with', async () => {
    const missing = 'no bot token of Slack is set; add one under Settings, Slack'
    expect(await run('check')).toMatchObject({ code: 1, out: '', err: `svc: ${missing}\n` })
    const json = await run('check', '--json')
    expect([json.code, JSON.parse(json.out)]).toEqual([
      1,
      expect.objectContaining({ ok: false, error: missing }),
    ])
  })
})
