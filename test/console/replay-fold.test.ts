import { describe, expect, it } from 'vitest'
import { type Frame, fold, frameAt, placeAt } from '../../console/replay/frame.ts'
import { mergePages } from '../../console/replay/merge.ts'
import type { ReplayMoment } from '../../schemas/types.ts'
import { chain, FROM, graph, later, long, moment, NODES, replayOf, VERSIONS } from './replay-fixture.ts'

const note = (frame: Frame, id: string) => frame.marks.notes.get(id)
const partOf = (frame: Frame, id: string) => frame.graph.nodes.find((node) => node.id === id)
const edgeOf = (frame: Frame, id: string) => frame.graph.edges.find((edge) => edge.id === id)

/** All of a frame that a page can see, as text. */
const seen = ({ marks, version, ...frame }: Frame): string =>
  JSON.stringify([
    frame,
    version.change_set,
    [...marks.lit],
    [...marks.notes].sort(([a], [b]) => (a < b ? -1 : 1)),
    marks.pulses,
  ])

describe('the graph at an instant', () => {
  it('shows the window filling towards its threshold, then the firing and its cooldown', () => {
    const replay = chain()
    expect(note(frameAt(replay, { index: 1 }), NODES.trigger)).toEqual({
      text: '3 of 5 in 10 min',
      tone: 'neutral',
      progress: 0.6,
    })
    expect(note(frameAt(replay, { index: 3 }), NODES.trigger)).toMatchObject({ progress: 0.8 })
    const fired = frameAt(replay, { index: 6 })
    expect(note(fired, NODES.trigger)?.text).toMatch(/^5 of 5 in 10 min · cooldown until \d\d:\d\d$/)
    // Red as it fires.
    expect(note(fired, NODES.trigger)).toMatchObject({ progress: 1, tone: 'bad' })
    expect([...fired.marks.lit]).toEqual([NODES.trigger, NODES.wakes])
    expect(fired.marks.pulses).toEqual([{ edge: NODES.wakes, n: 7, tone: 'good' }])
    expect(partOf(fired, NODES.trigger)?.today).toBe(1)
  })

  it('says above five as more than five, and is full at six', () => {
    const of = (value: number) =>
      note(
        frameAt(
          replayOf([
            moment(1, {
              kind: 'evaluation',
              nodes: [NODES.trigger],
              window: { trigger: 'errs', key: '', value, threshold: 5, predicate: '> 5', window: '5m' },
            }),
          ]),
          { index: 0 },
        ),
        NODES.trigger,
      )
    expect(of(5)).toEqual({ text: '5 of more than 5 in 5 min', tone: 'neutral', progress: 5 / 6 })
    expect(of(6)).toMatchObject({ tone: 'waiting', progress: 1 })
  })

  it('is in the configuration of then: what is made later is not there yet', () => {
    const replay = chain()
    expect(partOf(frameAt(replay, { index: 3 }), NODES.digger)).toBeUndefined()
    expect(frameAt(replay, { index: 3 }).version.change_set).toBe(3)
    const changed = frameAt(replay, { index: 4 })
    expect(partOf(changed, NODES.digger)).toBeDefined()
    expect(changed.version.change_set).toBe(4)
  })

  it('begins a configuration with its own moment, not with others of its instant', () => {
    const replay = replayOf([
      moment(20, { nodes: [NODES.source], title: 'before the change' }),
      moment(20, { kind: 'change', phase: 'updated', change_set: 4 }),
    ])
    const { frame } = fold(replay)
    const instant = Date.parse(later(20))
    expect(frame({ index: 0, instant }).version.change_set).toBe(3)
    expect(frame({ index: 1, instant }).version.change_set).toBe(4)
  })

  it('follows runs: queued, at work with the round, then how it came out', () => {
    const replay = chain()
    const at = (index: number) => frameAt(replay, { index })
    expect(partOf(at(7), NODES.triage)).toMatchObject({ queued: 1, running: 0, today: 1 })
    expect(note(at(7), NODES.triage)).toEqual({ text: 'queued', tone: 'waiting' })
    expect(partOf(at(8), NODES.triage)).toMatchObject({ queued: 0, running: 1 })
    expect(note(at(9), NODES.triage)?.text).toBe('round 1')
    expect(note(at(10), NODES.triage)?.text).toBe('round 1, calls a tool')
    expect(note(at(11), NODES.triage)?.text).toBe('round 2')
    expect(at(11).spentUsd).toBeCloseTo(0.005)
    expect(partOf(at(12), NODES.triage)).toMatchObject({ running: 0 })
    expect(note(at(12), NODES.triage)).toEqual({ text: 'succeeded', tone: 'good' })
    // The end of a run says what all of it cost.
    expect(at(12).spentUsd).toBeCloseTo(0.006)
    expect(at(17).run).toBe('r2')
    expect(edgeOf(at(17), NODES.hands)).toMatchObject({ today: 1, last_at: later(35) })
  })

  it('shows a run that a stop cut off, and that it went on', () => {
    const of = { nodes: [NODES.triage], run_id: 'r1' }
    const replay = replayOf([
      moment(1, { ...of, kind: 'run', phase: 'running' }),
      moment(2, { ...of, kind: 'step', phase: 'model', step: 1, cost_usd: 0.002, ms: 900 }),
      moment(3, {
        ...of,
        kind: 'step',
        phase: 'model',
        step: 2,
        title: 'model call 2 began; it was cut off',
      }),
      moment(300, { ...of, kind: 'run', phase: 'resumed' }),
      moment(301, { ...of, kind: 'step', phase: 'model', step: 4, cost_usd: 0.003, ms: 900 }),
      moment(302, { ...of, kind: 'run', phase: 'succeeded', cost_usd: 0.005 }),
    ])
    const at = (index: number) => frameAt(replay, { index })
    expect(partOf(at(2), NODES.triage)).toMatchObject({ running: 1 })
    expect(note(at(3), NODES.triage)?.text).toBe('resumed after a stop')
    expect(at(4).spentUsd).toBeCloseTo(0.005)
    expect(partOf(at(5), NODES.triage)).toMatchObject({ running: 0 })
  })

  it('tells of an agent its verdict and claims once it found, and of a destination what became of a delivery', () => {
    const run = { nodes: [NODES.triage], run_id: 'r1' }
    const hook = 'destination:webhook:s1'
    const replay = replayOf([
      moment(1, { ...run, kind: 'run', phase: 'running' }),
      moment(2, {
        ...run,
        kind: 'step',
        phase: 'conclude',
        step: 1,
        title: 'triage: concluded, 1 of 2 claims holds',
      }),
      moment(3, { ...run, kind: 'run', phase: 'succeeded' }),
      moment(3, {
        ...run,
        kind: 'finding',
        phase: 'recorded',
        title: 'triage found of pay: investigate, orders fail',
      }),
      moment(4, { kind: 'delivery', phase: 'retry', nodes: [hook] }),
      moment(5, { kind: 'delivery', phase: 'failed', nodes: [hook] }),
    ])
    const at = (index: number) => frameAt(replay, { index })
    expect(note(at(3), NODES.triage)).toEqual({
      text: 'investigate, orders fail (1 of 2 claims holds)',
      tone: 'bad',
    })
    expect(note(at(4), hook)).toBeUndefined()
    expect(note(at(5), hook)).toEqual({ text: 'failed', tone: 'bad' })
  })

  it('tells of a finding that it is good where all its claims hold, or where it makes none', () => {
    const run = { nodes: [NODES.triage], run_id: 'r1' }
    const found = moment(2, {
      ...run,
      kind: 'finding',
      phase: 'recorded',
      title: 'triage found of pay: orders fail',
    })
    const ended = moment(2, { ...run, kind: 'run', phase: 'succeeded' })
    const concluded = (title: string) =>
      moment(1, { ...run, kind: 'step', phase: 'conclude', step: 1, title })
    const last = (...moments: Parameters<typeof replayOf>[0]) =>
      note(frameAt(replayOf(moments), { index: moments.length - 1 }), NODES.triage)
    expect(last(concluded('triage: concluded, 2 of 2 claims hold'), ended, found)).toEqual({
      text: 'orders fail (2 of 2 claims hold)',
      tone: 'good',
    })
    expect(last(concluded('triage: concluded'), ended, found)).toEqual({ text: 'orders fail', tone: 'good' })
  })

  it('counts nothing of the day in the replay of a result, which has its chain alone', () => {
    const moments = [moment(1, { kind: 'event', nodes: [NODES.source] })]
    const frameOf = (result: string | null) =>
      fold(replayOf(moments, { result })).frame({ index: 0, instant: Date.parse(later(1)) })
    expect(partOf(frameOf(null), NODES.source)?.today).toBe(1)
    expect(partOf(frameOf('res_1'), NODES.source)?.today).toBeNull()
    expect(partOf(frameOf('res_1'), NODES.triage)?.today).toBeNull()
    expect(edgeOf(frameOf('res_1'), NODES.wakes)?.today).toBeNull()
    // When something last came there is known of the chain itself.
    expect(partOf(frameOf('res_1'), NODES.source)?.last_at).toBe(later(1))
  })

  it('takes up what stood at the start: runs, held firings, cooldowns and counts', () => {
    const { frame } = fold(
      replayOf([], {
        start: {
          counts: { [NODES.source]: 41 },
          running: [{ run_id: 'r0', node: NODES.triage }],
          held: [{ dispatch_id: 'd0', node: NODES.trigger, phase: 'held' }],
          cooldowns: [{ node: NODES.trigger, key: 'pay', until: later(60) }],
        },
      }),
    )
    const first = frame({ index: -1, instant: Date.parse(FROM) })
    expect(partOf(first, NODES.source)?.today).toBe(41)
    expect(partOf(first, NODES.triage)?.running).toBe(1)
    expect(note(first, NODES.trigger)?.text).toMatch(/^held · cooldown until/)
    expect(first.marks.lit.size).toBe(0)
    // A cooldown ends by the clock alone.
    const ended = frame({ index: -1, instant: Date.parse(later(61)) })
    expect(note(ended, NODES.trigger)?.text).toBe('held')
    expect(ended.cooldowns).toEqual([])
  })

  it('drops a window once everything in it is too old to count', () => {
    const { frame } = fold(chain())
    expect(note(frame({ index: 1, instant: Date.parse(later(600)) }), NODES.trigger)).toBeDefined()
    expect(note(frame({ index: 1, instant: Date.parse(later(602)) }), NODES.trigger)).toBeUndefined()
  })

  it('counts since midnight UTC, and leaves practice out of every total', () => {
    const midnight = 12 * 3_600
    const queued: Partial<ReplayMoment> = { kind: 'run', phase: 'queued', nodes: [NODES.triage] }
    const replay = replayOf(
      [
        moment(1, { ...queued, run_id: 'a' }),
        moment(2, { ...queued, run_id: 'b', practice: true }),
        moment(3, {
          kind: 'step',
          phase: 'model',
          run_id: 'b',
          cost_usd: 1,
          practice: true,
          nodes: [NODES.triage],
        }),
        moment(midnight + 1, { ...queued, run_id: 'c' }),
      ],
      { to: later(midnight + 60) },
    )
    const { frame } = fold(replay)
    const today = (index: number, seconds: number) =>
      partOf(frame({ index, instant: Date.parse(later(seconds)) }), NODES.triage)?.today
    expect(today(2, 3)).toBe(1)
    expect(today(2, midnight)).toBe(0)
    expect(today(3, midnight + 1)).toBe(1)
    expect(frame({ index: 2, instant: Date.parse(later(3)) }).spentUsd).toBe(0)
  })

  it('shows what was paused, until it is resumed', () => {
    const state = (phase: string) => moment(5, { kind: 'state', phase, nodes: [NODES.trigger] })
    const { frame } = fold(replayOf([state('paused'), state('resumed')]))
    const at = (index: number) =>
      partOf(frame({ index, instant: Date.parse(later(5)) }), NODES.trigger)?.state
    expect([at(-1), at(0), at(1)]).toEqual(['active', 'paused', 'active'])
  })
})

