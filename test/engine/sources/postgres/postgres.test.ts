/** The postgres connector before a real PostgreSQL, where the machine has one. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemTimers } from '../../../../engine/clock.ts'
import { validateConfig } from '../../../../engine/sources/connectors/index.ts'
import { postgres } from '../../../../engine/sources/upstreams/postgres.ts'
import { mapped } from '../connectors/reach.ts'
import { ME, setup } from '../polling/setup.ts'
import { PASSWORD, type PostgresServer, postgresPrograms, startPostgres } from './server.ts'

const programs = postgresPrograms()
if (programs === null)
  process.stderr.write('skipped: this machine has no PostgreSQL to test the connector with\n')

let server: PostgresServer
let db: pg.Client
beforeAll(async () => {
  if (programs === null) return
  server = await startPostgres(programs)
  db = await server.client()
})
afterAll(() => server?.stop())

const reach = () => ({
  fetch,
  clock: { now: () => 0 },
  timers: systemTimers,
  signal: new AbortController().signal,
})
const config = (more: Record<string, unknown>) => validateConfig('postgres', { dsn: server.dsn(), ...more })
const poll = (more: Record<string, unknown>, cursor: string | null = null) =>
  postgres.poll(config(more), cursor, reach())
const ids = (items: readonly string[]) => items.map((item) => (JSON.parse(item) as { id: number }).id)

/** Polls until nothing waits. */
async function all(more: Record<string, unknown>, cursor: string | null = null) {
  const items: string[] = []
  let at = cursor
  for (;;) {
    const polled = await poll(more, at)
    items.push(...polled.items)
    at = polled.cursor
    if (!polled.more) return { items, cursor: at }
  }
}

