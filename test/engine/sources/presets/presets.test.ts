/** Issue 21, 6: each preset reads the deliveries its sender documents (the examples of catalog/presets/*.yaml). */
import { createHmac } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compilePreset, presets, senderOf } from '../../../../engine/sources/connectors/preset.ts'
import type { PresetExample, PresetFile } from '../../../../schemas/types.ts'
import { faultsOf } from '../../../../scripts/presets.ts'
import { openDoor } from '../../../api/http/door.ts'

/** Later than every time of the examples. */
const NOW = Date.parse('2026-11-23T12:00:00Z')
type Door = Awaited<ReturnType<typeof openDoor>>
interface Event {
  event_type: string
  text: string
  event_time: string
  entity: { label: string; value: string } | null
  labels: Record<string, string | number>
}

let door: Door
beforeAll(async () => {
  door = await openDoor()
  door.clock.at = NOW
})
afterAll(() => door.close())

const ALL = Object.entries(presets())
const EXAMPLES = ALL.flatMap(([name, { examples }]) =>
  examples.map((example, n): [string, string, PresetExample] => [name, `${name}-${n}`, example]),
)

async function eventsOf(source: string): Promise<Event[]> {
  const answer = await door.call('GET', `/api/sources/${source}/events?limit=100`)
  return (answer.json() as unknown as (Event & { id: string })[]).sort(
    (a, b) => Number(a.id.slice(4)) - Number(b.id.slice(4)),
  )
}

const send = (url: string, { body, headers = {} }: PresetExample, more: Record<string, string> = {}) =>
  door.call('POST', url, JSON.stringify(body), { ...headers, ...more })

