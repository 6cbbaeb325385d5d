import { describe, expect, it } from 'vitest'
import { validateConfig } from '../../../../engine/sources/connectors/index.ts'
import { postgres } from '../../../../engine/sources/upstreams/postgres.ts'
import { parseDsn } from '../../../../engine/sources/upstreams/postgres-session.ts'

const DSN = 'postgresql://reader:s3cret@db.internal:6432/shop'

describe('a dsn', () => {
  it('is read with its parts decoded', () => {
    expect(parseDsn('postgres://u%40x:p%2Fw@[::1]/d%20b?sslmode=verify-full')).toEqual({
      host: '::1',
      port: 5432,
      user: 'u@x',
      password: 'p/w',
      database: 'd b',
      sslMode: 'verify-full',
    })
  })

  it.each([
    ['another scheme', 'mysql://u:p@h/d'],
    ['no user', 'postgresql://h/d'],
    ['no host', 'postgresql://u:s3cret@/d'],
    ['a socket path', 'postgresql://u:s3cret@%2Ftmp/d'],
    ['another host in its query', 'postgresql://u:s3cret@h/d?host=/tmp'],
    ['options of the server', 'postgresql://u:s3cret@h/d?options=-c%20x'],
    ['several hosts', 'postgresql://u:s3cret@a,b/d'],
    ['an sslmode that is none', 'postgresql://u:s3cret@h/d?sslmode=maybe'],
    ['a password that is not encoded', 'postgresql://u:s3cret#x@h/d'],
  ])('with %s is refused, and nothing of it told', (_what, dsn) => {
    const config = { dsn, table: 't', cursor_column: 'id' }
    expect(() => validateConfig('postgres', config)).toThrow(
      expect.objectContaining({ code: 'invalid', message: expect.not.stringContaining('s3cret') }),
    )
  })

  it('may be a reference', () => {
    const reference = ['$', '{SHOP_DSN}'].join('')
    expect(() =>
      validateConfig('postgres', { dsn: reference, table: 't', cursor_column: 'id' }),
    ).not.toThrow()
  })
})

describe('a table name', () => {
  const check = (table: string) => () => validateConfig('postgres', { dsn: DSN, table, cursor_column: 'id' })

  it.each(['t"; drop table x;--', 'a.b.c', '.a', 'a.', "t'", 't\nt', 't\u0000', '', 'x'.repeat(64)])(
    'that is none is refused: %j',
    (table) => {
      expect(check(table)).toThrow('table')
    },
  )

  it.each(['Order Items', 'sales.Order Items', 'order-items', '2024 orders', 'größe', 'x'.repeat(63)])(
    'may have any other characters: %s',
    (table) => {
      expect(check(table)).not.toThrow()
    },
  )
})

describe('an event', () => {
  const map = (row: unknown, more: Record<string, unknown> = {}) =>
    postgres.compile({ dsn: DSN, table: 'public.orders', cursor_column: 'updated_at', ...more })(
      { raw: Buffer.from(JSON.stringify(row)), value: row, whole: () => row },
      undefined,
      0,
    )[0]!

  it('is of the type of its table, at the time of its cursor', () => {
    const event = map({ id: 7, status: 'paid', updated_at: '2026-11-20T12:00:00.123456+00:00' })
    expect(event).toMatchObject({
      eventType: 'orders',
      text: '7 status=paid',
      eventTime: '2026-11-20T12:00:00.123456+00:00',
      context: { table: 'orders', database: 'shop', status: 'paid' },
    })
  })

  it('takes a number for a time only where a column was named for it', () => {
    expect(map({ updated_at: 5 }).eventTime).toBeUndefined()
    // As it is: seconds or milliseconds is told where times of all connectors are read.
    expect(map({ at: 1_700_000_000 }, { time_column: 'at' }).eventTime).toBe(1_700_000_000)
    expect(map({ at: 1_700_000_000_123 }, { time_column: 'at' }).eventTime).toBe(1_700_000_000_123)
  })

  it('says what its template says, else the row', () => {
    expect(map({ total: 5 }, { text_template: 'total {total}' }).text).toBe('total 5')
    expect(map({ total: 5 }).text).toBe('{"total":5}')
  })

  it('is another when any column of its row is', () => {
    expect(map({ id: 1, a: 1 }).dedupeKey).not.toBe(map({ id: 1, a: 2 }).dedupeKey)
  })
})
