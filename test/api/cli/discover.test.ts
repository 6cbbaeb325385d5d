/** Issue 19, 6: `svc sources discover NAME` and `webhook`, against a real daemon. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { svc } from './cli-harness.ts'
import { type Daemon, startDaemon } from './real-daemon.ts'

let daemon: Daemon
beforeEach(async () => {
  daemon = await startDaemon()
})
afterEach(() => daemon.stop())

const run = (args: string[], stdin?: string) =>
  svc([...args, '--svcd', daemon.url, '--token', 't'], stdin === undefined ? {} : { stdin })
const PAYLOAD = JSON.stringify({
  service: 'cart',
  event: 'slow',
  msg: 'it took 9 s',
  at: '2026-11-20T11:00:00Z',
})
const PROPOSED = {
  event_type_field: 'event',
  event_time_field: 'at',
  text_template: '{msg}',
  labels: [{ name: 'service', field: 'service', primary: true }],
}

async function received(name: string): Promise<void> {
  await run(['sources', 'add', name, '--connector', 'webhook'])
  await run(['send', name], PAYLOAD)
}

describe('svc sources discover', () => {
  it('NAME proposes from what the source received: the config on standard output, rows beside it', async () => {
    await received('hook')
    const ran = await run(['sources', 'discover', 'hook'])
    expect(JSON.parse(ran.out)).toEqual(PROPOSED)
    expect(ran.err).toContain('Read one payload: entity service, type event, time at, text msg.')
    expect(ran.err).toMatch(/entity +service +100 % +high +cart/)
    expect(ran.err).toContain('+ 2026-11-20T11:00:00.000Z  slow  service=cart  it took 9 s')
  })

  it('webhook takes the only source of that connector, and with --apply saves it for new events', async () => {
    await received('hook')
    const ran = await run(['sources', 'discover', 'webhook', '--apply'])
    expect([ran.code, ran.err]).toEqual([
      0,
      expect.stringContaining('hook is saved; it holds for new events'),
    ])
    await run(['send', 'hook'], PAYLOAD)
    const { out } = await run(['read', 'service=cart', '--window', '2h'])
    expect(out).toContain('it took 9 s')
    const shown = JSON.parse((await run(['sources', 'show', 'hook', '--json'])).out) as { config: object }
    expect(shown.config).toEqual(PROPOSED)
  })

  it('webhook --sample proposes from a file, JSON or NDJSON', async () => {
    const ran = await run(['sources', 'discover', 'webhook', '--sample', '-'], `${PAYLOAD}\n${PAYLOAD}\n`)
    expect(JSON.parse(ran.out)).toEqual(PROPOSED)
    const broken = await run(['sources', 'discover', 'webhook', '--sample', '-'], '{')
    expect([broken.code, broken.err]).toEqual([
      65,
      'svc: --sample: standard input is neither JSON nor NDJSON\n',
    ])
  })

  it('says what is missing where nothing was received, and where --apply has no source', async () => {
    expect((await run(['sources', 'discover', 'webhook'])).err).toContain(
      'send an event, or give one as sample',
    )
    const ran = await run(['sources', 'discover', 'webhook', '--sample', '-', '--apply'], PAYLOAD)
    expect([ran.code, ran.err]).toEqual([64, expect.stringContaining('--apply needs a source')])
  })
})
