/** Times that say no zone, of connectors whose senders may write local ones. */
import { describe, expect, it } from 'vitest'
import { httpPoll } from '../../../../engine/sources/connectors/http-poll.ts'
import { validateConfig } from '../../../../engine/sources/connectors/index.ts'
import { webhook } from '../../../../engine/sources/connectors/webhook.ts'
import { postgres } from '../../../../engine/sources/upstreams/postgres.ts'
import { prepared } from './reach.ts'

const TABLE = { dsn: 'postgresql://reader:s3cret@db/shop', table: 'orders', cursor_column: 'id' }
const SOURCES = [
  ['webhook', webhook, { event_time_field: 'at' }],
  ['the end of a webhook', webhook, { event_time_field: 'began', event_end_field: 'at' }],
  ['http_poll', httpPoll, { url: 'https://api.example', event_time_field: 'at' }],
  ['postgres', postgres, { ...TABLE, time_column: 'at' }],
  ['the cursor of postgres', postgres, { ...TABLE, cursor_column: 'at' }],
] as const

describe('the zone of a source', () => {
  it.each(SOURCES)('is that of times that say none: %s', (_name, connector, given) => {
    const config = validateConfig(connector.kind, { ...given, zone: 'Europe/Berlin' })
    const times = (at: unknown, of: Record<string, unknown> = config) =>
      prepared(connector, of, { items: [JSON.stringify({ at, began: '2026-01-01' })], cursor: null }).map(
        ({ ts }) => ts !== null && new Date(ts).toISOString(),
      )
    // Summer time ended on 25 October.
    expect(times('2026-10-20T12:00:00.123456')).toEqual(['2026-10-20T10:00:00.123Z'])
    expect(times('2026-11-20 11:00:00')).toEqual(['2026-11-20T10:00:00.000Z'])
    expect(times('2026-11-20T11:00:00Z')).toEqual(['2026-11-20T11:00:00.000Z'])
    expect(times('2026-11-20T11:00:00.000Z')).toEqual(['2026-11-20T11:00:00.000Z'])
    expect(times('2026-11-20T11:00:00+05:00')).toEqual(['2026-11-20T06:00:00.000Z'])
    expect(times('2026-11-20 11:00:00', given)).toEqual(['2026-11-20T11:00:00.000Z'])
  })

  it('leaves numbers since 1970, and what is no time, as they are', () => {
    const config = { event_time_field: 'at', zone: 'Europe/Berlin' }
    const at = (value: unknown) =>
      prepared(webhook, config, { items: [JSON.stringify({ at: value })], cursor: null })[0]
    expect(at(1_795_176_000)).toMatchObject({ ts: 1_795_176_000_000 })
    expect(at('1795176000')).toMatchObject({ ts: 1_795_176_000_000 })
    expect(at('')).not.toHaveProperty('unknownTime')
    expect(at('soon')).toMatchObject({ unknownTime: 'soon' })
    // Read as data alone, it would be of UTC.
    expect(webhook.flat!({ event_time_field: 'at' })).not.toBeNull()
    expect(webhook.flat!(config)).toBeNull()
  })

  it.each(SOURCES)('is the name of one: %s', (_name, connector, given) => {
    expect(() => validateConfig(connector.kind, { ...given, zone: 'Mars/Olympus' })).toThrow(
      'zone must be the name of a time zone, such as Europe/Berlin or UTC',
    )
  })
})