describe('going about in a replay', () => {
  it('gives the same frame whichever way one came: steps ahead, steps back, jumps', () => {
    const replay = long(1_000)
    const instant = (index: number) => Date.parse(replay.moments[index]?.at ?? replay.from)
    const alone = (index: number) => seen(frameAt(replay, { index }))
    const walked = fold(replay)
    const ahead: string[] = []
    for (let i = -1; i < 1_000; i++) ahead.push(seen(walked.frame({ index: i, instant: instant(i) })))
    for (let i = 999; i >= -1; i -= 7)
      expect(seen(walked.frame({ index: i, instant: instant(i) }))).toBe(ahead[i + 1])
    const jumped = fold(replay)
    for (const i of [700, 3, 999, 127, 128, 129, 255, -1, 512, 511, 999])
      expect(seen(jumped.frame({ index: i, instant: instant(i) }))).toBe(ahead[i + 1])
    for (const i of [-1, 0, 127, 128, 500, 999]) expect(alone(i)).toBe(ahead[i + 1])
  })

  it('folds at most a stride for a step back, so that 5,000 moments scrub', () => {
    const replay = long(5_000)
    const applied = new Set<number>()
    const watched = {
      ...replay,
      moments: new Proxy(replay.moments, {
        get: (of, name, self) => {
          if (typeof name === 'string' && /^\d+$/.test(name)) applied.add(Number(name))
          return Reflect.get(of, name, self)
        },
      }),
    }
    const { frame } = fold(watched)
    frame({ index: 4_999, instant: Date.parse(replay.to) })
    for (const to of [4_998, 2_500, 2_501, 10, 4_000]) {
      applied.clear()
      frame({ index: to, instant: Date.parse(replay.moments[to]!.at) })
      expect(applied.size).toBeLessThanOrEqual(129)
    }
  })

  it('keeps the objects of parts that did not change, so that they are not drawn again', () => {
    const { frame } = fold(chain())
    const one = frame({ index: 0, instant: Date.parse(later(1)) })
    const two = frame({ index: 1, instant: Date.parse(later(1)) })
    expect(partOf(two, NODES.triage)).toBe(partOf(one, NODES.triage))
  })

  it('finds the last moment of an instant', () => {
    const replay = chain()
    expect(placeAt(replay, Date.parse(later(0))).index).toBe(-1)
    expect(placeAt(replay, Date.parse(later(1))).index).toBe(1)
    expect(placeAt(replay, Date.parse(later(29.9))).index).toBe(4)
    expect(placeAt(replay, Date.parse(later(9_999))).index).toBe(replay.moments.length - 1)
  })

  it('names what a moment lights and the graph of then lacks; the rest is in the graph', () => {
    const replay = chain()
    const gone = replayOf([
      ...replay.moments,
      moment(50, { nodes: ['agent:gone', NODES.triage], edges: ['wakes:x>gone'] }),
    ])
    for (const of of [replay, gone, long(600)])
      of.moments.forEach(({ nodes, edges }, index) => {
        const frame = frameAt(of, { index })
        const known = new Set([...frame.graph.nodes, ...frame.graph.edges].map(({ id }) => id))
        const [there, lacks] = [[...nodes, ...edges].filter((id) => known.has(id)), frame.missing]
        expect([...there, ...lacks].sort()).toEqual([...nodes, ...edges].sort())
        expect([...frame.marks.lit]).toEqual(there)
      })
    expect(frameAt(gone, { index: gone.moments.length - 1 }).missing).toEqual(['agent:gone', 'wakes:x>gone'])
  })
})

describe('pages of a replay', () => {
  it('become one: what both tell once, versions once, numbered through', () => {
    const whole = chain()
    const cut = 6
    const first = { ...whole, moments: whole.moments.slice(0, cut), next_from: later(30), to: later(30) }
    const gap = { kind: 'truncated', from: later(30), to: later(600), message: 'more' } as const
    const second = {
      ...whole,
      from: later(30),
      versions: [{ ...VERSIONS[1]!, graph: graph([], []) }],
      moments: whole.moments.slice(cut - 1).map((one, i) => ({ ...one, n: i + 1 })),
    }
    const merged = mergePages([{ ...first, gaps: [gap] }, second])
    expect(merged.moments).toEqual(whole.moments)
    expect(merged.versions).toEqual(VERSIONS)
    expect(merged).toMatchObject({ from: FROM, to: later(600), next_from: null, gaps: [] })
    expect(mergePages([{ ...first, gaps: [gap] }]).gaps).toEqual([gap])
  })
})
