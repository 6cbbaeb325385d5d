import examples from '@octokit/webhooks-examples'
import { describe, expect, it } from 'vitest'
import type { PreparedEvent } from '../../../../engine/log/ingest/packed.ts'
import { compileSource } from '../../../../engine/log/ingest/prepare.ts'
import { type SplitItem, splitBody } from '../../../../engine/log/ingest/split.ts'
import type { PushConnector } from '../../../../engine/sources/connectors/connector.ts'
import { webhook } from '../../../../engine/sources/connectors/webhook.ts'
import { postgres } from '../../../../engine/sources/upstreams/postgres.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')
const prepared = (
  config: Record<string, unknown>,
  body: string,
  { headers, connector = webhook }: { headers?: Record<string, string>; connector?: PushConnector } = {},
) => {
  const prepare = compileSource(connector, config)
  const events: (PreparedEvent & { raw: Uint8Array })[] = []
  splitBody(
    Buffer.from(body),
    (item) => {
      const made = prepare(item, headers, item.index, NOW)
      events.push(...made.map((event) => ({ ...event, raw: event.raw ?? item.raw })))
    },
    prepare.projection,
  )
  return events
}

describe('an item', () => {
  it('becomes an event with its type, text, time, labels and exactly its bytes', () => {
    const config = {
      event_type_field: 'level',
      text_template: '{msg}',
      event_time_field: 'at',
      dedupe_field: 'id',
      labels: [
        { name: 'env', const: 'prod' },
        { name: 'service', field: 'svc', primary: true },
        { name: 'ms', field: 'took', type: 'number' },
      ],
    }
    const raw =
      '{"id": 7, "level":"error","msg":"slow","at":"2026-11-20T11:00:00+01:00","svc":"cart","took":12.0}'
    expect(prepared(config, `[1, ${raw}]`)[1]).toEqual({
      eventType: 'error',
      text: 'slow',
      ts: Date.parse('2026-11-20T10:00:00Z'),
      claimed: null,
      strings: [
        ['service', 'cart'],
        ['env', 'prod'],
      ],
      hasEntity: true,
      numbers: { ms: 12 },
      dedupeKey: '7',
      raw: Buffer.from(raw),
    })
  })

  it.each([
    ['over', '2026-11-20T11:30:00Z', '11:30'],
    ['not over: no time', undefined, '11:00'],
    ['not over: the year 1', '0001-01-01T00:00:00Z', '11:00'],
    ['not over: 0', 0, '11:00'],
    ['not over: an end that is planned', '2026-11-20T12:05:00Z', '11:00'],
    ['over by a clock that is ahead', '2026-11-20T12:00:30Z', '12:00:30'],
    ['on again: it ended before it began', '2026-11-20T10:30:00Z', '11:00'],
    ['no time', 'soon', '11:00'],
  ])('whose end is a field has that time once it is over: %s', (_, endsAt, time) => {
    const config = { event_time_field: 'startsAt', event_end_field: 'endsAt' }
    const [event] = prepared(config, JSON.stringify({ startsAt: '2026-11-20T11:00:00Z', endsAt }))
    expect(event).toMatchObject({ ts: Date.parse(`2026-11-20T${time}Z`), claimed: null })
  })

  it.each([
    ['webhook', webhook],
    ['postgres', postgres],
  ])(
    'has the digits of its payload in labels and text, and equal digits are one entity: %s',
    (_kind, connector) => {
      const config = {
        dsn: 'postgresql://u:p@h/shop',
        table: 'orders',
        text_template: 'order {order} cost {cost}',
        labels: [
          { name: 'order', field: 'order', primary: true },
          { name: 'cost', field: 'cost' },
          { name: 'amount', field: 'cost', type: 'number' },
        ],
      }
      const items = [
        '{"order":12345678901234567890,"cost":0.12345678901234567891}',
        '{"order":12345678901234567891,"cost":1.50}',
        '{"order":"12345678901234567890","cost":"0.12345678901234567891"}',
        '{"nested":{"order":12345678901234567890},"order":1e400}',
      ]
      const made = prepared(config, `[${items.join(',')}]`, { connector: connector as PushConnector })
      expect(made.map(({ strings, numbers, text }) => [strings, numbers, text])).toEqual([
        [
          [
            ['order', '12345678901234567890'],
            ['cost', '0.12345678901234567891'],
          ],
          { amount: 0.12345678901234568 },
          'order 12345678901234567890 cost 0.12345678901234567891',
        ],
        [
          [
            ['order', '12345678901234567891'],
            ['cost', '1.5'],
          ],
          { amount: 1.5 },
          'order 12345678901234567891 cost 1.5',
        ],
        [
          [
            ['order', '12345678901234567890'],
            ['cost', '0.12345678901234567891'],
          ],
          { amount: 0.12345678901234568 },
          'order 12345678901234567890 cost 0.12345678901234567891',
        ],
        [[['order', '1e400']], null, 'order 1e400 cost'],
      ])
      expect(prepared({ labels: [] }, items[0]!)[0]!.text).toBe(items[0])
    },
  )

  it('with little in it still becomes an event, at the time of ingest', () => {
    const labels = [{ name: 'service', field: 'svc', primary: true }]
    expect(prepared({ labels, event_time_field: 'at' }, '"hello"')).toEqual([
      {
        eventType: 'webhook_event',
        text: 'hello',
        ts: null,
        claimed: null,
        strings: [],
        hasEntity: false,
        numbers: null,
        dedupeKey: null,
        raw: Buffer.from('"hello"'),
      },
    ])
  })

  it('with a time too far off keeps it as claimed', () => {
    const [event] = prepared({ event_time_field: 'at' }, '{"at":"9999-01-01T00:00:00Z"}')
    expect(event).toMatchObject({ ts: null, claimed: '9999-01-01T00:00:00Z' })
  })

  it('that makes several events has the bytes of each stored', () => {
    const connector: PushConnector = {
      ...webhook,
      compile:
        () =>
        ({ value }) =>
          (value as number[]).map((n) => ({
            eventType: 'part',
            text: '',
            context: { n },
            raw: Buffer.from(`${n}`),
          })),
    }
    const events = prepared({ labels: [{ name: 'n', field: 'n' }] }, '[[1,2]]', { connector })
    expect(events.map((event) => [event.strings[0], String(event.raw)])).toEqual([
      [['n', '1'], '1'],
      [['n', '2'], '2'],
    ])
  })

  it('on which the connector fails costs that item alone', () => {
    const connector: PushConnector = {
      ...webhook,
      compile: () => (item, headers, index) => {
        if (index === 0) throw new TypeError('a fault')
        return webhook.compile({})(item, headers, index)
      },
    }
    const prepare = compileSource(connector, {})
    const items: SplitItem[] = []
    splitBody(Buffer.from('[1,2]'), (item) => items.push(item))
    const [first, second] = items
    expect(() => prepare(first!, undefined, 0, NOW)).toThrow('a fault')
    expect(prepare(second!, undefined, 1, NOW)).toHaveLength(1)
  })
})

