/**
 * Alerts that come up, repeat, end, come late or out of order, over several keys, against a model that reads the whole
 * history anew for each event: which firings there are, of which events, and when each key is over.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Decision } from '../../../../engine/triggers/types.ts'
import { CoreWorld, definitionOf, type Made, T0 } from './core-world.ts'

const COOLDOWN = 60_000
const MAX_LATE = 300_000
const RANKS: Readonly<Record<string, number>> = { info: 1, warning: 2, critical: 3 }

type Step = { made: Made & { at: number }; next: 'go on' | 'commit' | 'restart' | 'reset' }
type Told = ['fired' | 'over', key: string, at: number, events: number[]]

const history = fc
  .array(
    fc.record({
      gap: fc.oneof(fc.constant(0), fc.integer({ max: 40_000, min: 0 }), fc.constant(COOLDOWN)),
      lag: fc.oneof(
        { weight: 5, arbitrary: fc.constant(0) },
        { weight: 2, arbitrary: fc.integer({ min: -5_000, max: 90_000 }) },
        { weight: 1, arbitrary: fc.constant(MAX_LATE + 1) },
      ),
      key: fc.constantFrom('a', 'b'),
      type: fc.constantFrom('disk', 'slow', 'down'),
      state: fc.constantFrom('on', 'on', 'over', 'seen'),
      severity: fc.constantFrom('info', 'warning', 'critical'),
      bypass: fc.oneof(
        { weight: 9, arbitrary: fc.constant(false) },
        { weight: 1, arbitrary: fc.constant(true) },
      ),
      next: fc.constantFrom<Step['next'][]>('go on', 'go on', 'commit', 'restart', 'reset'),
    }),
    { minLength: 1, maxLength: 50 },
  )
  .map((entries) => {
    let at = 0
    return entries.map(({ gap, lag, key, type, state, severity, bypass, next }): Step => {
      at += gap
      return { made: { ts: at - lag, at, type, bypass, labels: { service: key, state, severity } }, next }
    })
  })

const ids = (events: readonly { id: number }[]) =>
  [...new Set(events.map(({ id }) => id))].sort((a, b) => a - b)

/** What is told, worked out from all there was; nothing is remembered but what was told. */
function modelled(made: readonly Made[], isRanked: boolean, until: number): Told[] {
  const events = made.map(({ ts, at = ts, labels, type, bypass }, n) => {
    const { service = '', state, severity = '' } = labels!
    return { id: n + 1, ts, at, key: service, type: type!, state, rank: RANKS[severity]!, bypass }
  })
  const told: { is: Told[0]; key: string; at: number; after: number; rank: number; events: number[] }[] = []
  const isOn = ({ state, at, ts }: (typeof events)[number]) => state === 'on' && at - ts <= MAX_LATE
  /** Events of each alert that is on once the event of this number was stored, since it began. */
  const onAt = (key: string, through: number) => {
    const alerts = new Map<string, typeof events>()
    for (const event of events.slice(0, through)) {
      const { type, state, ts } = event
      if (event.key !== key) continue
      const since = alerts.get(type) ?? []
      if (isOn(event)) alerts.set(type, [...since, event])
      else if (state === 'over' && since.every((one) => one.ts <= ts)) alerts.delete(type)
    }
    return [...alerts.values()]
  }
  const lastOf = (key: string) => told.findLast((one) => one.key === key && one.is === 'fired')
  const untold = (key: string, through: number) =>
    onAt(key, through)
      .filter(
        ([began]) => !told.some((one) => one.is === 'fired' && one.key === key && one.after >= began!.id),
      )
      .map((alert) => alert.at(-1)!)
  const tellDue = (through: number, now: number) => {
    const due = [...new Set(events.map(({ key }) => key))]
      .map((key) => ({ key, at: (lastOf(key)?.at ?? 0) + COOLDOWN, waiting: untold(key, through) }))
      .filter(({ at, waiting }) => waiting.length > 0 && at <= now)
    for (const { key, at, waiting } of due.sort((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1))) {
      const rank = Math.max(...waiting.map((one) => one.rank))
      told.push({ is: 'fired', key, at, after: through, rank, events: ids(waiting) })
    }
  }
  for (const event of events) {
    const { id, key, at, rank, bypass } = event
    tellDue(id - 1, at)
    const last = lastOf(key)
    if (isOn(event)) {
      const waits = last && at < last.at + COOLDOWN && !(isRanked && rank > last.rank) && !bypass
      if (waits) continue
      told.push({ is: 'fired', key, at, after: id, rank, events: ids([...untold(key, id), event]) })
    } else if (event.state === 'over') {
      const wasOver = told.findLast((one) => one.key === key)?.is !== 'fired'
      if (wasOver || onAt(key, id - 1).length === 0 || onAt(key, id).length > 0) continue
      told.push({ is: 'over', key, at, after: id, rank: 0, events: [id] })
    }
  }
  tellDue(events.length, until)
  return told.map(({ is, key, at, events }) => [is, key, at, events])
}

function judged(steps: readonly Step[], isRanked: boolean, until: number): Told[] {
  const where = (value: string) => [{ field: 'state', op: 'eq' as const, value }]
  const world = new CoreWorld(
    definitionOf({
      filters: where('on'),
      cooldown: '60s',
      max_late: '5m',
      ...(isRanked ? { severity_field: 'severity' } : {}),
      condition: { event: 'any', resolve: { filters: where('over') } },
    }),
  )
  const told: Told[] = []
  const note = (decisions: readonly Decision[]) => {
    for (const decision of decisions) {
      if (decision.do === 'fire') {
        const { key, at, eventIds } = decision.crossing
        told.push(['fired', key, at - T0, eventIds])
      } else if (decision.do === 'resolve')
        told.push(['over', decision.key, decision.at - T0, decision.eventIds])
    }
  }
  for (const { made, next } of steps) {
    // A daemon is awake: what is due happens when it is.
    note(world.pass(made.at - 1))
    note(world.post(made))
    if (next === 'commit') world.commit()
    else if (next === 'restart') world.restart(made.at)
    else if (next === 'reset') world.evaluator.reset()
  }
  note(world.pass(until))
  return told
}

it.each([false, true])(
  'alerts are told and over as a model of the whole history says, severity %s',
  (isRanked) => {
    fc.assert(
      fc.property(history, (steps) => {
        const until = steps.at(-1)!.made.at + 2 * COOLDOWN
        const made = steps.map((step) => step.made)
        expect(judged(steps, isRanked, until)).toEqual(modelled(made, isRanked, until))
      }),
      { numRuns: 150 },
    )
  },
)
