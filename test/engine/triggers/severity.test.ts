/** What is more severe than what fired does not wait for its cooldown. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { MINUTE, openWorld, type World } from './trigger-world.ts'

const EACH = { condition: { event: 'any' }, severity_field: 'state', cooldown: '10m' } as const
const alert = (state: string | undefined, service = 'pay') => ({ service, type: 'alert', state })

const told = async (world: World) =>
  (await world.firings()).map(({ key, severity, event_ids }) => [key, severity, event_ids[0]])

describe('a trigger with severity_field', () => {
  it('fires within its cooldown for an event that is more severe than what fired, in one body, too', async () => {
    const world = await openWorld()
    await world.trigger(EACH)
    const [info, warning, again] = await world.post([alert('info'), alert('warning'), alert('warning')])
    world.clock.at += MINUTE
    const [lower, critical, last] = await world.post([alert('info'), alert('P1'), alert('critical')])
    const [other] = await world.post(alert('info', 'cart'))
    expect(await told(world)).toEqual([
      ['pay', 'info', info],
      ['pay', 'warning', warning],
      ['pay', 'critical', critical],
      ['cart', 'info', other],
    ])
    for (const id of [again, lower, last])
      expect((await world.engine.why(id!)).records).toMatchObject([{ reason: 'cooldown' }])
    // One incident, as severe as the worst of them.
    const { incidents } = await world.engine.listIncidents({ limit: 10 }, null)
    expect(incidents.map(({ key, severity, firings }) => [key, severity, firings])).toEqual([
      ['pay', 'critical', 3],
      ['cart', 'info', 1],
    ])
  })

  it('takes what says nothing as severe as the trigger, and waits without the field as ever', async () => {
    const world = await openWorld()
    await world.trigger({ ...EACH, severity: 'info' })
    await world.trigger({ name: 'plain', condition: EACH.condition, cooldown: '10m' })
    await world.post([alert('odd'), alert(undefined), alert('warning')])
    expect((await world.firings('t')).map(({ severity }) => severity)).toEqual(['info', 'warning'])
    expect(await world.firings('plain')).toHaveLength(1)
  })

  it('waits after a burst that was gathered, also after a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-severity-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const dataFile = join(folder, 'svc.db')
    const first = await openWorld({ dataFile })
    await first.trigger({ ...EACH, storm: { quiet: '30s' } })
    await first.post([alert('info'), alert('info')])
    first.pass(MINUTE)
    await first.post(alert('critical'))
    await first.engine.close()
    const world = await openWorld({ dataFile, clock: first.clock })
    await world.post(alert('critical'))
    world.pass(MINUTE)
    expect((await told(world)).map(([, severity]) => severity)).toEqual(['info'])
    await world.engine.close()
  })

  it('knows after a restart how severe what fired was', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-severity-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const dataFile = join(folder, 'svc.db')
    const first = await openWorld({ dataFile })
    await first.trigger(EACH)
    await first.post(alert('warning'))
    await first.engine.close()
    const world = await openWorld({ dataFile, clock: first.clock })
    await world.post([alert('warning'), alert('critical'), alert('critical')])
    expect((await told(world)).map(([, severity]) => severity)).toEqual(['warning', 'critical'])
    await world.engine.close()
  })

  it('does not wait after a burst that a limit held back and that was less severe', async () => {
    const world = await openWorld()
    await world.trigger({ ...EACH, storm: { limits: [{ max: 1, per: '5m' }] } })
    await world.post(alert('info', 'cart'))
    await world.post([alert('info'), alert('warning')])
    world.pass(5 * MINUTE)
    world.pass(5 * MINUTE)
    const [again, critical] = await world.post([alert('warning'), alert('critical')])
    expect((await told(world)).map(([, severity]) => severity)).toEqual(['info', 'warning', 'critical'])
    expect((await told(world)).at(-1)![2]).toBe(critical)
    expect((await world.engine.why(again!)).records).toMatchObject([{ reason: 'cooldown' }])
  })

  it('is as severe as the worst of a burst, which many others came after', async () => {
    const world = await openWorld()
    await world.trigger({ ...EACH, storm: { quiet: '30s' } })
    await world.post([alert('critical'), ...Array.from({ length: 60 }, () => alert('info'))])
    world.pass(MINUTE)
    expect((await told(world)).map(([, severity]) => severity)).toEqual(['critical'])
  })
})
