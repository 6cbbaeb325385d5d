/** The kernel against the way item by item: whatever lines hold, the same events come of them. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SvcError } from '../../../../engine/errors.ts'
import { Kernel, prepareLines, suits } from '../../../../engine/log/ingest/kernel.ts'
import {
  labelStart,
  NEW_LABEL,
  type PackedEvents,
  rawOf,
  textOf,
} from '../../../../engine/log/ingest/packed.ts'
import { compileSource, mapperOf, prepareBody } from '../../../../engine/log/ingest/prepare.ts'
import { LabelIds } from '../../../../engine/log/store/labels.ts'
import { webhook } from '../../../../engine/sources/connectors/webhook.ts'
import { longOr } from '../../../chaos/scale.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')
const CONFIG = {
  event_type: 'app.line',
  event_type_field: 'level',
  text_template: ' {msg} of {n}, {ms}{{ms}} ',
  event_time_field: 'at',
  labels: [
    { name: 'host', field: 'host' },
    { name: 'env', const: 'prod' },
    { name: 'order', field: 'order', primary: true },
    { name: 'ms', field: 'ms' },
    { name: 'level', field: 'level' },
  ],
}
/** Its texts begin with no space: with CONFIG each item is handed on for its text, and the kernel's labels are not looked at. */
const UNSPACED = { ...CONFIG, text_template: '{msg} of {n}, {ms}{{ms}}' }
const onFault = (error: Error): never => {
  throw error
}

/** Labels as a store would number them. */
class Numbers {
  private readonly ids = new Map<string, number>()
  private readonly labels: [string, string][] = []

  idOf(name: string, value: string): number {
    const key = JSON.stringify([name, value])
    let id = this.ids.get(key)
    if (id === undefined) {
      id = this.labels.push([name, value])
      this.ids.set(key, id)
    }
    return id
  }

  labelOf(id: number): [string, string] {
    return this.labels[id - 1]!
  }
}

/** What the store would make of packed events. */
function unpacked(events: PackedEvents, numbers: Numbers): unknown[] {
  return Array.from({ length: events.n }, (_, i) => ({
    ts: events.ts[i],
    labels: Array.from(events.labels.subarray(labelStart(events, i), events.labelEnds[i]), (label) =>
      label >= NEW_LABEL ? events.newLabels[label - NEW_LABEL] : numbers.labelOf(label),
    ),
    hasEntity: events.hasEntity[i],
    text: textOf(events, i),
    raw: Buffer.from(rawOf(events, i)).toString(),
    numbers: events.numbers?.[i] ?? null,
    claimed: events.claimed?.[i] ?? null,
    dedupeKey: events.dedupeKeys?.[i] ?? null,
  }))
}

/** A source with both ways to read its bodies, and what they have learnt. */
class BothWays {
  private readonly prepare
  private readonly known = new LabelIds()

  constructor(
    private readonly kernel = new Kernel(),
    private readonly numbers = new Numbers(),
    config: Record<string, unknown> = CONFIG,
  ) {
    this.prepare = compileSource(webhook, config)
  }

  /** @returns null where the kernel leaves the body. @param stored whether new labels get ids. */
  byKernel(text: string, stored = true): unknown {
    const { plan, projection } = this.prepare
    const map = mapperOf(this.prepare, {}, NOW, onFault)
    const body = Buffer.from(text)
    const read = prepareLines(this.kernel, { id: 7, plan: plan!, projection }, body, { map, nowMs: NOW })
    if (!read) return null
    const { events, rejected, skewed, tooLong } = read.prepared
    const result = { events: unpacked(events, this.numbers), rejected, skewed, tooLong }
    const ids = events.newLabels.map(([name, value]) => (stored ? this.numbers.idOf(name, value) : 0))
    this.kernel.learn(read.learn, Uint32Array.from(ids))
    return result
  }

  /** Reads a body whose labels are stored much later. @returns what tells the kernel then. */
  byKernelUntil(text: string): () => void {
    const { plan, projection } = this.prepare
    const map = mapperOf(this.prepare, {}, NOW, onFault)
    const parts = { map, nowMs: NOW }
    const { learn, prepared } = prepareLines(
      this.kernel,
      { id: 7, plan: plan!, projection },
      Buffer.from(text),
      parts,
    )!
    return () => {
      const ids = prepared.events.newLabels.map(([name, value]) => this.numbers.idOf(name, value))
      this.kernel.learn(learn, Uint32Array.from(ids))
    }
  }

  byItem(text: string): unknown {
    const parts = { known: this.known, onFault }
    const { events, rejected, skewed, tooLong } = prepareBody(
      { id: 7, prepare: this.prepare },
      Buffer.from(text),
      {},
      NOW,
      parts,
    )
    return { events: unpacked(events, this.numbers), rejected, skewed, tooLong }
  }
}

const told = (run: () => unknown): unknown => {
  try {
    return run()
  } catch (error) {
    if (error instanceof SvcError) return { refused: error.message }
    throw error
  }
}

const kernel = new Kernel()
const numbers = new Numbers()