describe('a preset', () => {
  it('is there for each sender the issue names', () => {
    const named = [
      'amazon_eventbridge amazon_firehose amazon_sns argo_cd azure_devops azure_event_grid',
      'azure_monitor better_stack bitbucket checkly circleci cloudevents collectd datadog',
      'datadog_logs docker_hub elasticsearch_bulk falco fluent_bit gelf gitlab google_monitoring',
      'google_pubsub grafana incident_io jenkins jira kubernetes launchdarkly linear loki_push',
      'netlify new_relic opsgenie pagerduty pino sentry shopify slack sonarqube splunk_hec',
      'statuspage stripe syslog_ng telegraf terraform uptime_kuma vector winston',
    ]
    expect(ALL.map(([name]) => name)).toEqual(named.flatMap((line) => line.split(' ')))
  })

  it.each(EXAMPLES)(
    '%s reads what is documented: type, text, time, entity, labels (%s)',
    async (preset, source, example) => {
      const { url } = await door.source(source, { preset })
      const sent = await send(url, example)
      expect(sent.json()).toMatchObject({ ingested: example.rows.length })
      // Every time is the sender's own.
      expect(sent.json()).not.toHaveProperty('untimed')
      const events = await eventsOf(source)
      expect(events).toHaveLength(example.rows.length)
      for (const [n, { type, text, time, entity, labels = {}, lacks = [] }] of example.rows.entries()) {
        const event = events[n]!
        const event_time = time ?? new Date(NOW).toISOString()
        expect(event).toMatchObject({ event_type: type, text, event_time, labels })
        expect(Object.keys(event.labels).filter((name) => lacks.includes(name))).toEqual([])
        expect(event.entity ? `${event.entity.label}=${event.entity.value}` : undefined).toBe(entity)
      }
    },
  )

  it('pino reads the lines that pino itself writes, of each level', async () => {
    const { url } = await door.source('of-pino', { preset: 'pino' })
    const lines: string[] = []
    const log = pino({ name: 'cart', level: 'trace' }, { write: (line: string) => lines.push(line) })
    for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const)
      log[level](`at ${level}`)
    log.error(new TypeError('total is not a number'))
    log.error(new TypeError('total is not a number'), 'payment failed')
    door.clock.at = Date.now()
    await door.call('POST', url, lines.join(''), { 'content-type': 'application/x-ndjson' })
    door.clock.at = NOW
    const events = await eventsOf('of-pino')
    expect(events.map(({ event_type, text }) => `${event_type} ${text}`)).toEqual([
      ...[
        'trace at trace',
        'debug at debug',
        'info at info',
        'warn at warn',
        'error at error',
        'fatal at fatal',
      ],
      'error total is not a number',
      'error payment failed: total is not a number',
    ])
    expect(new Set(events.map(({ entity }) => entity?.value))).toEqual(new Set(['cart']))
    expect(events.at(-1)!.labels).toMatchObject({ level: 'error', error: 'TypeError' })
  })

  /** What names itself: a repeat is stored once. */
  const NAMED = EXAMPLES.filter(([name, , example]) => isNamed(presets()[name]!, example))

  it.each(NAMED)('%s stores a delivery that is sent again once (%s)', async (preset, source, example) => {
    const { url } = await door.source(`again-${source}`, { preset })
    await send(url, example)
    expect((await send(url, example)).json()).toMatchObject({ ingested: 0, duplicates: example.rows.length })
    expect(await eventsOf(`again-${source}`)).toHaveLength(example.rows.length)
  })

  it('names its events wherever its sender does', () => {
    const unnamed = new Set(EXAMPLES.filter((one) => !NAMED.includes(one)).map(([name]) => name))
    // What only says how it is now has no name; Firehose and incident.io name what they send in a header alone; Sentry's errors and GitLab's events have none in the payload.
    expect([...unnamed].sort()).toEqual([
      ...['amazon_firehose', 'collectd', 'datadog_logs', 'docker_hub', 'elasticsearch_bulk', 'falco'],
      ...[
        'fluent_bit',
        'gelf',
        'gitlab',
        'incident_io',
        'kubernetes',
        'loki_push',
        'pino',
        'sentry',
        'splunk_hec',
        'syslog_ng',
        'telegraf',
        'uptime_kuma',
        'vector',
        'winston',
      ],
    ])
  })

  it.each(EXAMPLES)(
    '%s is offered to a fresh source that received one (%s)',
    async (preset, source, example) => {
      const name = `fresh-${source}`
      const { url } = await door.source(name)
      await send(url, example)
      const answer = await door.call('POST', '/api/sources/discover', { connector: 'webhook', name })
      const label = presets()[preset]!.label
      expect(answer.json()).toMatchObject({
        preset: { name: preset, label, config: { preset } },
        summary: expect.stringContaining(`This looks like ${label}: the preset ${preset} reads it.`),
      })
    },
  )

  it.each<[string, unknown, Record<string, string>, string | null]>([
    ['a preset, by the body alone', presets().stripe!.examples[0]!.body, {}, 'preset stripe (Stripe) reads'],
    [
      'a preset, by a header',
      { a: 1 },
      { 'ce-specversion': '1.0' },
      'preset cloudevents (CloudEvents) reads',
    ],
    [
      'Grafana, whose form is that of Alertmanager',
      presets().grafana!.examples[0]!.body,
      {},
      'preset grafana',
    ],
    [
      'Alertmanager',
      { receiver: 'svc', groupKey: '{}', status: 'firing', alerts: [{ labels: { alertname: 'A' } }] },
      {},
      'connector alertmanager reads',
    ],
    [
      'a ruler that posts alerts',
      [{ labels: { alertname: 'A' }, annotations: {}, startsAt: '2026-11-23T11:00:00Z' }],
      {},
      'connector alertmanager reads',
    ],
    ['OpenTelemetry', { resourceLogs: [{ scopeLogs: [] }] }, {}, 'let their exporter send to /v1/logs'],
    [
      'a log drain of Vercel',
      [{ id: '1', message: 'm', timestamp: 1, source: 'build', projectId: 'p', deploymentId: 'd' }],
      {},
      'connector vercel reads',
    ],
    ['nobody that is known', { date: 1_790_000_000, log: 'two fields may be those of anybody' }, {}, null],
  ])(
    'is named on the health of a fresh source that receives what it reads better: %s',
    async (who, body, headers, said) => {
      const name = `plain-${who.replaceAll(/\W/g, '')}`
      const { url } = await door.source(name)
      const health = async () => {
        const listed = (await door.call('GET', '/api/sources')).json() as unknown as {
          name: string
          health: { notice: string | null }
        }[]
        return listed.find((source) => source.name === name)!.health.notice
      }
      for (let n = 0; n < 2; n++) await door.call('POST', url, body as object, headers)
      if (said === null) return expect(await health()).toBeNull()
      expect(await health()).toContain(said)
      expect((await health())!.split('It receives')).toHaveLength(2)
      // Where it is read in a way of its own nothing is offered.
      await door.call('PUT', `/api/sources/${name}`, {
        ...{ name, connector: 'webhook', config: { event_type: 'own' } },
      })
      await door.call('POST', url, body as object, headers)
      return expect(await health()).toBeNull()
    },
  )

  it('is not offered for what no sender sends, nor to a source that has one', async () => {
    const { url } = await door.source('plain')
    await door.call('POST', url, { service: 'cart', msg: 'it took 9 s' })
    const ask = async (body: object) =>
      (await door.call('POST', '/api/sources/discover', { connector: 'webhook', ...body })).json()
    expect(await ask({ name: 'plain' })).not.toHaveProperty('preset')
    const sample = [presets().grafana!.examples[0]!.body]
    expect(await ask({ sample })).toMatchObject({ preset: { name: 'grafana', fits: 1, sampled: 1 } })
    expect(await ask({ sample, config: { preset: 'grafana' } })).not.toHaveProperty('preset')
    expect(await ask({ sample, config: { preset: 'grafana' }, fixed: true })).toMatchObject({
      rows: [{ after: [{ event_type: 'alert.firing' }, { event_type: 'alert.firing' }] }],
    })
  })

  it('is not offered for one payload of many', async () => {
    const alert = { labels: { alertname: 'A' }, annotations: {}, startsAt: '2026-11-23T11:00:00Z' }
    await door.call('POST', (await door.source('mixed')).url, [alert, { values: [1] }, { values: [2] }])
    const listed = (await door.call('GET', '/api/sources')).json() as unknown as { name: string }[]
    expect(listed.find(({ name }) => name === 'mixed')).toMatchObject({ health: { notice: null } })
  })

  it('leaves to the config what the config says', async () => {
    const [stripe] = presets().stripe!.examples
    const labels = [{ name: 'object', field: 'data.object.id', primary: true }]
    const { url } = await door.source('own', {
      preset: 'stripe',
      labels,
      text_template: 'say {id}',
      event_type: 'x',
    })
    await send(url, stripe!)
    expect(await eventsOf('own')).toMatchObject([
      {
        event_type: 'x',
        text: 'say evt_1NG8Du2eZvKYlo2CUI79vXWy',
        entity: { label: 'object', value: 'pi_1' },
      },
    ])
  })

  it.each([
    ['<https://example.com/a?b=1&amp;c=2|the run>', 'the run (https://example.com/a?b=1&c=2)'],
    ['<http://example.com|example.com>', 'example.com'],
    ['<mailto:ada@example.com|ada@example.com> <mailto:bob@example.com>', 'ada@example.com bob@example.com'],
    ['<@U1|ada> <@U1> <#C1|deploys> <#C1|> <!channel>', '@ada @U1 #deploys #C1 @channel'],
    ['<!subteam^S1|@oncall> <!subteam^S1>', '@oncall @S1'],
    ['<!date^1790000000^{date}|21 September>', '21 September'],
    ['1 &lt; 2 &amp;&amp; &amp;lt; stays', '1 < 2 && &lt; stays'],
    ['no < markup > here | there', 'no < markup > here | there'],
  ])('of Slack reads texts as people see them: %s', async (text, plain) => {
    expect(compilePreset(presets().slack!).plainText(text)).toBe(plain)
    expect(compilePreset(presets().linear!).plainText(text)).toBe(text)
  })

  it('of Slack does so with a text of its own, and the payload stays as it came', async () => {
    const { url } = await door.source('slack-own', { preset: 'slack', text_template: 'said: {event.text}' })
    const body = presets().slack!.examples[0]!.body as { event: object }
    await door.call('POST', url, { ...body, event: { ...body.event, text: 'a &gt; b' } })
    const [found] = (await eventsOf('slack-own')) as unknown as [{ id: string; text: string }]
    expect(found.text).toBe('said: a > b')
    const whole = await door.call('GET', `/api/events/${found.id}`)
    expect(JSON.stringify(whole.json())).toContain('a &gt; b')
  })

  it('of Firehose takes what a stream buffers, each record as long as an item may be, and unpacks no bomb', async () => {
    const { url } = await door.source('buffered', { preset: 'amazon_firehose' })
    const record = (text: string | Buffer) => ({ data: Buffer.from(text).toString('base64') })
    const sent = (records: object[]) =>
      send(url, { from: '', rows: [], body: { requestId: 'r', timestamp: NOW, records } })
    const long = (i: number) =>
      record(JSON.stringify({ service: `s${i}`, message: `${i} ${'x'.repeat(900_000)}` }))
    const answer = (await sent([long(0), record('y'.repeat(1_100_000)), long(1)])).json()
    expect(answer).toMatchObject({
      ingested: 2,
      rejected: [{ index: 0, error: 'has an entry at records that is larger than 1 MiB' }],
    })
    expect((await eventsOf('buffered')).map(({ entity }) => entity?.value)).toEqual(['s0', 's1'])
    const bomb = gzipSync(Buffer.alloc(65 * 1024 * 1024, 'a'))
    expect((await sent([record(bomb)])).json()).toMatchObject({
      rejected: [{ error: 'what is packed in it is larger than 64 MiB' }],
    })
    const { url: plain } = await door.source('no-list', { items_field: 'alerts' })
    expect((await door.call('POST', plain, { other: 'z'.repeat(1_100_000) })).json()).toMatchObject({
      rejected: [{ error: 'is larger than 1 MiB, and has no list at alerts' }],
    })
  })

  it('that is not there is refused with those there are', async () => {
    const config = { preset: 'grafanna' }
    const answer = await door.call('POST', '/api/sources', { name: 'nope', connector: 'webhook', config })
    expect([answer.status, answer.json().detail]).toMatchObject([
      400,
      expect.stringMatching(
        /^preset grafanna is not known \(did you mean grafana\?\); there are amazon_eventbridge, amazon_firehose, .*, vector, winston$/,
      ),
    ])
  })

  it('is listed with where its address and secret go, and an example', async () => {
    const list = (await door.call('GET', '/api/presets')).json() as unknown as Record<string, unknown>[]
    expect(list).toHaveLength(ALL.length)
    expect(list.find(({ name }) => name === 'grafana')).toMatchObject({
      label: 'Grafana',
      items: 'alerts',
      entity: ['service', 'job', 'instance', 'rulename', 'alertname'],
      signature: { scheme: 'hmac_sha256', header: 'X-Grafana-Alerting-Signature' },
      example: { body: { receiver: 'My Super Webhook' } },
    })
  })
})

