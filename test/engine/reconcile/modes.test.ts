/** `sync` of a part: what becomes of an edit by hand where a repository is followed. Real git, an engine in memory. */
import { afterEach, describe, expect, it } from 'vitest'
import { createEngine } from '../../../engine/local.ts'
import type { CatalogSync, CatalogSyncAsk } from '../../../schemas/types.ts'
import { type GitWorld, gitWorld } from './git-world.ts'

const MARIA = { caller: { id: 'key:0a1b2c3d', name: 'maria' }, origin: 'console' as const }
const opened: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

const shop = (sync: string, threshold = 5, cooldown = '5m', more = '') => `catalog: shop
sources:
  - { name: gateway, connector: webhook }
triggers:
  - name: errors
    sources: [gateway]
    condition: { aggregate: count, predicate: "> ${threshold}", window: 5m }
    cooldown: ${cooldown}
    ${sync === '' ? '' : `sync: ${sync}`}
  - name: other
    sources: [gateway]
    condition: { aggregate: count, predicate: "> 1", window: 5m }
${more}`

async function open(sync: string, policy: 'manual' | 'auto' | 'auto-prune' = 'auto') {
  const git: GitWorld = gitWorld()
  opened.push(() => git.remove())
  const clock = { at: Date.parse('2026-11-20T12:00:00Z'), now: () => clock.at }
  const repository = git.repository({ policy })
  const engine = createEngine({ dataFile: null, clock, env: process.env, repository })
  opened.push(() => engine.close())
  const look = (asked: CatalogSyncAsk = {}): Promise<CatalogSync> => engine.syncCatalog(asked, MARIA)
  git.commit({ 'shop.yaml': shop(sync) }, 'the shop')
  await look({ apply: true })
  const edit = async (name: string, spec: { cooldown: string }) =>
    engine.applyChangeSet({ operations: [{ op: 'patch', kind: 'trigger', name, spec }] }, MARIA)
  const trigger = async (name = 'errors') => {
    const { cooldown, condition } = await engine.getTrigger(name)
    return `${(condition as { predicate: string }).predicate}, ${cooldown}`
  }
  const outcomes = async () =>
    (await engine.catalogSyncHistory()).entries.map(({ outcome }) => outcome).reverse()
  return { git, engine, look, edit, trigger, outcomes }
}

