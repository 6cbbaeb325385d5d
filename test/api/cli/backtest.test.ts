import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sparkline } from '../../../api/cli/backtest-text.ts'
import type { BacktestResult, BacktestRun } from '../../../schemas/types.ts'
import { answer, type Stub, startStub, svc } from './cli-harness.ts'

let stub: Stub
let status: number
let result: BacktestResult
let saved: BacktestRun
beforeEach(async () => {
  status = 200
  saved = {
    firings: 3,
    list: [
      firing('2026-11-20T09:00:00.000Z', 'pay', 9),
      firing('2026-11-20T08:30:00.000Z', 'cart', 6),
      { ...firing('2026-11-20T08:00:00.000Z', 'pay', 6), resolved: true },
    ],
    by_key: [
      { key: 'pay', firings: 2 },
      { key: 'ca\u001brt', firings: 1 },
    ],
    buckets: [bucket('07', 0, 4), bucket('08', 2, 20), bucket('09', 1, 40), bucket('10', 0, 0)],
    matched: 64,
    matched_last_hour: 40,
    reasons: { below: 50, cooldown: 11 },
    peak: 9,
  }
  result = {
    from: '2026-11-20T07:00:00.000Z',
    to: '2026-11-20T11:00:00.000Z',
    bucket: '1h',
    scanned: 4000,
    truncated: false,
    entities_changed_at: null,
    result: saved,
    sentence: 'When the number of events is above 5 within 5 min on gw',
  }
  stub = await startStub((_seen, response) =>
    answer(response, status, status === 200 ? result : { detail: 'no source is named gw' }),
  )
})
afterEach(() => stub.close())

const firing = (at: string, key: string, value: number): BacktestRun['list'][number] => ({
  at,
  key,
  value,
  events: value,
  event_ids: ['evt_1'],
  held_back: 0,
  resolved: false,
})
const bucket = (hour: string, firings: number, matched: number): BacktestRun['buckets'][number] => ({
  at: `2026-11-20T${hour}:00:00.000Z`,
  firings,
  matched,
})
const test = (...argv: string[]) => svc(['triggers', 'test', ...argv, '--svcd', stub.url])
const asked = () => JSON.parse(stub.requests[0]!.body) as Record<string, unknown>
const fileOf = (text: string, name = 'trigger.yaml'): string => {
  const file = join(mkdtempSync(join(tmpdir(), 'svc-test-')), name)
  writeFileSync(file, text)
  return file
}
const definition = { sources: ['gw'], condition: { aggregate: 'count', predicate: '> 9', window: '5m' } }
const catalog = `sources:
  - { name: gw, connector: webhook }
triggers:
  - name: errs   # ours
    project: Shop
    description: it breaks
    emit: { kind: x }
    paused: true
    sources: [gw]
    condition: { aggregate: count, predicate: "> 9", window: 5m }
  - { name: slow, sources: [gw], condition: { event: any }, cooldown: 1h }
`

describe('svc triggers test', () => {
  it('shows when a saved trigger would have fired, for which keys, and why it did not', async () => {
    const ran = await test('errs')
    expect([asked(), ran.code, ran.err]).toEqual([{ trigger: 'errs' }, 0, ''])
    expect(stub.requests[0]).toMatchObject({ method: 'POST', url: '/api/triggers/backtest' })
    expect(ran.out).toBe(
      `2026-11-20T07:00:00.000Z to 2026-11-20T11:00:00.000Z, 4,000 events looked at
When the number of events is above 5 within 5 min on gw
3 firings of 2 keys; 64 events passed the filters; highest value 9

firings  ·█▄·  at most 2 in 1h
events   ▁▄█·  at most 40 in 1h

FROM (1h)                 EVENTS  FIRINGS
2026-11-20T08:00:00.000Z  20      2        ████████████████████
2026-11-20T09:00:00.000Z  40      1        ██████████

KEY         FIRINGS
pay         2
ca\\u001brt  1

DID NOT FIRE         TIMES
below the threshold  50
in its cooldown      11

NEWEST                    KEY   VALUE  EVENTS  FIRST EVENT
2026-11-20T09:00:00.000Z  pay   9      9       evt_1
2026-11-20T08:30:00.000Z  cart  6      6       evt_1
2026-11-20T08:00:00.000Z  pay   6      6       over
`,
    )
  })

  it('gives the answer as it is with --json', async () => {
    const ran = await test('errs', '--window', '12h', '--to', '2026-11-20T11:00:00Z', '--json')
    expect(asked()).toEqual({ trigger: 'errs', window: '12h', to: '2026-11-20T11:00:00Z' })
    expect(ran.out).toBe(`${JSON.stringify(result)}\n`)
  })

  it('says so on standard error when not all events were looked at', async () => {
    result.truncated = true
    expect((await test('errs')).err).toContain('this begins at 2026-11-20T07:00:00.000Z')
  })

  it('says on standard error when events are judged by entities that they came before', async () => {
    result.entities_changed_at = '2026-11-20T09:00:00.000Z'
    expect((await test('errs')).err).toContain('joined entities were changed at 2026-11-20T09:00:00.000Z')
  })

  it('says little when nothing happened', async () => {
    result.result = {
      firings: 0,
      list: [],
      by_key: [],
      buckets: [],
      matched: 0,
      matched_last_hour: 0,
      reasons: {},
      peak: null,
    }
    expect((await test('errs')).out).toBe(
      `2026-11-20T07:00:00.000Z to 2026-11-20T11:00:00.000Z, 4,000 events looked at
When the number of events is above 5 within 5 min on gw
0 firings; 0 events passed the filters
`,
    )
  })

  it.each([
    ['--expect-firings 3', 0],
    ['--expect-firings 2', 1],
    ['--expect-none', 1],
  ])('with %s exits with %d, the result printed', async (options, code) => {
    const ran = await test('errs', ...options.split(' '))
    expect([ran.code, ran.out.includes('3 firings of 2 keys')]).toEqual([code, true])
    expect(ran.err).toBe(
      code ? `svc: expected ${options.at(-1) === '2' ? 2 : 0} firings, it would have fired 3 times\n` : '',
    )
  })

  it('passes on a refusal', async () => {
    status = 404
    expect(await test('errs', '--expect-none')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('no source is named gw (HTTP 404'),
    })
  })
})

