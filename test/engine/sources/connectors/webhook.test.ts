import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDigits } from '../../../../engine/log/ingest/json.ts'
import { webhook } from '../../../../engine/sources/connectors/webhook.ts'
import type { WebhookConfig } from '../../../../schemas/types.ts'

type Given = { headers?: Record<string, string>; index?: number; raw?: string }
const map = (config: WebhookConfig, value: unknown, { headers, index = 0, raw }: Given = {}) => {
  const item = { value, raw: Buffer.from(raw ?? JSON.stringify(value)), whole: () => value }
  const events = webhook.compile({ ...config })(item, headers, index)
  expect(events).toHaveLength(1)
  return events[0]!
}

describe('the event type of a webhook', () => {
  it.each<[string, WebhookConfig, unknown, string]>([
    ['nothing configured', {}, { type: 'x' }, 'webhook_event'],
    ['a fixed one', { event_type: 'deploy' }, {}, 'deploy'],
    ['a field', { event_type_field: 'meta.type' }, { meta: { type: 'push' } }, 'push'],
    ['a field that holds a number', { event_type_field: 'code' }, { code: 404 }, '404'],
    ['a field that is missing', { event_type_field: 'type' }, {}, 'webhook_event'],
    [
      'a field that is missing and a fixed one',
      { event_type_field: 'type', event_type: 'deploy' },
      {},
      'deploy',
    ],
    ['a field that holds an object', { event_type_field: 'type' }, { type: {} }, 'webhook_event'],
    ['a field that is empty', { event_type_field: 'type' }, { type: '' }, 'webhook_event'],
    ['a field of many lines', { event_type_field: 'type' }, { type: 'a\nb\0' }, 'a b\ufffd'],
    ['a field too long', { event_type_field: 'type' }, { type: 'x'.repeat(300) }, 'x'.repeat(200)],
  ])('with %s', (_what, config, value, expected) => {
    expect(map(config, value).eventType).toBe(expected)
  })

  it.each<[string, WebhookConfig, unknown, string]>([
    ['and the action', { signature_scheme: 'github' }, { action: 'opened' }, 'pull_request.opened'],
    ['alone where there is no action', { signature_scheme: 'github' }, {}, 'pull_request'],
    ['alone where the action is no text', { signature_scheme: 'github' }, { action: 1 }, 'pull_request'],
    [
      'not with a type configured',
      { signature_scheme: 'github', event_type: 'gh' },
      { action: 'opened' },
      'gh',
    ],
    [
      'not with a field configured',
      { signature_scheme: 'github', event_type_field: 'action' },
      { action: 'opened' },
      'opened',
    ],
    ['not with another scheme', { signature_scheme: 'hmac_sha256' }, { action: 'opened' }, 'webhook_event'],
    ['without a scheme too', {}, { action: 'opened' }, 'pull_request.opened'],
  ])('is what GitHub sends beside the payload %s', (_what, config, value, expected) => {
    expect(map(config, value, { headers: { 'x-github-event': 'pull_request' } }).eventType).toBe(expected)
  })
})

describe('a header that says what happened', () => {
  const headers = { 'x-event-key': 'repo:push', 'x-other': 'no' }

  it.each<[string, WebhookConfig, unknown, string]>([
    ['is the type', {}, {}, 'repo:push'],
    ['also without a value of the field configured', { event_type_field: 'type' }, {}, 'repo:push'],
    ['not with one', { event_type_field: 'type' }, { type: 'x' }, 'x'],
    ['not with a type configured', { event_type: 'deploy' }, {}, 'deploy'],
  ])('%s', (_what, config, value, expected) => {
    expect(map(config, value, { headers }).eventType).toBe(expected)
    expect(map(config, value, { headers: { 'x-other': 'no' } }).eventType).not.toBe('no')
  })

  it('is seen by what takes plain deliveries in one go, too', () => {
    expect(webhook.flat!({ event_type_field: 'type' })!.unlessHeaders).toContain('x-event-key')
    expect(webhook.flat!({ event_type: 'deploy' })!.unlessHeaders).not.toContain('x-event-key')
  })
})

