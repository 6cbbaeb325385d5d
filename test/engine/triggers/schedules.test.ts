/** Schedules whose trigger is away for a while. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { BY, MINUTE, openWorld, type World } from './trigger-world.ts'

const HOURLY = { condition: { cron: '0 * * * *' } } as const
const newest = async ({ engine }: World) => (await engine.listChangeSets({ limit: 1 })).change_sets[0]!.id
const fired = async ({ firings }: World) =>
  (await firings()).map(({ fired_at, late_by }) => [fired_at, late_by])

it('one that comes back by an undo makes up for nothing: nobody was down', async () => {
  const world = await openWorld()
  const { engine, trigger, pass } = world
  await trigger(HOURLY)
  pass(70 * MINUTE)
  await engine.deleteTrigger('t', BY)
  pass(600 * MINUTE)
  await engine.undoChangeSet(await newest(world), false, BY)
  pass(MINUTE)
  expect(await fired(world)).toEqual([['2026-11-20T13:00:00.000Z', null]])
  pass(50 * MINUTE)
  expect(await fired(world)).toEqual([
    ['2026-11-20T13:00:00.000Z', null],
    ['2026-11-21T00:00:00.000Z', null],
  ])
})

it('the same where the daemon was killed just after the delete', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-schedules-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const dataFile = join(folder, 'svc.db')
  const before = await openWorld({ dataFile })
  await before.trigger(HOURLY)
  before.pass(MINUTE)
  await before.engine.deleteTrigger('t', BY)
  await before.engine.close()
  const world = await openWorld({ dataFile, clock: before.clock })
  world.pass(120 * MINUTE)
  await world.engine.undoChangeSet(await newest(world), false, BY)
  world.pass(MINUTE)
  expect(await fired(world)).toEqual([])
  await world.engine.close()
})
