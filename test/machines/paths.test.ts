/** Paths generated over the machines, and random ones. */
import { array, assert, constantFrom, integer, property, record } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { getShortestPaths, getSimplePaths } from 'xstate/graph'
import { type Kind, lifecycles } from '../../machines/index.ts'
import { accepts, begin, eventsOf, type LifecycleEvent, type Snapshot, step } from '../../machines/step.ts'

const NOW = 7
const kinds = Object.keys(lifecycles) as Kind[]

/** What a new object brings, and the payloads that lead to different states. */
const inputs: Partial<Record<Kind, Record<string, unknown>[]>> = {
  run: [{ max_rounds: 2 }],
  delivery: [{ max_tries: 2 }],
  handoff: [{}, { depth: 2 }, { depth: 3 }],
}
const payloads: Record<string, Record<string, unknown>[]> = {
  edit: [{ problems: 0 }, { problems: 1 }],
  retry: [{ due_at: 7 }],
  claim: [{ at: 7 }],
  snooze: [{}, { until: 7 }],
  wake: [{ at: 7 }],
  fire: [{}, { rises: true }],
  decide: [{ at: 7 }, { at: 7, cooldown_until: 9 }, { at: 7, is_target_busy: true }],
}
const eventsWithPayloads = (kind: Kind): LifecycleEvent[] =>
  eventsOf(lifecycles[kind]).flatMap((type) =>
    (payloads[type] ?? [{}]).map((brought) => ({ type, ...brought })),
  )

interface Path {
  input: Record<string, unknown> | undefined
  to: string
  /** Each event with the state it led to. */
  steps: { event: LifecycleEvent; state: { value: unknown; context: unknown } }[]
}

/** A count that only grows is cut, so that a machine has finitely many snapshots. */
const isFarOut = ({ context }: { context: { users?: number } }): boolean => (context.users ?? 0) > 3

function pathsOver(kind: Kind): Path[] {
  // A project has too many snapshots to walk every way that visits none twice.
  const finders = kind === 'project' ? [getShortestPaths] : [getShortestPaths, getSimplePaths]
  return finders.flatMap((find) =>
    (inputs[kind] ?? [undefined]).flatMap((input) =>
      find(lifecycles[kind].machine, {
        input,
        events: eventsWithPayloads(kind),
        stopWhen: isFarOut,
      } as never).map(({ state, steps }) => ({
        input,
        to: String(state.value),
        steps: steps
          .filter(({ event }) => event.type !== 'xstate.init')
          .map((taken) => ({ event: taken.event as LifecycleEvent, state: taken.state })),
      })),
    ),
  )
}

describe.each(kinds)('generated paths over the lifecycle of a %s', (kind) => {
  const lifecycle = lifecycles[kind]
  const paths = pathsOver(kind)
  /** Every snapshot on the paths, as stored. */
  const reachable = new Map<string, Snapshot>()
  for (const { input, steps } of paths) {
    let snapshot = begin(lifecycle, input).snapshot
    for (const { event } of [{ event: undefined }, ...steps]) {
      if (event) snapshot = step(lifecycle, stored(snapshot), event).snapshot
      reachable.set(JSON.stringify(snapshot), snapshot)
    }
  }

  it('reach every state', () => {
    expect([...new Set(paths.map(({ to }) => to))].sort()).toEqual(
      Object.keys(lifecycle.machine.states).sort(),
    )
  })

  it('are walked by step as the machine goes them, stored as JSON between any two events', () => {
    for (const { input, steps } of paths) {
      let snapshot = begin(lifecycle, input).snapshot
      for (const { event, state } of steps) {
        const result = step(lifecycle, stored(snapshot), event)
        snapshot = result.snapshot
        expect({ value: snapshot.value, context: snapshot.context }).toEqual({
          value: state.value,
          context: state.context ?? {},
        })
      }
    }
  })

  it('meet only snapshots that list exactly what they accept', () => {
    for (const snapshot of reachable.values()) {
      const listed = accepts(lifecycle, snapshot, NOW)
      for (const event of eventsWithPayloads(kind)) {
        const { accepted, snapshot: next, effects } = step(lifecycle, snapshot, { at: NOW, ...event })
        expect(accepted, `${JSON.stringify(snapshot)} ${event.type}`).toBe(listed.includes(event.type))
        if (!accepted) expect({ next, effects }).toEqual({ next: snapshot, effects: [] })
      }
    }
  })

  it('end in final states only', () => {
    for (const snapshot of reachable.values())
      expect(accepts(lifecycle, snapshot, NOW).length > 0, snapshot.value).toBe(snapshot.status === 'active')
  })

  it('take every event that a state names', () => {
    const named = Object.entries(lifecycle.machine.states).flatMap(([state, node]) =>
      Object.keys(node.on).map((type) => `${state} ${type}`),
    )
    const taken = new Set(
      [...reachable.values()].flatMap((snapshot) =>
        accepts(lifecycle, snapshot, NOW).map((type) => `${snapshot.value} ${type}`),
      ),
    )
    expect(named.filter((pair) => !taken.has(pair))).toEqual([])
  })
})

