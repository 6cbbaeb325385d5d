/** The syslog connector: what becomes of messages as the syslog port takes them apart. */
import { describe, expect, it } from 'vitest'
import { parseMessage } from '../../../../api/syslog/message.ts'
import { validateConfig } from '../../../../engine/sources/connectors/index.ts'
import { syslog } from '../../../../engine/sources/connectors/syslog.ts'
import { prepared } from './reach.ts'

const RECEIVED = '2026-11-20T12:00:00.000Z'

const events = (
  texts: string[],
  config: Record<string, unknown> = {},
  { received = RECEIVED, from = '192.0.2.7' } = {},
) =>
  prepared(syslog, validateConfig('syslog', config), {
    items: texts.map((text) => JSON.stringify({ ...parseMessage(Buffer.from(text)), from, received })),
    cursor: null,
  })

const map = (text: string, config: Record<string, unknown> = {}, received = RECEIVED) => {
  const value = { ...parseMessage(Buffer.from(text)), from: '192.0.2.7', received }
  const item = { raw: Buffer.alloc(0), value, whole: () => value }
  return syslog.compile(validateConfig('syslog', config))(item, undefined, 0)[0]!
}

const timeOf = (text: string, config: Record<string, unknown> = {}, received = RECEIVED): string =>
  new Date((map(`<13>${text} h a: m`, config, received).eventTime as { ms: number }).ms).toISOString()

describe('a syslog message', () => {
  it('has the program in front of its text, labels of what it says, and the host as entity', () => {
    const event = map("<34>1 2026-11-20T11:59:00.003Z db-1 su 12 ID47 - \ufeff'su root' failed for lonvick")
    expect(event).toMatchObject({
      ...{ eventType: 'log', text: "su: 'su root' failed for lonvick", entityLabel: 'host' },
      eventTime: '2026-11-20T11:59:00.003Z',
      stamped: {
        ...{ host: 'db-1', app: 'su', severity: 'crit', facility: 'auth', msgid: 'ID47', level: 'FATAL' },
      },
    })
  })

  it.each([
    [0, 'emerg', 'FATAL'],
    [3, 'err', 'ERROR'],
    [4, 'warning', 'WARN'],
    [5, 'notice', 'INFO'],
    [7, 'debug', 'DEBUG'],
  ])('of severity %i is %s and level %s', (number, severity, level) => {
    expect(map(`<${number}>1 - h - - - - m`).stamped).toMatchObject({ severity, level, facility: 'kern' })
  })

  it('that says nothing of a host is of the address it came from, and keeps its text', () => {
    expect(map('Use the BFG!')).toMatchObject({ text: 'Use the BFG!', stamped: { host: '192.0.2.7' } })
    expect(map('<14>1 - - app - LOGIN [o user="ada"]')).toMatchObject({ text: 'app: LOGIN' })
    // Of rsyslog, with the space that was behind the tag; more of them are the program's own.
    expect(map('<14>1 - - app - - -  disk is full')).toMatchObject({ text: 'app: disk is full' })
    expect(map('<13>Oct 11 22:14:15 h app: app started').text).toBe('app started')
  })

  it('that has no header says by itself when and where it was, and its level', () => {
    // rsyslog with a template of JSON, and a program that writes pino's lines or plain ones to a socket.
    const json = '{"message":"disk is full","@timestamp":"2026-11-20T11:59:00Z","severity":"warning"'
    expect(map(`${json},"host":"web-1"}`)).toMatchObject({
      ...{ text: 'disk is full', eventTime: '2026-11-20T11:59:00Z' },
      stamped: { host: 'web-1', level: 'WARN' },
    })
    expect(map('2026-11-20T11:59:00Z ERROR no space left')).toMatchObject({
      ...{ eventTime: '2026-11-20T11:59:00Z' },
      stamped: { host: '192.0.2.7', level: 'ERROR' },
    })
    const local = '2026-11-20 11:59:00 ERROR no space left'
    expect(map(local)).not.toHaveProperty('eventTime')
    expect(map(local, { zone: 'Europe/Berlin' })).toHaveProperty('eventTime.given', '2026-11-20 11:59:00')
    // What a header says goes first.
    expect(map(`<11>1 2026-11-20T12:00:00Z db-1 app - - - ${json},"host":"web-1"}`)).toMatchObject({
      ...{ text: 'app: disk is full', eventTime: '2026-11-20T12:00:00Z' },
      stamped: { host: 'db-1', level: 'ERROR' },
    })
  })

  it('has structured data and fields of JSON for labels; a declared primary label is the entity', () => {
    const labels = [
      { name: 'user', field: 'data.login@32473.user', primary: true },
      { name: 'order', field: 'order.id' },
      { name: 'said', field: 'json.host' },
    ]
    const [first, second] = events(
      [
        '<14>1 2026-11-20T11:59:00Z web-1 app - - [login@32473 user="ada"] @cee: {"msg":"paid","order":{"id":"A7"},"host":"inner"}',
        '<14>1 2026-11-20T11:59:00Z web-1 app - - [login@32473 user="bob"] {"message":"plain","order":{"id":8}}',
      ],
      { labels },
    )
    expect([first!.text, second!.text]).toEqual(['app: paid', 'app: plain'])
    expect(Object.fromEntries(first!.strings)).toMatchObject({
      ...{ user: 'ada', order: 'A7', said: 'inner', host: 'web-1', level: 'INFO' },
    })
    expect(Object.fromEntries(second!.strings)).toMatchObject({ user: 'bob', order: '8', host: 'web-1' })
    // Shippers of files give all lines one severity: what the line says of itself goes before it.
    expect(map('<133>1 - h shop: - - {"msg":"it broke","level":"error"}').stamped).toMatchObject({
      ...{ severity: 'notice', level: 'ERROR' },
    })
    expect(map('<131>1 - h shop: - - {"msg":"it broke","level":30}').stamped!.level).toBe('ERROR')
  })

  it('that came as something else is refused', () => {
    const compiled = syslog.compile(validateConfig('syslog', {}))
    expect(() =>
      compiled({ raw: Buffer.alloc(0), value: 'text', whole: () => 'text' }, undefined, 0),
    ).toThrow('is no syslog message')
  })
})