describe.skipIf(programs === null)('a table that is changed while it is read', () => {
  const said = (items: readonly string[]) => items.map((item) => (JSON.parse(item) as { what: string }).what)
  const grown = `at timestamptz, what text); INSERT INTO`
  const rows = (from: number, to: number) =>
    `SELECT '2026-11-20T12:00Z'::timestamptz + n / 10 * interval '1 s', 'row ' || n FROM generate_series(${from}, ${to}) n`

  const KEYED = 'ALTER TABLE %t ADD PRIMARY KEY (what)'
  const behind = /reading goes on behind at 2026/
  it.each([
    ['gains a column, without a primary key', '', 'ALTER TABLE %t ADD COLUMN more text', null],
    ['gains a primary key', '', 'ALTER TABLE %t ADD COLUMN id bigserial PRIMARY KEY', null],
    ['has no zones any more', KEYED, 'ALTER TABLE %t ALTER at TYPE timestamp', null],
    ['has no zones and no primary key', '', 'ALTER TABLE %t ALTER at TYPE timestamp', behind],
    ['loses a column, without a primary key', '', 'ALTER TABLE %t DROP COLUMN extra', behind],
  ])('%s: nothing is read twice, and what comes then is', async (what, begin, change, notice) => {
    const table = what.replaceAll(/[^a-z]+/g, '_')
    // More than the window, of many rows that share a value.
    await db.query(`CREATE TABLE ${table} (extra text, ${grown} ${table} (at, what) ${rows(1, 2_504)}`)
    await db.query(begin.replace('%t', table))
    const of = { table, cursor_column: 'at', limit: 1_000 }
    const first = await all(of)
    expect(said(first.items)).toHaveLength(2_504)
    await db.query(change.replace('%t', table))
    const changed = await poll(of, first.cursor)
    expect(changed.items).toEqual([])
    if (notice === null) expect(changed.notice).toBeUndefined()
    else expect(changed.notice).toMatch(notice)
    // Of the value that was read last, one that was committed late, and a new one.
    await db.query(`INSERT INTO ${table} (at, what) VALUES ('2026-11-20T12:04:10Z', 'tie'),
      ('2026-11-20T12:04:09Z', 'late'), ('2026-11-20T13:00Z', 'new')`)
    const after = await all(of, changed.cursor)
    expect(said(after.items)).toEqual(notice === null ? ['late', 'tie', 'new'] : ['new'])
    expect((await all(of, after.cursor)).items).toEqual([])
  })

  it('is read on with a cursor of an older version', async () => {
    await db.query(`CREATE TABLE older (${grown} older (at, what) ${rows(1, 30)}`)
    const of = { table: 'older', cursor_column: 'at' }
    const { cursor } = await all(of)
    const { database, cursor: place } = JSON.parse(cursor!) as { database: string; cursor: object }
    const old = JSON.stringify({ database, cursor: { ...place, by: undefined, state: undefined } })
    await db.query(`INSERT INTO older VALUES ('2026-11-20T13:00Z', 'new')`)
    expect(said((await all(of, old)).items)).toEqual(['new'])
  })

  for (const parts of ['', ' PARTITION BY RANGE (id); CREATE TABLE anew_1 PARTITION OF anew DEFAULT'])
    it(`says so where it was emptied and begun anew, so that new rows lie before those that were read${parts}`, async () => {
      await db.query(`DROP TABLE IF EXISTS anew; CREATE TABLE anew (id serial PRIMARY KEY, what text)${parts};
      INSERT INTO anew (what) SELECT 'a' FROM generate_series(1, 5)`)
      const of = { table: 'anew', cursor_column: 'id' }
      const { cursor } = await all(of)
      await db.query('DELETE FROM anew WHERE id = 5')
      expect((await poll(of, cursor)).notice).toBeUndefined()
      await db.query(`INSERT INTO anew (id, what) VALUES (5, 'a')`)
      await db.query('VACUUM FULL anew')
      const written = await poll(of, cursor)
      expect(written.notice).toBeUndefined()
      await db.query(`TRUNCATE anew RESTART IDENTITY; INSERT INTO anew (what) VALUES ('b'), ('b')`)
      const emptied = await poll(of, written.cursor)
      expect(emptied.notice).toBe(
        'the table was emptied, made anew or restored: its newest row (id 2) lies before what was read, and only rows behind id 5 are read; to read it from its beginning, make the source anew',
      )
      expect((await poll(of, emptied.cursor)).notice).toBe(emptied.notice)
      await db.query(`INSERT INTO anew (what) SELECT 'c' FROM generate_series(1, 4)`)
      const again = await all(of, emptied.cursor)
      expect(ids(again.items)).toEqual([6])
      expect((await poll(of, again.cursor)).notice).toBeUndefined()
    })

  it('is told of where it has no time_column or a random cursor, and columns are found in any case of letters', async () => {
    await db.query(`CREATE TABLE ids AS SELECT gen_random_uuid() r,
      '019abcde9d0a7b5e8c1d000000000001'::uuid up`)
    expect((await poll({ table: 'ids', cursor_column: 'r' })).notice).toMatch(/^r holds random values/)
    expect((await poll({ table: 'ids', cursor_column: 'up' })).notice).toBeUndefined()
    await db.query(`CREATE TABLE cased (id int PRIMARY KEY, updated_at timestamptz);
      INSERT INTO cased VALUES (1, '2026-11-20T12:00Z')`)
    const wrong = poll({ table: 'cased', cursor_column: 'id', time_column: 'made_at' })
    await expect(wrong).rejects.toThrow('the table has no column made_at: correct time_column')
    for (const more of [
      { cursor_column: 'Updated_At' },
      { cursor_column: 'ID', time_column: 'UPDATED_AT' },
    ]) {
      const of = { table: 'cased', ...more }
      const [event] = mapped(postgres, config(of), await poll(of))
      expect(event!.eventTime).toBe('2026-11-20T12:00:00+00:00')
    }
  })
})

