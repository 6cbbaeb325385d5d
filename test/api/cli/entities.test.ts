/** `svc entities`: names are joined, looked at before and after, and taken apart again. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Setting, svc } from './cli-harness.ts'
import { type Daemon, startDaemon } from './real-daemon.ts'

let daemon: Daemon
beforeEach(async () => {
  daemon = await startDaemon()
})
afterEach(() => daemon.stop())

const run = (line: string, setting: Setting = {}) => svc([...line.split(' '), '--svcd', daemon.url], setting)

async function send(items: object[]): Promise<void> {
  const made = await fetch(`${daemon.url}/api/sources`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'app',
      connector: 'webhook',
      config: {
        labels: [
          { name: 'service', field: 'service', primary: true },
          { name: 'host', field: 'host' },
        ],
        text_template: '{text}',
      },
    }),
  })
  const { ingest_key: key } = (await made.json()) as { ingest_key: string }
  await fetch(`${daemon.url}/ingest/${key}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(items),
  })
}

describe('svc entities', () => {
  it('joins names, says what they cover, and reads them together until they are removed', async () => {
    await send([
      { service: 'api', text: 'write failed' },
      { host: '10.0.0.4', text: 'disk full' },
      { service: 'web', text: 'ok' },
    ])
    expect((await run('entities')).out).toBe('no joined entities; add one: svc entities add\n')
    expect((await run('entities coverage service=api host=10.0.0.4')).out).toBe(
      '100 % of the newest 3 events have no joined entity\nthese names are on 67 %, 67 % of all without one until now\n1 thing, 1 of them by two names or more\n',
    )
    const added = await run('entities add api service=api host=10.0.0.4 --kind service --owned-by team=shop')
    expect(added.out).toBe('api: its names are read together from now on\n')
    expect((await run('entities list')).out).toMatch(/api +service +service=api, host=10\.0\.0\.4 +team=shop/)
    expect(JSON.parse((await run('entities show api')).out)).toMatchObject({ owned_by: ['team=shop'] })
    const read = await run('read service=api')
    expect(read.out).toContain('disk full')
    expect(read.err).toContain('names of one thing: service=api, host=10.0.0.4')
    expect((await run('read service=api --no-join')).out).not.toContain('disk full')
    expect((await run('entities neighbours host 10.0.0.4')).out).toMatch(/is owned by +team=shop +a rule/)
    const twice = await run('entities add web service=web host=10.0.0.4')
    expect(twice.code).toBe(1)
    expect(twice.err).toContain('host=10.0.0.4 is a name of entity api and of entity web')
    expect((await run('entities remove api')).out).toBe('api: removed, its names are read apart again\n')
    expect((await run('read service=api')).out).not.toContain('disk full')
  })
})