describe('times without year and zone', () => {
  it('are of the year nearest to their arrival', () => {
    expect(timeOf('Nov 20 11:59:58')).toBe('2026-11-20T11:59:58.000Z')
    expect(timeOf('Dec 31 23:59:59', {}, '2027-01-01T00:00:03Z')).toBe('2026-12-31T23:59:59.000Z')
    expect(timeOf('Jan  1 00:00:02', {}, '2026-12-31T23:59:59Z')).toBe('2027-01-01T00:00:02.000Z')
    expect(timeOf('Feb 29 10:00:00', {}, '2028-03-01T00:00:00Z')).toBe('2028-02-29T10:00:00.000Z')
    expect(timeOf('Oct 11 2025 22:14:15.5')).toBe('2025-10-11T22:14:15.500Z')
  })

  it('are of the zone that the source says, summer and winter', () => {
    expect(timeOf('Nov 20 12:30:00', { zone: 'Europe/Berlin' })).toBe('2026-11-20T11:30:00.000Z')
    expect(timeOf('Jul 20 12:30:00', { zone: 'Europe/Berlin' })).toBe('2026-07-20T10:30:00.000Z')
    expect(timeOf('Nov 20 07:00:00', { zone: 'America/New_York' })).toBe('2026-11-20T12:00:00.000Z')
    expect(() => validateConfig('syslog', { zone: 'Mars/Olympus' })).toThrow(/zone must be the name/)
  })

  it('of a day that is in no year are told as not understood', () => {
    expect(map('<13>Feb 30 10:00:00 h a: m').eventTime).toBe('Feb 30 10:00:00')
  })
})
