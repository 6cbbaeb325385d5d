import { describe, expect, it } from 'vitest'
import type { ToAsk } from '../../../engine/sources/sources.ts'
import type { Label } from '../../../schemas/types.ts'
import { MASK, openSources, recentEvent } from './sources-harness.ts'

const attachments = ['a', 'b', 'c', 'd'].map((name) => ({ name, format: 'md', content: `about ${name}` }))

describe('testing a source', () => {
  it('says of a push source where to send, and changes nothing', () => {
    const { create, sources, stored } = openSources()
    expect(sources.test({ name: 'app', connector: 'webhook' })).toEqual({
      result: { ok: true, events: 0, note: expect.stringContaining('its ingest URL') },
    })
    const { ingest_key } = create('app')
    const before = stored()
    expect(sources.test({ name: 'app', connector: 'webhook' })).toMatchObject({
      result: { note: expect.stringContaining(`/ingest/${ingest_key}`) },
    })
    expect(stored()).toBe(before)
  })

  it('reads the documents of a reference source', () => {
    const { sources } = openSources()
    expect(sources.test({ name: 'docs', connector: 'reference', config: { attachments } })).toEqual({
      result: { ok: true, events: 4, sample: ['a (md) about a', 'b (md) about b', 'c (md) about c'] },
    })
  })

  it('takes the stored secret of a source that exists, and none of one that does not', () => {
    const { create, sources } = openSources()
    const config = { signature_scheme: 'github', signature_secret: MASK }
    create('app', { config: { ...config, signature_secret: 'hunter2' } })
    expect(sources.test({ name: 'app', connector: 'webhook', config })).toMatchObject({
      result: { ok: true },
    })
    expect(() => sources.test({ name: 'new', connector: 'webhook', config })).toThrow(
      'is the mask of a secret',
    )
  })

  it.each([
    ['a faulty config', { connector: 'webhook', config: { event_type: 5 } }, 'event_type must be text'],
    ['an unknown connector', { connector: 'pigeon' }, 'connector pigeon is not known'],
    ['a bad poll', { connector: 'webhook', poll: '0s' }, 'poll must be'],
  ])('is refused with %s', (_what, body, message) => {
    const { sources } = openSources()
    expect(() => sources.test({ name: 'app', ...body })).toThrow(
      expect.objectContaining({ code: 'invalid', message: expect.stringContaining(message) }),
    )
  })
})

describe('discovery', () => {
  it('is refused where the connector is unknown or has nothing to be discovered from', () => {
    const { sources } = openSources()
    expect(() => sources.discover({ connector: 'pigeon' })).toThrow(
      expect.objectContaining({ code: 'not_found', message: 'connector pigeon is not known' }),
    )
    expect(() => sources.discover({ connector: 'webhook', config: {} })).toThrow(
      expect.objectContaining({
        code: 'invalid',
        message: 'nothing was received yet: send an event, or give one as sample',
      }),
    )
  })

  it('asks with the secrets of the source that is named, and of the environment', () => {
    const { create, sources, world } = openSources()
    world.env.SVC_SECRET_TOKEN = 'from outside'
    const url = 'https://a.example/'
    create('api', { connector: 'http_poll', config: { url, credential: 'hunter2' } })
    create('app')
    const discover = (name: string | undefined, config: Record<string, unknown>) =>
      sources.discover({ connector: 'http_poll', config, ...(name ? { name } : {}) }) as ToAsk
    expect(discover('api', { url, credential: MASK, body: null, payload_key: '' })).toEqual({
      connector: 'http_poll',
      config: { url, credential: 'hunter2' },
      isStored: true,
    })
    expect(discover('api', { url }).config).toEqual({ url, credential: 'hunter2' })
    expect(discover('api', { url, credential: '' }).config).toEqual({ url })
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: references are written so
    expect(discover(undefined, { credential: '${SVC_SECRET_TOKEN}' }).config).toEqual({
      credential: 'from outside',
    })
    expect(() => discover(undefined, { credential: '${SVC_SECRET_NONE}' })).toThrow(
      'credential refers to what is not there: the variable SVC_SECRET_NONE is not set',
    )
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: references are written so
    expect(() => discover(undefined, { credential: MASK })).toThrow('is the mask of a secret')
    expect(() => discover('nope', {})).toThrow('no source is named nope')
    expect(() => discover('app', {})).toThrow('name: app is a webhook source')
  })
})