describe('a part that is changed by hand', () => {
  it('is healed under auto where it says enforce, or nothing', async () => {
    for (const sync of ['enforce', '']) {
      const { look, edit, trigger, outcomes } = await open(sync)
      await edit('errors', { cooldown: '1h' })
      expect(await look()).toMatchObject({ state: 'synced', counts: { drifted: 0, adopted: 0 } })
      expect(await trigger()).toBe('> 5, 5m')
      expect(await outcomes()).toEqual(['applied', 'drifted', 'applied'])
    }
  })

  it('stays and is told as drift, once, where it says warn', async () => {
    const { look, edit, trigger, outcomes, engine } = await open('warn')
    await edit('errors', { cooldown: '1h' })
    const told = {
      ...{ state: 'out_of_sync', code: 'drifted' },
      reason: 'changed by hand, and kept by sync: warn: trigger errors',
      counts: { synced: 2, out_of_sync: 0, drifted: 1, adopted: 0 },
      parts: [{ name: 'errors', state: 'drifted', sync: 'warn', edited: ['/cooldown'] }],
      plan: { updates: 0 },
    }
    expect(await look()).toMatchObject(told)
    expect(await look()).toMatchObject(told)
    expect(await trigger()).toBe('> 5, 1h')
    expect(await outcomes()).toEqual(['applied', 'drifted'])
    const events = await engine.sourceEvents('catalog', 10)
    expect(events.filter(({ event_type }) => event_type === 'drifted')).toHaveLength(1)
    await edit('errors', { cooldown: '5m' })
    expect(await look()).toMatchObject({ state: 'synced', code: null, counts: { drifted: 0 } })
  })

  it('heals the others, where only one says warn', async () => {
    const { look, edit, trigger } = await open('warn')
    await edit('errors', { cooldown: '1h' })
    await edit('other', { cooldown: '2h' })
    await look()
    expect([await trigger(), await trigger('other')]).toEqual(['> 5, 1h', '> 1, 5m'])
    expect(await look()).toMatchObject({ code: 'drifted', counts: { drifted: 1 } })
  })

  it('takes what a new commit changes with warn, and keeps its own of the rest', async () => {
    const { git, look, edit, trigger } = await open('warn')
    await edit('errors', { cooldown: '1h' })
    const next = git.commit({ 'shop.yaml': shop('warn', 9) }, 'nine')
    expect(await look()).toMatchObject({ applied: { id: next } })
    expect(await trigger()).toBe('> 9, 1h')
    expect(await look()).toMatchObject({ code: 'drifted', applied: { id: next } })
    git.commit({ 'shop.yaml': shop('warn', 9, '30m') }, 'both changed it')
    expect(await look()).toMatchObject({ state: 'synced' })
    expect(await trigger()).toBe('> 9, 30m')
  })

  it('is healed with warn when a person applies that, and only planned by a look', async () => {
    const { look, edit, trigger } = await open('warn')
    await edit('errors', { cooldown: '1h' })
    const planned = await look({ heal: true })
    expect(planned).toMatchObject({ state: 'out_of_sync', code: 'drifted', plan: { updates: 1 } })
    expect(await trigger()).toBe('> 5, 1h')
    const healed = await look({ heal: true, apply: true, fingerprint: planned.fingerprint! })
    expect(healed).toMatchObject({ state: 'synced' })
    expect(await trigger()).toBe('> 5, 5m')
  })

  it('stays with adopt, is listed, and wins over what a commit changes of the same field', async () => {
    const { git, look, edit, trigger, outcomes } = await open('adopt')
    await edit('errors', { cooldown: '1h' })
    const told = {
      ...{ state: 'synced', code: null },
      counts: { synced: 2, drifted: 0, adopted: 1 },
      parts: [{ name: 'errors', state: 'adopted', edited: ['/cooldown'] }],
      files: [{ state: 'synced' }],
    }
    expect(await look()).toMatchObject(told)
    const next = git.commit({ 'shop.yaml': shop('adopt', 9, '30m') }, 'both')
    await look()
    expect(await look()).toMatchObject({ ...told, applied: { id: next } })
    expect(await trigger()).toBe('> 9, 1h')
    expect(await outcomes()).toEqual(['applied', 'applied'])
  })

  it('with a file that says what it has it is synced again', async () => {
    const { git, look, edit } = await open('adopt')
    await edit('errors', { cooldown: '1h' })
    await look()
    git.commit({ 'shop.yaml': shop('adopt', 5, '1h') }, 'as it is')
    expect(await look()).toMatchObject({ state: 'synced', counts: { adopted: 0 }, parts: [] })
  })

  it('with the policy manual it is in no plan, and the rest is', async () => {
    const { look, edit } = await open('adopt', 'manual')
    await edit('errors', { cooldown: '1h' })
    await edit('other', { cooldown: '2h' })
    const { plan } = await look()
    expect(plan!.changes.map(({ name }) => name)).toEqual(['other'])
  })

  it('is made again where it was deleted by hand, since others may need it', async () => {
    const { engine, look } = await open('adopt')
    await engine.deleteTrigger('errors', MARIA)
    await look()
    expect((await engine.listTriggers()).map(({ name }) => name).sort()).toContain('errors')
  })

  it('keeps its mode over exports and edits, and loses it with its line', async () => {
    const { git, engine, look, edit } = await open('warn')
    await edit('errors', { cooldown: '1h' })
    expect(await engine.exportCatalog()).toContain('sync: warn')
    git.commit({ 'shop.yaml': shop('', 5) }, 'as the policy says')
    await look()
    expect(await engine.exportCatalog()).not.toContain('sync:')
    expect(await look()).toMatchObject({ state: 'synced', counts: { drifted: 0 } })
  })

  it('is a problem where its mode is none', async () => {
    const { engine } = await open('warn')
    const { problems } = await engine.checkCatalog({ yaml: shop('maybe') })
    expect(problems).toMatchObject([
      { line: 9, message: expect.stringContaining('sync must be one of enforce, warn, adopt') },
    ])
  })
})
