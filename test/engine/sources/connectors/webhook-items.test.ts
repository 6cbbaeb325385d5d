/** Issue 16, A7: lists in a webhook's body are split, and JSON inside a string is within reach. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileLabels } from '../../../../engine/log/ingest/label.ts'
import { type SplitItem, splitBody } from '../../../../engine/log/ingest/split.ts'
import { webhook } from '../../../../engine/sources/connectors/webhook.ts'
import type { Label, WebhookConfig } from '../../../../schemas/types.ts'
import { GRAFANA, SNS, TELEGRAF } from './vendor-bodies.ts'

type Body = string | object

function events(config: WebhookConfig, body: Body, headers?: Record<string, string>) {
  const items: SplitItem[] = []
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  splitBody(Buffer.from(text), (item) => items.push(item))
  const map = webhook.compile({ ...config })
  return items.flatMap((item) => map(item, headers, item.index))
}
const labelled = (labels: Label[], config: WebhookConfig, body: Body) => {
  const resolve = compileLabels(labels)
  return events(config, body).map(({ context }) => Object.fromEntries(resolve(context).strings))
}
const payload = ({ raw }: { raw?: Uint8Array }) => JSON.parse(Buffer.from(raw!).toString()) as object
const texts = (config: WebhookConfig, body: Body) => events(config, body).map(({ text }) => text)

describe('A7: items_field', () => {
  it("makes an event of each of Grafana's grouped alerts, with what is around them in reach", () => {
    const config: WebhookConfig = {
      items_field: 'alerts',
      event_type_field: 'status',
      event_time_field: 'startsAt',
      text_template: '{labels.alertname}: {annotations.summary} [{envelope.receiver}]',
    }
    const found = events(config, GRAFANA)
    expect(found.map(({ eventType, text, eventTime }) => [eventType, text, eventTime])).toEqual([
      [
        'firing',
        'High memory usage: This alert was triggered for zone us-1 [My Super Webhook]',
        '2026-09-21T14:13:20.000Z',
      ],
      [
        'firing',
        'High CPU usage: This alert was triggered for zone eu-1 [My Super Webhook]',
        '2026-09-21T14:13:20.000Z',
      ],
    ])
    const labels: Label[] = [
      { name: 'service', field: 'labels.service', primary: true },
      { name: 'state', field: 'envelope.state' },
    ]
    expect(labelled(labels, config, GRAFANA)).toEqual([
      { service: 'checkout', state: 'alerting' },
      { service: 'cart', state: 'alerting' },
    ])
    const { alerts, ...around } = GRAFANA
    expect(found.map(payload)).toEqual(alerts.map((one) => ({ ...one, envelope: { ...around, alerts: [] } })))
  })

  it("makes an event of each metric of Telegraf's batch", () => {
    const config: WebhookConfig = { items_field: 'metrics', event_type_field: 'name' }
    expect(events(config, TELEGRAF).map(({ eventType }) => eventType)).toEqual(['cpu', 'mem'])
  })

  it('reaches into JSON inside a string, and keeps what else the string says', () => {
    const inner = { Records: [{ n: 1 }, { n: 2 }], region: 'eu' }
    const body = { Type: 'Notification', Message: JSON.stringify(inner) }
    const config: WebhookConfig = {
      items_field: 'Message.Records',
      text_template: '{n} {envelope.Message.region}',
    }
    const found = events(config, body)
    expect(found.map(({ text }) => text)).toEqual(['1 eu', '2 eu'])
    expect(payload(found[1]!)).toEqual({
      n: 2,
      envelope: { Type: 'Notification', Message: JSON.stringify({ Records: [], region: 'eu' }) },
    })
    // The whole string may be the list.
    const list = { Message: '[{"n":1},{"n":2}]' }
    expect(texts({ items_field: 'Message', text_template: '{n}' }, list)).toEqual(['1', '2'])
  })

  it('takes an object for a list of one, a list of plain values, and none of an empty list', () => {
    expect(texts({ items_field: 'a.b', text_template: '{n}' }, { a: { b: { n: 1 } } })).toEqual(['1'])
    const plain = events({ items_field: 'a', text_template: '{value}' }, { a: ['x', 7], z: 1 })
    expect(plain.map(({ text }) => text)).toEqual(['x', '7'])
    expect(plain.map(payload)).toEqual([
      { value: 'x', envelope: { a: [], z: 1 } },
      { value: 7, envelope: { a: [], z: 1 } },
    ])
    expect(events({ items_field: 'a' }, { a: [] })).toEqual([])
  })

  it('leaves what has no such list one event, told by the same template', () => {
    for (const body of [{ title: 't' }, { title: 't', alerts: 'none' }, { title: 't', alerts: null }]) {
      const [one, ...more] = events({ items_field: 'alerts', text_template: '{envelope.title}' }, body)
      expect([one!.text, one!.raw, more]).toEqual(['t', undefined, []])
    }
  })

  it('keeps every byte of an entry: numbers past a double, keys twice, escapes', () => {
    const entry = '{"id":12345678901234567890,"a":1,"a":2.50,"t":"\\u0041 \\ud83d\\ude00"}'
    const [one] = events(
      { items_field: 'list', dedupe_field: 'id' },
      `{"list":[ ${entry} ],"big":9007199254740993}`,
    )
    expect(Buffer.from(one!.raw!).toString()).toBe(
      `${entry.slice(0, -1)},"envelope":{"list":[],"big":9007199254740993}}`,
    )
    expect(one!.dedupeKey).toBe('12345678901234567890')
  })

  it('names each entry of a delivery by itself, so that a repeat is known', () => {
    const keys = events({ items_field: 'a' }, { a: [1, 2] }, { 'webhook-id': 'm1' }).map(
      ({ dedupeKey }) => dedupeKey,
    )
    expect(keys).toEqual(['webhook-id:m1:0.0', 'webhook-id:m1:0.1'])
  })

  it('stores an envelope that is large beside small entries once, with the first', () => {
    const body = { about: 'x'.repeat(5_000), list: Array.from({ length: 40 }, (_, n) => ({ n })) }
    const found = events({ items_field: 'list', text_template: '{n}' }, body).map(payload)
    expect(found[0]).toEqual({ n: 0, envelope: { about: body.about, list: [] } })
    expect(found.slice(1)).toEqual(body.list.slice(1))
  })

  it('refuses more entries than a body may have items', () => {
    const list = Array.from({ length: 100_001 }, () => 1)
    expect(() => events({ items_field: 'list' }, { list })).toThrow(
      'list holds 100001 entries; at most 100000 are taken from one item',
    )
  })

  it('finds the same entries as reading the whole body and taking the list', () => {
    const key = fc.constantFrom('a', 'b', 'a.b', 'items', '"q"', 'ü')
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.constant(null)),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 3 }),
      ),
    }))
    fc.assert(
      fc.property(
        fc.dictionary(key, tree, { maxKeys: 3 }),
        fc.array(fc.dictionary(key, tree, { maxKeys: 3 })),
        fc.nat(2),
        fc.boolean(),
        (around, list, spaces, isText) => {
          const inner = isText ? JSON.stringify({ deep: list, also: around }) : { deep: list, also: around }
          const body = JSON.stringify({ ...around, found: inner }, null, spaces)
          const got = events({ items_field: 'found.deep' }, body)
          expect(got.map(({ context: { envelope: _around, ...own } }) => own)).toEqual(
            list.map(({ ...own }) => own),
          )
        },
      ),
      { numRuns: 200 },
    )
  })
})

describe('A7: JSON inside a string', () => {
  it("of Amazon SNS is reached by a template, a label and an event's type and time", () => {
    const config: WebhookConfig = {
      event_type_field: 'Message.NewStateValue',
      event_time_field: 'Message.StateChangeTime',
      text_template: '{Message.AlarmName}: {Message.NewStateReason}',
    }
    expect(events(config, SNS)).toMatchObject([
      { eventType: 'ALARM', eventTime: '2026-09-21T14:13:20.000Z', text: 'HighCPU: Threshold Crossed' },
    ])
    const labels: Label[] = [{ name: 'instance', field: 'Message.Trigger.Dimensions.0.value', primary: true }]
    expect(labelled(labels, config, SNS)).toEqual([{ instance: 'i-0abc' }])
  })
})