describe('the text of a webhook', () => {
  it.each<[string, WebhookConfig, unknown, string]>([
    ['the template', { text_template: '{a.b}: {c}' }, { a: { b: 'x' }, c: 1 }, 'x: 1'],
    ['a summary where the template gives nothing', { text_template: '{missing} ' }, { a: 1 }, '{"a":1}'],
    ['a summary without a template', {}, { a: [1, 'x'] }, '{"a":[1,"x"]}'],
    ['a summary cut at 500 characters', {}, 'x'.repeat(600), 'x'.repeat(500)],
    ['the value of an item that is no object', { text_template: 'got {value}' }, 7, 'got 7'],
  ])('is %s', (_what, config, value, expected) => {
    expect(map(config, value).text).toBe(expected)
  })
})

describe('the time of a webhook', () => {
  it('is what its field holds, text or number, and none without a field', () => {
    const config = { event_time_field: 'at.time' }
    expect(map(config, { at: { time: '2026-11-20' } }).eventTime).toBe('2026-11-20')
    expect(map(config, { at: { time: 1_795_176_000_000 } }).eventTime).toBe(1_795_176_000_000)
    // What it is makes no time: that is said, where a field that is not there is not.
    expect(map(config, { at: { time: {} } }).eventTime).toEqual({})
    expect(map({}, { '': '2026-11-20', at: '2026-11-20' }).eventTime).toBeUndefined()
  })
})

describe('the deduplication key of a webhook', () => {
  const headers = { 'x-github-delivery': 'abc' }

  it.each([['x-github-delivery'], ['linear-delivery'], ['webhook-id']])(
    'is the delivery named by %s and the place of the item in it',
    (name) => {
      expect(map({}, {}, { headers: { [name]: 'abc' } }).dedupeKey).toBe(`${name}:abc:0`)
      expect(map({}, {}, { headers: { [name]: 'abc' }, index: 3 }).dedupeKey).toBe(`${name}:abc:3`)
    },
  )

  it('is the field configured, which wins, and the delivery where that has no value', () => {
    const config = { dedupe_field: 'id' }
    expect(map(config, { id: 7 }, { headers }).dedupeKey).toBe('7')
    expect(map(config, { id: 'a' }).dedupeKey).toBe('a')
    expect(map(config, {}, { headers }).dedupeKey).toBe('x-github-delivery:abc:0')
    expect(map(config, {}).dedupeKey).toBeUndefined()
    expect(map({}, { '': 'x', id: 7 }).dedupeKey).toBeUndefined()
  })

  it('tells ids apart that look alike once parsed', () => {
    const key = (raw: string) => map({ dedupe_field: 'id' }, parseDigits(raw), { raw }).dedupeKey
    expect(key('{"id":9007199254740993}')).not.toBe(key('{"id":9007199254740992}'))
    expect(key('{"id":9007199254740993}')).toBe(key('{"id":9007199254740993}'))
    expect(key('{"id":1e400}')).not.toBe(key('{"id":2e400}'))
  })
})

describe('what labels can read of a webhook', () => {
  it('is the payload itself, without a copy', () => {
    const payload = { a: 1 }
    expect(map({}, payload).context).toBe(payload)
    expect(map({}, payload, { headers: { authorization: 'x' } }).context).toBe(payload)
  })

  it.each([['text'], [7], [null], [[1, 2]]])('is {value} where the item is %j', (value) => {
    expect(map({}, value).context).toEqual({ value })
  })

  it('is the event header of the sender besides, and no other header', () => {
    const headers = {
      'x-github-event': 'push',
      'linear-event': 'Issue',
      authorization: 'secret',
      cookie: 'secret',
    }
    const payload = { header: { own: 1 }, 'header.x-github-event': 'forged' }
    expect(map({}, payload, { headers }).context).toEqual({
      header: { own: 1 },
      'header.x-github-event': 'push',
      'header.linear-event': 'Issue',
    })
    expect(payload['header.x-github-event']).toBe('forged')
  })
})

describe('any payload', () => {
  it('is mapped without an error', () => {
    const name = fc.constantFrom('a', 'a.b', 'b.0', '__proto__', 'constructor.name')
    fc.assert(
      fc.property(fc.jsonValue(), name, fc.string(), (value, field, template) => {
        const config = {
          event_type_field: field,
          event_time_field: field,
          dedupe_field: field,
          text_template: template,
        }
        const event = map(config as WebhookConfig, value, { headers: { 'x-github-event': 'push' } })
        expect(event.eventType).not.toBe('')
        expect(event.text.length).toBeLessThanOrEqual(4_096)
      }),
    )
  })
})
