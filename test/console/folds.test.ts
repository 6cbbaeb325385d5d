/** Folds in what a model was shown, and trials that have grown old, as the console tells them (issue 17, part 2.2). */
import { describe, expect, it } from 'vitest'
import { viewOf } from '../../console/lib/ask.ts'
import { staleWords } from '../../console/lib/backtest.ts'
import { readOf, unfolding } from '../../console/lib/folds.ts'
import { framesOf, shownOf } from '../../engine/agents/ask/calls.ts'
import { foldsIn, foldText } from '../../schemas/event-line.ts'

const fold = { count: 1_200, first: '2026-01-02T03:04:05.000Z', cursor: 'evt_7..evt_1300' }
const ENTITY = { label: 'service', value: 'checkout' }

describe('folds in a text', () => {
  it('are found as every text writes them, each once, with the cursor that gives all of their events', () => {
    const line = `evt_1300 app error: cannot pay${foldText(fold as never)} {service=checkout}`
    expect(foldsIn(`${line}\nevt_9 app: well (×2)\n${line}`)).toEqual([
      { count: 1_200, cursor: 'evt_7..evt_1300' },
    ])
  })

  it('are unfolded by what their call read, else by the entity of the run', () => {
    const args = { selector: { db: 'orders' }, event_types: ['error'], window: '2h', cursor: 'x' }
    expect(unfolding(args, ENTITY)).toEqual({ selector: { db: 'orders' }, event_types: ['error'] })
    expect(unfolding({ sources: ['app'], window: '2h' }, ENTITY)).toEqual({ sources: ['app'] })
    expect(unfolding(null, ENTITY)).toEqual({ selector: { service: 'checkout' } })
    expect(unfolding({ cursor: 'x', text: 'pay' }, ENTITY)).toEqual({
      ...{ selector: { service: 'checkout' }, text: 'pay' },
    })
  })

  it('of an answer of Ask are told with it, those beyond what is shown of it too, as it comes and when it is read again', () => {
    const result = `${'x'.repeat(500)}${foldText(fold as never)}`
    const folds = [{ count: 1_200, cursor: 'evt_7..evt_1300' }]
    expect(shownOf(result)).toEqual({ preview: `${'x'.repeat(399)}…`, folds })
    expect(shownOf('nothing folded')).toEqual({ preview: 'nothing folded' })
    const call = { id: 'c1', name: 'read', arguments: { sources: ['app'] } }
    const data = { call, server: null, result, is_error: false }
    const frames = framesOf([{ n: 1, kind: 'tool', round: 1, at: 0, ms: 5, data } as never], '')
    expect(viewOf(frames).blocks).toMatchObject([{ kind: 'tool', ok: true, folds }])
    expect(viewOf(frames.slice(0, 1)).blocks).toMatchObject([{ kind: 'tool', ok: null, folds: [] }])
  })

  it('of an answer of Ask are unfolded by its call alone: there is no entity to go by', () => {
    expect(readOf({ selector: { db: 'orders' }, window: '2h' })).toEqual({ selector: { db: 'orders' } })
    expect(readOf({ cursor: 'x' })).toBeNull()
    expect(readOf({ selector: {} })).toBeNull()
  })
})

describe('a trial of a trigger', () => {
  const now = Date.UTC(2026, 0, 2)
  it('says that it is of another definition, and after 30 s that events came since', () => {
    const trial = { at: now - 29_999, isOther: false, now }
    expect(staleWords(trial)).toBeNull()
    expect(staleWords({ ...trial, at: now - 30_000 })).toContain('later events are not included')
    expect(staleWords({ ...trial, isOther: true })).toContain('before your last edit')
    expect(staleWords({ ...trial, at: 0 })).toBeNull()
  })
})
