/** Issue 16, C2, over HTTP and in the command: an answer with nothing in the window says when there was something. */
import { describe, expect, it } from 'vitest'
import { advance } from '../../../../engine/log/lifecycle.ts'
import { atOnce } from '../../../../engine/log/steps.ts'
import { tokensOf } from '../../../../engine/log/timeline/fit.ts'
import { answerRead } from '../../../../engine/log/timeline/read.ts'
import { histogramInSteps, statsInSteps } from '../../../../engine/log/timeline/stats.ts'
import type { ReadRequest } from '../../../../schemas/types.ts'
import { addSource, event, openHarness, T0 } from '../store/store-harness.ts'

const HOUR = 3_600_000
const NOW = T0 + 24 * HOUR
const SEEN = new Date(T0 + 2_000).toISOString()

function world() {
  const harness = openHarness()
  const app = addSource(harness.store, 'app', [
    { name: 'service', field: 'service', primary: true },
    { name: 'status', field: 'status', type: 'number' },
  ])
  const other = addSource(harness.store, 'other')
  const { append } = harness
  append([event({ service: 'checkout' }, T0 + 1_000), event({ service: 'checkout' }, T0 + 2_000)], {
    sourceId: app,
  })
  append([event({ service: 'cart' }, T0 + 9_000, { numbers: { status: 500 } })], { sourceId: other })
  const read = (request: Partial<ReadRequest>) =>
    answerRead(harness.ctx, { selector: { service: 'checkout' }, window: '1h', ...request }, NOW)
  return { ...harness, read }
}

describe('C2: a read of an empty window', () => {
  it('says when the newest event with the labels was, in a field and in the text', () => {
    const { read } = world()
    const { count, last_seen, payload } = read({})
    expect([count, last_seen]).toEqual([0, SEEN])
    expect(payload).toContain(`no events in this window; last seen ${SEEN}\n`)
  })

  it('says it whatever source, type or words were asked for', () => {
    const { read } = world()
    for (const more of [{ sources: ['other'] }, { event_types: ['deploy'] }, { text: 'no such words' }])
      expect(read(more).last_seen, JSON.stringify(more)).toBe(SEEN)
  })

  it('says that there are others where type, source or words leave out what the window has', () => {
    const { read } = world()
    const window = { window: '25h' }
    for (const more of [{ event_types: ['deploy'] }, { text: 'no such words' }])
      expect(read({ ...window, ...more }).payload).toContain(
        `no such events in this window; it has others, the newest at ${SEEN}\n`,
      )
    expect(read({ selector: undefined, text: 'no such words', ...window }).payload).toContain(
      'no such events in this window\n',
    )
    expect(read({ selector: undefined, text: 'no such words' })).not.toHaveProperty('last_seen')
  })

  it('says it of sources without a selector', () => {
    const { read } = world()
    expect(read({ selector: undefined, sources: ['other'] }).last_seen).toBe(
      new Date(T0 + 9_000).toISOString(),
    )
  })

  it('says null where there was never one, and nothing where the index does not know it', () => {
    const { read } = world()
    const never = read({ selector: { service: 'nobody' } })
    expect(never.last_seen).toBeNull()
    expect(never.payload).toContain('no events in this window, nor at any other time')
    expect(read({ selector: { status: 500 } })).not.toHaveProperty('last_seen')
    expect(read({ selector: { key_value: 'checkout' } })).not.toHaveProperty('last_seen')
  })

  it('speaks for the instant that the read speaks for', () => {
    const { append, read } = world()
    append([event({ service: 'checkout' }, T0 + 5_000)], { at: NOW + HOUR })
    const asOf = new Date(NOW).toISOString()
    expect(read({ as_of: asOf }).last_seen).toBe(SEEN)
    expect(read({}).last_seen).toBe(new Date(T0 + 5_000).toISOString())
  })

  it('counts what it says under max_tokens', () => {
    const { read } = world()
    const answer = read({ max_tokens: 500 })
    expect([answer.last_seen, answer.tokens]).toEqual([SEEN, tokensOf(answer.payload)])
  })

  it('is not told of a window with events, nor of a later page', () => {
    const { read } = world()
    const first = read({ window: '2d', limit: 1 })
    expect(first).not.toHaveProperty('last_seen')
    expect(read({ window: '2d', limit: 1, cursor: first.next_cursor! })).not.toHaveProperty('last_seen')
  })
})

