/** Bursts that are open while something else happens to their trigger, or to the daemon. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { BY, MINUTE, openWorld } from './trigger-world.ts'

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
