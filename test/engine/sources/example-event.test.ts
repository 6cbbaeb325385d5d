/** Issue 16, D: the example that is printed for a source fits it: each of its fields and labels is there. */
import { expect, it } from 'vitest'
import { compileSource } from '../../../engine/log/ingest/prepare.ts'
import { splitBody } from '../../../engine/log/ingest/split.ts'
import type { PushConnector } from '../../../engine/sources/connectors/connector.ts'
import { connectorOf } from '../../../engine/sources/connectors/index.ts'
import { exampleEvent, type Mapping } from '../../../schemas/example-event.ts'

const AT = '2026-11-20T12:00:00.000Z'

function stored(kind: string, config: Record<string, unknown>) {
  const connector = connectorOf(kind) as PushConnector
  const body = exampleEvent(kind, config as Mapping, 'hello', AT)
  const prepare = compileSource(connector, config)
  const events: ReturnType<typeof prepare> = []
  splitBody(
    Buffer.from(JSON.stringify(body)),
    (item) => void events.push(...prepare(item, undefined, item.index, Date.parse(AT))),
  )
  return events
}

it.each([
  [
    'a template, a type, a time and nested labels',
    {
      event_type_field: 'kind',
      event_time_field: 'meta.at',
      text_template: '{level}: {msg} by {user.name}',
      labels: [
        { name: 'service', field: 'svc.name', primary: true },
        { name: 'ms', field: 'took', type: 'number' },
        { name: 'env', const: 'prod' },
        { name: 'tier', field: 'tier', map: { gold: '1' } },
      ],
    },
    {
      eventType: 'example',
      text: 'hello: example-msg by example-name',
      ts: Date.parse(AT),
      numbers: { ms: 1 },
    },
    { service: 'checkout', env: 'prod', tier: '1' },
  ],
  [
    'a list of items with an envelope',
    {
      items_field: 'data.alerts',
      text_template: '{labels.alertname} at {envelope.receiver}',
      labels: [
        { name: 'service', field: 'labels.service', primary: true },
        { name: 'state', field: 'envelope.state' },
      ],
    },
    { text: 'hello at example-receiver' },
    { service: 'checkout', state: 'example-state' },
  ],
  [
    'a label that a pattern reads, and a map',
    {
      text_template: '{msg}',
      labels: [
        { name: 'order', field: 'ref', pattern: '^#(\\d+)$', replace: '$1', primary: true },
        { name: 'tier', field: 'kind', map: { gold: '1' } },
      ],
      event_type_field: 'kind',
    },
    { text: 'hello', eventType: 'gold', hasEntity: true },
    { order: '17', tier: '1' },
  ],
  [
    'nothing configured: what discovery reads by itself',
    {},
    {
      eventType: 'webhook_event',
      text: `{"service":"checkout","event":"example","message":"hello","time":"${AT}"}`,
    },
    {},
  ],
  [
    'entries of a list by their place',
    {
      text_template: '{alerts.0.summary}',
      labels: [{ name: 'service', field: 'alerts.0.service', primary: true }],
    },
    { text: 'hello' },
    { service: 'checkout' },
  ],
])('D: a webhook with %s', (_what, config, event, labels) => {
  const [one, ...more] = stored('webhook', config)
  expect([one, more]).toMatchObject([event, []])
  expect(Object.fromEntries(one!.strings)).toEqual(labels)
})

it.each([
  ['alertmanager', 'FIRING: Example · hello'],
  ['vercel', 'hello'],
  ['claude_code', 'hello'],
  ['memory', 'hello'],
])('D: %s, in its own form', (kind, text) => {
  const [one] = stored(kind, {})
  expect(one!.text).toContain(text)
  expect(one!.hasEntity).toBe(true)
})
