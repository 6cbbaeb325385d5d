import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { byName, compareNames } from '../../console/lib/by-name.ts'
import { curlCommand, shellQuote } from '../../console/lib/curl.ts'
import { stackBars } from '../../console/lib/density.ts'
import {
  type ExploreState,
  emptyWords,
  type Group,
  histogramRequest,
  levelOf,
  parsePair,
  readRequest,
  readState,
  shownSpan,
  writeState,
} from '../../console/lib/explore-state.ts'
import { fieldLines } from '../../console/lib/field-lines.ts'
import { canUndo, fieldText } from '../../console/lib/fields.ts'
import { groupRows } from '../../console/lib/group-rows.ts'
import { indentJson } from '../../console/lib/json-text.ts'
import { leftPausedWords, wireWords } from '../../console/lib/left-paused.ts'
import { mergeRows } from '../../console/lib/merge-rows.ts'
import { listed, middle } from '../../console/lib/middle.ts'
import { fieldNames, parseSample } from '../../console/lib/sample.ts'
import { exampleBody } from '../../console/lib/send-one.ts'
import { howEventsCome, sourceState } from '../../console/lib/source-words.ts'
import { ago, isSameButTimes } from '../../console/lib/time.ts'
import type { Event as ApiEvent, HistogramResult } from '../../schemas/types.ts'

describe('the address of Explore', () => {
  const state: ExploreState = {
    selector: { service: 'a=b & c', env: 'prod' },
    window: '6h',
    from: null,
    to: null,
    sources: ['logs'],
    types: ['error'],
    text: 'time out',
    asOf: '2026-11-20T12:00:00.000Z',
    group: 'source',
    live: false,
    event: null,
  }

  it('holds the whole view and gives it back', () => {
    expect(readState(writeState(state))).toEqual(state)
    const custom = {
      ...state,
      window: null,
      from: '2026-11-20T11:00:00.000Z',
      to: '2026-11-20T12:00:00.000Z',
    }
    expect(readState(writeState(custom))).toEqual(custom)
    expect(writeState(readState(new URLSearchParams())).toString()).toBe('')
    const now = { ...state, asOf: null, live: true }
    expect(readState(writeState(now))).toEqual(now)
    // Nothing new comes into a span that is over, or into what was known then.
    for (const over of [{ asOf: state.asOf }, { from: custom.from, window: null }])
      expect(readState(writeState({ ...now, ...over })).live).toBe(false)
  })

  it('asks the daemon for what it shows, newest first', () => {
    expect(readRequest(state, 'c')).toEqual({
      selector: state.selector,
      window: '6h',
      order: 'desc',
      limit: 500,
      cursor: 'c',
      sources: ['logs'],
      event_types: ['error'],
      text: 'time out',
      as_of: state.asOf,
    })
    expect(readRequest({ ...state, window: '24h' }, undefined).window).toBe('1d')
  })

  it('asks for a chart of what the list shows', () => {
    const { order: _order, limit: _limit, ...listed } = readRequest(state, undefined)
    expect(histogramRequest(state, 80)).toEqual({ ...listed, buckets: 80 })
  })

  it('begins a span of its own with the one that is shown', () => {
    const now = Date.parse('2026-11-20T18:00:00.000Z')
    expect(shownSpan({ ...state, asOf: null }, now)).toEqual({
      from: '2026-11-20T12:00:00.000Z',
      to: '2026-11-20T18:00:00.000Z',
    })
    // Windows end then.
    expect(shownSpan(state, now)).toEqual({ from: '2026-11-20T06:00:00.000Z', to: state.asOf })
    const custom = { from: '2026-11-20T01:00:00.000Z', to: '2026-11-20T02:00:00.000Z' }
    expect(shownSpan({ ...state, ...custom, window: null }, now)).toEqual(custom)
  })

  it('says of an empty list what left its events out', () => {
    const plain = { ...state, sources: [], types: [], text: '', asOf: null, live: false }
    expect(emptyWords(plain)).toBe('Nothing with these labels happened then; choose a longer range.')
    expect(emptyWords({ ...plain, live: true })).toBe(
      'Nothing with these labels happened then; choose a longer range, or wait: new events appear here.',
    )
    expect(emptyWords({ ...plain, text: 'x' })).toBe('Nothing matches these filters; remove one.')
    expect(emptyWords({ ...plain, asOf: state.asOf })).toContain(
      '“As of” leaves out events that were stored later; clear the field to see them.',
    )
  })

  it('reads label=value as people type it', () => {
    expect(parsePair(' service = checkout=1 ')).toEqual(['service', 'checkout=1'])
    for (const text of ['service', '=x', 'a b=c', 'service=']) expect(parsePair(text)).toBeNull()
  })
})