describe.skipIf(programs === null)('a table', () => {
  it('is read from its beginning, a page at a time, each row once', async () => {
    await db.query(
      `CREATE TABLE pages (id bigint PRIMARY KEY); INSERT INTO pages SELECT generate_series(1, 25)`,
    )
    const first = await poll({ table: 'pages', cursor_column: 'id', limit: 10 })
    expect([ids(first.items), first.more]).toEqual([[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], true])
    const rest = await all({ table: 'pages', cursor_column: 'id', limit: 10 }, first.cursor)
    expect(ids(rest.items)).toEqual(Array.from({ length: 15 }, (_, i) => i + 11))
    const none = await poll({ table: 'pages', cursor_column: 'id', limit: 10 }, rest.cursor)
    expect([none.items, none.more, none.cursor]).toEqual([[], false, rest.cursor])
  })

  it('gives values exactly as they are stored', async () => {
    await db.query(`CREATE TABLE exact (id bigint PRIMARY KEY, amount numeric, ratio float8, at timestamptz, day date,
      doc jsonb, raw json, bytes bytea, tags text[], gone text);
      INSERT INTO exact VALUES (9223372036854775807, 12345678901234567890.10, 0.1, '2026-11-20 13:00:00.123456+01',
      '2026-11-20', '{"n": 12345678901234567890}', E'{\\n "a":1}', '\\xdeadbeef', '{a,"b c"}', NULL)`)
    const { items } = await poll({ table: 'exact', cursor_column: 'id' })
    expect(items).toEqual([
      '{"id":9223372036854775807,"amount":12345678901234567890.10,"ratio":0.1,"at":"2026-11-20T12:00:00.123456+00:00","day":"2026-11-20","doc":{"n": 12345678901234567890},"raw":{  "a":1},"bytes":"\\\\xdeadbeef","tags":["a","b c"],"gone":null}',
    ])
  })

  it('gives all rows of one cursor value, though a page ends among them', async () => {
    await db.query(`CREATE TABLE ties (id int PRIMARY KEY, updated_at timestamptz);
      INSERT INTO ties SELECT n, '2026-11-20T12:00:00.000001Z' FROM generate_series(1, 7) n`)
    const of = { table: 'ties', cursor_column: 'updated_at', limit: 3 }
    const first = await all(of)
    expect(ids(first.items)).toEqual([1, 2, 3, 4, 5, 6, 7])
    await db.query(`INSERT INTO ties VALUES (0, '2026-11-20T12:00:00.000001Z')`)
    expect(ids((await all(of, first.cursor)).items)).toEqual([0])
  })

  it('gives a row again when its cursor value moved on', async () => {
    await db.query(`CREATE TABLE moved (id int PRIMARY KEY, updated_at timestamp);
      INSERT INTO moved VALUES (1, '2026-11-20 12:00'), (2, '2026-11-20 12:01')`)
    const of = { table: 'moved', cursor_column: 'updated_at' }
    const { cursor } = await all(of)
    await db.query(`UPDATE moved SET updated_at = '2026-11-20 12:02' WHERE id = 1`)
    expect(ids((await all(of, cursor)).items)).toEqual([1])
  })

  it('gives rows of transactions that began before and committed after what was read', async () => {
    await db.query(`CREATE TABLE late (id serial PRIMARY KEY, what text)`)
    const slow = await server.client()
    await slow.query(`BEGIN; INSERT INTO late (what) VALUES ('slow 1'), ('slow 2')`)
    await db.query(`INSERT INTO late (what) VALUES ('quick')`)
    const of = { table: 'late', cursor_column: 'id' }
    const first = await all(of)
    expect(ids(first.items)).toEqual([3])
    await slow.query('COMMIT')
    const second = await all(of, first.cursor)
    expect(ids(second.items)).toEqual([1, 2])
    expect((await all(of, second.cursor)).items).toEqual([])
  })

  it('loses and repeats nothing while others write, in whatever order they commit', async () => {
    await db.query(`CREATE TABLE busy (id serial PRIMARY KEY, at timestamptz DEFAULT clock_timestamp())`)
    const writers = await Promise.all([1, 2, 3].map(() => server.client()))
    const of = { table: 'busy', cursor_column: 'at', limit: 7 }
    const seen: number[] = []
    let cursor: string | null = null
    const read = async () => {
      const more = await all(of, cursor)
      seen.push(...ids(more.items))
      cursor = more.cursor
    }
    for (let round = 0; round < 4; round++) {
      for (const writer of writers)
        await writer.query('BEGIN; INSERT INTO busy SELECT FROM generate_series(1, 5)')
      for (const writer of writers.toReversed()) {
        await writer.query('COMMIT')
        await read()
      }
    }
    expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, i) => i + 1))
    expect(seen).not.toEqual(seen.toSorted((a, b) => a - b))
  })

  it('keeps its window while many rows pass, and gives a bulk that was committed late', async () => {
    await db.query(
      `CREATE TABLE bulk (id int PRIMARY KEY); INSERT INTO bulk SELECT generate_series(1001, 6000)`,
    )
    const of = { table: 'bulk', cursor_column: 'id', limit: 1000 }
    const first = await all(of)
    expect(first.items.length).toBe(5_000)
    expect(JSON.parse(first.cursor!).cursor).toMatchObject({ at: ['6000', '6000'], low: ['4000', '4000'] })
    expect(JSON.parse(first.cursor!).cursor.seen.length).toBe(2_000)
    await db.query(`DELETE FROM bulk WHERE id > 4500; INSERT INTO bulk SELECT generate_series(7000, 7010)`)
    const second = await all(of, first.cursor)
    expect(ids(second.items)).toEqual(Array.from({ length: 11 }, (_, i) => 7000 + i))
    await db.query('INSERT INTO bulk SELECT generate_series(4501, 6999)')
    expect(ids((await all(of, second.cursor)).items)).toHaveLength(2_499)
  })

  it('is read without a primary key, and as a view', async () => {
    await db.query(`CREATE TABLE keyless (id int, what text); INSERT INTO keyless VALUES (1, 'a'), (1, 'b');
      CREATE VIEW seen_through AS SELECT id, what FROM keyless WHERE id > 0`)
    for (const table of ['keyless', 'public.seen_through']) {
      const first = await all({ table, cursor_column: 'id', limit: 1 })
      expect(first.items.toSorted()).toEqual(['{"id":1,"what":"a"}', '{"id":1,"what":"b"}'])
      expect((await all({ table, cursor_column: 'id' }, first.cursor)).items).toEqual([])
    }
  })

  it('gives the columns that were named, and those that are needed', async () => {
    await db.query(`CREATE TABLE wide (id int PRIMARY KEY, a int, b int, "mixed Case" int, status text);
      INSERT INTO wide VALUES (1, 2, 3, 4, 'new')`)
    const of = {
      table: 'wide',
      cursor_column: 'id',
      columns: 'a, mixed Case',
      labels: [{ name: 's', field: 'status' }],
    }
    expect((await poll(of)).items).toEqual(['{"id":1,"a":2,"mixed Case":4,"status":"new"}'])
    await expect(poll({ ...of, columns: 'nope' })).rejects.toThrow(
      'the table has no column nope: correct columns',
    )
  })

  it('is read whatever its name and those of its columns have in them, and nothing of them is run', async () => {
    await db.query(`CREATE TABLE kept (id int); CREATE SCHEMA "My Shop";
      CREATE TABLE "My Shop"."Order Items-2; DROP TABLE kept;--" ("row ""no"" - 1" int PRIMARY KEY, "it's" text);
      INSERT INTO "My Shop"."Order Items-2; DROP TABLE kept;--" VALUES (1, 'a'), (2, 'b')`)
    const of = {
      table: 'My Shop.Order Items-2; DROP TABLE kept;--',
      cursor_column: 'row "no" - 1',
      limit: 1,
    }
    const { items, cursor } = await all(of)
    expect(items.map((item) => JSON.parse(item))).toEqual([
      { 'row "no" - 1': 1, "it's": 'a' },
      { 'row "no" - 1': 2, "it's": 'b' },
    ])
    expect((await all(of, cursor)).items).toEqual([])
    expect((await db.query('SELECT count(*)::int AS n FROM kept')).rows).toEqual([{ n: 0 }])
  })

  it('is read by a user who may see some of its columns alone', async () => {
    await db.query(`CREATE TABLE partly (id int PRIMARY KEY, a int, hidden text);
      INSERT INTO partly VALUES (1, 2, 'x'); CREATE USER part PASSWORD '${PASSWORD}'; GRANT SELECT (id, a) ON partly TO part`)
    const of = { dsn: server.dsn('part', 'postgres'), table: 'partly', cursor_column: 'id' }
    expect((await poll({ ...of, columns: 'a' })).items).toEqual(['{"id":1,"a":2}'])
    await expect(poll(of)).rejects.toThrow('or name as columns those it may read')
    const { summary, proposed_config: proposed } = await postgres.discover!(of, reach())
    expect(summary).toContain('; left out, as the user of dsn may not read them: 1')
    expect((await poll({ ...of, ...(proposed as object) })).items).toEqual(['{"id":1,"a":2}'])
  })

  it('passes over a row that is too large, and says so', async () => {
    await db.query(`CREATE TABLE large (id int PRIMARY KEY, body text);
      INSERT INTO large VALUES (1, 'a'), (2, repeat('x', 2000000)), (3, 'c')`)
    const { items, notice, cursor } = await poll({ table: 'large', cursor_column: 'id' })
    expect([ids(items), notice]).toEqual([[1, 3], '1 row was over 1 MB and left out: name fewer columns'])
    expect((await poll({ table: 'large', cursor_column: 'id' }, cursor)).items).toEqual([])
  })

  it('ends a page before it is too large as a whole', async () => {
    await db.query(`CREATE TABLE heavy (id int PRIMARY KEY, body text);
      INSERT INTO heavy SELECT n, repeat('x', 900000) FROM generate_series(1, 20) n`)
    const first = await poll({ table: 'heavy', cursor_column: 'id' })
    expect([first.items.length, first.more]).toEqual([18, true])
    expect(ids((await poll({ table: 'heavy', cursor_column: 'id' }, first.cursor)).items)).toEqual([19, 20])
  })

  it('begins anew in another database, and says so', async () => {
    await db.query('CREATE DATABASE other')
    await db.query('CREATE TABLE here (id int PRIMARY KEY); INSERT INTO here VALUES (5)')
    const { cursor } = await poll({ table: 'here', cursor_column: 'id' })
    const elsewhere = {
      table: 'pg_catalog.pg_namespace',
      cursor_column: 'oid',
      dsn: server.dsn('owner', 'other'),
    }
    const { items, notice } = await poll(elsewhere, cursor)
    expect(items.length).toBeGreaterThan(2)
    expect(notice).toBe('the database is another than before: reading begins anew')
  })
})