function isNamed({ reads, cases = [] }: PresetFile, { headers = {}, body }: PresetExample): boolean {
  const byHeader = ['linear-delivery', 'x-shopify-webhook-id'].some((name) => name in headers)
  if (byHeader) return true
  const templates = [reads, ...cases].flatMap(({ dedupe = [] }) => dedupe)
  const fields = templates.map((template) =>
    [...template.matchAll(/\{([^}]+)\}/g)].map(([, field]) => field!),
  )
  const text = JSON.stringify([body, headers])
  return fields.some((names) =>
    names.every((name) =>
      text.includes(
        `"${name
          .replace(/^header\./, '')
          .split('.')
          .at(-1)}"`,
      ),
    ),
  )
}

/* Signatures: the scheme is the preset's own, so a secret is enough. */

/** In base64, as Standard Webhooks has it. */
const SECRET = 'dGhlLXNpZ25pbmctc2VjcmV0'
const hex = (text: string) => createHmac('sha256', SECRET).update(text).digest('hex')
const AT = String(NOW / 1_000)

/** As each sender documents it. */
const SIGNED: Record<string, (body: string) => Record<string, string>> = {
  bitbucket: (body) => ({ 'x-hub-signature': `sha256=${hex(body)}` }),
  checkly: (body) => ({ 'x-checkly-signature': hex(body) }),
  circleci: (body) => ({ 'circleci-signature': `v1=${hex(body)}` }),
  gitlab: () => ({ 'x-gitlab-token': SECRET }),
  grafana: (body) => ({ 'x-grafana-alerting-signature': hex(body) }),
  incident_io: (body) => {
    const signed = createHmac('sha256', Buffer.from(SECRET, 'base64')).update(`msg_1.${AT}.${body}`)
    return {
      'webhook-id': 'msg_1',
      'webhook-timestamp': AT,
      'webhook-signature': `v1,${signed.digest('base64')}`,
    }
  },
  jira: (body) => ({ 'x-hub-signature': `sha256=${hex(body)}` }),
  // Of Flux: a Provider of the type generic-hmac.
  kubernetes: (body) => ({ 'x-signature': `sha256=${hex(body)}` }),
  launchdarkly: (body) => ({ 'x-ld-signature': hex(body) }),
  linear: (body) => ({ 'linear-signature': hex(body) }),
  pagerduty: (body) => ({ 'x-pagerduty-signature': `v1=${hex(body)}` }),
  sentry: (body) => ({ 'sentry-hook-signature': hex(body) }),
  shopify: (body) => ({
    'x-shopify-hmac-sha256': createHmac('sha256', SECRET).update(body).digest('base64'),
  }),
  slack: (body) => ({
    'x-slack-request-timestamp': AT,
    'x-slack-signature': `v0=${hex(`v0:${AT}:${body}`)}`,
  }),
  sonarqube: (body) => ({ 'x-sonar-webhook-hmac-sha256': hex(body) }),
  stripe: (body) => ({ 'stripe-signature': `t=${AT},v1=${hex(`${AT}.${body}`)}` }),
  terraform: (body) => ({
    'x-tfe-notification-signature': createHmac('sha512', SECRET).update(body).digest('hex'),
  }),
}

