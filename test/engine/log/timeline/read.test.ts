import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../../engine/log/steps.ts'
import { tokensOf } from '../../../../engine/log/timeline/fit.ts'
import { answerRead } from '../../../../engine/log/timeline/read.ts'
import {
  entitiesInSteps,
  entityValuesInSteps,
  histogramInSteps,
  statsInSteps,
} from '../../../../engine/log/timeline/stats.ts'
import { escapeText } from '../../../../schemas/plain-text.ts'
import type { ReadRequest } from '../../../../schemas/types.ts'
import { longOr } from '../../../chaos/scale.ts'
import { addSource, event, openHarness, random, T0 } from '../store/store-harness.ts'

const NOW = T0 + 3_600_000

function setUp() {
  const harness = openHarness()
  const app = addSource(harness.store, 'app', [
    { name: 'service', field: 'service', primary: true },
    { name: 'status', field: 'status', type: 'number' },
  ])
  const deploys = addSource(harness.store, 'deploys', [{ name: 'service', field: 'service', primary: true }])
  const read = (request: Partial<ReadRequest>, now = NOW) =>
    answerRead(harness.ctx, { selector: { service: 'checkout' }, window: '2h', ...request }, now)
  return { ...harness, app, deploys, read }
}

describe('a read', () => {
  it('returns one entity across its sources in time order, with the envelope', () => {
    const { append, read, app, deploys } = setUp()
    append(
      [
        event({ service: 'checkout' }, T0 + 2_000, {
          text: 'error',
          eventType: 'log',
          numbers: { status: 500 },
        }),
        event({ service: 'cart' }, T0 + 1_500),
      ],
      { sourceId: app },
    )
    append([event({ service: 'checkout' }, T0 + 1_000, { text: 'deployed 1.2', eventType: 'deploy' })], {
      sourceId: deploys,
      at: T0 + 5_000,
    })
    const answer = read({})
    expect(answer.rows).toEqual([
      {
        id: 'evt_3',
        offset: 'T-3599s',
        source: 'deploys',
        source_type: 'event_stream',
        event_type: 'deploy',
        event_time: '2026-11-20T12:00:01.000Z',
        ingested_at: '2026-11-20T12:00:05.000Z',
        entity: { label: 'service', value: 'checkout' },
        labels: { service: 'checkout' },
        text: 'deployed 1.2',
      },
      {
        id: 'evt_1',
        offset: 'T-3598s',
        source: 'app',
        source_type: 'event_stream',
        event_type: 'log',
        event_time: '2026-11-20T12:00:02.000Z',
        ingested_at: '2026-11-20T12:00:00.000Z',
        entity: { label: 'service', value: 'checkout' },
        labels: { service: 'checkout', status: 500 },
        text: 'error',
      },
    ])
    expect(answer.sources).toEqual(['app', 'deploys'])
    expect(answer.payload).toBe(
      '=== read · service=checkout · window=2h · ONE svc read ===\n\n[T-3599s] [deploys] deploy: deployed 1.2 · service=checkout (evt_3)\n[T-3598s] [app] log: error · service=checkout status=500 (evt_1)\n',
    )
    expect(answer).toMatchObject({
      count: 2,
      next_cursor: null,
      truncated: false,
      as_of: '2026-11-20T13:00:00.000Z',
    })
  })

  it('says that no event has a label that was asked for, and nothing where one has it', () => {
    const { append, read, ctx, app } = setUp()
    append([event({ service: 'checkout' }, T0)], { sourceId: app })
    const unknown = read({ selector: { nosuch: 'x', service: 'checkout' } })
    expect(unknown).toMatchObject({ count: 0, notice: 'no event has the label nosuch' })
    expect(unknown.payload).toContain('\nno event has the label nosuch\n')
    expect(read({ selector: { nosuch: 'x', other: 'y' }, max_tokens: 500 }).notice).toBe(
      'no event has the labels nosuch, other',
    )
    const known: ReadRequest['selector'][] = [
      { service: 'cart' },
      { status: 1 },
      { key_value: 'x' },
      { service: 'checkout' },
    ]
    for (const selector of known) expect(read({ selector })).not.toHaveProperty('notice')
    expect(atOnce(statsInSteps(ctx, { by: 'nosuch' }, NOW))).toMatchObject({
      rows: [],
      notice: 'no event has the label nosuch',
      stats: expect.stringContaining('no event has the label nosuch'),
    })
    expect(atOnce(statsInSteps(ctx, { by: 'source', where: { nosuch: 'x' } }, NOW)).notice).toBe(
      'no event has the label nosuch',
    )
    // A value that was mistyped looks like silence, too.
    const never = 'no events in this window, nor at any other time'
    expect(atOnce(statsInSteps(ctx, { by: 'source', where: { service: 'other' } }, NOW))).toMatchObject({
      ...{ notice: never, stats: expect.stringContaining(`\n${never}`) },
    })
    const near = 'no event has service=chekout (did you mean checkout?)'
    expect(atOnce(statsInSteps(ctx, { by: 'source', where: { service: 'chekout' } }, NOW)).notice).toBe(
      `${never}; ${near}`,
    )
    expect(read({ selector: { service: 'chekout' } }).notice).toBe(near)
    expect(
      atOnce(statsInSteps(ctx, { by: 'source', where: { service: 'checkout' } }, NOW)),
    ).not.toHaveProperty('notice')
    for (const by of ['source', 'event_type', 'service', 'status'])
      expect(atOnce(statsInSteps(ctx, { by }, NOW))).not.toHaveProperty('notice')
  })

  it('of a level says how else it is written, and that log records have it as their type', () => {
    const { append, read, app } = setUp()
    const said: Record<string, string>[] = [{ level: 'error' }, { level: 'ERROR' }, { level: 'FATAL' }]
    append(
      [...said.map((labels) => event(labels, T0)), event({ service: 'b' }, T0, { eventType: 'ERROR' })],
      { sourceId: app },
    )
    const beside = 'beside level=error there are events with level=ERROR, the type ERROR'
    const found = read({ selector: { level: 'error' } })
    expect(found).toMatchObject({ count: 1, notice: beside })
    expect(found.payload).toContain(beside)
    expect(read({ selector: { level: 'FATAL' } })).not.toHaveProperty('notice')
    // Those that have it as a label, too, are found by that.
    append([event({ level: 'ERROR' }, T0, { eventType: 'ERROR' })], { sourceId: app })
    expect(read({ selector: { level: 'ERROR' } }).notice).toBe(
      'beside level=ERROR there are events with level=error',
    )
  })

  it('says how to read one source, or one type', () => {
    const { append, read, app } = setUp()
    append([event({ service: 'checkout' }, T0)], { sourceId: app })
    expect(read({ selector: { source: 'app' } }).notice).toBe(
      'no event has the label source (one source is read by sources, with the command by --source)',
    )
    expect(read({ selector: { type: 'test' } }).notice).toBe(
      'no event has the label type (types are event_types, with the command --type)',
    )
  })

  it('names the label, the value or the type that was meant perhaps', () => {
    const { append, read, app } = setUp()
    // More values than are compared, and the one that is meant behind them.
    append(
      Array.from({ length: 1_200 }, (_, n) => event({ service: `a${n}` }, T0)),
      { sourceId: app },
    )
    append([event({ service: 'checkout', order: '4711', zone: 'b' }, T0)], { sourceId: app })
    const said = (selector: Record<string, string>, event_types?: string[]) =>
      read({ selector, ...(event_types ? { event_types } : {}) }).notice
    expect(said({ Service: 'checkout' })).toBe('no event has the label Service (did you mean service?)')
    expect(said({ service: 'chekcout' })).toBe('no event has service=chekcout (did you mean checkout?)')
    expect(said({ service: 'checkout' }, ['tset'])).toBe('no event has the type tset (did you mean test?)')
    expect(said({ service: 'chekcout' }, ['tset'])).toBe(
      'no event has service=chekcout (did you mean checkout?), nor the type tset (did you mean test?)',
    )
    for (const [label, value] of [
      ['service', 'nothing-near'],
      ['order', '4712'],
      ['zone', 'a'],
    ] as const)
      expect(said({ [label]: value }, ['deploy'])).toBeUndefined()
  })

  it('lists labels that name things first, and those whose values hardly come again last', () => {
    const { append, ctx, app } = setUp()
    append(
      Array.from({ length: 150 }, (_, n) =>
        event({ service: `s${n % 120}`, batch: `b${n}`, zone: `z${n % 3}`, span_id: `f${n}` }, T0),
      ),
      { sourceId: app },
    )
    expect(atOnce(entitiesInSteps(ctx, 3)).labels.map(({ label }) => label)).toEqual([
      'service',
      'zone',
      'batch',
    ])
    expect(atOnce(entityValuesInSteps(ctx, 'span_id', 3)).distinct).toBe(150)
  })

  it('counts each value of a label once, also where labels come and get their keys between two steps', () => {
    const { append, ctx, app, store } = setUp()
    const add = (from: number, count: number): void => {
      append(
        Array.from({ length: count }, (_, n) => event({ batch: `b${from + n}` }, T0)),
        { sourceId: app },
      )
    }
    const keyed = store.db.prepare<[], number>('SELECT through FROM labels_keyed').pluck()
    add(0, 30_000)
    // Some that have a key come as often as some that have none: the first by value are shown.
    add(200_000, 10)
    add(100_000, 10)
    append([event({ batch: 'b7' }, T0), event({ batch: 'b200003' }, T0), event({ batch: 'b9' }, T0)], {
      sourceId: app,
    })
    const before = keyed.get()!
    expect(before).toBeGreaterThanOrEqual(30_000)
    expect(before).toBeLessThan(30_020)
    const steps = entityValuesInSteps(ctx, 'batch', 6)
    expect(steps.next().done).toBe(false)
    add(300_000, 36_000)
    expect(keyed.get()).toBeGreaterThan(before)
    const facet = atOnce(steps)
    expect(facet.values.map(({ value, events }) => [value, events])).toEqual([
      ...['b200003', 'b7', 'b9'].map((value) => [value, 2]),
      ...['b0', 'b1', 'b10'].map((value) => [value, 1]),
    ])
    expect(facet.distinct).toBe(30_020)
    expect(atOnce(entityValuesInSteps(ctx, 'batch', 3, 'b10000')).values.map(({ value }) => value)).toEqual([
      'b10000',
      'b100000',
      'b100001',
    ])
    expect(atOnce(entityValuesInSteps(ctx, 'batch', 3)).distinct).toBe(66_020)
    // Of a window of few events the rows are looked at, of one of many the index.
    const byBatch = (end: number) => {
      const { rows, values, total } = atOnce(statsInSteps(ctx, { by: 'batch', window: '1h', top: 4 }, end))
      return { rows: rows.map(({ value, now }) => [value, now]), values, now: total.now }
    }
    const [twice, later] = [['b200003', 'b7', 'b9'], T0 + 86_400_000]
    append(
      [...twice, ...twice, 'b1'].map((batch) => event({ batch }, later)),
      { sourceId: app },
    )
    const rows = [...twice.map((value) => [value, 2]), ['b1', 1]]
    expect(byBatch(later)).toEqual({ rows, values: 4, now: 7 })
    const all = byBatch(T0)
    expect(all).toEqual({ rows: [...rows.slice(0, 3), ['b0', 1]], values: 66_020, now: 66_023 })
  })

  it('is a strict AND, compares numbers by their JSON form, and matches the entity by key_value', () => {
    const { append, read, app } = setUp()
    append(
      [
        event({ service: 'checkout', env: 'prod' }, T0, { numbers: { status: 500 } }),
        event({ service: 'checkout', env: 'dev' }, T0, { numbers: { status: 200 } }),
        event({ service: 'cart', peer: 'checkout' }, T0),
      ],
      { sourceId: app },
    )
    const ids = (selector: ReadRequest['selector']) => read({ selector }).rows.map((row) => row.id)
    expect(ids({ service: 'checkout', env: 'prod' })).toEqual(['evt_1'])
    expect(ids({ service: 'checkout', status: '500' })).toEqual(['evt_1'])
    expect(ids({ status: 200 })).toEqual(['evt_2'])
    expect(ids({ key_value: 'checkout' })).toEqual(['evt_1', 'evt_2'])
    expect(ids({ service: 'nobody' })).toEqual([])
  })

  it('narrows by source, by type and by text in any case, and refuses an unknown source', () => {
    const { append, read, app, deploys } = setUp()
    append(
      [
        event({ service: 'checkout' }, T0, { eventType: 'log', text: 'Timeout calling PSP' }),
        event({ service: 'checkout' }, T0, { eventType: 'metric', text: 'ok' }),
      ],
      { sourceId: app },
    )
    append([event({ service: 'checkout' }, T0, { eventType: 'log' })], { sourceId: deploys })
    expect(read({ sources: ['deploys'] }).rows.map((row) => row.id)).toEqual(['evt_3'])
    expect(read({ event_types: ['log'] }).rows.map((row) => row.id)).toEqual(['evt_1', 'evt_3'])
    expect(read({ text: 'timeout' })).toMatchObject({ rows: [{ id: 'evt_1' }], scanned: 3 })
    expect(() => read({ sources: ['nope'] })).toThrow(
      expect.objectContaining({ code: 'not_found', message: 'no source is named nope' }),
    )
    expect(() => read({ sources: ['deploy'] })).toThrow('no source is named deploy (did you mean deploys?)')
  })

  it('finds the texts that hold what is asked for as they are shown, in any case and whatever they hold', () => {
    const { append, ctx, read, app } = setUp()
    // Letters that have another case of ASCII, three cases, or another at the end of a word; what is special in patterns; what
    // is shown as escapes.
    const characters = fc.constantFrom(
      ...'aAkK\u212aiI\u0130\u0307é\u00c9ßẞǄǅǆΣσςΑα東→%_\\*[]?^-0e2uU{} \n\t\0\u001b\u007f\u0085\u200e\u202e\ufeff',
      ...['𐐀', '𐐨', '😀', '\u{e0041}'],
    )
    const texts = fc.sample(fc.string({ unit: characters, maxLength: 12 }), 400)
    append(
      texts.map((text) => event({ service: 'checkout' }, T0, { text })),
      { sourceId: app },
    )
    const shown = texts.map((text) => escapeText(text))
    const parts = fc
      .tuple(fc.constantFrom(...shown), fc.nat(), fc.nat(), fc.boolean())
      .map(([text, from, length, isUpper]) => {
        const characters = [...text]
        const start = from % (characters.length + 1)
        const part = characters.slice(start, start + 1 + (length % 6)).join('')
        return isUpper ? part.toUpperCase() : part
      })
    fc.assert(
      fc.property(parts, fc.constantFrom<'asc' | 'desc'>('asc', 'desc'), (text, order) => {
        const wanted = shown.flatMap((one, n) =>
          one.toLowerCase().includes(text.toLowerCase()) ? [`evt_${n + 1}`] : [],
        )
        const found = read({ text, order, limit: 500 }).rows.map(({ id }) => id)
        expect(order === 'asc' ? found : found.toReversed()).toEqual(wanted)
        expect(atOnce(histogramInSteps(ctx, { text, window: '2h' }, NOW)).total).toBe(wanted.length)
      }),
    )
    // What no text that is shown can hold: a pattern ends at NUL.
    for (const text of ['\0', 'a\0'])
      expect(atOnce(histogramInSteps(ctx, { text, window: '2h' }, NOW)).total).toBe(0)
  })

  it('keeps to the window, relative or absolute, and refuses both at once', () => {
    const { append, read } = setUp()
    append([
      event({ service: 'checkout' }, NOW - 60_000),
      event({ service: 'checkout' }, NOW - 60_001),
      event({ service: 'checkout' }, NOW + 5_000),
    ])
    expect(read({ window: '1m' }).rows.map((row) => row.offset)).toEqual(['T-60s', 'T+5s'])
    const absolute = read({
      window: undefined,
      from: new Date(NOW - 60_001).toISOString(),
      to: new Date(NOW - 60_001).toISOString(),
    })
    expect(absolute.rows.map((row) => row.id)).toEqual(['evt_2'])
    expect(() => read({ window: '1m', from: '2026-01-01T00:00:00Z' })).toThrow(
      'give window or from, not both',
    )
    expect(() => read({ window: '0m' })).toThrow('window must be a number above 0')
    expect(() => read({ window: undefined, from: '2026-11-21T00:00:00Z' })).toThrow(
      'from must be before to, which is now where it is not given',
    )
  })

  it.each([undefined, 'asc', 'desc'] as const)(
    'pages through the window once, order %s, while events keep coming',
    (order) => {
      const { append, read } = setUp()
      append(Array.from({ length: 25 }, (_, i) => event({ service: 'checkout' }, T0 + (i % 5) * 1_000)))
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const page = read({ order, limit: 7, cursor })
        const ids = page.rows.map((row) => row.id)
        if (order === undefined) seen.unshift(...ids)
        else seen.push(...ids)
        append([event({ service: 'checkout' }, T0 + 2_000)])
        cursor = page.next_cursor ?? undefined
      } while (cursor)
      const inTime = Array.from({ length: 25 }, (_, i) => i)
        .sort((a, b) => (a % 5) - (b % 5) || a - b)
        .map((i) => `evt_${i + 1}`)
      expect(seen).toEqual(order === 'desc' ? inTime.reverse() : inTime)
    },
  )

  it('refuses a cursor of another query or a changed one', () => {
    const { append, read } = setUp()
    append(Array.from({ length: 3 }, () => event({ service: 'checkout' }, T0)))
    const cursor = read({ limit: 1 }).next_cursor!
    expect(() => read({ limit: 1, cursor, selector: { service: 'cart' } })).toThrow(
      'cursor is not one this query gave',
    )
    expect(() => read({ limit: 1, cursor: `${cursor}x` })).toThrow('cursor is not one this query gave')
    expect(read({ limit: 2, cursor, selector: { service: 'checkout' } }).count).toBe(2)
  })

  it('answers as of an instant with the same bytes however much has come since', () => {
    const { append, read } = setUp()
    append([event({ service: 'checkout' }, T0)], { at: T0 })
    append([event({ service: 'checkout' }, T0 + 1)], { at: T0 + 1_000 })
    const asOf = new Date(T0 + 1_000).toISOString()
    const before = JSON.stringify(read({ as_of: asOf, window: '1h' }, T0 + 1_500))
    append([event({ service: 'checkout' }, T0 - 5)], { at: T0 + 1_001 })
    expect(JSON.stringify(read({ as_of: asOf, window: '1h' }, T0 + 9e6))).toBe(before)
    expect(read({ as_of: new Date(T0 + 999).toISOString(), window: '1h' }).rows.map((row) => row.id)).toEqual(
      ['evt_1'],
    )
    expect(read({ as_of: new Date(T0 - 1).toISOString(), window: '1h' }).rows).toEqual([])
  })

  it('gives a page and a cursor when a text filter has looked at 100,000 events', () => {
    const { append, read } = setUp()
    append([event({ service: 'checkout' }, T0, { text: 'needle' })])
    for (let i = 0; i < 101; i++)
      append(Array.from({ length: 1_000 }, (_, j) => event({ service: 'checkout' }, T0 + 1 + i * 1_000 + j)))
    const first = read({ text: 'needle' })
    expect(first).toMatchObject({ rows: [], scanned: 100_000, truncated: true })
    expect(read({ text: 'needle', cursor: first.next_cursor! }).rows.map((row) => row.id)).toEqual(['evt_1'])
  })

  it('returns the payload as stored, digits and all, when asked for', () => {
    const { append, read } = setUp()
    const raw = '{"id":9007199254740993, "a":1,"a":2, "x":1e400}'
    append([event({ service: 'checkout' }, T0, { raw: Buffer.from(raw) })])
    expect(read({ include_payload: true }).rows[0]!.raw).toBe(raw)
    expect(read({ include_payload: true, text: 'text' }).rows[0]!.raw).toBe(raw)
    expect(read({}).rows[0]).not.toHaveProperty('raw')
  })
})

