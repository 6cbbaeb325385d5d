import { describe, expect, it } from 'vitest'
import { frameAt } from '../../console/replay/frame.ts'
import { asOf, definitionIn } from '../../console/replay/then.ts'
import { forkRows, forkWords, spanOf } from '../../console/replay/what-if.ts'
import { whyOf } from '../../console/replay/why.ts'
import { emptyWords, gapWords, partWords, placeWords } from '../../console/replay/words.ts'
import type { BacktestFiring, BacktestRun, ChangeSet, FieldChange } from '../../schemas/types.ts'
import { chain, FROM, later, moment, NODES, replayOf } from './replay-fixture.ts'

const replay = chain()
const why = (id: string, index: number) => whyOf(id, frameAt(replay, { index }), replay.moments)

describe('why a part did or did not act', () => {
  it('tells what the trigger made of the event of now, and what it did before', () => {
    const told = why(NODES.trigger, 3)
    expect(told.title).toBe('trigger errs')
    expect(told.now.map(({ moment }) => moment.title)).toEqual(['4 of 5 errors'])
    expect(told.before.map(({ moment }) => moment.title)).toEqual(['3 of 5 errors'])
    expect(told.event).toBe('evt_2')
    expect(told.state).toEqual(['Its window: 4 of 5 in 10 min.'])
  })

  it('tells of an edge what its trigger decided', () => {
    expect(why(NODES.feeds, 2)).toMatchObject({ title: 'gateway to errs', trigger: 'errs', event: 'evt_2' })
    const woken = why(NODES.wakes, 6)
    expect(woken.now.map(({ moment }) => moment.title)).toContain('errs fired for pay')
    expect(woken.state.join(' ')).toMatch(/Cooling down for pay until/)
  })

  it('says when nothing is recorded, and when the part was not there', () => {
    expect(why(NODES.hands, 5).state.at(-1)).toBe('Nothing is recorded of it up to here.')
    expect(why(NODES.digger, 0).state[0]).toBe('Not part of the configuration then.')
  })

  it('says that a part is paused, that a wire is off, and what a handoff waits for', () => {
    const paused = replayOf([moment(1, { kind: 'state', phase: 'paused', nodes: [NODES.trigger] })])
    const frame = frameAt(paused, { index: 0 })
    expect(whyOf(NODES.trigger, frame, paused.moments).state[0]).toBe('Paused, so nothing runs.')
    const off = {
      ...frame,
      graph: { ...frame.graph, edges: frame.graph.edges.map((edge) => ({ ...edge, enabled: false })) },
    }
    expect(whyOf(NODES.wakes, off, []).state.slice(0, 2)).toEqual([
      'Switched off: trigger errs does not wake agent triage.',
      'Trigger errs is paused.',
    ])
    expect(why(NODES.hands, 5).state[0]).toBe(
      'Agent triage hands over to agent digger when its verdict is investigate.',
    )
  })

  it('says that nothing happened only once all of it is loaded', () => {
    expect(emptyWords(0, 'whole')).toBe('Nothing in this span')
    expect(emptyWords(0, 'here')).toBe('Not loaded yet')
    expect(emptyWords(0, 'not-loaded')).toBe('Not loaded yet')
    expect(emptyWords(0, 'loading')).toBe('Loading')
    expect(emptyWords(9, 'here')).toBe('Before the first moment')
  })

  it('names parts, places and gaps in words', () => {
    const { graph } = frameAt(replay, { index: 17 })
    expect(partWords(NODES.hands, graph)).toBe('triage on investigate to digger')
    expect(partWords('agent:gone', graph)).toBe('agent gone')
    expect(placeWords(replay.moments[6]!, 6, 18, Date.parse(later(30)), 'whole')).toMatch(
      /^2026-11-20 \d\d:\d\d:30\.000\. Moment 7 of 18: errs fired for pay$/,
    )
    expect(placeWords(replay.moments[6]!, 6, 18, Date.parse(later(30)), 'here')).toContain('of 18 loaded:')
    expect(placeWords(null, -1, 0, Date.parse(FROM), 'whole')).toMatch(/Nothing in this span\.$/)
    expect(gapWords({ kind: 'purged', from: FROM, to: later(9), message: 'Events were purged.' })).toMatch(
      /^Removed, .* to .*: Events were purged\.$/,
    )
  })
})