describe.skipIf(programs === null)('what cannot be read', () => {
  const failing = (more: Record<string, unknown>) =>
    poll({ table: 'x', cursor_column: 'id', ...more }).then(String, (error: Error) => error.message)

  it('is told with what to do, and without the password', async () => {
    await db.query(`CREATE TABLE secret (id int); CREATE USER reader PASSWORD '${PASSWORD}'`)
    const faults = [
      [{ table: 'nope' }, 'the database has no table nope that the user of dsn can see'],
      [{ table: 'secret', cursor_column: 'nope' }, 'the table has no column nope: correct cursor_column'],
      [{ table: 'secret', dsn: server.dsn('reader') }, 'may not read the table: GRANT SELECT on it'],
      [{ dsn: server.dsn('nobody') }, 'PostgreSQL refuses user or password; correct both in dsn'],
      [{ dsn: server.dsn('owner', 'nope') }, 'PostgreSQL has no such database'],
      [{ dsn: `${server.dsn()}?sslmode=require` }, 'PostgreSQL offers no TLS'],
      [{ dsn: `postgresql://u:${encodeURIComponent(PASSWORD)}@127.0.0.1:1/d` }, 'connection refused'],
      [{ dsn: server.dsn().replace('127.0.0.1', '169.254.169.254') }, 'target address is not allowed'],
      [{ dsn: 'postgresql://u:p@nowhere.invalid/d' }, 'the host name in dsn cannot be resolved'],
    ] as const
    for (const [more, sentence] of faults) {
      const message = await failing(more)
      expect(message).toContain(sentence)
      expect(message).not.toContain('p@ss')
    }
  })

  it('ends a poll that takes too long at its signal', async () => {
    await db.query('CREATE TABLE locked (id int PRIMARY KEY)')
    const holder = await server.client()
    await holder.query('BEGIN; LOCK TABLE locked')
    const over = new AbortController()
    const polled = postgres.poll(config({ table: 'locked', cursor_column: 'id' }), null, {
      ...reach(),
      signal: over.signal,
    })
    const waits = `SELECT 1 FROM pg_stat_activity WHERE application_name = 'svc' AND wait_event_type = 'Lock'`
    while ((await db.query(waits)).rowCount === 0) await new Promise((resolve) => setImmediate(resolve))
    over.abort()
    await expect(polled).rejects.toThrow('PostgreSQL gave no answer in time')
    await holder.query('ROLLBACK')
  })

  it('cannot write, whatever a view does', async () => {
    await db.query(`CREATE TABLE log (id serial); CREATE FUNCTION note() RETURNS int LANGUAGE plpgsql AS
      $$ BEGIN INSERT INTO log DEFAULT VALUES; RETURN 1; END $$; CREATE VIEW writes AS SELECT note() AS id`)
    expect(await failing({ table: 'writes' })).toContain('cannot be read without writing')
    expect((await db.query('SELECT count(*)::int AS n FROM log')).rows).toEqual([{ n: 0 }])
  })
})