describe('a window in which a source took nothing in', () => {
  /** Pauses or resumes at minutes after the newest event of `world`. */
  function paused() {
    const opened = world()
    const { store, ctx } = opened
    const id = ctx.names.idsOf('app')[0] ?? 1
    const move = (event: 'pause' | 'resume' | 'delete' | 'restore', at: number) =>
      store.tx(() =>
        advance(store.db, { kind: 'source', id, name: 'app' }, event, { id: 'key', name: 'ada' }, at),
      )
    return { ...opened, move }
  }
  const at = (ms: number) => new Date(ms).toISOString()
  const SAID = 'that events of then are missing says nothing of what happened'

  it('says so of a source that brought events of it, and since when', () => {
    const { read, move } = paused()
    move('pause', NOW - 2 * HOUR)
    const { gaps, payload } = read({})
    expect(gaps).toEqual([{ source: 'app', why: 'paused', from: at(NOW - 2 * HOUR), to: null }])
    expect(payload).toContain(`\napp took nothing in since ${at(NOW - 2 * HOUR)} (paused): ${SAID}\n`)
    expect(read({ selector: { service: 'cart' } })).not.toHaveProperty('gaps')
    expect(read({ selector: undefined, sources: ['other'] })).not.toHaveProperty('gaps')
    expect(read({ selector: { service: 'nobody' } }).gaps).toHaveLength(1)
  })

  it('says only what lies in the window, as it was known at the instant asked about', () => {
    const { read, move } = paused()
    move('pause', NOW - 3 * HOUR)
    move('resume', NOW - 2 * HOUR)
    expect(read({})).not.toHaveProperty('gaps')
    const over = `from ${at(NOW - 3 * HOUR)} to ${at(NOW - 2 * HOUR)} (paused)`
    expect(read({ window: '4h' }).payload).toContain(over)
    const before = read({ as_of: at(NOW - 2.5 * HOUR) })
    expect(before.gaps).toEqual([{ source: 'app', why: 'paused', from: at(NOW - 3 * HOUR), to: null }])
    expect(read({ as_of: at(NOW - 4 * HOUR) })).not.toHaveProperty('gaps')
  })

  it('says so of the time in which it was deleted, once that was undone', () => {
    const { read, move } = paused()
    move('pause', NOW - 4 * HOUR)
    move('delete', NOW - 3 * HOUR)
    expect(read({ window: '150m' })).not.toHaveProperty('gaps')
    move('restore', NOW - 2 * HOUR)
    const gaps = [
      { source: 'app', why: 'paused', from: at(NOW - 4 * HOUR), to: at(NOW - 3 * HOUR) },
      { source: 'app', why: 'deleted', from: at(NOW - 3 * HOUR), to: at(NOW - 2 * HOUR) },
    ]
    const { payload, ...told } = read({ window: '5h' })
    expect(told.gaps).toEqual(gaps)
    expect(payload).toContain(`app took nothing in from ${gaps[1]!.from} to ${gaps[1]!.to} (deleted)`)
    expect(read({})).not.toHaveProperty('gaps')
  })

  it('counts it into the budget, and says it on the first page alone', () => {
    const { read, move, append } = paused()
    append(Array.from({ length: 30 }, (_, i) => event({ service: 'checkout', n: `${i}` }, NOW - i * 1_000)))
    move('pause', NOW - HOUR / 2)
    const first = read({ max_tokens: 300 })
    expect(first.payload).toContain(SAID)
    expect(first.tokens).toBeLessThanOrEqual(300)
    expect(tokensOf(first.payload)).toBeLessThanOrEqual(300)
    expect(read({ max_tokens: 300, cursor: first.next_cursor! })).not.toHaveProperty('gaps')
  })

  it('is counted without words that say less than the numbers', () => {
    const { append, ctx } = world()
    const many = (n: number, at: number, service: string) =>
      append(Array.from({ length: n }, () => event({ service }, at)))
    many(1_000, NOW - 1.5 * HOUR, 'shop')
    many(1_008, NOW - HOUR / 2, 'shop')
    many(100, NOW - 1.5 * HOUR, 'mail')
    many(3, NOW - HOUR / 2, 'mail')
    for (let n = 0; n < 20; n++) many(1, NOW - HOUR / 2, `pod-${n}`)
    const { stats } = atOnce(statsInSteps(ctx, { by: 'service', window: '1h' }, NOW))
    expect(stats).toMatch(/shop +\| +1008 +\| +1000 +\| +\+8$/m)
    expect(stats).toMatch(/mail +\| +3 +\| +100 +\| +-97$/m)
    expect(stats).toContain('\n2 more values that changed less: top takes up to 50')
  })

  it('is told by counts, too, where a value fell for want of its source', () => {
    const { ctx, move } = paused()
    move('pause', NOW - HOUR / 2)
    const counted = atOnce(statsInSteps(ctx, { by: 'service', window: '1h' }, NOW))
    expect(counted.stats).toContain('app took nothing in since')
    expect(counted.gaps).toHaveLength(1)
  })

  it('is told by counts over time, of the sources that are asked for and as of an instant', () => {
    const { ctx, move } = paused()
    move('pause', NOW - HOUR / 2)
    const over = (request: object) =>
      atOnce(histogramInSteps(ctx, { selector: { service: 'checkout' }, window: '1h', ...request }, NOW)).gaps
    expect(over({})).toEqual([{ source: 'app', why: 'paused', from: at(NOW - HOUR / 2), to: null }])
    expect(over({ sources: ['other'] })).toBeUndefined()
    expect(over({ as_of: at(NOW - HOUR) })).toBeUndefined()
  })
})

