/** What holds of every brief: within its budget, the same twice, and of events that are there. */
import fc from 'fast-check'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import {
  type ContextRow,
  cautiousTokens,
  makeBrief,
  renderBrief,
} from '../../../../engine/log/brief/brief.ts'
import { every, NOW, ordinary, request, row, samples } from './hand-made.ts'

const word = fc.oneof(
  fc.constantFrom('timeout', 'order', 'failed', 'deploy', 'reserve', 'Stock.java:31', 'GET', '"quoted text"'),
  fc.integer().map(String),
  fc.string({ maxLength: 12 }),
)
const anyRow: fc.Arbitrary<ContextRow> = fc.record({
  id: fc.constant(''),
  source: fc.constantFrom('logs', 'deploys', 'metrics'),
  type: fc.constantFrom('info', 'error', 'deployed', 'cpu'),
  at: fc.integer({ min: -140_000, max: 5 }).map((t) => NOW + t * 500),
  text: fc.array(word, { maxLength: 30 }).map((words) => words.join(' ')),
  labels: fc.constantFrom<Record<string, string>>(
    {},
    { service: 'checkout' },
    { service: 'cart', pod: 'c-1' },
  ),
  entity: fc.constantFrom('', 'checkout', 'cart'),
  values: fc.constantFrom<Record<string, number>>({}, {}, { value: 3 }, { value: 900 }),
  isSample: fc.boolean(),
})
const rows = fc.array(anyRow, { maxLength: 300 })

/** More of everything than any budget holds. */
const busy: ContextRow[] = [
  ...ordinary(),
  ...Array.from({ length: 40 }, (_, i) => [
    row(-20 * i - 30, `deployed part-${i} with ${'notes '.repeat(30)}`, {
      source: 'deploys',
      type: 'deployed',
    }),
    ...every(-600, -1, 20, () => `failure of kind ${'abcdefghijklmnopqrst'.slice(i % 20)} in part`, {
      ...{ entity: `part-${i}`, type: `error` },
      labels: { shard: `s-${i}` },
    }),
    ...samples(`number_${i}`, (t) => (t < -500 ? 5 : 900), { entity: i % 2 ? 'checkout' : `part-${i}` }),
  ]).flat(),
]

it('no brief of a busy store is over its budget, however small, and a small one is used', () => {
  for (const budget of [200, 350, 500, 1_000, 2_000, 4_000]) {
    const brief = makeBrief(request(busy, { budget }))
    const tokens = cautiousTokens(renderBrief(brief))
    expect(tokens).toBeLessThanOrEqual(budget)
    if (budget <= 1_000) expect(tokens).toBeGreaterThan(0.6 * budget)
  }
})

it('no brief is over its budget', () => {
  fc.assert(
    fc.property(rows, fc.integer({ min: 200, max: 4_000 }), (given, budget) => {
      const brief = makeBrief(request(given, { budget }))
      expect(cautiousTokens(renderBrief(brief))).toBeLessThanOrEqual(budget)
    }),
    { numRuns: 60 },
  )
})

it('the same rows give the same brief, in whatever order they come', () => {
  fc.assert(
    fc.property(rows, (given) => {
      const asked = request(given)
      const text = renderBrief(makeBrief(asked))
      expect(renderBrief(makeBrief(request(given)))).toBe(text)
    }),
    { numRuns: 40 },
  )
})

it('every id that is shown is one of the rows', () => {
  fc.assert(
    fc.property(rows, (given) => {
      const asked = request(given)
      const ids = new Set(asked.rows.map(({ id }) => id))
      const brief = makeBrief(asked)
      const shown = brief.sections.flatMap(({ lines }) =>
        lines.flatMap((line) => line.shown.map(([id]) => id)),
      )
      expect(shown.filter((id) => !ids.has(id))).toEqual([])
      for (const { name, lines } of brief.sections)
        if (name !== 'left') for (const { text } of lines) expect(text).toMatch(/^evt_\d+/)
    }),
    { numRuns: 40 },
  )
})