describe.skipIf(programs === null)('discovery', () => {
  const discover = (more: Record<string, unknown>) =>
    postgres.discover!({ dsn: server.dsn(), ...more }, reach())

  it('lists the tables the user may read', async () => {
    await db.query(`CREATE TABLE IF NOT EXISTS orders (id bigint PRIMARY KEY, customer_id text, status text, total numeric,
      updated_at timestamptz)`)
    const { tables, proposed_config: proposed } = await discover({})
    expect((tables as { name: string }[]).map(({ name }) => name)).toContain('public.orders')
    expect(JSON.stringify(tables)).not.toContain('"pg_catalog.')
    expect(JSON.stringify(proposed)).not.toContain('postgresql://')
  })

  it('proposes how to read a table', async () => {
    const { columns, proposed_config: proposed } = await discover({ table: 'orders' })
    expect(columns).toContainEqual({ name: 'updated_at', type: 'timestamp with time zone' })
    expect(proposed).toEqual({
      table: 'orders',
      cursor_column: 'updated_at',
      labels: [
        { name: 'customer_id', field: 'customer_id', primary: true },
        { name: 'status', field: 'status' },
      ],
    })
    expect(() => config(proposed as Record<string, unknown>)).not.toThrow()
  })

  it('proposes the time of rows that are read in the order of an id, and an entity that is a name', async () => {
    await db.query(`CREATE TABLE sales (id bigserial PRIMARY KEY, at timestamptz, expires_at timestamptz, customer text, status text);
      INSERT INTO sales (at, customer, status) VALUES ('2026-11-20T10:00:00Z', 'acme', 'paid')`)
    const labels = [{ name: 'customer', field: 'customer', primary: true }, { field: 'status' }]
    const { summary, proposed_config } = await discover({ table: 'sales' })
    expect(proposed_config).toMatchObject({ cursor_column: 'id', time_column: 'at', labels })
    expect(summary).toMatch(/in the order of id, at the time of at; the entity is customer, which is on 1 of/)
  })

  const proposed = async (table: string) =>
    (await discover({ table })).proposed_config as { cursor_column: string; labels: object[] }

  it('knows columns however their words are joined, and keeps how they are spelled', async () => {
    await db.query(`CREATE TABLE "Invoice" (id text PRIMARY KEY, "shopId" text, "tenantId" text, "Status" text,
        "createdAt" timestamptz, "updatedAt" timestamptz);
      CREATE TABLE folded (id text PRIMARY KEY, createdAt timestamptz, lastModified timestamptz, tenantId text, paid text);
      CREATE TABLE spaced ("Created At" timestamptz, "Updated At" timestamptz, "Tenant ID" text, "Id" int);
      CREATE TABLE others (id text PRIMARY KEY, paid text, "shopID" text)`)
    const labels = [
      { name: 'tenantId', field: 'tenantId', primary: true },
      { name: 'Status', field: 'Status' },
    ]
    expect(await proposed('Invoice')).toEqual({ table: 'Invoice', cursor_column: 'updatedAt', labels })
    expect(await proposed('folded')).toMatchObject({
      cursor_column: 'lastmodified',
      labels: [{ name: 'tenantid', field: 'tenantid', primary: true }],
    })
    expect(await proposed('spaced')).toMatchObject({
      cursor_column: 'Updated At',
      labels: [{ name: 'Tenant_ID', field: 'Tenant ID', primary: true }],
    })
    expect((await proposed('others')).labels).toEqual([{ name: 'shopID', field: 'shopID', primary: true }])
    for (const table of ['Invoice', 'folded', 'spaced']) {
      const read = config(await proposed(table))
      expect((await postgres.poll(read, null, reach())).items).toEqual([])
    }
  })

  it('takes the column spelled with underscores where there are both', async () => {
    await db.query(`CREATE TABLE twice (id int PRIMARY KEY, "updatedAt" timestamptz, updated_at timestamptz,
      "tenantId" text, tenant_id text)`)
    const labels = [{ name: 'tenant_id', field: 'tenant_id' }]
    expect(await proposed('twice')).toMatchObject({ cursor_column: 'updated_at', labels })
  })

  it('lists what a source can be saved with, and says what was left out', async () => {
    await db.query(`CREATE DATABASE named`)
    const dsn = server.dsn('owner', 'named')
    const elsewhere = new pg.Client({ connectionString: dsn })
    await elsewhere.connect()
    await elsewhere.query(`CREATE TABLE "Order Items" ("Id" int PRIMARY KEY); INSERT INTO "Order Items" VALUES (7);
      CREATE TABLE "2024-orders" (id int); CREATE TABLE "a.b" (id int); CREATE TABLE "a'b" (id int);
      CREATE TABLE "a""b" (id int); CREATE TABLE "a\nb" (id int)`)
    await elsewhere.end()
    const { tables, summary } = (await discover({ dsn })) as { tables: { name: string }[]; summary: string }
    expect(tables).toEqual([
      { name: 'public.2024-orders', kind: 'table' },
      { name: 'public.Order Items', kind: 'table' },
    ])
    expect(summary).toBe(
      '2 tables; name one and discover again; left out for dots, quotes or control characters in names: 4',
    )
    for (const { name } of tables) {
      const found = (await discover({ dsn, table: name })).proposed_config as Record<string, unknown>
      const { items } = await postgres.poll(config({ dsn, ...found }), null, reach())
      expect(items).toEqual(name.endsWith('Items') ? ['{"Id":7}'] : [])
    }
  })

  it('A8: proposes the entity that the newest rows have, and says on how many it is', async () => {
    await db.query(`CREATE TABLE visits (id int PRIMARY KEY, tenant_id text, shop_id text, user_id text);
      INSERT INTO visits SELECT n, CASE WHEN n % 4 = 0 THEN 'a' ELSE '' END, 's', CASE WHEN n > 2 THEN 'u' END
      FROM generate_series(1, 8) AS n`)
    const found = await discover({ table: 'visits' })
    expect(found).toMatchObject({
      coverage: [
        { label: 'tenant_id', rows: 2, of: 8 },
        { label: 'user_id', rows: 6, of: 8 },
        { label: 'shop_id', rows: 8, of: 8 },
      ],
      proposed_config: { labels: [{ name: 'shop_id', field: 'shop_id', primary: true }] },
    })
    expect(found.summary).toContain('the entity is shop_id, which is on 8 of the newest 8 rows')
    await db.query('UPDATE visits SET shop_id = NULL')
    expect((await discover({ table: 'visits' })).summary).toContain('user_id, which is on 6 of')
    await db.query('TRUNCATE visits')
    expect((await discover({ table: 'visits' })).summary).toContain(
      'the entity is tenant_id, and there are no rows yet',
    )
  })
})

describe.skipIf(programs === null)('a source of rows', () => {
  it('stores them as events, and its connection URL is told by nothing', async () => {
    await db.query(`CREATE TABLE events (id int PRIMARY KEY, tenant_id text, status text, at timestamptz);
      INSERT INTO events VALUES (1, 'acme', 'paid', now())`)
    const { engine, until, texts, faults } = setup()
    const labels = [{ name: 'tenant', field: 'tenant_id', primary: true }]
    const config = { dsn: server.dsn(), table: 'events', cursor_column: 'id', time_column: 'at', labels }
    await engine.createSource({ name: 'rows', connector: 'postgres', config }, ME, false)
    await until(1)
    expect(await texts('rows')).toEqual(['1 status=paid'])
    const [event] = await engine.sourceEvents('rows', 1)
    expect(event).toMatchObject({ event_type: 'events', labels: { tenant: 'acme' } })
    expect(JSON.stringify([await engine.getSource('rows'), event])).not.toContain(String(server.port))
    expect(faults).toEqual([])
  })
})