describe('a read under max_tokens', () => {
  it('keeps the rare deploy before the common errors, folds those, and counts what it leaves out', () => {
    const { append, read, app, deploys } = setUp()
    append(
      Array.from({ length: 400 }, (_, i) =>
        event({ service: 'checkout' }, T0 + i * 1_000, { text: `timeout after ${i} ms`, eventType: 'log' }),
      ),
      { sourceId: app },
    )
    append([event({ service: 'checkout' }, T0 - 1_000, { text: 'deployed 1.2', eventType: 'deploy' })], {
      sourceId: deploys,
    })
    const answer = read({ max_tokens: 1_000 })
    expect(answer.rows.map((row) => [row.text, row.fold?.count])).toEqual([
      ['deployed 1.2', undefined],
      ['timeout after 399 ms', 400],
    ])
    expect(answer.rows[1]!.fold).toMatchObject({
      first_id: 'evt_1',
      last_id: 'evt_400',
      first: '2026-11-20T12:00:00.000Z',
    })
    expect(answer.omitted).toEqual([])
    const tight = read({ max_tokens: 100 })
    expect(tight.rows[0]!.text).toBe('deployed 1.2')
  })

  it('holds its size, and its pages together hold every event once', () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.integer({ min: 150, max: 2_000 }),
        fc.boolean(),
        fc.constantFrom(undefined, 'asc' as const, 'desc' as const),
        (seed, maxTokens, payload, order) => {
          const { append, read, app, deploys } = setUp()
          const next = random(seed)
          const n = 1 + Math.floor(next() * 400)
          for (const sourceId of [app, deploys])
            append(
              Array.from({ length: n }, () =>
                event(
                  { service: 'checkout', pod: `p${Math.floor(next() * 5)}` },
                  T0 + Math.floor(next() * 1e6),
                  {
                    text: `${['timeout', 'ok', 'retry', 'x'.repeat(Math.floor(next() ** 8 * 9_000))][Math.floor(next() * 4)]} ${Math.floor(next() * 50)}`,
                    eventType: ['log', 'metric'][Math.floor(next() * 2)]!,
                    raw: Buffer.from(JSON.stringify({ v: 'y'.repeat(Math.floor(next() * 300)) })),
                  },
                ),
              ),
              { sourceId },
            )
          let total = 0
          let cursor: string | undefined
          let pages = 0
          do {
            const page = read({ max_tokens: maxTokens, include_payload: payload, order, cursor })
            const size =
              tokensOf(page.payload) + page.rows.reduce((sum, row) => sum + tokensOf(row.raw ?? ''), 0)
            expect(size).toBeLessThanOrEqual(maxTokens)
            const shown = page.rows.reduce((sum, row) => sum + (row.fold?.count ?? 1), 0)
            total += shown
            const left = page.omitted!.reduce((sum, entry) => sum + entry.count, 0)
            expect(total + left).toBe(2 * n)
            expect(page.rows.length).toBeGreaterThan(0)
            cursor = page.next_cursor ?? undefined
            expect(++pages).toBeLessThan(1_000)
          } while (cursor)
          expect(total).toBe(2 * n)
        },
      ),
      { numRuns: longOr(25, 8) },
    )
  })
})
