/** The alertmanager connector. The notification is one that Alertmanager 0.25 sent. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { validateConfig } from '../../../../../engine/sources/connectors/index.ts'
import { alertmanager } from '../../../../../engine/sources/upstreams/prometheus-alerts.ts'
import type { Source } from '../../../../../schemas/types.ts'
import { startInstance } from '../../../../contract/instance.ts'
import { prepared } from '../reach.ts'

const NOTIFICATION = {
  receiver: 'svc',
  status: 'firing',
  alerts: [
    {
      status: 'resolved',
      labels: { alertname: 'HighLatency', service: 'checkout', severity: 'critical' },
      annotations: { summary: 'answers take 2.5 s' },
      startsAt: '2026-11-20T11:47:47.568861754Z',
      endsAt: '2026-11-20T11:47:51Z',
      generatorURL: '',
      fingerprint: 'c75f68922c9ebc87',
    },
    {
      status: 'firing',
      labels: { alertname: 'HighLatency', service: 'pay', severity: 'critical' },
      annotations: {},
      startsAt: '2026-11-20T11:47:47.568861754Z',
      endsAt: '0001-01-01T00:00:00Z',
      generatorURL: '',
      fingerprint: '2d1d8c5b471d26e9',
    },
  ],
  groupLabels: { alertname: 'HighLatency' },
  commonLabels: { alertname: 'HighLatency', severity: 'critical' },
  commonAnnotations: {},
  externalURL: 'http://alertmanager:9093',
  version: '4',
  groupKey: '{}:{alertname="HighLatency"}',
  truncatedAlerts: 0,
}

const events = (body: unknown, config: Record<string, unknown> = {}) =>
  prepared(alertmanager, validateConfig('alertmanager', config), {
    items: [JSON.stringify(body)],
    cursor: null,
  })

describe('a notification of Alertmanager', () => {
  it('is an event for each alert, with its labels, its entity and a payload of its own', () => {
    const [resolved, firing] = events(NOTIFICATION)
    expect(resolved).toMatchObject({
      eventType: 'HighLatency',
      text: 'RESOLVED: HighLatency · answers take 2.5 s',
      ts: Date.parse('2026-11-20T11:47:51Z'),
      strings: [
        ['service', 'checkout'],
        ['level', 'info'],
        ['severity', 'critical'],
        ['status', 'resolved'],
      ],
      hasEntity: true,
    })
    const { receiver, groupKey, groupLabels, externalURL } = NOTIFICATION
    expect(JSON.parse(Buffer.from(resolved!.raw!).toString())).toEqual({
      ...NOTIFICATION.alerts[0],
      envelope: { receiver, groupKey, groupLabels, externalURL },
    })
    expect(firing).toMatchObject({
      text: 'FIRING: HighLatency',
      ts: Date.parse('2026-11-20T11:47:47.568Z'),
      strings: expect.arrayContaining([
        ['status', 'firing'],
        ['level', 'error'],
      ]),
    })
  })

  it('keeps what Grafana and Mimir say of an alert, and labels whose names have dots', () => {
    const labels = { alertname: 'A', 'service.name': 'pay', 'k8s.pod.name': 'p-1', k8s_pod_name: 'own' }
    const sent = '{"values":{"B":44.20},"dashboardURL":"http://g/d"'
    const alert = `${sent},"labels":${JSON.stringify(labels)},"annotations":{"message":"too slow"}}`
    const [event] = prepared(alertmanager, validateConfig('alertmanager', {}), {
      items: [`{"alerts":[${alert}],"receiver":"svc"}`],
      cursor: null,
    })
    expect(JSON.parse(Buffer.from(event!.raw!).toString())).toEqual({
      ...{ values: { B: 44.2 }, dashboardURL: 'http://g/d', labels, annotations: { message: 'too slow' } },
      ...{ status: 'firing', envelope: { receiver: 'svc' } },
    })
    expect(event!.text).toBe('FIRING: A · too slow')
    expect(Object.fromEntries(event!.strings)).toEqual({
      ...{ service_name: 'pay', k8s_pod_name: 'own', status: 'firing' },
    })
  })

  it.each<[Record<string, string>, string | undefined]>([
    [{ severity: 'Warning ' }, 'warn'],
    [{ severity: 'none' }, 'info'],
    [{ severity: 'page', level: 'own' }, 'own'],
    [{ severity: 'team-a' }, undefined],
    [{ severity: 'constructor' }, undefined],
    [{}, undefined],
  ])('of labels %j has the level %s', (labels, level) => {
    const [event] = events({ labels: { alertname: 'A', ...labels } })
    expect(Object.fromEntries(event!.strings).level).toBe(level)
  })

  it.each<[string, string | undefined, string]>([
    ['firing, where its end is ahead', '2026-11-20T12:04:00Z', 'FIRING'],
    ['firing, where it has no end', undefined, 'FIRING'],
    ['resolved, where its end has come', '2026-11-20T11:59:58Z', 'RESOLVED'],
  ])('of a ruler, which says no status, is %s, and stored once', (_what, endsAt, state) => {
    const [event] = events({
      ...{ labels: { alertname: 'A', service: 'pay' }, startsAt: '2026-11-20T11:50:00Z', endsAt },
    })
    expect(event!.text).toBe(`${state}: A`)
    expect(event!.ts).toBe(Date.parse(state === 'FIRING' ? '2026-11-20T11:50:00Z' : endsAt!))
    expect(event!.dedupeKey).toMatch(/^[0-9a-f]{16}:(firing|resolved):2026-11-20T11:50:00Z$/)
  })

  it('is stored once, however often it is sent; a list of alerts and one alert are taken too', async () => {
    const svc = await startInstance()
    onTestFinished(() => svc.stop())
    const { call } = svc
    const { body } = await call<{ ingest_key: string }>('POST', '/api/sources', {
      name: 'alerts',
      connector: 'alertmanager',
    })
    const [resolved, firing] = NOTIFICATION.alerts
    for (const sent of [NOTIFICATION, NOTIFICATION, [resolved, firing], firing])
      expect((await call('POST', `/ingest/${body.ingest_key}`, sent)).status).toBe(202)
    const again = { ...firing, status: 'resolved', endsAt: '2026-11-20T11:50:00Z' }
    await call('POST', `/ingest/${body.ingest_key}`, { ...NOTIFICATION, alerts: [again] })
    // As Prometheus and vmalert post it, with the path of an Alertmanager behind the address.
    const ruled = {
      labels: { alertname: 'Ruled' },
      startsAt: firing!.startsAt,
      endsAt: '2999-01-01T00:00:00Z',
    }
    for (const version of ['v2', 'v1', 'v2'])
      expect(
        await fetch(`${svc.url}/ingest/${body.ingest_key}/api/${version}/alerts`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify([ruled]),
        }),
      ).toMatchObject({ status: 200 })
    const stored = await call<{ text: string }[]>('GET', '/api/sources/alerts/events?limit=10')
    expect(stored.body.map(({ text }) => text).sort()).toEqual([
      'FIRING: HighLatency',
      'FIRING: Ruled',
      'RESOLVED: HighLatency',
      'RESOLVED: HighLatency · answers take 2.5 s',
    ])
  })

  it.each<[string, Record<string, string>, Record<string, unknown>, [string, string]]>([
    ['the label it is told', { team: 'a', service: 's' }, { key_label: 'team' }, ['team', 'a']],
    [
      'one that tells, where it lacks that',
      { pod: 'p', service: 's' },
      { key_label: 'team' },
      ['service', 's'],
    ],
    ['any label, where none tells', { severity: 'page', zone: 'z' }, {}, ['zone', 'z']],
    [
      'the name of the alert, where others say how bad it is and who saw it',
      { prometheus: 'monitoring/k8s', severity: 'critical' },
      {},
      ['alertname', 'A'],
    ],
    ['the name of the alert, where it has nothing else', {}, {}, ['alertname', 'A']],
    [
      'the name of the alert, where it is told so',
      { service: 's' },
      { key_label: 'alertname' },
      ['alertname', 'A'],
    ],
    [
      'the primary label before all',
      { zone: 'z', service: 's' },
      { labels: [{ name: 'place', field: 'zone', primary: true }] },
      ['place', 'z'],
    ],
  ])('belongs to %s', (_what, labels, config, entity) => {
    const [event] = events({ alerts: [{ labels: { alertname: 'A', ...labels } }] }, config)
    expect(event!.strings[0]).toEqual(entity)
    expect(event!.hasEntity).toBe(true)
  })

  it('is refused where it is no alert, and its alerts are stored where others of it are none', async () => {
    const svc = await startInstance()
    onTestFinished(() => svc.stop())
    const { call } = svc
    const { body } = await call<{ ingest_key: string }>('POST', '/api/sources', {
      name: 'alerts',
      connector: 'alertmanager',
    })
    const send = (sent: unknown) =>
      call<{ detail?: string; ingested?: number; rejected?: unknown[] }>(
        'POST',
        `/ingest/${body.ingest_key}`,
        JSON.stringify(sent),
      )
    for (const sent of [{ foo: 1 }, null, 42, 'x', { alerts: 'none' }, { labels: 'a' }, [{ foo: 1 }]])
      expect(await send(sent)).toMatchObject({
        status: 400,
        body: { detail: expect.stringMatching(/item 0: is no alert: .* list of alerts, or an alert/) },
      })
    expect(await send({ alerts: [{}, 'x'] })).toMatchObject({ status: 400 })
    const [firing] = NOTIFICATION.alerts
    expect(await send({ alerts: [firing, { foo: 1 }] })).toMatchObject({
      status: 202,
      body: {
        ingested: 1,
        rejected: [{ index: 0, error: 'holds in alerts what is no alert: each is an object with labels' }],
      },
    })
    const [source] = (await call<Source[]>('GET', '/api/sources')).body
    expect(source!.health).toMatchObject({
      ...{ rejected: 9, events_total: 1 },
      notice: expect.stringContaining('9 bodies were refused'),
    })
  })

  it('belongs to no entity without labels, and is no fault where it is odd', () => {
    expect(events({ alerts: [{ labels: {} }] })).toMatchObject([
      { eventType: 'alert', text: 'FIRING: alert', hasEntity: false },
    ])
    expect(events({ alerts: [] })).toEqual([])
    expect(() => validateConfig('alertmanager', { key_label: 'key_value' })).toThrow(
      'key_label key_value is reserved',
    )
  })
})