it('the headers of a body are looked through once, however many items it has', () => {
  let looks = 0
  const given: Record<string, string> = { 'x-gitlab-event': 'Push Hook' }
  const headers = new Proxy(given, { get: (all, name: string) => [all[name], looks++][0] })
  expect(senderOf(headers, () => ({}))).toBe('gitlab')
  const first = looks
  for (let i = 0; i < 10; i++) expect(senderOf(headers, () => ({}))).toBe('gitlab')
  expect([first > 0, looks]).toEqual([true, first])
})

describe('the signature of a preset', () => {
  it('is tested of each that has one', () => {
    expect(Object.keys(SIGNED)).toEqual(
      // Those of Amazon SNS are in sns.test.ts.
      ALL.filter(([, { signature }]) => signature && signature.scheme !== 'sns').map(([name]) => name),
    )
  })

  it.each(Object.entries(SIGNED))(
    '%s: a secret is enough; a wrong one and none are refused',
    async (preset, sign) => {
      const secured = await openDoor({ secured: true })
      secured.clock.at = NOW
      const { url, key } = await secured.source('signed', { preset, signature_secret: SECRET })
      expect(key).toBeUndefined()
      const { body, headers = {} } = presets()[preset]!.examples[0]!
      // Linear signs its own time with the body.
      const text = JSON.stringify({
        ...(body as object),
        ...(preset === 'linear' ? { webhookTimestamp: NOW } : {}),
      })
      const post = (more: Record<string, string>) => secured.call('POST', url, text, { ...headers, ...more })
      expect((await post(sign(text))).status).toBe(202)
      expect((await post(sign(`${text} `))).status).toBe(preset === 'gitlab' ? 202 : 401)
      const wrong = Object.fromEntries(
        Object.entries(sign(text)).map(([name, value]) => [name, flipped(value)]),
      )
      expect((await post(wrong)).status).toBe(401)
      expect((await post({})).status).toBe(401)
      await secured.close()
    },
  )

  it('of Slack: its address is verified before a secret is set, by whoever may send', async () => {
    const { url } = await door.source('slack-first', { preset: 'slack' })
    const asked = {
      type: 'url_verification',
      token: 'x',
      challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P',
    }
    expect((await door.call('POST', url, asked)).json()).toMatchObject({ challenge: asked.challenge })
  })
})