describe('svc triggers test --file', () => {
  it('takes a definition as JSON or YAML, without what does not make it trip', async () => {
    await test('--file', fileOf(JSON.stringify({ name: 'errs', ...definition }), 'trigger.json'))
    expect(asked()).toEqual({ definition })
    await test('--file', fileOf('sources: [gw]\ncondition: { event: any }\nmax_late: 1h\n'), '--window', '1d')
    expect(JSON.parse(stub.requests[1]!.body)).toEqual({
      definition: { sources: ['gw'], condition: { event: 'any' }, max_late: '1h' },
      window: '1d',
    })
  })

  it('takes one of a catalog file by its name', async () => {
    await test('errs', '--file', fileOf(catalog))
    expect(asked()).toEqual({ definition })
  })

  it('takes every field of a catalog that does not make it trip', async () => {
    const more = 'severity: critical\n    severity_field: level\n    prevent_destroy: true\n    sync: warn\n'
    await test('errs', '--file', fileOf(catalog.replace('paused: true', `paused: true\n    ${more}`)))
    expect(asked()).toEqual({ definition })
    const propertiesOf = (schema: string) =>
      Object.keys((JSON.parse(readFileSync(schema, 'utf8')) as { properties: object }).properties)
    const own = propertiesOf('schemas/trigger-definition.json')
    const beside = propertiesOf('schemas/catalog-trigger.json').filter((field) => !own.includes(field))
    await test(
      '--file',
      fileOf(JSON.stringify({ ...Object.fromEntries(beside.map((field) => [field, 'x'])) })),
    )
    expect(JSON.parse(stub.requests[1]!.body)).toEqual({ definition: {} })
  })

  it('reads a file of one part, merge keys, and the values of an environment', async () => {
    const one = (at: string) =>
      `kind: trigger\nname: errs\nsources: [gw]\ncondition: { aggregate: count, predicate: "> ${at}", window: 5m }\n`
    await test('--file', fileOf(one('9')))
    expect(asked()).toEqual({ definition })
    const merged = catalog.replace('slow, ', 'slow, <<: &more { max_late: 1h }, ')
    await test('slow', '--file', fileOf(merged))
    expect(JSON.parse(stub.requests[1]!.body)).toEqual({
      definition: { sources: ['gw'], condition: { event: 'any' }, cooldown: '1h', max_late: '1h' },
    })
    const file = fileOf(one('((values.most))'))
    writeFileSync(join(dirname(file), 'values.yaml'), 'values: { most: 3 }\n')
    writeFileSync(join(dirname(file), 'prod.yaml'), 'environment: prod\nvalues: { most: 9 }\n')
    await test('--file', dirname(file), '--env', 'prod')
    expect(JSON.parse(stub.requests[2]!.body)).toEqual({ definition })
    const alone = await test('--file', file)
    expect([alone.code, alone.err]).toEqual([65, expect.stringContaining('trigger.yaml:4:')])
  })

  it.each([
    ['<<: { a: 1 }\nsources: [gw]\n', [], 65, 'values and merge keys are of catalog files'],
    [catalog, [], 64, 'has several triggers; name one of errs, slow'],
    [catalog, ['fast'], 65, 'has no trigger fast; it has errs, slow'],
    ['sources: []\ntriggers: []\n', [], 65, 'has no triggers'],
    ['- a\n', [], 65, 'has no trigger: it is not a list of fields and values'],
    ['sources: [gw\n', [], 65, 'trigger.yaml:2:1: '],
    ['a: 1\na: 2\n', [], 65, 'trigger.yaml:2:1: '],
    ['a: *b\n', [], 65, 'trigger.yaml'],
  ])('of %j with %j exits with %d', async (text, names, code, message) => {
    const ran = await test(...names, '--file', fileOf(text))
    expect([ran.code, ran.out]).toEqual([code, ''])
    expect(ran.err).toContain(message)
    expect(stub.requests).toEqual([])
  })

  it('compares the saved trigger with that of the file, side by side', async () => {
    result.compare = {
      ...saved,
      firings: 1,
      list: saved.list.slice(0, 1),
      by_key: [{ key: 'pay', firings: 1 }],
      buckets: [bucket('07', 0, 4), bucket('08', 0, 20), bucket('09', 1, 40), bucket('10', 0, 0)],
      reasons: { below: 60 },
    }
    const ran = await test('--file', fileOf(catalog), 'errs', '--compare', '--expect-firings', '1')
    expect([asked(), ran.code]).toEqual([{ trigger: 'errs', compare: definition }, 0])
    expect(ran.out).toContain(
      `saved  When the number of events is above 5 within 5 min on gw
       3 firings of 2 keys; 64 events passed the filters; highest value 9
file   When the number of events is above 9 within 5 min on gw
       1 firing of 1 key; 64 events passed the filters; highest value 9
`,
    )
    expect(ran.out).toContain('firings saved  ·█▄·  at most 2 in 1h\nfirings file   ··▄·  at most 2 in 1h\n')
    expect(ran.out).toMatch(/EVENTS +FIRINGS saved +FIRINGS file\n/)
    expect(ran.out).toMatch(/KEY +FIRINGS saved +FIRINGS file\npay +2 +1\n/)
    expect(ran.out).toMatch(/below the threshold +50 +60\nin its cooldown +11 +0\n/)
    expect(ran.out).toMatch(/NEWEST saved .*\n(.*\n){3}\nNEWEST file /)
  })

  it('knows the saved one by the name in the file', async () => {
    await test('--file', fileOf(JSON.stringify({ name: 'errs', ...definition })), '--compare')
    expect(asked()).toEqual({ trigger: 'errs', compare: definition })
  })

  it.each([
    [[], 'name a saved trigger, or give --file'],
    [['errs', '--compare'], '--compare needs --file'],
    [['errs', '--env', 'prod'], '--env needs --file'],
    [['errs', '--expect-none', '--expect-firings', '1'], 'not both'],
    [['errs', '--expect-firings', 'some'], '--expect-firings must be a whole number of at least 0'],
  ])('%j exits with 64', async (argv, message) => {
    const ran = await test(...argv)
    expect([ran.code, ran.out, stub.requests]).toEqual([64, '', []])
    expect(ran.err).toContain(message)
  })

  it('needs a name to compare a definition that has none', async () => {
    const ran = await test('--file', fileOf(JSON.stringify(definition)), '--compare')
    expect(ran.code).toBe(64)
    expect(ran.err).toContain('the name of the saved trigger')
  })
})

