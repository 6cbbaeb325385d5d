/** Claims held against their events (issue 17, Part 2.5). */
import { describe, expect, it } from 'vitest'
import {
  checkClaims,
  numbersIn,
  numbersInPayload,
  storedClaims,
} from '../../../../engine/agents/finding-queries.ts'
import type { Row } from '../../../../engine/calls.ts'

const row = (id: string, text: string, raw = '{}', labels: Row['labels'] = {}): [string, Row] => [
  id,
  { id, text, raw, labels } as Row,
]
const events = new Map([
  row('evt_1', 'order ORD-7 took 48ms at 12:00:07', '{"total":1200,"at":"2026-11-20T12:34:56Z"}'),
  row('evt_2', 'p99 is 2,327 ms', '{}', { status: 503 }),
  row('evt_3', 'charged 1,200 EUR for /orders/41 by 10.0.0.9, v2.15.1'),
])
const shown = (counts: Record<string, number[]>) =>
  new Map(
    Object.entries(counts).map(([id, stood]) => [id, { counts: new Set(stood), numbers: [] as number[] }]),
  )
const read = shown({ evt_1: [1], evt_2: [57], evt_3: [1] })
const check = (...claims: Parameters<typeof checkClaims>[0]) => checkClaims(claims, events, read)

describe('issue 17, 2.5: numbers are compared as written in the event', () => {
  it.each([
    ['1,200 is 1200', 'charged 1,200 EUR', [1200]],
    ['ORD-7 holds no 7', 'order ORD-7', []],
    ['an hour in a time proves nothing', 'at 12:00:07, 2026-11-20T12:34:56.789Z, 09:15', []],
    ['a version, an address and a hash hold none', 'v2.15.1 2.15.1 10.0.0.9 deadbeef12345678', []],
    ['a name holds none', 'p99 evt_12 pod-7b9 #41 /orders/41 sha256', []],
    ['a unit is none of it', 'took 48ms, 3.5%, 12MB, x=-5', [48, 3.5, 12, -5]],
    ['signs around it are none of it', '(7) "count":48, [9] 5/6', [7, 48, 9, 5]],
  ])('%s', (_rule, text, numbers) => {
    expect(numbersIn(text)).toEqual(numbers)
  })

  it('values of a payload count, its keys and times do not', () => {
    expect(numbersInPayload('{"404":{"total":1200,"text":"ORD-7, 3 times"},"at":"12:34:56"}')).toEqual([
      1200, 3,
    ])
    expect(numbersInPayload('not json, 5 times')).toEqual([5])
  })

  it('hold against text, labels and payload', () => {
    const of = (id: string, number: number) => check({ text: 'c', events: [id], number })[0]!.ok
    expect([of('evt_1', 7), of('evt_1', 12), of('evt_1', 48), of('evt_1', 1200)]).toEqual([
      false,
      false,
      true,
      true,
    ])
    expect([of('evt_2', 99), of('evt_2', 2327), of('evt_2', 503)]).toEqual([false, true, true])
    expect([of('evt_3', 41), of('evt_3', 9), of('evt_3', 1200)]).toEqual([false, false, true])
  })
})

