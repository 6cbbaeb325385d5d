/** What is one number over time: series of one name that only a label tells apart, and counters. */
import { describe, expect, it } from 'vitest'
import { type ContextRow, numbersOf, type Timed } from '../../../../engine/log/brief/brief.ts'
import { briefOf, NOW, partOf, row } from './hand-made.ts'

const linesOf = (rows: readonly ContextRow[]): Timed[] =>
  rows.map((one) => ({
    ...{ row: one, t: (one.at - NOW) / 1000, stream: null, cls: null },
    kind: { source: one.source, type: one.type, count: 1 },
  }))

/** Two hours of a poll a minute. @param at what is measured of each series, by its labels */
const polled = (name: string, at: (i: number) => readonly [Record<string, string>, number][]): ContextRow[] =>
  Array.from({ length: 120 }, (_, i) =>
    at(i).map(([labels, value]) =>
      row(60 * (i - 119), `${name} of db1`, {
        type: 'disk',
        entity: 'db1',
        labels,
        values: { [name]: value },
      }),
    ),
  ).flat()

const disks = polled('used_percent', (i) => [
  [{ path: '/', request_id: `a${i}` }, 80 + (i % 3) / 10],
  [{ path: '/data', request_id: `b${i}` }, i < 110 ? 20 : 60],
  [{ path: '/backup', request_id: `c${i}` }, 95],
])

const told = (rows: readonly ContextRow[]) =>
  numbersOf(linesOf(rows)).map(({ name, by, samples }) => [name, by, samples.length])

describe('series of one name and entity', () => {
  it('are told apart by the label that differs at each instant, and not by ids', () => {
    expect(told(disks)).toEqual([
      ['disk used_percent', { path: '/' }, 120],
      ['disk used_percent', { path: '/data' }, 120],
      ['disk used_percent', { path: '/backup' }, 120],
    ])
    const moved = partOf(briefOf(disks, { entity: 'db1' }), 'numbers')
    expect(moved).toHaveLength(1)
    expect(moved[0]).toMatch(/disk used_percent: 20 \(20–20\) → 60 .*path=\/data/)
  })

  it('of counters have rates of their own', () => {
    const rates = numbersOf(
      linesOf(
        polled('requests_total', (i) => [
          [{ status: '200' }, 100_000 + 600 * i],
          ...(i < 90 ? [] : ([[{ status: '500' }, 12 * i]] as [Record<string, string>, number][])),
        ]),
      ),
    )
    expect(
      rates.map(({ by, samples }) => [by.status, Math.max(...samples.map(({ value }) => value))]),
    ).toEqual([
      ['200', 10],
      ['500', 0.2],
    ])
  })

  it('need each label without which samples of one instant are one', () => {
    const rows = polled('used', (i) => [
      [{ path: '/', kind: 'bytes', device: 'sda' }, i],
      [{ path: '/', kind: 'inodes', device: 'sda' }, i],
      [{ path: '/data', kind: 'bytes', device: 'sdb' }, i],
    ])
    expect(told(rows).map(([, , count]) => count)).toEqual([120, 120, 120])
  })

  it('go on where a label changes over time, as a version does', () => {
    const rolled = polled('ms', (i) => [
      [{ instance: 'a', version: i < 60 ? 'v1' : 'v2' }, 5],
      [{ instance: 'b', version: i < 62 ? 'v1' : 'v2' }, i < 110 ? 5 : 900],
    ])
    expect(told(rolled).map(([, by]) => by)).toEqual([{ instance: 'a' }, { instance: 'b' }])
    const alone = polled('ms', (i) => [[{ version: i < 60 ? 'v1' : 'v2' }, 5]])
    expect(told(alone)).toEqual([['disk ms', {}, 120]])
  })

  it('are one where requests share a second by chance, whatever their labels are', () => {
    let seed = 1
    const any = (most: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % most
    }
    const requests = (users: number, each: number) =>
      Array.from({ length: 2_000 }, (_, i) =>
        row(Math.floor(i / each) - 2_000, 'served', {
          labels: { route: `/r${any(5)}`, user: `u${any(users)}`, trace_id: `t${i}` },
          values: { ms: any(50) },
        }),
      )
    for (const [users, each] of [
      [10, 3],
      [40, 5],
      [300, 3],
      [300, 8],
    ] as const)
      expect(told(requests(users, each))).toEqual([['info ms', {}, 2_000]])
  })
})

describe('a number that is called as counters are', () => {
  const one = (value: (i: number) => number) =>
    numbersOf(linesOf(polled('order_total', (i) => [[{}, value(i)]])))

  it('is told by its values where they fall as often as they rise', () => {
    const rows = polled('order_total', (i) => [[{}, (i < 105 ? 50 : 400) + (i % 5)]])
    expect(numbersOf(linesOf(rows)).map(({ name, samples }) => [name, samples.at(-1)!.value])).toEqual([
      ['disk order_total', 404],
    ])
    const moved = partOf(briefOf(rows, { entity: 'db1' }), 'numbers')
    expect(moved).toEqual([expect.stringMatching(/disk order_total: 52 .* → 402 /)])
    for (const value of [
      (i: number) => (i * i * 7_919) % 101,
      (i: number) => Number(i % 30 === 0),
      (i: number) => -i,
    ])
      expect(one(value).map(({ name }) => name)).toEqual(['disk order_total'])
  })

  it('is told by how fast it grows where it only grows, also where it begins anew', () => {
    for (const value of [(i: number) => 90 + 6 * i, (i: number) => 6 * (i % 20), () => 7])
      expect(one(value).map(({ name }) => name)).toEqual(['disk order_total a second'])
    expect(Math.max(...one((i) => 6 * (i % 20))[0]!.samples.map((sample) => sample.value))).toBe(0.1)
  })
})
