/** Which repository is followed: that of the environment, else the one that was stored. Real git, an engine in memory. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createEngine } from '../../../engine/local.ts'
import type { Repository, RepositoryHome } from '../../../engine/reconcile/git.ts'
import { gitWorld, SHOP, TRIGGER } from './git-world.ts'

const MARIA = { caller: { id: 'key:0a1b2c3d', name: 'maria' }, origin: 'console' as const }
const opened: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

function git() {
  const made = gitWorld()
  opened.push(() => made.remove())
  made.commit({ 'shop.yaml': SHOP() }, 'the shop')
  return made
}

function open(
  over: { repository?: Repository; repositoryHome?: RepositoryHome | null; dataFile?: string } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-mirror-'))
  opened.push(() => rmSync(folder, { recursive: true, force: true }))
  const repositoryHome = { folder, instance: 'test', environment: null, sshKey: null, pushSecret: null }
  const clock = { now: () => Date.parse('2026-11-20T12:00:00Z') }
  const engine = createEngine({ dataFile: null, clock, env: process.env, repositoryHome, ...over })
  let isOpen = true
  const close = async () => {
    if (isOpen) await engine.close()
    isOpen = false
  }
  opened.push(close)
  return { engine, close, names: async () => (await engine.listTriggers()).map(({ name }) => name) }
}

describe('a repository that is stored', () => {
  it('is followed at once, and by the next start', async () => {
    const repository = git()
    const folder = mkdtempSync(join(tmpdir(), 'svc-data-'))
    opened.push(() => rmSync(folder, { recursive: true, force: true }))
    const dataFile = join(folder, 'svc.db')
    const one = open({ dataFile })
    await expect(one.engine.syncCatalog({}, MARIA)).rejects.toThrow('no repository is followed')
    const told = await one.engine.followCatalogRepository({ address: repository.bare, policy: 'auto' })
    expect(told).toMatchObject({
      state: 'following',
      repository: { address: repository.bare, ref: 'main', policy: 'auto', interval_seconds: 180 },
    })
    expect(await one.engine.syncCatalog({}, MARIA)).toMatchObject({ state: 'synced' })
    expect(await one.names()).toEqual(['gateway-errors'])
    await one.close()
    const again = open({ dataFile })
    const next = repository.commit({ 'shop.yaml': SHOP(9) }, 'nine')
    expect(await again.engine.syncCatalog({}, MARIA)).toMatchObject({
      state: 'synced',
      applied: { id: next },
    })
  })

  it('gives way to another, whose looks begin anew, and is left with all that it brought', async () => {
    const [first, second] = [git(), git()]
    const { engine, names } = open()
    await engine.followCatalogRepository({ address: first.bare, policy: 'auto' })
    await engine.syncCatalog({}, MARIA)
    second.commit({ 'shop.yaml': SHOP(7) }, 'seven')
    const told = await engine.followCatalogRepository({ address: second.bare })
    expect(told).toMatchObject({
      state: 'following',
      applied: null,
      head: null,
      repository: { policy: 'manual' },
    })
    expect(await engine.syncCatalog({}, MARIA)).toMatchObject({ state: 'out_of_sync', plan: { updates: 1 } })
    expect(await engine.leaveCatalogRepository()).toMatchObject({ state: 'off', repository: null })
    await expect(engine.syncCatalog({}, MARIA)).rejects.toThrow('no repository is followed')
    await expect(engine.leaveCatalogRepository()).rejects.toMatchObject({ code: 'not_found' })
    expect(await names()).toEqual(['gateway-errors'])
  })

  it('changes its policy and keeps where it stands', async () => {
    const repository = git()
    const { engine } = open()
    await engine.followCatalogRepository({ address: repository.bare })
    const { applied } = await engine.syncCatalog({ apply: true }, MARIA)
    const told = await engine.followCatalogRepository({ address: repository.bare, policy: 'auto' })
    expect(told).toMatchObject({ applied, repository: { policy: 'auto' } })
  })

  it('tells of no drift where a new policy deletes what a commit took out before', async () => {
    const repository = git()
    const { engine, names } = open()
    await engine.followCatalogRepository({ address: repository.bare, policy: 'auto' })
    repository.commit({ 'shop.yaml': SHOP(5, TRIGGER('extra')) }, 'one more')
    await engine.syncCatalog({}, MARIA)
    repository.commit({ 'shop.yaml': SHOP() }, 'one fewer')
    await engine.syncCatalog({}, MARIA)
    expect(await names()).toEqual(['extra', 'gateway-errors'])
    await engine.followCatalogRepository({ address: repository.bare, policy: 'auto-prune' })
    await engine.syncCatalog({}, MARIA)
    expect(await names()).toEqual(['gateway-errors'])
    const { entries } = await engine.catalogSyncHistory()
    expect(entries.map(({ outcome }) => outcome)).toEqual(['applied', 'applied'])
  })

  it('does not stand against that of the environment, nor beside a file that is kept in step', async () => {
    const repository = git()
    const named = open({ repository: repository.repository() })
    const write = { address: repository.bare }
    await expect(named.engine.followCatalogRepository(write)).rejects.toThrow('SVC_CATALOG_REPO names')
    const kept = open({ repositoryHome: null })
    await expect(kept.engine.followCatalogRepository(write)).rejects.toThrow('SVC_CATALOG_SYNC keeps')
  })

  it.each([
    [{ address: 'ftp://host/x' }, 'address', 'must be an https, ssh or file address'],
    [{ address: 'https://me:secret@host/x' }, 'address', 'must have no user or password'],
    [{ address: 'https://host/x', ref: '-x' }, 'ref', 'must be the name of a branch or a tag'],
    [{ address: 'https://host/x', path: '../up' }, 'path', 'must be a path in the repository'],
  ])('is refused with its field and rule: %j', async (setting, field, message) => {
    const { engine } = open()
    await expect(engine.followCatalogRepository(setting)).rejects.toMatchObject({
      ...{ code: 'invalid', extra: { field } },
      message: expect.stringContaining(message),
    })
    expect((await engine.catalogSync('differing')).state).toBe('off')
  })
})