/** The last sign but a filling one is another. */
const flipped = (value: string): string =>
  value.replace(
    /([0-9A-Za-z])(=?)$/,
    (_, last: string, fill: string) => `${last === 'A' || last === 'a' ? 'b' : 'a'}${fill}`,
  )

describe('a preset file', () => {
  const good = presets().vector!
  const told = (change: object) => faultsOf('vector', { ...structuredClone(good), ...change })

  it('is refused with the field and the rule', () => {
    expect(told({})).toEqual([])
    expect(told({ about: undefined })[0]).toContain('about')
    expect(told({ nope: 1 })[0]).toContain('nope')
    expect(told({ cases: [{ type: 'x' }] })).toEqual(['cases[0] needs a when'])
    expect(told({ reads: { ...good.reads, entity: 'server' } })).toEqual([
      'entity server is no label of the preset',
    ])
    expect(told({ reads: { ...good.reads, text: '{header.authorization}' } })).toEqual([
      'header.authorization is not read: it may carry a credential',
    ])
    const labels = { ...good.reads.labels, host: { from: '{host}', pattern: '(' } }
    expect(told({ reads: { ...good.reads, labels } })[0]).toContain('label host: pattern is not supported')
    expect(faultsOf('Vector', good)).toEqual([
      'a name is small letters, digits and underscores, a letter first',
    ])
  })
})
