/**
 * Issue 19, judged by "First event": the shown command, run unchanged by a shell, gives a row with the right type, text
 * and entity. For every connector that is pushed to, and for several mappings.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { SendTo, Snippet } from '../../console/lib/send-one.ts'
import {
  alertmanagerSnippets,
  otlpSnippets,
  plainSnippets,
  sessionSnippets,
  vercelSnippets,
} from '../../console/lib/send-snippets.ts'
import type { Connector, Event, Source, SourceCreated } from '../../schemas/types.ts'
import { type Daemon, startDaemon } from '../api/cli/real-daemon.ts'

const shell = promisify(execFile)
const SAID = 'hello from curl'

let daemon: Daemon
beforeAll(async () => {
  daemon = await startDaemon()
})
afterAll(() => daemon.stop())

async function api<T>(path: string, body?: object): Promise<T> {
  const answer = await fetch(`${daemon.url}${path}`, {
    ...(body
      ? { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
      : {}),
  })
  if (!answer.ok) throw new Error(await answer.text())
  return (await answer.json()) as T
}

/** The commands the page of a source shows. */
function shown(source: Source): Snippet[] {
  const at: SendTo = {
    name: source.name,
    origin: daemon.url,
    ingestKey: source.ingest_key!,
    token: null,
    isOneOfSeveral: true,
    grpc: { port: null, problem: null },
  }
  const { connector, config } = source
  if (connector === 'otlp') return otlpSnippets(at, config).curl
  if (connector === 'vercel') return vercelSnippets(at, false, config)
  if (connector === 'alertmanager') return alertmanagerSnippets(at, config)
  if (connector === 'claude_code') return sessionSnippets(at, false)
  return plainSnippets(at, connector, config)
}

async function firstEvent(name: string, connector: string, config: Record<string, unknown>) {
  await api<SourceCreated>('/api/sources', { name, connector, config })
  const source = await api<Source>(`/api/sources/${name}`)
  const command = shown(source).find(({ text }) => text.startsWith('curl') && !text.includes('@'))!.text
  const { stdout } = await shell('sh', ['-c', command])
  const [event, ...more] = await api<Event[]>(`/api/sources/${name}/events`)
  if (!event) throw new Error(`nothing was stored: ${stdout}`)
  expect(more).toEqual([])
  return event
}

const ROWS: Record<string, Partial<Event>> = {
  alertmanager: {
    event_type: 'Example',
    text: `FIRING: Example · ${SAID}`,
    entity: { label: 'service', value: 'checkout' },
  },
  otlp: { event_type: 'INFO', text: SAID, entity: { label: 'service', value: 'checkout' } },
  syslog: {
    event_type: 'log',
    text: `example: ${SAID}`,
    entity: { label: 'host', value: 'example-host' },
  },
  vercel: { event_type: 'lambda', text: SAID, entity: { label: 'project', value: 'checkout' } },
  claude_code: { event_type: 'user', entity: { label: 'session', value: 'example' } },
  memory: { text: SAID, entity: { label: 'service', value: 'checkout' } },
  webhook: {
    event_type: 'example',
    text: SAID,
    entity: { label: 'service', value: 'checkout' },
    event_time: expect.stringMatching(/^20\d\d-/),
  },
}
/** What a form begins with; of a webhook what it asks for. */
const CONFIGS: Record<string, Record<string, unknown>> = {
  webhook: {
    event_type_field: 'level',
    text_template: '{msg}',
    event_time_field: 'at',
    labels: [{ name: 'service', field: 'service', primary: true }],
  },
}