const strings = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    'a',
    'web-1',
    ' padded ',
    'é',
    'a\\n',
    '\\u0041',
    '\\ud800',
    '\\"',
    'x'.repeat(16),
  ),
  fc.constantFrom('x'.repeat(15), 'x'.repeat(200), 'x'.repeat(201), 'x'.repeat(1_024), 'é'.repeat(513)),
  fc.constantFrom(
    'x'.repeat(1_025),
    'y'.repeat(4_200),
    '\u2028',
    '\u0085',
    '\u{1f600}',
    'tab\\t',
    '\\x',
    '\t',
  ),
  fc.stringMatching(/^[ -!#-[\]-~]{0,40}$/),
)
const numbersAsText = fc.oneof(
  fc.constantFrom(
    '0',
    '-0',
    '1',
    '-1',
    '1.5',
    '1.50',
    '-0.5',
    '0.000001',
    '0.0000001',
    '-0.0',
    '1e3',
    '1E-2',
  ),
  fc.constantFrom('01', '1.', '.5', '-', '+1', '123456789012345', '1234567890123456', '12345678901234567890'),
  fc.constantFrom('0.1234567890123456', '99999999999999.9', '0.30000000000000004', '1763640000000'),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String),
  fc
    .tuple(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.stringMatching(/^\d{1,20}$/))
    .map((two) => two.join('.')),
  fc.constantFrom('1e400', '12345678901234567891E-2', '-9223372036854775808', '0.12345678901234567891'),
)
const times = fc.oneof(
  fc.constantFrom('2026-11-20T11:00:00.000Z', '2026-11-20T11:00:00Z', '2026-11-20T11:00:00.123456Z', 'soon'),
  fc.constantFrom('2026-02-29T11:00:00.000Z', '2026-13-01T11:00:00.000Z', '2001-01-01T00:00:00.000Z'),
  fc.constantFrom('2026-11-20 03:00:00 PM', '2026-11-20 03:00:00 PST', '2026-11-20 11:00:00.000 CET'),
  fc.constantFrom(
    '2026-11-20T24:00:00.000Z',
    '2026-11-20T23:59:60.000Z',
    '2026-11-20T11:00:00.00aZ',
    '2024-02-29T11:00:00.000Z',
  ),
  fc
    .date({ min: new Date(NOW - 9 * 365 * 86_400_000), max: new Date(NOW), noInvalidDate: true })
    .map((date) => date.toISOString()),
)
const values = fc.oneof(
  { weight: 4, arbitrary: strings.map((text) => `"${text}"`) },
  { weight: 3, arbitrary: numbersAsText },
  { weight: 2, arbitrary: times.map((text) => `"${text}"`) },
  fc.constantFrom(
    'true',
    'false',
    'null',
    'nul',
    'truex',
    '[]',
    '{}',
    '[1, "a]", {"b": null}]',
    '{"a":{"at":1}}',
  ),
  fc.constantFrom(
    `${'['.repeat(99)}${']'.repeat(99)}`,
    `${'['.repeat(100)}${']'.repeat(100)}`,
    '[1,]',
    '{"a"}',
    '',
  ),
)
const keys = fc.constantFrom(
  'level',
  'msg',
  'n',
  'ms',
  'at',
  'host',
  'order',
  'other',
  'le',
  'levels',
  '',
  'm\\u0073',
)
const spaces = fc.constantFrom('', '', '', ' ', '\t', '  ', '\r')
const fields = fc
  .tuple(keys, values, spaces)
  .map(([key, value, space]) => `${space}"${key}"${space}:${value}${space}`)
const lines = fc.oneof(
  { weight: 12, arbitrary: fc.array(fields, { maxLength: 9 }).map((all) => `{${all.join(',')}}`) },
  fc.constantFrom(
    '',
    ' ',
    '{',
    '{}',
    ' {} ',
    '{} {}',
    '[1]',
    '"text"',
    '7',
    'null',
    '{"a":1}}',
    '{"msg":"a" "n":1}',
  ),
)
const bodies = fc
  .tuple(fc.array(lines, { minLength: 1, maxLength: 12 }), fc.constantFrom('\n', '\r\n', '\n\n'), spaces)
  .map(([all, lineBreak, end]) => all.join(lineBreak) + lineBreak + end)

const RUNS = longOr(1_500, 400)

describe('lines the kernel reads', () => {
  it('become the events they become item by item, whatever came before', () => {
    let read = 0
    fc.assert(
      fc.property(
        fc.array(fc.tuple(bodies, fc.boolean()), { maxLength: 4 }),
        fc.boolean(),
        (sent, spaced) => {
          const ways = new BothWays(kernel, numbers, spaced ? CONFIG : UNSPACED)
          for (const [body, stored] of sent) {
            const text = `{"msg":"first","n":1}\n${body}`
            const seen = told(() => ways.byKernel(text, stored))
            if (seen !== null) read++
            expect(seen ?? told(() => ways.byItem(text))).toEqual(told(() => ways.byItem(text)))
          }
        },
      ),
      { numRuns: RUNS },
    )
    expect(read).toBeGreaterThan(RUNS)
  })

  it('are found by the bytes of a value: neither its length nor its name is left out', () => {
    const ways = new BothWays(undefined, undefined, UNSPACED)
    const value = fc.stringMatching(/^ ?[ab]{0,20} ?$/)
    fc.assert(
      fc.property(
        fc.array(fc.record({ msg: value, host: value, order: value, level: value }), { minLength: 2 }),
        (items) => {
          const text = items.map((item) => JSON.stringify({ ...item, n: 1 })).join('\n')
          expect(ways.byKernel(text)).toEqual(ways.byItem(text))
        },
      ),
      { numRuns: longOr(300, 100) },
    )
  })
})