describe('payload text', () => {
  it('is indented without changing a digit, a key or their order', () => {
    expect(indentJson('{"n":9007199254740993,"a":1,"a":2,"e":{},"l":[ ],"s":"{,:\\"}"}')).toBe(
      '{\n  "n": 9007199254740993,\n  "a": 1,\n  "a": 2,\n  "e": {},\n  "l": [],\n  "s": "{,:\\"}"\n}',
    )
  })

  it('means the same afterwards, whatever it is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value)
        expect(JSON.stringify(JSON.parse(indentJson(text)))).toBe(text)
      }),
    )
  })
})

describe('commands to copy', () => {
  it('are inert whatever the values hold', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary-ascii' }).filter((text) => !text.includes('\0')),
        (text) => {
          const echoed = spawnSync('sh', ['-c', `printf %s ${shellQuote(text)}`], { encoding: 'utf8' })
          expect(echoed.stdout).toBe(text)
        },
      ),
      { numRuns: 40 },
    )
    expect(curlCommand({ url: 'http://h/ingest/k', token: "a'b", body: '{}' })).toBe(
      "curl -X POST http://h/ingest/k -H 'Content-Type: application/json' -H 'Authorization: Bearer a'\\''b' --data-binary '{}'",
    )
  })

  it('carry a body that fits the labels', () => {
    expect(
      JSON.parse(exampleBody('webhook', { labels: [{ name: 'service', field: 'a.b' }, { name: 'env' }] })),
    ).toEqual({
      a: { b: 'checkout' },
      message: 'hello from curl',
    })
  })
})

describe('a pasted sample', () => {
  it('is one value, a list or lines, and names its fields', () => {
    expect(parseSample('{"a":{"b":1}}\n{"c":[1]}')).toEqual([{ a: { b: 1 } }, { c: [1] }])
    expect(parseSample('[1,2]')).toEqual([1, 2])
    expect(parseSample('{"a":')).toBeNull()
    expect(fieldNames([{ a: { b: 1 } }, { c: [1] }])).toEqual(['a.b', 'c'])
  })
})

describe('rows and times', () => {
  const row = (id: string, source: string, minute: number) =>
    ({ id, source, event_type: 't', event_time: `2026-11-20T12:0${minute}:00.000Z` }) as ApiEvent

  it('are grouped whole by source, the newest group first', () => {
    const lines = groupRows([row('3', 'a', 3), row('2', 'b', 2), row('1', 'a', 1)], 'source', false)
    expect(lines.map((line) => ('head' in line ? `${line.head}:${line.count}` : line.event.id))).toEqual([
      'a:2',
      '3',
      '1',
      'b:1',
      '2',
    ])
  })

  it('are counted as loaded in groups that older ones may belong to', () => {
    const rows = [row('3', 'a', 3), row('2', 'b', 2), row('1', 'a', 1)]
    const counts = (...asked: [Group, boolean]) =>
      groupRows(rows, ...asked).flatMap((line) => ('head' in line ? [line.count] : []))
    expect(counts('source', true)).toEqual(['2 loaded', '1 loaded'])
    expect(counts('type', true)).toEqual(['3 loaded'])
    expect(counts('minute', true)).toEqual(['1', '1', '1 loaded'])
    expect(counts('minute', false)).toEqual(['1', '1', '1'])
  })

  it('that come live are where a read has them, whatever was read meanwhile, and there once', () => {
    const at = (n: number, ms = n) =>
      ({ id: `evt_${n}`, event_time: new Date(Date.UTC(2026, 10, 20) + ms).toISOString() }) as ApiEvent
    const ids = (live: ApiEvent[], stored: ApiEvent[]) => mergeRows(live, stored).map(({ id }) => id)
    // A burst of one instant, told by the tail, of which a read made anew has the newest page.
    const burst = [1, 2, 3, 9, 10].map((n) => at(n, 0))
    expect(ids(burst.toReversed(), burst.slice(3).toReversed())).toEqual([
      'evt_10',
      'evt_9',
      'evt_3',
      'evt_2',
      'evt_1',
    ])
    // One that was stored last although it happened before.
    expect(ids([at(4, 1)], [at(3), at(2)])).toEqual(['evt_3', 'evt_2', 'evt_4'])
    expect(ids([at(5, 2)], [at(3), at(2)])).toEqual(['evt_3', 'evt_5', 'evt_2'])
    expect(ids([], [at(2), at(1)])).toEqual(['evt_2', 'evt_1'])
  })

  it('say how long ago', () => {
    const now = Date.parse('2026-11-20T12:00:00Z')
    const before = (ms: number) => ago(new Date(now - ms).toISOString(), now)
    expect([0, 5_000, 59_999, 60_000, 7_200_000, 172_800_000, -5_000].map(before)).toEqual([
      'just now',
      '5 s ago',
      '1 min ago',
      '1 min ago',
      '2 h ago',
      '2 d ago',
      'in 5 s',
    ])
  })
})