describe('the command shown for a new source, run unchanged, gives a row with its type, text and entity', () => {
  it('for every connector that is pushed to', async () => {
    const connectors = await api<Record<string, Connector>>('/api/connectors')
    const pushed = Object.entries(connectors).filter(
      // What must be signed is sent by nobody but its sender.
      ([kind, { mode, internal }]) => mode === 'push' && !internal && kind !== 'github_app',
    )
    expect(pushed.map(([kind]) => kind).sort()).toEqual(Object.keys(ROWS).sort())
    for (const [kind, { labels }] of pushed) {
      const config = CONFIGS[kind] ?? (labels ? { labels } : {})
      expect(await firstEvent(`first-${kind}`, kind, config), kind).toMatchObject(ROWS[kind]!)
    }
  })

  it.each([
    [
      'nested fields and a sentence of several',
      { event_type_field: 'event.type', text_template: '{event.title}: {event.body} ({host.name})' },
      { name: 'host', field: 'host.name', primary: true },
      { event_type: 'example', text: `${SAID}: example-body (example-host)` },
      'example-host',
    ],
    [
      'entries of a list, with what is around them',
      { items_field: 'data.alerts', event_type_field: 'envelope.status', text_template: '{summary}' },
      { name: 'service', field: 'labels.service', primary: true },
      { event_type: 'example', text: SAID },
      'checkout',
    ],
    [
      'a pattern',
      { text_template: '{msg}' },
      { name: 'order', field: 'ref', pattern: '^#(\\d+)$', replace: 'order $1', primary: true },
      { text: SAID },
      'order 17',
    ],
    [
      'a header',
      { text_template: '{msg}', event_type_field: 'type' },
      { name: 'kind', field: 'header.linear-event', primary: true },
      { event_type: 'example', text: SAID },
      'example-kind',
    ],
  ])('for a webhook with %s', async (what, mapping, label, row, entity) => {
    const config = { ...mapping, labels: [label] }
    const event = await firstEvent(what.replaceAll(/[^a-z]+/g, '-'), 'webhook', config)
    expect(event).toMatchObject({ ...row, entity: { label: label.name, value: entity } })
  })

  it('for an export of labels beyond the service, and an alert with labels of its own', async () => {
    const labels = [
      { name: 'pod', field: 'resourceAttributes.k8s.pod.name', primary: true },
      { name: 'route', field: 'attributes.http.route' },
    ]
    expect(await firstEvent('pods', 'otlp', { labels })).toMatchObject({
      entity: { label: 'pod', value: 'example-pod' },
      labels: { route: 'example-route' },
    })
    const team = [{ name: 'team', field: 'team', primary: true }]
    expect(await firstEvent('teams', 'alertmanager', { labels: team })).toMatchObject({
      entity: { label: 'team', value: 'example-team' },
    })
  })

  it('for a webhook that was given only a name: discovered from it, the next one reads well', async () => {
    const event = await firstEvent('bare', 'webhook', {})
    expect(event).toMatchObject({ event_type: 'webhook_event', entity: null })
    const { proposed_config: config } = await api<{ proposed_config: Record<string, unknown> }>(
      '/api/sources/discover',
      { connector: 'webhook', name: 'bare' },
    )
    expect(await firstEvent('bare-2', 'webhook', config)).toMatchObject(ROWS.webhook!)
  })
})

it('an Alertmanager, and a Prometheus without one, are told in their own files where to post', () => {
  const at = { name: 'alerts', origin: 'https://svc.example', ingestKey: 'alerts-1', isOneOfSeveral: false }
  const written = (token: string | null) =>
    alertmanagerSnippets({ ...at, token, grpc: { port: null, problem: null } })
      .slice(0, 2)
      .map(({ text }) => parse(text))
  const url = 'https://svc.example/ingest/alerts-1'
  const authorization = { credentials: 'svc_key' }
  const prometheus = {
    path_prefix: '/ingest/alerts-1',
    scheme: 'https',
    static_configs: [{ targets: ['svc.example'] }],
  }
  const of = (http: object, more: object) => [
    { receivers: [{ name: 'svc', webhook_configs: [{ url, send_resolved: true, ...http }] }] },
    { alerting: { alertmanagers: [{ ...prometheus, ...more }] } },
  ]
  expect(written(null)).toEqual(of({}, {}))
  expect(written('svc_key')).toEqual(of({ http_config: { authorization } }, { authorization }))
})