it('tells of a value that is too long for a label, which is read item by item', () => {
  const labels = [{ name: 'host', field: 'host' }]
  const config = { event_type: 'app.line', text_template: '{msg}', labels }
  const ways = new BothWays(new Kernel(), new Numbers(), config)
  const item = (host: string) => `${JSON.stringify({ msg: 'it broke', host })}\n`
  const text = item('x'.repeat(1_024)) + item('x'.repeat(1_025)) + item('web-1')
  expect(ways.byKernel(text)).toEqual(ways.byItem(text))
  expect(ways.byKernel(text)).toMatchObject({ tooLong: { count: 1, sample: 'host' } })
})

describe('a body with more than the kernel keeps', () => {
  it('is read once its labels are forgotten, and what was learnt of those before is not taken for them', () => {
    const ways = new BothWays()
    const body = (tag: number) =>
      Array.from({ length: 30_000 }, (_, n) => `{"msg":"m","order":"${tag}-${n}","host":"h${n % 9}"}`).join(
        '\n',
      )
    const counts = Array.from({ length: 9 }, (_, tag) => {
      const result = ways.byKernel(body(tag)) as { events: { labels: unknown[] }[] }
      return result.events.filter(({ labels }, n) => JSON.stringify(labels[2]) === `["order","${tag}-${n}"]`)
        .length
    })
    expect(counts).toEqual(counts.map(() => 30_000))
  })

  it('takes no id that comes once its label was forgotten', () => {
    const ways = new BothWays()
    const body = (tag: string, n: number) =>
      Array.from({ length: n }, (_, i) => `{"msg":"m","order":"${tag}-${i}"}`).join('\n')
    const tellLate = ways.byKernelUntil(body('late', 100))
    for (let tag = 0; tag < 6; tag++) ways.byKernel(body(`${tag}`, 30_000))
    tellLate()
    // Its place was given to labels of the last body.
    expect(ways.byKernel(body('5', 100))).toEqual(ways.byItem(body('5', 100)))
  })

  it('is left where it has more new labels than there is room for', () => {
    const config = {
      ...CONFIG,
      labels: Array.from({ length: 6 }, (_, i) => ({ name: `l${i}`, field: `f${i}` })),
    }
    const ways = new BothWays(new Kernel(), new Numbers(), config)
    const line = (n: number) =>
      `{"msg":"m",${Array.from({ length: 6 }, (_, i) => `"f${i}":"${n}"`).join(',')}}`
    const text = Array.from({ length: 50_000 }, (_, n) => line(n)).join('\n')
    expect(ways.byKernel(text)).toBeNull()
    expect(ways.byKernel('{"msg":"m","f1":"a"}\n{"msg":"m","f1":"b"}')).not.toBeNull()
  })
})

describe('the kernel leaves', () => {
  const plan = (config: Record<string, unknown>) =>
    compileSource(webhook, { text_template: '{msg}', ...config }).plan
  it.each([
    ['a nested field', { labels: [{ name: 'host', field: 'meta.host' }] }],
    ['a number', { labels: [{ name: 'ms', field: 'ms', type: 'number' }] }],
    ['a pattern', { labels: [{ name: 'host', field: 'host', pattern: 'a', replace: 'b' }] }],
    ['a map', { labels: [{ name: 'host', field: 'host', map: { a: 'b' } }] }],
    ['a key', { dedupe_field: 'id' }],
    ['a field whose name is not plain', { event_type_field: 'é' }],
    ['a text made of the whole item', { text_template: '' }],
    ['a template with a line break', { text_template: 'a\n{msg}' }],
  ])('%s', (_, config) => expect(plan(config)).toBeNull())

  it('bodies of deliveries that a header names', () => {
    expect(suits(plan({})!, { 'webhook-id': '1' })).toBe(false)
    const signed = plan({ signature_scheme: 'github', signature_secret: 's' })
    expect(suits(signed!, { 'x-github-event': 'push' })).toBe(false)
    expect(suits(plan({})!, { 'user-agent': 'curl' })).toBe(true)
  })

  it('one document, and a list', () => {
    const ways = new BothWays(kernel, numbers)
    for (const text of ['{"msg":"a"}', '[{"msg":"a"},{"msg":"b"}]', '{\n"msg":"a"\n}'])
      expect(ways.byKernel(text)).toBeNull()
  })
})