describe('random events', () => {
  const moves = (kind: Kind) => array(constantFrom(...eventsWithPayloads(kind)), { maxLength: 60 })
  /** The snapshots of a run through random events, each with what its event caused. */
  const trail = (kind: Kind, events: LifecycleEvent[], input?: Record<string, unknown>) => {
    let { snapshot, effects } = begin(lifecycles[kind], input)
    const places = [{ snapshot, effects }]
    for (const event of events) {
      ;({ snapshot, effects } = step(lifecycles[kind], stored(snapshot), event))
      places.push({ snapshot, effects })
    }
    return places
  }

  it.each(kinds)('never take a %s out of a final state, and cause nothing there', (kind) => {
    assert(
      property(moves(kind), (events) => {
        const places = trail(kind, events, inputs[kind]?.[0])
        const end = places.findIndex(({ snapshot }) => snapshot.status === 'done')
        if (end < 0) return
        for (const { snapshot, effects } of places.slice(end + 1)) {
          expect(snapshot).toEqual(places[end]!.snapshot)
          expect(effects).toEqual([])
        }
      }),
    )
  })

  const fixesIn = (effects: readonly { params: unknown }[]) =>
    effects.filter(({ params }) => JSON.stringify(params ?? null).startsWith('{"text":"Fixing ')).length

  it('never fix a plan more than three times between two plannings', () => {
    assert(
      property(moves('draft'), (events) => {
        let fixes = 0
        for (const { snapshot, effects } of trail('draft', events)) {
          if (effects.some(({ type }) => type === 'begin_again')) fixes = 0
          fixes += fixesIn(effects)
          expect(fixes).toBeLessThanOrEqual(3)
          expect(snapshot.context.fix_rounds).toBe(fixes)
        }
      }),
    )
  })

  it('never fix more than three times, however often the check finds problems', () => {
    const finding = array(constantFrom('problems', 'check', 'look'), { maxLength: 60 })
    assert(
      property(finding, (types) => {
        const events = ['write', 'check', ...types].map((type) => ({ type }))
        const fixes = trail('draft', events).reduce((sum, { effects }) => sum + fixesIn(effects), 0)
        expect(fixes).toBeLessThanOrEqual(3)
      }),
    )
  })

  it('never resume a run more than three times, nor begin more rounds than its cap', () => {
    const going = array(constantFrom('start', 'round', 'interrupted'), { maxLength: 80 })
    assert(
      property(going, integer({ min: 1, max: 24 }), (types, max_rounds) => {
        const places = trail(
          'run',
          ['start', ...types].map((type) => ({ type })),
          { max_rounds },
        )
        const count = (effect: string) =>
          places.flatMap(({ effects }) => effects).filter(({ type }) => type === effect).length
        expect(count('resume_run')).toBeLessThanOrEqual(3)
        expect(places.at(-1)!.snapshot.context.rounds).toBeLessThanOrEqual(max_rounds)
        expect(count('end_run')).toBe(places.at(-1)!.snapshot.status === 'done' ? 1 : 0)
      }),
    )
  })

  it('never try a delivery more often than its cap, unless a restart or a person asks for it', () => {
    const going = array(constantFrom('claim', 'retry', 'refuse', 'withdraw'), { maxLength: 60 })
    assert(
      property(going, integer({ min: 1, max: 9 }), (types, max_tries) => {
        const events = types.map((type) => ({ type, at: NOW, due_at: NOW }))
        const sent = trail('delivery', events, { max_tries }).flatMap(({ effects }) =>
          effects.filter(({ type }) => type === 'send'),
        )
        expect(sent.map(({ params }) => params)).toEqual(sent.map((_, index) => ({ try: index + 1 })))
        expect(sent.length).toBeLessThanOrEqual(max_tries)
      }),
    )
  })

  it('never make a chain of more than three handoffs, whatever is decided', () => {
    const decision = record({
      at: integer({ min: 0, max: 20 }),
      cooldown_until: constantFrom(null, 0, 10),
      is_target_busy: constantFrom(true, false, false),
    })
    assert(
      property(array(decision, { maxLength: 12 }), (decisions) => {
        let depth = 0
        for (const facts of decisions) {
          // The next agent of the chain proposes a handoff in its turn.
          const [, { effects }] = trail('handoff', [{ type: 'decide', ...facts }], { depth }) as [
            unknown,
            { effects: { type: string; params: unknown }[] },
          ]
          for (const { type, params } of effects)
            if (type === 'start_run') depth = (params as { depth: number }).depth
        }
        expect(depth).toBeLessThanOrEqual(3)
      }),
    )
  })
})

function stored(snapshot: Snapshot): Snapshot {
  return JSON.parse(JSON.stringify(snapshot)) as Snapshot
}
