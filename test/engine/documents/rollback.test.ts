import { describe, expect, it } from 'vitest'
import { createEngine } from '../../../engine/local.ts'

const BY = { caller: { id: 'key:1', name: 'maria' }, origin: 'api' as const }
const condition = { aggregate: 'count' as const, predicate: '> 5', window: '5m' }

async function open() {
  const engine = createEngine({ dataFile: null, clock: { now: () => 1_800_000_000_000 } })
  await engine.createSource({ name: 's', connector: 'webhook' }, BY, false)
  await engine.createTrigger({ name: 't', sources: ['s'], condition }, BY)
  const { version: id } = await engine.listChangeSets({ limit: 1 })
  return { engine, id, declared: () => engine.exportCatalog() }
}

describe('rolling back', () => {
  it('takes everything back to how it was right after a change-set, by one more that can be undone', async () => {
    const { engine, id, declared } = await open()
    const before = await declared()
    await engine.updateTrigger('t', { name: 't', sources: ['s'], condition, cooldown: '1h' }, BY)
    await engine.createTrigger({ name: 'new', sources: ['s'], condition }, BY)
    await engine.deleteSource('s', { cascade: true, purgeEvents: false }, BY)
    const after = await declared()
    const applied = await engine.rollBack(id, { dryRun: false }, BY)
    expect(await declared()).toBe(before)
    expect((await engine.getChangeSet(applied.change_set!)).why).toBe(`roll back to change-set ${id}`)
    await engine.undoChangeSet(applied.change_set!, false, BY)
    expect(await declared()).toBe(after)
  })

  it('only plans with dry_run', async () => {
    const { engine, id, declared } = await open()
    await engine.moveTrigger('t', 'pause', BY)
    const before = await declared()
    const { plan, change_set } = await engine.rollBack(id, { dryRun: true }, BY)
    expect([plan.updates, change_set, await declared()]).toEqual([1, null, before])
  })

  it('leaves what other projects use alone when it is of one project', async () => {
    const { engine, declared } = await open()
    await engine.createProject(
      { template: 'custom', name: 'Shop', objects: [{ kind: 'trigger', name: 't' }] },
      BY,
    )
    await engine.createTrigger({ name: 'other', sources: ['s'], condition }, BY)
    const { version } = await engine.listChangeSets({ limit: 1 })
    const before = await declared()
    await engine.updateTrigger('t', { name: 't', sources: ['s'], condition, cooldown: '1h' }, BY)
    await engine.updateTrigger('other', { name: 'other', sources: ['s'], condition, cooldown: '2h' }, BY)
    await engine.rollBack(version, { project: 'Shop', dryRun: false }, BY)
    expect((await engine.getTrigger('t')).cooldown).toBe('5m')
    expect((await engine.getTrigger('other')).cooldown).toBe('2h')
    expect(await declared()).not.toBe(before)
  })

  it('is refused for a change-set that is not there', async () => {
    const { engine } = await open()
    await expect(engine.rollBack(99, { dryRun: false }, BY)).rejects.toThrow('no change-set has the id 99')
  })
})