describe('a recorded change', () => {
  it('is offered to be undone where it changed something declared, once', () => {
    expect(canUndo({ undone_by: null, objects: 1 })).toBe(true)
    expect(canUndo({ undone_by: 7, objects: 1 })).toBe(false)
    // A mark on a finding.
    expect(canUndo({ undone_by: null, objects: 0 })).toBe(false)
  })
})

it('a field of a source that is not set says in the plan what holds then', () => {
  const told = (path: string, from: unknown) => fieldText({ path, from }, 'source')
  expect(told('/config/method', 'POST')).toBe('config · method: POST → GET (the default)')
  expect(told('/config/redact', false)).toBe('config · redact: false → true (the default)')
  expect(told('/config/url', 'https://a')).toBe('config · url: https://a → not set')
})

describe('a name that is too long for a list', () => {
  it('loses its middle, and keeps what tells it from others that begin alike', () => {
    expect(middle('checkout-errors')).toBe('checkout-errors')
    const [a, b] = ['eu', 'us'].map((at) =>
      middle(`payments-service-of-the-shop-production-${at}-west-1-errors`),
    )
    expect(a).toHaveLength(40)
    expect(a).toMatch(/^payments-service-of….*errors$/)
    expect(middle('x'.repeat(64), 20)).toHaveLength(20)
    expect(a).not.toBe(b)
  })

  it('is whole where it can go on to a next line', () => {
    const name = 'first-responder-for-reconciliation-and-settlement'
    expect(listed(name)).toBe(name)
    expect(listed('What customers of the shop met in the night of the sale')).not.toContain('…')
    expect(listed('x'.repeat(41))).toHaveLength(40)
    expect(listed(`eu-${'first_responder_for_reconciliation_and_settlement'}`)).toContain('…')
  })
})

describe('bars of events over time', () => {
  it('stack to the height of their bucket', () => {
    const result: HistogramResult = {
      from: '2026-11-20T12:00:00.000Z',
      to: '2026-11-20T12:02:30.000Z',
      bucket_ms: 60_000,
      total: 5,
      buckets: [
        { at: '2026-11-20T12:00:00.000Z', count: 4, by_source: { a: 1, b: 3 } },
        { at: '2026-11-20T12:01:00.000Z', count: 0, by_source: {} },
        { at: '2026-11-20T12:02:00.000Z', count: 1, by_source: { a: 1 } },
      ],
    }
    const bars = stackBars(result, 300, 64)
    expect(bars.map((bar) => [bar.x, bar.source, bar.height])).toEqual([
      [0, 'a', 16],
      [0, 'b', 48],
      [200, 'a', 32],
    ])
  })
})

describe('a command that is made anew with each look', () => {
  it.each([
    ['{"time":"2026-11-26T10:10:11.408Z"}', '{"time":"2026-11-26T10:10:23Z"}', true],
    ['{"ts":1795687811}', '{"ts":1795687824}', true],
    ['{"startTimeUnixNano":"1795687811000000000"}', '{"startTimeUnixNano":"1795687824000000000"}', true],
    ['{"order":4711}', '{"order":4712}', false],
    ['curl http://h/ingest/a', 'curl http://h/ingest/b', false],
  ])('%s beside %s stays as it is: %s', (a, b, same) => {
    expect(isSameButTimes(a, b)).toBe(same)
  })
})