describe('a spark line', () => {
  it('draws the largest full, the smallest low, and nothing as a dot', () => {
    expect(sparkline([0, 1, 4, 8])).toBe('·▁▄█')
    expect(sparkline([1, 1000])).toBe('▁█')
    expect(sparkline([])).toBe('')
  })

  it('puts buckets together that would not fit a line', async () => {
    result.result = { ...saved, buckets: Array.from({ length: 168 }, () => bucket('07', 1, 1)) }
    const { out } = await test('errs')
    expect(out).toContain(`firings  ${'█'.repeat(84)}  at most 2 in 2h\n`)
    expect(out).toContain('… and 128 earlier ones with firings; --json has them\n')
  })
})

describe('svc triggers', () => {
  it('lists state, last firing, firings of a day and the sentence of each', async () => {
    await stub.close()
    const trigger = {
      name: 'errs',
      state: 'active',
      paused: false,
      subscribers: 2,
      sentence: 'When it breaks',
    }
    stub = await startStub((_seen, response) =>
      answer(response, 200, [
        { ...trigger, last_fired: '2026-11-20T09:00:00.000Z', firings_24h: 3 },
        { ...trigger, name: 'quiet', last_fired: null, firings_24h: 0 },
      ]),
    )
    expect((await svc(['triggers', '--svcd', stub.url])).out).toBe(
      `NAME   STATE   LAST FIRED                24 H  TELLS  WHAT
errs   active  2026-11-20T09:00:00.000Z  3     2      When it breaks
quiet  active  never                     0     2      When it breaks
`,
    )
  })
})
