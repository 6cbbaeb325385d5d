/** The prometheus_alerts connector against a server that speaks the wire format; alerts-real.test.ts has the real one. */
import { describe, expect, it } from 'vitest'
import { validateConfig } from '../../../../../engine/sources/connectors/index.ts'
import { prometheusAlerts } from '../../../../../engine/sources/upstreams/prometheus-alerts.ts'
import { mapped, NOW, reach } from '../reach.ts'
import { failure, type Said, success, upstreamServer } from '../upstream-server.ts'

const AT = '2026-11-20T11:00:00.123456789Z'
const LATER = '2026-11-20T11:30:00Z'
const MINUTE = 60_000

const alert = (name: string, state = 'firing', more: Record<string, unknown> = {}) => ({
  labels: { alertname: name, severity: 'critical', ...(more.labels as object) },
  annotations: {},
  state,
  activeAt: AT,
  value: '1e+00',
  ...(more.activeAt ? { activeAt: more.activeAt } : {}),
})
const rule = (name: string, health = 'ok', lastEvaluation = LATER) => ({
  type: 'alerting',
  name,
  health,
  lastEvaluation,
  state: 'inactive',
  labels: {},
})

/** A server with alerts and rules, polled from cursor to cursor. */
async function world(more: Record<string, unknown> = {}) {
  const listed = {
    alerts: [] as unknown[],
    rules: [rule('A'), rule('B')] as unknown[],
    alertsSaid: null as Said | null,
    rulesSaid: null as Said | null,
  }
  const server = await upstreamServer(({ path }) =>
    path.startsWith('/api/v1/alerts')
      ? (listed.alertsSaid ?? success({ alerts: listed.alerts }))
      : (listed.rulesSaid ?? success({ groups: [{ name: 'g', rules: listed.rules }] })),
  )
  const out = reach()
  let cursor: string | null = null
  const poll = async (config: Record<string, unknown> = more) => {
    const polled = await prometheusAlerts.poll(
      validateConfig('prometheus_alerts', { url: server.url, ...config }),
      cursor,
      out,
    )
    cursor = polled.cursor
    return {
      ...polled,
      states: polled.items.map((item) => {
        const { labels, state, previous_state: from } = JSON.parse(item)
        return `${labels.alertname} ${from ? `${from} > ` : ''}${state}`
      }),
    }
  }
  return { ...server, listed, out, poll, asked: () => server.received.map(({ path }) => path) }
}

