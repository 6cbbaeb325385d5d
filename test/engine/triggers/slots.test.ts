import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cronFault, latestSlot, nextSlot, windowOfSlot } from '../../../engine/model/slots.ts'
import { check } from '../../../schemas/index.ts'

const at = (text: string) => Date.parse(text)
const MINUTE = 60_000

describe('an interval', () => {
  const every = { every: '10m' }
  const anchor = at('2026-11-20T10:03:00Z')

  it('counts from where it began', () => {
    expect(nextSlot(every, anchor, anchor - 1)).toBe(anchor)
    expect(nextSlot(every, anchor, anchor)).toBe(anchor + 10 * MINUTE)
    expect(nextSlot(every, anchor, anchor + 25 * MINUTE)).toBe(anchor + 30 * MINUTE)
  })

  it('fires the latest slot that was missed, and tells how many before it were', () => {
    expect(latestSlot(every, anchor, anchor, anchor + 9 * MINUTE)).toBeNull()
    expect(latestSlot(every, anchor, anchor, anchor + 24 * 60 * MINUTE + 1)).toEqual({
      slot: anchor + 24 * 60 * MINUTE,
      skipped: 143,
    })
  })

  it('never gives a slot twice, nor one before it began, whatever the clock does', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -3_600_000, max: 7_200_000 }), { maxLength: 50 }), (jumps) => {
        const fired: number[] = []
        let now = anchor
        let last = anchor - 1
        for (const jump of jumps) {
          now += jump
          const due = latestSlot(every, anchor, last, now)
          if (!due) continue
          last = due.slot
          fired.push(last)
        }
        expect(new Set(fired).size).toBe(fired.length)
        expect(fired.every((slot) => slot >= anchor && (slot - anchor) % (10 * MINUTE) === 0)).toBe(true)
      }),
    )
  })
})

describe('a cron expression', () => {
  it('goes by its time zone, over the change of summer time', () => {
    const nine = { cron: '0 9 * * *', time_zone: 'Europe/Paris' }
    expect(nextSlot(nine, 0, at('2026-03-28T12:00:00Z'))).toBe(at('2026-03-29T07:00:00Z'))
    expect(nextSlot(nine, 0, at('2026-03-27T12:00:00Z'))).toBe(at('2026-03-28T08:00:00Z'))
    expect(windowOfSlot(nine, at('2026-03-29T07:00:00Z'))).toBe(23 * 60 * MINUTE)
  })

  it('is UTC without one', () => {
    expect(nextSlot({ cron: '30 6 * * 1' }, 0, at('2026-11-20T00:00:00Z'))).toBe(at('2026-11-23T06:30:00Z'))
  })

  it('fires the latest missed time once', () => {
    const hourly = { cron: '0 * * * *' }
    expect(latestSlot(hourly, 0, at('2026-11-20T10:00:00Z'), at('2026-11-20T10:59:59Z'))).toBeNull()
    expect(latestSlot(hourly, 0, at('2026-11-20T10:00:00Z'), at('2026-11-20T11:00:00Z'))).toEqual({
      slot: at('2026-11-20T11:00:00Z'),
      skipped: 0,
    })
    expect(latestSlot(hourly, 0, at('2026-11-20T10:00:00Z'), at('2026-11-20T15:30:00Z'))).toEqual({
      slot: at('2026-11-20T15:00:00Z'),
      skipped: 4,
    })
  })

  it('has, at any instant, the latest of the slots that follow one another, over changes of summer time too', () => {
    const crons = ['* * * * *', '*/7 * * * *', '0 * * * *', '30 2 * * *', '0 3 * * *', '15,45 1-3 * * *']
    const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu']
    // Beside them, and a day in which no clock is changed.
    const begins = ['2026-03-08T04:00Z', '2026-03-28T22:00Z', '2026-04-04T12:00Z', '2026-10-03T13:00Z']
    const days = [...begins, '2026-10-24T22:00Z', '2026-11-01T03:00Z', '2026-11-20T00:00Z'].map(at)
    const offset = fc.integer({ min: 0, max: 4 * 60 * MINUTE })
    const late = fc.oneof(offset, fc.constantFrom(999, 1_000, 59_001, 59_999, 60_000, 60 * MINUTE - 1))
    fc.assert(
      fc.property(
        fc.constantFrom(...crons),
        fc.constantFrom(...zones),
        fc.constantFrom(...days),
        offset,
        late,
        (cron, time_zone, day, from, ms) => {
          const schedule = { cron, time_zone }
          const after = day + from - (from % MINUTE)
          const slots: number[] = []
          for (let slot = nextSlot(schedule, 0, after); slot !== null && slot <= after + ms; )
            slot = nextSlot(schedule, 0, slots[slots.push(slot) - 1]!)
          const due = slots.length ? { slot: slots.at(-1), skipped: slots.length - 1 } : null
          expect(latestSlot(schedule, 0, after, after + ms)).toEqual(due)
          if (slots.length > 1)
            expect(windowOfSlot(schedule, slots.at(-1)!)).toBe(slots.at(-1)! - slots.at(-2)!)
        },
      ),
      { numRuns: 300 },
    )
  })

  it.each([
    [{ cron: '* * *' }, 'cron'],
    [{ cron: '61 * * * *' }, 'cron'],
    [{ cron: '0 0 31 2 *' }, 'cron'],
    [{ cron: '0 9 * * * *' }, 'cron'],
    [{ cron: '0 9 * * *', time_zone: 'Mars/Olympus' }, 'time_zone'],
  ])('%j is refused, naming %s', (condition, field) => {
    expect(cronFault(condition, 'condition')?.field).toBe(field)
  })

  it.each([
    ['61 * * * *', 'has 61 as its minute, which must be from 0 to 59'],
    ['0 24 * * *', 'has 24 as its hour, which must be from 0 to 23'],
    ['5-1 * * * *', 'a range from low to high (1-5)'],
    ['*/0 * * * *', 'or each so many (*/10), at least 1'],
    ['0 0 * 13 *', 'has 13 as its month, which must be from 1 to 12'],
    ['0 9 * * * *', 'must be five fields: minute, hour'],
  ])('%s is refused by the rule that it breaks', (cron, says) => {
    expect(cronFault({ cron }, 'condition')?.message).toContain(says)
  })

  it('too short to have five fields is told so wherever it is checked', () => {
    const spec = { sources: ['app'], condition: { cron: '@daily' } }
    expect(check('trigger-spec.json', spec)).toContain('condition.cron must be five fields: minute, hour')
    const counted = { aggregate: 'count', predicate: '!= 5', window: '5m' }
    expect(check('trigger-spec.json', { ...spec, condition: counted })).toContain(
      'condition.predicate must be a comparison (>, >=, <, <= or ==) and a number',
    )
  })

  it.each([{ cron: '*/5 * * * *' }, { cron: '0 9 * * 1-5', time_zone: 'America/New_York' }])(
    '%j is taken',
    (condition) => {
      expect(cronFault(condition, 'condition')).toBeNull()
    },
  )
})