it('a timeline of up to 40 events is shown whole: each event has a line that stands for it', () => {
  const own = anyRow.map((one) => ({
    ...one,
    entity: 'checkout',
    isSample: false,
    text: one.text.slice(0, 40),
  }))
  fc.assert(
    fc.property(fc.array(own, { minLength: 1, maxLength: 40 }), (given) => {
      const { sections } = makeBrief(request(given, { budget: 12_000 }))
      const told = sections.flatMap(({ lines }) => lines.flatMap(({ shown }) => shown.map(([, n]) => n)))
      expect(told.reduce((sum, n) => sum + n, 0)).toBe(given.length)
      expect(sections.map(({ name }) => name)).not.toContain('left')
    }),
    { numRuns: 60 },
  )
})

it('of alerts that were opened, acknowledged and resolved in a short timeline none is left out', () => {
  const states = ['triggered', 'acknowledged', 'resolved']
  const alerts = Array.from({ length: 27 }, (_, i) => {
    const type = states[i % 3]!
    const more = { source: 'pager', type }
    return row(-1_300 + 40 * i, `${type}: #${Math.floor(i / 3)} errors of checkout`, more)
  })
  const asked = request([...alerts, row(-700, 'error budget is burning', { source: 'pager', type: 'warn' })])
  const text = renderBrief(makeBrief(asked))
  for (const { id } of asked.rows) expect(text).toMatch(new RegExp(`^${id} `, 'm'))
  expect(text).not.toContain('no line stands for')
})

it('log lines have fewer tokens of o200k than are counted', () => {
  const text = renderBrief(
    makeBrief(
      request(
        Array.from({ length: 400 }, (_, i) => ({
          ...{
            id: '',
            source: 'logs',
            type: 'error',
            labels: { service: 'checkout', host: `ip-10-0-${i}-7` },
          },
          at: NOW - i * 2_000,
          text: `order ${(i * 7_919).toString(16)} refused ${'abcdefghijkl'.slice(i % 12)} by java.net.SocketTimeout ${i}`,
          ...{ entity: 'checkout', values: {}, isSample: false },
        })),
      ),
    ),
  )
  expect(encode(text).length).toBeLessThanOrEqual(cautiousTokens(text))
})

describe('tokens are counted', () => {
  /** The pieces as one pattern: slower, and easier to read. */
  const PIECES = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\s!-~]+|\s+|[!-/:-@[-`{-~]+/g
  const ofPiece = (piece: string): number => {
    if (piece.charCodeAt(0) > 127) return Buffer.byteLength(piece) / 1.5
    if (/^\d/.test(piece)) return Math.ceil(piece.length / 3)
    if (/^[A-Za-z]/.test(piece)) return 1 + Math.max(0, piece.length - 4) / 4
    if (/^\s/.test(piece)) return piece === ' ' ? 0 : Math.ceil(piece.length / 4)
    return Math.ceil(piece.length / 2)
  }
  const byPattern = (text: string) =>
    Math.ceil([...text.matchAll(PIECES)].reduce((sum, [piece]) => sum + ofPiece(piece), 0))

  it('by the pieces that tokenisers begin with, of any text', () => {
    const pieces = fc.constantFrom(
      'HTTPServer',
      'aB',
      'XYz',
      '12 345',
      '\u00a0',
      '\u2003',
      ' \t',
      'é',
      '漢字',
      '😀',
      '\u0001é',
      '--',
      '\u007f',
    )
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 80 }),
      fc.string({ unit: 'grapheme-ascii', maxLength: 80 }),
      fc
        .array(fc.oneof(pieces, fc.string({ maxLength: 4 })), { maxLength: 20 })
        .map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(texts, (text) => {
        expect(cautiousTokens(text)).toBe(byPattern(text))
      }),
      { numRuns: 1_000 },
    )
  })
})
