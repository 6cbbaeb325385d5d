/** Bursts that are open while something else happens to their trigger, or to the daemon. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { BY, MINUTE, openWorld, T0 } from './trigger-world.ts'

const STORM = { condition: { event: 'any' }, cooldown: '10m', storm: { quiet: '30s' } } as const
const error = { service: 'checkout', type: 'error' }

it('one that the next event releases, before the timer does, begins the cooldown of that event', async () => {
  const { engine, trigger, post, pass, clock, firings } = await openWorld()
  await trigger(STORM)
  await post([error, { ...error, service: 'pay' }])
  clock.at += 31_000
  const [event] = await post(error)
  pass(MINUTE)
  expect(await firings()).toMatchObject([{ state: 'fired', events: 2, key_count: 2 }])
  expect(await engine.why(event!)).toMatchObject({ records: [{ reason: 'cooldown' }] })
})

it('the same after a restart, which knows the keys of the burst by its rows', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bursts-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const dataFile = join(folder, 'svc.db')
  const before = await openWorld({ dataFile })
  await before.trigger(STORM)
  await before.post(error)
  await before.engine.close()
  const { post, pass, clock, firings, engine } = await openWorld({ dataFile, clock: before.clock })
  clock.at += 31_000
  await post(error)
  pass(MINUTE)
  expect(await firings()).toMatchObject([{ state: 'fired', events: 1 }])
  await engine.close()
})

it('one beside which a post asked to wake begins the cooldown where it ends, also after a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bursts-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const dataFile = join(folder, 'svc.db')
  const before = await openWorld({ dataFile })
  await before.trigger({ ...STORM, cooldown: '1m' })
  await before.post(error)
  before.pass(1_000)
  await before.post(error, { bypass: true })
  before.pass(40_000)
  expect(await before.firings()).toMatchObject([{ state: 'fired' }, { state: 'fired' }])
  await before.engine.close()
  const after = await openWorld({ dataFile, clock: before.clock })
  // A minute after the post, and half a minute after the burst.
  after.clock.at = T0 + MINUTE + 2_000
  const [event] = await after.post(error)
  expect(await after.engine.why(event!)).toMatchObject({ records: [{ reason: 'cooldown' }] })
  await after.engine.close()
})

it('one that is open while the clock is set back by a day ends, and so does the cooldown after it', async () => {
  let elapsed = 0
  const clock = { at: T0, now: () => clock.at, elapsed: () => elapsed }
  const folder = mkdtempSync(join(tmpdir(), 'svc-bursts-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const dataFile = join(folder, 'svc.db')
  const before = await openWorld({ dataFile, clock })
  const goOn = (ms: number) => {
    clock.at += ms
    elapsed += ms
  }
  await before.trigger({ ...STORM, cooldown: '1m' })
  await before.post(error)
  clock.at -= 23 * 60 * MINUTE
  // Until the clock has caught up, time goes at half the pace.
  goOn(59_000)
  before.engine.tick()
  expect(await before.firings()).toMatchObject([{ state: 'gathering' }])
  goOn(2_000)
  before.engine.tick()
  expect(await before.firings()).toMatchObject([{ state: 'fired', fired_at: '2026-11-20T12:00:30.000Z' }])
  goOn(MINUTE)
  const [early] = await before.post(error)
  expect(await before.engine.why(early!)).toMatchObject({ records: [{ reason: 'cooldown' }] })
  await before.engine.close()
  const after = await openWorld({ dataFile, clock })
  goOn(2 * MINUTE)
  await after.post(error)
  goOn(MINUTE)
  after.engine.tick()
  expect(await after.firings()).toMatchObject([{ state: 'fired' }, { state: 'fired' }])
  await after.engine.close()
})

it('one whose trigger is given another name meanwhile is told under that name', async () => {
  const { engine, trigger, post, pass, firings } = await openWorld()
  await trigger(STORM)
  await post(error)
  await engine.renamePart('trigger', 't', 'renamed', BY)
  await post(error)
  pass(MINUTE)
  expect(await firings()).toMatchObject([{ trigger: 'renamed', state: 'fired', events: 2 }])
  expect((await engine.listIncidents({ limit: 10 }, null)).incidents).toMatchObject([{ trigger: 'renamed' }])
})

it('one whose trigger was deleted just before the daemon was killed is let pass by the next start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bursts-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const dataFile = join(folder, 'svc.db')
  const before = await openWorld({ dataFile })
  await before.trigger(STORM)
  await before.post(error)
  await before.engine.deleteTrigger('t', BY)
  await before.engine.close()
  const { pass, firings, engine } = await openWorld({ dataFile, clock: before.clock })
  pass(MINUTE)
  expect((await firings()).map(({ state }) => state)).toEqual(['dropped'])
  await engine.close()
})