describe('real GitHub payloads', () => {
  const config = {
    signature_scheme: 'github',
    text_template: '{repository.full_name} {sender.login}',
    labels: [
      { name: 'repo', field: 'repository.full_name', primary: true },
      { name: 'event', field: 'header.x-github-event' },
      { name: 'actor', field: 'sender.login' },
      { name: 'repo_id', field: 'repository.id', type: 'number' },
    ],
  }

  it('each become one event named as GitHub names it, keyed by repository, with their bytes kept', () => {
    let seen = 0
    for (const { name, examples: payloads } of examples)
      for (const payload of payloads) {
        const text = JSON.stringify(payload, null, seen % 2 ? 2 : 0)
        const headers = { 'x-github-event': name, 'x-github-delivery': `d-${seen++}` }
        const events = prepared(config, text, { headers })
        expect(events).toHaveLength(1)
        const { action, repository } = payload as {
          action?: string
          repository?: { full_name: string; id: number }
        }
        expect(events[0]).toMatchObject({
          eventType: action === undefined ? name : `${name}.${action}`,
          dedupeKey: `x-github-delivery:${headers['x-github-delivery']}:0`,
          numbers: repository ? { repo_id: repository.id } : null,
        })
        expect(events[0]!.strings).toContainEqual(['event', name])
        if (repository) expect(events[0]!.strings[0]).toEqual(['repo', repository.full_name])
        expect(String(events[0]!.raw)).toBe(text)
      }
    expect(seen).toBeGreaterThan(100)
  })
})