describe('names', () => {
  it('stand as people count, whatever their case, and always in the same order', () => {
    const names = [
      'agent-10',
      'agent-2',
      'Agent-1',
      'agent',
      'agent-02',
      'b2c',
      'b',
      'b10',
      '10',
      '9',
      'a.2-1',
      'a.2-10',
    ]
    const ordered = [
      '9',
      '10',
      'a.2-1',
      'a.2-10',
      'agent',
      'Agent-1',
      'agent-02',
      'agent-2',
      'agent-10',
      'b',
      'b2c',
      'b10',
    ]
    expect(byName(names.map((name) => ({ name }))).map(({ name }) => name)).toEqual(ordered)
    expect([...names].reverse().sort(compareNames)).toEqual(ordered)
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(Math.sign(compareNames(a, b)) + Math.sign(compareNames(b, a))).toBe(0)
        expect(compareNames(a, b) === 0).toBe(a === b)
      }),
    )
  })

  it('of what stays paused are told with their kind', () => {
    expect(leftPausedWords(['source:gw', 'trigger:errs'])).toBe('source gw, trigger errs')
    expect(leftPausedWords(undefined)).toBe('')
  })

  it('of what is no longer wired are told as wires', () => {
    const handoffs = [{ agent: 'first', verdict: 'deep', to: 'second' }]
    expect(wireWords({ wakes: [{ trigger: 'errs', agent: 'first' }], handoffs })).toEqual([
      'errs wakes first',
      'first hands over to second on deep',
    ])
  })
})

describe('the state of a source', () => {
  it('has one word on every page, whichever of them asks', () => {
    expect(['receiving', 'waiting', 'error', 'paused'].map((state) => sourceState(state).children)).toEqual([
      'receiving',
      'waiting for its first event',
      'failing',
      'paused',
    ])
    expect([sourceState('receiving').tone, sourceState('error').tone]).toEqual(['good', 'bad'])
  })
})

describe('the first events of a project', () => {
  it('are sent where something can be sent to, else svc asks for them', () => {
    const [sent, asked] = [{ ingest_url: '/ingest/k' }, { ingest_url: null }]
    expect(howEventsCome([asked, sent])).toMatch(/^Send events now/)
    expect(howEventsCome([asked, asked])).toMatch(/^Events are fetched/)
  })
})

describe('a changed list in a plan', () => {
  it.each<[string, string, unknown, unknown, string[]]>([
    ['names', '/sources', ['app', 'old'], ['app', 'web'], ['sources: adds web', 'sources: takes out old']],
    ['names where there were none', '/mcp_servers', undefined, ['logs'], ['mcp_servers: adds logs']],
    ['the order alone', '/sources', ['a', 'b'], ['b', 'a'], ['sources: ["a","b"] → ["b","a"]']],
    [
      'entries with names',
      '/config/labels',
      [
        { name: 'service', field: 'service', primary: true },
        { name: 'region', field: 'region' },
      ],
      [
        { name: 'service', field: 'app', primary: true },
        { name: 'ms', field: 'took_ms', type: 'number' },
      ],
      [
        'config · labels: adds service (field app, primary)',
        'config · labels: adds ms (field took_ms, type number)',
        'config · labels: takes out service (field service, primary)',
        'config · labels: takes out region (field region)',
      ],
    ],
    [
      'filters',
      '/filters',
      [{ field: 'status', op: 'gte', value: 500 }],
      [
        { field: 'status', op: 'gte', value: 500 },
        { field: 'event_type', op: 'in', value: ['a', 'b'] },
      ],
      ['filters: adds event_type in ["a","b"]'],
    ],
    ['entries that are alike', '/x', [1, 1], [1], ['x: [1,1] → [1]']],
    ['no list', '/cooldown', undefined, '1h', ['cooldown: 5m (the default) → 1h']],
  ])('tells %s', (_case, path, from, to, lines) => {
    expect(fieldLines({ path, from, to } as never, 'trigger')).toEqual(lines)
  })
})

it.each<[string, Record<string, string>, 'error' | 'warn' | null]>([
  ['Slow', { level: 'error', severity: 'critical' }, 'error'],
  ['Slow', { severity: 'warning' }, 'warn'],
  // Home counts by the same rule.
  ['Slow', { level: 'warn', severity: 'critical' }, 'warn'],
  ['ERROR', {}, 'error'],
  // An alert that is over keeps the severity of its rule.
  ['Slow', { level: 'info', severity: 'critical' }, null],
])('an event of the type %s with %j is drawn as %s', (event_type, labels, level) => {
  expect(levelOf({ event_type, labels })).toBe(level)
})
