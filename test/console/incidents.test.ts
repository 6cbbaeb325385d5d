/** Incidents in the console: acts before they are answered and taken back, words, and the evidence pinned at its moment. */
import { describe, expect, it } from 'vitest'
import { claimFault } from '../../console/lib/claim-fault.ts'
import {
  type Act,
  actBack,
  firstWords,
  foreseen,
  takesAct,
  type Worked,
} from '../../console/lib/incident-acts.ts'
import { evidenceItems, isChange, thresholdOf, valueLine } from '../../console/lib/incident-evidence.ts'
import { pathOfIncident, runRole, stateWords } from '../../console/lib/incidents.ts'
import { snoozeTimes } from '../../console/lib/snooze.ts'
import { lasting, moment } from '../../console/lib/time.ts'
import { claimWords } from '../../schemas/claim-words.ts'
import type { Event, Incident, SourceGap } from '../../schemas/types.ts'

const T = '2026-11-20T08:00:00.000Z'
const OPEN: Worked = {
  state: 'open',
  severity: 'warning',
  assignee: null,
  acknowledged: null,
  snoozed: null,
  snoozed_until: null,
  handled: null,
}

describe('acts on an incident', () => {
  const acts: Act[] = [
    { action: 'acknowledge' },
    { action: 'handle' },
    { action: 'snooze', until: '2026-11-20T09:00:00.000Z' },
    { action: 'snooze', until: null },
    { action: 'severity', severity: 'critical' },
    { action: 'assign', assignee: 'mara' },
  ]
  const starts: Worked[] = [
    OPEN,
    foreseen(OPEN, { action: 'acknowledge' }, 'jonas', T),
    foreseen(OPEN, { action: 'snooze', until: null }, 'jonas', T),
  ]

  it('are taken back, from every state, by acts that lead to how it was', () => {
    for (const before of starts)
      for (const act of acts) {
        let now = foreseen(before, act, 'mara', T)
        for (let step = 0; step < 4; step++) {
          const back = actBack(now, before)
          if (back === null) break
          now = foreseen(now, back, before.assignee ?? 'mara', T)
        }
        const { state, severity, assignee } = now
        expect([act, { state, severity, assignee }]).toEqual([
          act,
          { state: before.state, severity: before.severity, assignee: before.assignee },
        ])
      }
  })

  it('are done by a key only where the incident takes them', () => {
    const taken = (state: Incident['state'], accepts: string[]) =>
      (['acknowledge', 'handle'] as const).filter((action) => takesAct({ state, accepts }, action))
    const open = ['acknowledge', 'assign', 'snooze', 'handle', 'severity']
    expect(taken('open', open)).toEqual(['acknowledge', 'handle'])
    expect(taken('acknowledged', ['assign', 'snooze', 'handle', 'reopen'])).toEqual(['handle'])
    expect(taken('handled', ['reopen'])).toEqual([])
    // Shown at once, before the daemon has answered what is accepted now.
    expect(taken('acknowledged', open)).toEqual(['handle'])
    expect(taken('handled', open)).toEqual([])
  })

  it('say who was first where somebody was', () => {
    const now = { number: 7, ...foreseen(OPEN, { action: 'acknowledge' }, 'mara', T) } as Incident
    expect(firstWords(now)).toBe('mara acknowledged #7 first')
    expect(firstWords({ ...now, ...foreseen(now, { action: 'handle' }, 'jonas', T) })).toBe(
      'jonas handled #7 first',
    )
  })
})

describe('an incident in words', () => {
  const at = Date.parse(T)
  it('says its state and who has it', () => {
    const of = (worked: Worked) => stateWords({ ...worked, opened_at: T }, at + 18 * 60_000)
    expect(of(OPEN)).toBe('Open, unassigned')
    expect(of({ ...OPEN, assignee: 'mara' })).toBe('Open, mara')
    expect(of(foreseen(OPEN, { action: 'acknowledge' }, 'mara', T))).toBe('mara has it, 18 min')
    expect(of(foreseen(OPEN, { action: 'snooze', until: null }, 'jonas', T))).toBe(
      'Snoozed until it changes, by jonas',
    )
    const handledAt = new Date(at + 12 * 60_000).toISOString()
    expect(of(foreseen(OPEN, { action: 'handle' }, 'jonas', handledAt))).toBe('Handled in 12 min by jonas')
  })

  it('tells lengths, claims and addresses', () => {
    expect([34_000, 720_000, 7_500_000, 3 * 86_400_000].map(lasting)).toEqual([
      '34 s',
      '12 min',
      '2 h 5 min',
      '3 d',
    ])
    expect(claimWords({ held: 2, total: 2 })).toBe('2 of 2 claims hold')
    expect(claimWords({ held: 1, total: 2 })).toBe('1 of 2 claims holds')
    expect(pathOfIncident('inc_12', 'abc')).toBe('/incidents/12?firing=abc')
  })

  it('says of an unproved claim why it is, and not that it does not hold', () => {
    const why = 'unproved: it rests on findings and memories alone'
    expect(claimFault({ unproved: true, why })).toBe('Unproved: it rests on findings and memories alone')
    expect(claimFault({ unproved: false, why: 'evt_9 is no event' })).toBe('Does not hold: evt_9 is no event')
  })

  it('tells times as short as they are clear', () => {
    const now = new Date(2026, 10, 20, 12).getTime()
    expect(moment(new Date(2026, 10, 20, 7, 58, 39).getTime(), now)).toBe('07:58')
    expect(moment(new Date(2026, 10, 20, 7, 58, 39).getTime(), now, true)).toBe('07:58:39')
    expect(moment(new Date(2026, 10, 14, 7, 58).getTime(), now)).toBe('Nov 14, 07:58')
    expect(moment(new Date(2025, 10, 14, 7, 58).getTime(), now)).toBe('2025-11-14 07:58')
  })

  it('offers snoozes that lie ahead', () => {
    const at = (hour: number) => snoozeTimes(new Date(2026, 10, 20, hour, 30)).map(({ until }) => until)
    expect(at(8)[2]).toBe(new Date(2026, 10, 20, 9).toISOString())
    expect(at(10)[2]).toBe(new Date(2026, 10, 21, 9).toISOString())
    expect(at(10)[3]).toBeNull()
  })
})

