/**
 * Random histories of snoozes and maintenance: whatever people do in whatever order, a firing is told once or held back, an
 * open incident's newest firing is told, and what maintenance snoozed is snoozed until the end of a window that lasts.
 */
import { expect, it } from 'vitest'
import type { SvcError } from '../../../engine/errors.ts'
import { random } from '../log/store/store-harness.ts'
import { BY, MINUTE, openWorld, type World } from '../triggers/trigger-world.ts'

const MARA = { by: 'mara', via: 'console' } as const
const SERVICES = ['checkout', 'search'] as const
/** More in a run by hand, as with `HISTORIES=2500`. */
const HISTORIES = Number(process.env.HISTORIES ?? 15)
const STEPS = 60

type Act = (world: World, pick: Pick) => Promise<unknown>
/** One of a list, or a whole number from 1. */
interface Pick {
  of: <T>(list: readonly T[]) => T
  upTo: (max: number) => number
}

const later = ({ clock }: World, minutes: number): string =>
  new Date(clock.at + minutes * MINUTE).toISOString()

const onIncident =
  (action: 'acknowledge' | 'handle' | 'snooze' | 'unsnooze'): Act =>
  async (world, { of, upTo }) => {
    const { incidents } = await world.engine.listIncidents({ state: 'active', limit: 10 }, null)
    if (incidents.length === 0) return
    const until = of([null, later(world, upTo(90))])
    await world.engine.actOnIncident(
      of(incidents).id,
      action === 'snooze' ? { action, until } : { action },
      MARA,
    )
  }

const fire: Act = (world, { of }) =>
  world.post({ service: of(SERVICES), msg: 'POST /orders 503', sev: of(['info', 'warning', 'critical']) })
const plan: Act = (world, { of, upTo }) => {
  const from = of([0, upTo(60)])
  const scope = of([{ triggers: ['t'] }, { entities: [`service=${of(SERVICES)}`] }])
  const times = of([
    { from: later(world, from), until: later(world, from + upTo(120)) },
    { repeat: { cron: `${upTo(60) - 1} * * * *` }, for: `${upTo(59)}m` },
  ])
  return world.engine.createMaintenance({ reason: 'Upgrade', ...scope, ...times }, MARA)
}
const onWindow =
  (act: (world: World, id: string, pick: Pick) => Promise<unknown>): Act =>
  async (world, pick) => {
    const { windows } = await world.engine.listMaintenance()
    if (windows.length > 0) await act(world, pick.of(windows).id, pick)
  }
const ACTS: readonly Act[] = [
  ...[fire, fire, fire, plan, plan],
  async (world, { upTo }) => world.pass(upTo(60) * MINUTE),
  async (world, { upTo }) => world.pass(upTo(60) * MINUTE),
  ...(['acknowledge', 'handle', 'snooze', 'unsnooze'] as const).map(onIncident),
  onWindow((world, id, { of }) => world.engine.endMaintenance(id, of([true, false]), MARA)),
  onWindow((world, id, { upTo }) => world.engine.setMaintenanceEnd(id, later(world, upTo(90)), MARA)),
]

function numbersOf(seed: number): Pick {
  const next = random(seed)
  const upTo = (max: number): number => 1 + Math.floor(next() * max)
  return { of: (list) => list[upTo(list.length) - 1]!, upTo }
}

async function check(world: World): Promise<void> {
  const { engine } = world
  const { windows } = await engine.listMaintenance('active')
  const { firings } = await engine.listFirings({ limit: 200 })
  const { incidents } = await engine.listIncidents({ state: 'active', limit: 10 }, null)
  for (const { suppressed_by, subscribers } of firings)
    expect(subscribers).toBe(suppressed_by === null ? 1 : 0)
  for (const { id, state, snoozed } of incidents) {
    if (state === 'open') expect(firings.find(({ incident }) => incident === id)!.suppressed_by).toBe(null)
    if (snoozed?.maintenance)
      expect(windows).toContainEqual(
        expect.objectContaining({ id: snoozed.maintenance, until: snoozed.until }),
      )
  }
}

it.each(Array.from({ length: HISTORIES }, (_, seed) => seed))('history %i', async (seed) => {
  const world = await openWorld()
  const { engine, clock } = world
  await world.trigger({ condition: { event: 'any' }, cooldown: '1m', severity_field: 'payload.sev' })
  await engine.subscribe({ trigger: 't' }, { url: null, name: 'hook', audience: 'operator' }, BY.caller)
  const pick = numbersOf(seed)
  for (let step = 0; step < STEPS; step++) {
    // An act that the state does not take is refused, and changes nothing.
    await pick
      .of(ACTS)(world, pick)
      .catch((error: SvcError) => {
        if (!['wrong_state', 'invalid'].includes(error.code)) throw error
      })
    clock.at++
    world.pass(0)
    await check(world)
  }
})