describe('counts of a window against the one before it', () => {
  const at = (ms: number) => new Date(ms).toISOString()

  it('say where that one is not whole: nothing is stored from then, or nothing of a source that is new', () => {
    const harness = openHarness()
    const { append, ctx, store } = harness
    const counted = (request: object, now: number) =>
      atOnce(statsInSteps(ctx, { by: 'service', window: '1h', ...request }, now))
    const each = (sourceId: number, service: string, from: number, to: number) =>
      append(
        Array.from({ length: (to - from) / 60_000 }, (_, i) => event({ service }, from + i * 60_000)),
        { sourceId },
      )
    const app = addSource(store, 'app', [{ name: 'service', field: 'service', primary: true }])
    each(app, 'checkout', T0, T0 + 1.5 * HOUR)
    const begun = `nothing is stored from before ${at(T0)}, so the window before is not whole`
    const first = counted({}, T0 + 1.5 * HOUR)
    expect(first).toMatchObject({ rows: [{ change: '+30 (x2)' }], notice: begun })
    expect(first.stats).toContain(`\n${begun}`)
    expect(counted({}, T0 + 2 * HOUR)).not.toHaveProperty('notice')

    const made = T0 + 5 * HOUR
    each(app, 'checkout', T0 + 1.5 * HOUR, made + HOUR)
    const fresh = addSource(store, 'fresh', [{ name: 'service', field: 'service', primary: true }])
    store.db.prepare('UPDATE sources SET created_at = ? WHERE id = ?').run(made, fresh)
    each(fresh, 'cart', made, made + HOUR)
    const now = made + 1.25 * HOUR
    const said = `nothing is stored of fresh from before ${at(made)}, so what came of it before is not whole`
    expect(counted({}, now).notice).toBe(said)
    expect(counted({ where: { service: 'cart' } }, now).notice).toBe(said)
    expect(counted({ where: { service: 'checkout' } }, now)).not.toHaveProperty('notice')
    expect(counted({ sources: ['app'] }, now)).not.toHaveProperty('notice')
    // What it was given of the time before it was made is there.
    each(fresh, 'cart', made - 2 * HOUR, made)
    expect(counted({}, now)).not.toHaveProperty('notice')
  })
})
