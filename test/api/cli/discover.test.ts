/** Issue 19, 6: `svc sources discover NAME` and `webhook`, against a real daemon. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { answer, startStub, svc } from './cli-harness.ts'
import { type Daemon, startDaemon } from './real-daemon.ts'

let daemon: Daemon
beforeEach(async () => {
  daemon = await startDaemon()
})
afterEach(() => daemon.stop())

type Preset = { name: string; example: { body: unknown } }
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

  it('says which preset fits; --preset shows it, and with --apply saves it', async () => {
    const listed = await run(['sources', 'presets'])
    expect(listed.out).toMatch(/pagerduty +PagerDuty +service, incident +pagerduty/)
    await run(['sources', 'add', 'pages', '--connector', 'webhook'])
    const presets = JSON.parse((await run(['sources', 'presets', '--json'])).out) as Preset[]
    const { body } = presets.find(({ name }) => name === 'pagerduty')!.example
    await run(['send', 'pages'], JSON.stringify(body))
    const ran = await run(['sources', 'discover', 'pages'])
    expect(ran.err).toContain('This looks like PagerDuty: the preset pagerduty reads it.')
    expect(ran.err).toContain('read it so with: --preset pagerduty')
    const applied = await run(['sources', 'discover', 'pages', '--preset', 'pagerduty', '--apply'])
    expect(applied.err).toContain('incident.triggered  service=API Service')
    const shown = JSON.parse((await run(['sources', 'show', 'pages', '--json'])).out) as { config: object }
    expect(shown.config).toEqual({ preset: 'pagerduty' })
  })

  it('an added source of a preset is tried with what its sender documents', async () => {
    const ran = await run(['sources', 'add', 'alerts', '--connector', 'webhook', '--preset', 'uptime_kuma'])
    expect(ran.out).toContain('[checkout] [🔴 Down] connect ECONNREFUSED')
    const signed = ['--preset', 'stripe', '--set', 'signature_secret=whsec_1']
    const shop = await run(['sources', 'add', 'shop', '--connector', 'webhook', ...signed])
    expect(shop.out).toContain('only what is signed is taken')
    const none = await run(['sources', 'add', 'nope', '--connector', 'webhook', '--preset', 'nope'])
    expect(none.err).toContain('preset nope is not known; there are amazon_eventbridge')
    const polled = await run([
      'sources',
      'add',
      'log',
      '--connector',
      'file',
      '--set',
      'path=/var/log/app.log',
    ])
    expect(polled.out).toBe(`added log\ntry it: svc sources test log --svcd ${daemon.url}\n`)
    expect((await run(['sources', 'test', 'log'])).err).toContain('SVC_FILES is not set')
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

  it('lists the names of what an upstream has, those of a long list in part', async () => {
    const metrics = Array.from({ length: 103 }, (_, i) => `metric_${i}`)
    const found: Record<string, object> = {
      postgres: {
        summary: '1 table; name one and discover again',
        tables: [{ name: 'public.orders', kind: 'table' }],
      },
      prometheus: {
        catalog: { metrics, labels: ['job', 'le\u001b[31m'] },
        metrics_for_label: [],
        truncated: false,
      },
      mcp_resources: { resources: [{ uri: 'desk://notes/1', name: 'Notes' }], sample: ['no name'] },
    }
    const stub = await startStub((seen, response) => {
      const { connector = '' } = seen.body ? (JSON.parse(seen.body) as { connector?: string }) : {}
      if (seen.method === 'GET') answer(response, 404, { detail: 'no source has that name' })
      else answer(response, 200, { connector, proposed_config: {}, ...found[connector] })
    })
    const told = async (connector: string) => {
      const ran = await svc(['sources', 'discover', connector, '--svcd', stub.url])
      expect(ran).toMatchObject({ code: 0, out: '{}\n' })
      return ran.err
    }
    expect(await told('postgres')).toBe('1 table; name one and discover again\ntables:\n  public.orders\n')
    const shown = metrics.slice(0, 100).map((name) => `  ${name}\n`)
    expect(await told('prometheus')).toBe(
      `metrics:\n${shown.join('')}  and 3 more: --json lists them\nlabels:\n  job\n  le\\u001b[31m\n`,
    )
    expect(await told('mcp_resources')).toBe('resources:\n  desk://notes/1\n')
    await stub.close()
  })
})