describe('alerts of Prometheus', () => {
  it('are told where they come up, change their state or begin anew, and where they resolve', async () => {
    const { listed, poll } = await world({ include_pending: true })
    listed.alerts = [alert('A', 'pending'), alert('B')]
    expect((await poll()).states).toEqual(['A pending', 'B firing'])
    expect((await poll()).states).toEqual([])
    listed.alerts = [alert('A'), alert('B')]
    expect((await poll()).states).toEqual(['A pending > firing'])
    listed.alerts = [alert('A', 'firing', { activeAt: LATER }), alert('B')]
    expect((await poll()).states).toEqual(['A firing > firing'])
    listed.alerts = []
    const over = await poll()
    expect(over.states.sort()).toEqual(['A firing > resolved', 'B firing > resolved'])
    expect(over.items.map((item) => JSON.parse(item).resolvedAt)).toEqual(
      Array(2).fill(new Date(NOW).toISOString()),
    )
    expect(over.notice).toBeUndefined()
  })

  it('ask for the rules only where one is gone', async () => {
    const { listed, poll, asked } = await world()
    listed.alerts = [alert('A')]
    await poll()
    await poll()
    listed.alerts = []
    await poll()
    expect(asked()).toEqual([...Array(3).fill('/api/v1/alerts'), '/api/v1/rules?type=alert'])
  })

  it.each<[string, Said]>([
    ['is down behind its proxy', { status: 502, body: '<html>' }],
    ['answers JSON of something else', { body: { alerts: [] } }],
    ['answers an error as JSON', failure(500, 'internal', 'oops')],
    ['has an envelope without alerts', success({})],
    ['lists alerts that are none', success({ alerts: [{}] })],
    ['answers nothing', { body: '' }],
  ])('are not resolved where Prometheus %s', async (_what, said) => {
    const { listed, poll } = await world()
    listed.alerts = [alert('A')]
    await poll()
    listed.alertsSaid = said
    await expect(poll()).rejects.toMatchObject({ name: 'UpstreamError' })
    listed.alertsSaid = null
    expect((await poll()).states).toEqual([])
  })

  it.each<[string, unknown[]]>([
    ['was not evaluated since a start', [rule('A', 'unknown', '0001-01-01T00:00:00Z')]],
    ['fails', [rule('A', 'err')]],
    ['is not there', [rule('B')]],
    ['has a namesake that was not evaluated', [rule('A'), rule('A', 'unknown', '0001-01-01T00:00:00Z')]],
  ])('that are gone are waited for five minutes where their rule %s', async (_what, rules) => {
    const { listed, out, poll } = await world()
    listed.alerts = [alert('A')]
    await poll()
    listed.alerts = []
    listed.rules = rules
    const waiting = await poll()
    expect(waiting.states).toEqual([])
    expect(waiting.notice).toBe(
      '1 alert is no longer firing, and no rule says that it was evaluated since. Such an alert is resolved after five minutes.',
    )
    out.now += 4 * MINUTE
    expect((await poll()).states).toEqual([])
    out.now += MINUTE
    expect((await poll()).states).toEqual(['A firing > resolved'])
  })

  it('that come back while they are waited for are no news', async () => {
    const { listed, out, poll } = await world()
    listed.alerts = [alert('A')]
    await poll()
    listed.alerts = []
    listed.rulesSaid = { status: 404, body: 'no rules here' }
    expect((await poll()).notice).toContain(
      'their rules cannot be read: Prometheus has no API at this address (404)',
    )
    listed.alerts = [alert('A')]
    out.now += 10 * MINUTE
    expect(await poll()).toMatchObject({ states: [] })
    listed.alerts = []
    expect((await poll()).states).toEqual([])
  })

  it('that are pending after a start stay as they were until they fire, go, or five minutes pass', async () => {
    const { listed, out, poll } = await world()
    listed.alerts = [alert('A'), alert('B')]
    await poll()
    listed.alerts = [alert('A', 'pending', { activeAt: LATER }), alert('B', 'pending', { activeAt: LATER })]
    expect((await poll()).states).toEqual([])
    listed.alerts = [alert('A'), alert('B', 'pending', { activeAt: LATER })]
    expect((await poll()).states).toEqual([])
    out.now += 5 * MINUTE
    expect((await poll()).states).toEqual(['B firing > resolved'])
  })

  it('are chosen by severity, and those no longer chosen are left alone', async () => {
    const { listed, poll } = await world()
    listed.alerts = [
      alert('A'),
      alert('B', 'firing', { labels: { severity: 'Warning' } }),
      alert('B', 'firing', { labels: { severity: undefined, team: 'x' } }),
    ]
    expect((await poll({ severities: 'critical, WARNING' })).states).toEqual(['A firing', 'B firing'])
    expect((await poll({ severities: 'critical' })).states).toEqual([])
    expect((await poll()).states).toEqual(['B firing', 'B firing'])
  })

  it('are stored a thousand at a time, the oldest first, and none is lost', async () => {
    const { listed, poll } = await world()
    listed.alerts = Array.from({ length: 1_100 }, (_, i) =>
      alert('A', 'firing', { labels: { i: `${i}` }, activeAt: i < 100 ? LATER : AT }),
    )
    const first = await poll()
    expect(first).toMatchObject({ more: true })
    expect(first.items).toHaveLength(1_000)
    expect(first.items.every((item) => JSON.parse(item).activeAt === AT)).toBe(true)
    const second = await poll()
    expect(second.items).toHaveLength(100)
    expect(second.more).toBeUndefined()
    expect((await poll()).items).toEqual([])
  })

  it('have a type, a text and an entity', async () => {
    const { listed, poll } = await world()
    listed.alerts = [{ ...alert('A'), annotations: { description: 'slow\nagain', runbook: 'x' } }]
    const polled = await poll()
    const config = { default_key: 'other', labels: [{ name: 'service', field: 'service', primary: true }] }
    expect(mapped(prometheusAlerts, config, polled)).toMatchObject([
      {
        eventType: 'A',
        text: 'FIRING: A · slow again',
        eventTime: AT,
        stamped: { service: 'other', level: 'error' },
        entityLabel: 'service',
        context: { severity: 'critical', labels: { severity: 'critical' }, state: 'firing', value: 1 },
      },
    ])
    expect(mapped(prometheusAlerts, {}, polled)[0]).not.toHaveProperty('entityLabel')
    const over = { items: [JSON.stringify({ ...alert('A'), state: 'resolved' })], cursor: null }
    expect(mapped(prometheusAlerts, {}, over)).toMatchObject([{ stamped: { level: 'info' } }])
  })
})