const set = (id: number, action: 'create' | 'update' | 'delete', fields: FieldChange[]): ChangeSet => ({
  id,
  at: FROM,
  actor: 'root',
  actor_id: 'root',
  origin: 'api',
  why: '',
  summary: '',
  undoes: null,
  undone_by: null,
  projects: [],
  changes: [{ action, kind: 'trigger', key: 'errs', name: 'errs', fields }],
  objects: 1,
})

describe('a trigger as it was then', () => {
  const now = {
    name: 'errs',
    sources: ['gateway'],
    condition: { predicate: '> 9', window: '5m' },
    cooldown: '1h',
  }
  const part = { kind: 'trigger', name: 'errs' }
  const sets = [
    set(9, 'update', [{ path: '/condition/predicate', from: '> 5', to: '> 9' }]),
    set(7, 'update', [{ path: '/cooldown', to: '1h' }]),
    set(4, 'create', [{ path: '/sources', to: ['gateway'] }]),
  ]

  it('takes back the changes since, field by field', () => {
    expect(asOf(now, sets, part, 9)).toEqual(now)
    expect(asOf(now, sets, part, 8)).toMatchObject({
      condition: { predicate: '> 5', window: '5m' },
      cooldown: '1h',
    })
    expect(asOf(now, sets, part, 5)).toEqual({
      name: 'errs',
      sources: ['gateway'],
      condition: { predicate: '> 5', window: '5m' },
    })
    expect(asOf(now, sets, part, 3)).toBeNull()
  })

  it('brings back what was deleted', () => {
    const gone = [
      set(9, 'delete', [
        { path: '/sources', from: ['gateway'] },
        { path: '/condition', from: { event: 'any' } },
      ]),
    ]
    expect(asOf(null, gone, part, 8)).toEqual({ sources: ['gateway'], condition: { event: 'any' } })
    expect(definitionIn(asOf(null, gone, part, 8)!)).toEqual({
      sources: ['gateway'],
      condition: { event: 'any' },
    })
  })
})

const firing = (seconds: number, key: string, over: Partial<BacktestFiring> = {}): BacktestFiring => ({
  at: later(seconds),
  key,
  value: 5,
  events: 5,
  event_ids: [],
  held_back: 0,
  resolved: false,
  ...over,
})
const run = (list: BacktestFiring[]): BacktestRun => ({
  firings: list.length,
  list,
  by_key: [],
  buckets: [],
  matched: 0,
  matched_last_hour: 0,
  reasons: {},
  peak: null,
})

describe('what another definition would have fired', () => {
  it('is told beside the one of then and beside what is recorded, by key and time', () => {
    const rows = forkRows(
      {
        result: run([firing(30, 'pay'), firing(2, 'pay'), firing(3, 'cart', { resolved: true })]),
        compare: run([firing(30, 'pay'), firing(50, 'cart')]),
      },
      replay.moments,
      'errs',
    )
    expect(rows.map(({ at, key, verdict, happened }) => [at, key, verdict, happened])).toEqual([
      [later(2), 'pay', 'new', null],
      [later(30), 'pay', 'same', 'd1'],
      [later(50), 'cart', 'gone', null],
    ])
    expect(forkWords(rows)).toBe('1 firing is new, 1 is gone, 1 stays.')
    expect(forkWords(rows.slice(1, 2))).toBe('Nothing differs: the same 1 firing.')
    expect(forkWords([])).toBe('Neither would have fired.')
  })

  it('asks about the whole span of the replay', () => {
    expect(spanOf({ from: FROM, to: later(90.2) })).toEqual({ window: '91s', to: later(90.2) })
  })
})