describe('the evidence of a firing', () => {
  const FIRED = Date.parse('2026-11-20T08:00:00.000Z')
  const event = (n: number, seconds: number, event_type = 'info'): Event =>
    ({
      id: `evt_${n}`,
      event_time: new Date(FIRED + seconds * 1_000).toISOString(),
      event_type,
      source: 'app',
      text: `event ${n}`,
      labels: {},
    }) as unknown as Event
  const shapeOf = (
    events: Event[],
    tripped: string[],
    { isFolded = true, gaps = [] }: { isFolded?: boolean; gaps?: SourceGap[] } = {},
  ) =>
    evidenceItems(events, {
      ...{ moment: new Date(FIRED).toISOString(), tripped: new Set(tripped), isFolded, gaps },
    }).map((item) =>
      item.kind === 'event'
        ? `${item.event.id} ${item.role}`
        : item.kind === 'fold'
          ? `fold ${item.events.length}`
          : item.kind,
    )

  it('folds neighbours that say nothing, never what tripped it or changed before it', () => {
    const events = [
      ...[1, 2, 3].map((n) => event(n, -100 + n)),
      event(4, -60, 'deploy'),
      ...[5, 6].map((n) => event(n, -50 + n)),
      event(7, -5, 'error'),
      event(8, -4),
      event(9, -3, 'error'),
      ...Array.from({ length: 20 }, (_, i) => event(20 + i, 1 + i)),
    ]
    expect(shapeOf(events, ['evt_7', 'evt_9'])).toEqual([
      'fold 3',
      'evt_4 change',
      'fold 2',
      'evt_7 tripped',
      'evt_8 other',
      'evt_9 tripped',
      'fired',
      'evt_20 other',
      'evt_21 other',
    ])
  })

  it('shows when a source took nothing in where that was, and folds nothing over it', () => {
    const gap = (from: number, to: number | null): SourceGap => ({
      ...{ source: 'app', why: 'paused' },
      from: new Date(FIRED + from * 1_000).toISOString(),
      to: to === null ? null : new Date(FIRED + to * 1_000).toISOString(),
    })
    const events = [
      event(1, -90),
      event(2, -80),
      event(3, -10),
      event(4, -1, 'error'),
      event(5, 10),
      event(6, 40),
    ]
    const of = (gaps: SourceGap[], isFolded = true) => shapeOf(events, ['evt_4'], { isFolded, gaps })
    expect(of([gap(-70, -20), gap(20, null)])).toEqual([
      ...['fold 2', 'gap', 'evt_3 other', 'evt_4 tripped', 'fired'],
      ...['evt_5 other', 'gap', 'evt_6 other'],
    ])
    expect(of([gap(-3_600, -100)])[0]).toBe('gap')
    expect(of([gap(50, null)], false).at(-1)).toBe('gap')
  })

  it('keeps what tripped it above the line, whatever its clock said, and each event once', () => {
    const late = event(3, 2, 'error')
    expect(shapeOf([event(1, -1), late, late, event(4, 1)], ['evt_3'])).toEqual([
      'evt_1 other',
      'evt_3 tripped',
      'fired',
      'evt_4 other',
    ])
    expect(shapeOf([event(1, -3), event(2, -2), event(3, -1)], [], { isFolded: false })).toHaveLength(4)
  })

  it('calls a change what the engine does, and one of long ago none of this', () => {
    expect(
      ['deploy', 'config_change', 'github.push', 'feature_flag'].map((event_type) =>
        isChange({ event_type }),
      ),
    ).toEqual([true, true, true, true])
    expect(isChange({ event_type: 'error' })).toBe(false)
    expect(shapeOf([event(1, -3_600, 'deploy'), event(2, -10)], [])[0]).toBe('fold 2')
  })

  it('counts what was within the window at each instant', () => {
    const counts = [0, 2, 3, 0, 0, 1].map((count, i) => ({ at: i * 60_000, count }))
    const { points } = valueLine(counts, { windowMs: 120_000, bucketMs: 60_000, threshold: 4 })
    expect(points.map(({ value }) => value)).toEqual([5, 3, 0, 1])
    expect([thresholdOf('> 4'), thresholdOf('>= 2.5/m'), thresholdOf(null)]).toEqual([4, 2.5, null])
  })
})

describe('the newest run of an incident', () => {
  it.each([
    ['queued', 'info'],
    ['running', 'info'],
    ['parked', undefined],
    ['succeeded', undefined],
    ['cancelled', undefined],
    ['failed', 'warning'],
    ['exhausted', 'warning'],
    ['capped', 'warning'],
    ['empty', 'warning'],
  ] as const)('that is %s is marked %s', (status, role) => {
    expect(runRole({ status })).toBe(role)
  })
})