describe('issue 17, 2.5: a claim', () => {
  it('without quote, number, count or comparison is unproved', () => {
    const [bare, empty, quoted] = check(
      { text: 'It is the deploy.', events: ['evt_1'] },
      { text: 'It is the deploy.', events: ['evt_1'], quote: '  ' },
      { text: 'It is the order.', events: ['evt_1'], quote: 'order  ORD-7' },
    )
    expect(bare).toMatchObject({ ok: false, unproved: true, why: expect.stringContaining('unproved') })
    expect(empty).toMatchObject({ ok: false, unproved: true })
    expect(quoted).toMatchObject({ ok: true, unproved: false, why: null })
    expect(check({ text: 'Gone.', events: ['evt_9'] })[0]).toMatchObject({
      unproved: false,
      why: 'evt_9 is no event',
    })
  })

  it('does not hold where it cites what is no event, or what its writer was not shown', () => {
    const told = shown({ evt_1: [1] })
    const claim = (id: string) => [{ text: 'c', events: [id], quote: 'order' }]
    expect(checkClaims(claim('evt_9'), events, told)).toMatchObject([{ ok: false, why: 'evt_9 is no event' }])
    expect(checkClaims([{ text: 'c', events: ['evt_3'], number: 1200 }], events, told)).toMatchObject([
      { ok: false, unproved: false, why: 'evt_3 was not read in this run' },
    ])
    expect(checkClaims(claim('evt_1'), events, told)).toMatchObject([{ ok: true, why: null }])
  })

  it('holds by a number that was told of the event, and of no other', () => {
    const told = shown({ evt_1: [1], evt_2: [1] })
    told.get('evt_1')!.numbers.push(0.0362)
    told.get('evt_2')!.numbers.push(2.5)
    const of = (more: object) =>
      checkClaims([{ text: 'c', events: ['evt_1', 'evt_2'], ...more }], events, told)[0]!
    expect(of({ was: 0.0362, now: 2.5 })).toMatchObject({ ok: true, why: null })
    expect(of({ was: 0.0362, now: 2.6 })).toMatchObject({ why: 'none of its events has the number 2.6' })
    expect(of({ events: ['evt_3'], number: 2.5 }).ok).toBe(false)
  })

  it('is the cause where it is the first, else context, unless it says so', () => {
    const claims = check(
      { text: 'a', events: ['evt_1'] },
      { text: 'b', events: ['evt_1'] },
      { text: 'c', events: ['evt_1'], role: 'ruled_out' },
    )
    expect(claims.map(({ role }) => role)).toEqual(['cause', 'context', 'ruled_out'])
  })

  it('counts only what it cites as counted', () => {
    const of = (more: object) => check({ text: 'c', events: ['evt_1', 'evt_2'], ...more })[0]!
    expect(of({ count: 2 }).ok).toBe(true)
    expect(of({ count: 58 }).ok).toBe(true)
    expect(of({ count: 57 })).toMatchObject({ ok: false, why: 'they are 58 events, not 57' })
    // A number is one that an event has, and not how many they are.
    expect(of({ number: 2 }).ok).toBe(false)
  })

  it('of the first and the last event of a line counts as many as the line, looked at by themselves or not', () => {
    const of = (count: number, ...ids: string[]) =>
      [shown({ evt_1: [0], evt_2: [24] }), shown({ evt_1: [0, 1], evt_2: [24, 1] })].map(
        (counts) => checkClaims([{ text: 'c', events: ids, count }], events, counts)[0]!.why,
      )
    expect(of(24, 'evt_1', 'evt_2')).toEqual([null, null])
    expect(of(2, 'evt_1', 'evt_2')).toEqual([null, null])
    expect(of(25, 'evt_1', 'evt_2')).toEqual(Array(2).fill('they are 24 events, not 25'))
    expect(of(1, 'evt_1')).toEqual([null, null])
    expect(of(24, 'evt_2')).toEqual([null, null])
    expect(of(24, 'evt_1')).toEqual(Array(2).fill('they are 1 event, not 24'))
  })

  it('rests on no finding and no memory: what an agent wrote proves nothing of what happened', () => {
    const written = (id: string, source_type: string): [string, Row] => [
      id,
      { id, text: 'certificate expired, 17 orders lost', raw: '{}', labels: {}, source_type } as Row,
    ]
    const all = new Map([...events, written('evt_8', 'finding'), written('evt_9', 'agent_memory')])
    const counts = shown({ evt_1: [1], evt_8: [1], evt_9: [1] })
    const of = (more: object, ...ids: string[]) =>
      checkClaims([{ text: 'c', events: ids, ...more }], all, counts)[0]!
    for (const proof of [
      { quote: 'certificate expired' },
      { number: 17 },
      { count: 2 },
      { was: 17, now: 17 },
    ])
      expect(of(proof, 'evt_8', 'evt_9')).toMatchObject({
        ...{ ok: false, unproved: true },
        why: expect.stringContaining('rests on findings and memories alone'),
      })
    expect(of({ quote: 'certificate expired', role: 'context' }, 'evt_8').ok).toBe(false)
    // Beside one it adds nothing.
    expect(of({ quote: 'certificate' }, 'evt_1', 'evt_8').why).toContain('none of its events')
    expect(of({ quote: 'order ORD-7' }, 'evt_1', 'evt_8')).toMatchObject({ ok: true, unproved: false })
    expect(of({ count: 1 }, 'evt_1', 'evt_8').ok).toBe(true)
    expect(of({ count: 2 }, 'evt_1', 'evt_8').why).toBe('they are 1 event, not 2')
  })

  it('compares what a number was in one event with what it is in another', () => {
    const of = (ids: string[], was: number, now: number) => check({ text: 'c', events: ids, was, now })[0]!
    expect(of(['evt_1', 'evt_2'], 48, 2327)).toMatchObject({ ok: true, was: 48, now: 2327 })
    expect(of(['evt_1', 'evt_2'], 50, 2327).why).toBe('none of its events has the number 50')
    expect(of(['evt_1'], 48, 1200).why).toContain('stand in one event')
    expect(check({ text: 'c', events: ['evt_1'], was: 48 })[0]!.ok).toBe(false)
  })

  it('of an older release has a role, and is not unproved', () => {
    const json = JSON.stringify([
      { text: 'a', events: ['evt_1'], quote: null, number: null, ok: true, why: null },
    ])
    expect(storedClaims(json)).toMatchObject([{ role: 'cause', count: null, unproved: false, ok: true }])
    expect(storedClaims(null)).toEqual([])
  })
})