describe('discovery of alerts', () => {
  it('falls back to the name where no label says what an alert is about, and shows no secret', async () => {
    const { listed, url } = await world()
    listed.alerts = [alert('A')]
    const found = await prometheusAlerts.discover!({ url, bearer_token: 's3cr3t' }, reach())
    expect(found.proposed_config).toEqual({
      url,
      labels: [
        { name: 'alertname', field: 'alertname', primary: true },
        { name: 'severity', field: 'severity' },
        { name: 'state', field: 'state' },
      ],
    })
    expect(JSON.stringify(found)).not.toContain('s3cr3t')
    expect(found.summary).not.toContain('No alert is active')
  })

  it('never proposes the severity where no alert is active, and says that it judged by the rules', async () => {
    const { listed, url } = await world()
    const labelled = (labels: Record<string, string>) => [{ ...rule('A'), labels }]
    const discover = async () => {
      const { proposed_config: proposed, summary } = await prometheusAlerts.discover!({ url }, reach())
      return { first: (proposed as { labels: object[] }).labels[0], summary }
    }
    const summary =
      '1 rule; 0 alerts firing, 0 pending. No alert is active: labels are those of the rules, discover again once one fires.'
    listed.rules = labelled({ severity: 'critical' })
    expect(await discover()).toEqual({
      first: { name: 'alertname', field: 'alertname', primary: true },
      summary,
    })
    listed.rules = labelled({ severity: 'critical', service: 'cart' })
    expect(await discover()).toEqual({ first: { name: 'service', field: 'service', primary: true }, summary })
  })

  it('proposes the label that covers most alerts as the entity, and says its coverage', async () => {
    const { listed, url } = await world()
    const of = (name: string, more: Record<string, string>) => {
      const { labels, ...rest } = alert(name)
      return { ...rest, labels: { ...labels, alertname: name, ...more } }
    }
    listed.alerts = [
      of('Slow', { service: 'cart', instance: 'a' }),
      of('Slow', { service: 'shop', instance: 'b' }),
      of('TargetDown', { instance: 'c' }),
      of('TargetDown', { instance: 'd' }),
    ]
    const found = await prometheusAlerts.discover!({ url }, reach())
    expect((found.proposed_config as { labels: object[] }).labels[0]).toEqual({
      name: 'instance',
      field: 'instance',
      primary: true,
    })
    expect(found.summary).toContain('The entity is instance, which is on 4 of 4 alerts.')
    expect(found.coverage).toEqual(
      expect.arrayContaining([
        { label: 'instance', alerts: 4, of: 4 },
        { label: 'service', alerts: 2, of: 4 },
      ]),
    )
    listed.alerts = [of('Slow', { service: 'cart', severity: '' }), of('TargetDown', { severity: '' })]
    const poor = await prometheusAlerts.discover!({ url }, reach())
    expect((poor.proposed_config as { labels: object[] }).labels[0]).toMatchObject({
      name: 'alertname',
      primary: true,
    })
  })

  it('says what is wrong', async () => {
    const { listed, url } = await world()
    listed.rulesSaid = failure(403, 'forbidden', 'no')
    await expect(prometheusAlerts.discover!({ url }, reach())).rejects.toThrow(
      'Prometheus forbids the request (403): no.',
    )
    await expect(prometheusAlerts.discover!({}, reach())).rejects.toThrow('config.url must be')
  })
})