describe('a label preview', () => {
  const preview = (label: Label, payloads: unknown[]) => {
    const { create, sources, world } = openSources()
    create('app')
    world.recent = payloads.map((payload) => recentEvent(payload))
    return sources.previewLabel({ source: 'app', label })
  }

  it('pairs what is in the payloads with what the label would be, most frequent first', () => {
    const label: Label = {
      name: 'service',
      field: 'svc.name',
      pattern: '-v\\d+$',
      replace: '',
      map: { pay: 'payments' },
    }
    const payloads = ['cart-v1', 'cart-v2', 'cart-v1', 'pay-v9'].map((name) => ({ svc: { name } }))
    expect(preview(label, [...payloads, { other: 1 }])).toEqual({
      sampled: 5,
      matched: 4,
      results: [
        { from: 'cart-v1', to: 'cart', events: 2 },
        { from: 'cart-v2', to: 'cart', events: 1 },
        { from: 'pay-v9', to: 'payments', events: 1 },
        { from: null, to: null, events: 1 },
      ],
      distinct_before: 3,
      distinct_after: 2,
    })
  })

  it('tells a missing value from the text "null", and a number from its text', () => {
    expect(preview({ name: 'a', field: 'a' }, [{ a: null }, { a: 'null' }]).results).toEqual([
      { from: null, to: null, events: 1 },
      { from: 'null', to: 'null', events: 1 },
    ])
    expect(preview({ name: 'a', field: 'a', type: 'number' }, [{ a: '1.50' }, { a: 'x' }])).toMatchObject({
      matched: 1,
      results: [
        { from: '1.50', to: 1.5 },
        { from: 'x', to: null },
      ],
    })
  })

  it('shows 50 pairs with values cut to 120 characters, and counts all', () => {
    const payloads = Array.from({ length: 60 }, (_, i) => ({ a: `${'x'.repeat(200)}${i}` }))
    const result = preview({ name: 'a', field: 'a' }, payloads)
    expect(result.results).toHaveLength(50)
    expect(result.results[0]).toEqual({ from: 'x'.repeat(120), to: 'x'.repeat(120), events: 1 })
    expect([result.distinct_before, result.distinct_after]).toEqual([60, 60])
  })

  it('looks fields up as the connector offers them', () => {
    const { create, sources, world } = openSources()
    create('notes', { connector: 'memory' })
    world.recent = [recentEvent({ key: 'cart', content: 'slow', fields: { ticket: 'T-1' } })]
    const to = (field: string) =>
      sources.previewLabel({ source: 'notes', label: { name: 'x', field } }).results[0]?.to
    expect([to('ticket'), to('fields.ticket'), to('key')]).toEqual(['T-1', 'T-1', 'cart'])
  })

  it('reads a sample instead of a source, scalars as value', () => {
    const { sources } = openSources()
    const result = sources.previewLabel({
      sample: ['up', 'down', 'up', null],
      label: { name: 'state', field: 'value' },
    })
    expect(result).toMatchObject({ sampled: 4, matched: 3, distinct_after: 2 })
    expect(sources.previewLabel({ sample: [{}], label: { name: 'env', const: 'prod' } })).toMatchObject({
      matched: 1,
      results: [{ from: 'prod', to: 'prod', events: 1 }],
    })
  })

  it.each([
    [
      'a bad pattern',
      { source: 'app', label: { name: 'a', field: 'a', pattern: '(?=x)' } },
      'invalid',
      'pattern',
    ],
    [
      'a reserved name',
      { source: 'app', label: { name: 'key_value', field: 'a' } },
      'invalid',
      'is reserved',
    ],
    ['neither source nor sample', { label: { name: 'a', field: 'a' } }, 'invalid', 'give source or sample'],
    ['an unknown source', { source: 'ghost', label: { name: 'a', field: 'a' } }, 'not_found', 'named ghost'],
  ])('is refused with %s', (_what, body, code, message) => {
    const { create, sources } = openSources()
    create('app')
    expect(() => sources.previewLabel(body)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    )
  })
})

describe('dependents', () => {
  it('are none of a source that no trigger reads', () => {
    const { create, sources } = openSources()
    create('app')
    expect(sources.dependents('source', 'app')).toEqual({ dependents: [] })
    const refused = (code: string, message: string) => expect.objectContaining({ code, message })
    expect(() => sources.dependents('source', 'ghost')).toThrow(
      refused('not_found', 'no source is named ghost'),
    )
    expect(() => sources.dependents('trigger', 'app')).toThrow(
      refused('not_found', 'no trigger is named app'),
    )
    expect(() => sources.dependents('view', 'app')).toThrow(
      refused('invalid', 'kind must be one of source, mcp_server, skill, trigger, agent'),
    )
  })
})
