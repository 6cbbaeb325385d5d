/** The looks at a repository: real git over local bare repositories, an engine in memory. */
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createEngine, type LocalEngine } from '../../../engine/local.ts'
import type { Repository } from '../../../engine/reconcile/git.ts'
import type { CatalogSync, CatalogSyncAsk, CatalogSyncHistory } from '../../../schemas/types.ts'
import { type GitWorld, gitWorld, SHOP, TRIGGER } from './git-world.ts'

const T0 = Date.parse('2026-11-20T12:00:00Z')
const MARIA = { caller: { id: 'key:0a1b2c3d', name: 'maria' }, origin: 'console' as const }
const opened: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

function world(): GitWorld {
  const made = gitWorld()
  opened.push(() => made.remove())
  return made
}

function follow(repository: Repository, more: object = {}) {
  const clock = { at: T0, now: () => clock.at }
  const engine = createEngine({ dataFile: null, clock, env: process.env, repository, ...more })
  let isOpen = true
  const close = async () => {
    if (isOpen) await engine.close()
    isOpen = false
  }
  opened.push(close)
  return { ...instanceOf(engine), clock, close }
}

function instanceOf(engine: LocalEngine) {
  const sync = (asked: CatalogSyncAsk = {}): Promise<CatalogSync> => engine.syncCatalog(asked, MARIA)
  return {
    engine,
    sync,
    /** A look that is refused. @returns code, sentence */
    refused: async (asked: CatalogSyncAsk) => {
      const error = await sync(asked).then(
        () => null,
        (found: { code: string; message: string; extra: object }) => found,
      )
      return error
    },
    history: async () => ((await engine.catalogSyncHistory()) as CatalogSyncHistory).entries,
    outcomes: async () => (await engine.catalogSyncHistory()).entries.map(({ outcome }) => outcome).reverse(),
    threshold: async (): Promise<string | null> => {
      const found = (await engine.listTriggers()).find(({ name }) => name === 'gateway-errors')
      return found ? JSON.stringify(found).replace(/.*"predicate":"([^"]*)".*/, '$1') : null
    },
    events: async () =>
      (await engine.sourceEvents('catalog', 50))
        .map(({ event_type, text }) => `${event_type}: ${text}`)
        .reverse(),
    names: async () => (await engine.listTriggers()).map(({ name }) => name).sort(),
  }
}

describe('a repository that is followed by hand', () => {
  it('is planned and told as out of sync, and applied by whoever approves exactly that plan', async () => {
    const git = world()
    const first = git.commit({ 'catalog/shop.yaml': SHOP() }, 'the shop')
    const one = follow(git.repository({ path: 'catalog' }))
    const looked = await one.sync()
    expect(looked).toMatchObject({
      state: 'out_of_sync',
      head: { id: first, author: 'Ada', message: 'the shop' },
      applied: null,
      plan: { creates: 2, deletes: 0 },
      files: [{ file: 'catalog/shop.yaml', state: 'out_of_sync', parts: 2, out_of_sync: 2, problems: 0 }],
      counts: { synced: 0, out_of_sync: 2, failed: 0, unmanaged: 0 },
    })
    expect(looked.parts).toContainEqual({
      ...{ kind: 'trigger', name: 'gateway-errors', file: 'catalog/shop.yaml', line: 11 },
      ...{ state: 'out_of_sync', action: 'create' },
    })
    expect(await one.threshold()).toBeNull()
    const applied = await one.sync({ apply: true, fingerprint: looked.fingerprint!, why: 'reviewed' })
    expect(applied).toMatchObject({
      state: 'synced',
      applied: { id: first },
      plan: { creates: 0 },
      reason: null,
    })
    expect(await one.threshold()).toBe('> 5')
    const change = await one.engine.getChangeSet(applied.change_set!)
    expect(change).toMatchObject({ actor: 'maria', origin: 'catalog' })
    expect(change.why).toBe(`reviewed (commit ${first.slice(0, 10)} of Ada: the shop)`)
    expect(await one.history()).toMatchObject([
      { outcome: 'applied', by: 'maria', creates: 2, change_set: applied.change_set, commit: { id: first } },
      { outcome: 'held', creates: 2, commit: { id: first } },
    ])
    expect((await one.events()).map((text) => text.split(':')[0])).toEqual(['held', 'applied'])
  })

  it('does nothing for a plan that was overtaken by another commit, and shows the new one', async () => {
    const git = world()
    git.commit({ 'shop.yaml': SHOP() }, 'the shop')
    const one = follow(git.repository())
    const { fingerprint } = await one.sync()
    const second = git.commit({ 'shop.yaml': SHOP(9) }, 'nine')
    const refused = await one.refused({ apply: true, fingerprint: fingerprint! })
    expect(refused).toMatchObject({ code: 'conflict', extra: { plan: { creates: 2 } } })
    expect(await one.threshold()).toBeNull()
    const now = await one.engine.catalogSync('differing')
    expect(now).toMatchObject({ state: 'out_of_sync', head: { id: second }, code: null })
    await one.sync({ apply: true, fingerprint: now.fingerprint! })
    expect(await one.threshold()).toBe('> 9')
  })

  it.each([
    ['99999999999999 +0000', '9999-12-31T23:59:59.000Z'],
    ['1790000000 +9999', '2026-09-21T14:13:20.000Z'],
    ['-5 +0000', '1970-01-01T00:00:00.000Z'],
  ])('takes a commit for what it is whose date is %s', async (date, at) => {
    const git = world()
    git.commit({ 'shop.yaml': SHOP() }, 'the shop')
    const text = git.git('cat-file', 'commit', 'HEAD').replaceAll(/(?<=> )\d+ \+0000$/gm, date)
    writeFileSync(join(git.folder, 'commit'), `${text}\n`)
    const id = git.git('hash-object', '-t', 'commit', '-w', '--literally', join(git.folder, 'commit'))
    git.git('push', '--quiet', '--force', 'origin', `${id}:main`)
    const one = follow(git.repository({ policy: 'auto' }))
    expect(await one.sync()).toMatchObject({ state: 'synced', applied: { id, at } })
  })

  it('reports what a hand changed as drift, once, and lets it be', async () => {
    const git = world()
    git.commit({ 'shop.yaml': SHOP() }, 'the shop')
    const one = follow(git.repository())
    await one.sync({ apply: true })
    await one.engine.importCatalog({ yaml: SHOP(7) }, MARIA)
    const drifted = await one.sync()
    expect(drifted).toMatchObject({ state: 'out_of_sync', code: 'drifted', plan: { updates: 1 } })
    expect(await one.sync()).toMatchObject({ state: 'out_of_sync', code: 'drifted' })
    expect(await one.threshold()).toBe('> 7')
    expect(await one.outcomes()).toEqual(['applied', 'drifted'])
  })

  it('is rolled back to an earlier commit, which holds until there is a newer one', async () => {
    const git = world()
    const first = git.commit({ 'shop.yaml': SHOP() }, 'five')
    const second = git.commit({ 'shop.yaml': SHOP(9) }, 'nine')
    const one = follow(git.repository({ policy: 'auto' }))
    expect(await one.sync()).toMatchObject({ state: 'synced', applied: { id: second } })
    const thought = await one.sync({ commit: first.slice(0, 12) })
    expect(thought).toMatchObject({ state: 'synced', planned: { id: first }, plan: { updates: 1 } })
    const back = await one.sync({ commit: first, apply: true, fingerprint: thought.fingerprint! })
    expect(back).toMatchObject({
      state: 'synced',
      head: { id: second },
      target: { id: first },
      applied: { id: first },
    })
    expect(await one.threshold()).toBe('> 5')
    expect(await one.sync()).toMatchObject({ state: 'synced', applied: { id: first } })
    expect(await one.threshold()).toBe('> 5')
    const third = git.commit({ 'shop.yaml': SHOP(11) }, 'eleven')
    expect(await one.sync()).toMatchObject({ state: 'synced', target: null, applied: { id: third } })
    expect(await one.threshold()).toBe('> 11')
    expect(await one.outcomes()).toEqual(['applied', 'rolled_back', 'applied'])
    expect(await one.refused({ commit: 'deadbeefdead', apply: true })).toMatchObject({ code: 'invalid' })
    expect(await one.engine.catalogSync('differing')).toMatchObject({ state: 'synced' })
  })

  it('over a commit that renamed a part gives that its name back, and leaves no second one', async () => {
    const git = world()
    const first = git.commit({ 'shop.yaml': SHOP() }, 'first')
    const one = follow(git.repository({ policy: 'auto' }))
    await one.sync()
    const { name } = (await one.engine.listTriggers())[0]!
    const renamed = `${SHOP().replaceAll(name, 'other')}moved:\n  - { trigger: ${name}, to: other }\n`
    git.commit({ 'shop.yaml': renamed }, 'renamed')
    const names = async () => (await one.engine.listTriggers()).map((trigger) => trigger.name)
    const unmanaged = { unmanaged: [], counts: { unmanaged: 0 } }
    expect(await one.sync()).toMatchObject({ state: 'synced', ...unmanaged })
    expect(await names()).toEqual(['other'])
    expect(await one.sync({ commit: first, apply: true })).toMatchObject({ state: 'synced', ...unmanaged })
    expect(await names()).toEqual([name])
  })
})

describe('a repository that is followed by itself', () => {
  it('is applied with each commit, and what a hand changed is healed', async () => {
    const git = world()
    git.commit({ 'shop.yaml': SHOP() }, 'five')
    const one = follow(git.repository({ policy: 'auto' }))
    expect(await one.sync()).toMatchObject({ state: 'synced' })
    git.commit({ 'shop.yaml': SHOP(9) }, 'nine')
    expect(await one.sync()).toMatchObject({ state: 'synced' })
    expect(await one.threshold()).toBe('> 9')
    await one.engine.importCatalog({ yaml: SHOP(7) }, MARIA)
    const healed = await one.sync()
    expect(healed).toMatchObject({ state: 'synced' })
    expect(await one.threshold()).toBe('> 9')
    expect((await one.engine.getChangeSet(healed.change_set!)).why).toMatch(/^drift healed by commit /)
    expect(await one.outcomes()).toEqual(['applied', 'applied', 'drifted', 'applied'])
    expect((await one.history())[0]).toMatchObject({ by: 'the policy', policy: 'auto' })
  })

  it('is watched by a trigger on the source catalog, of the repository itself', async () => {
    const git = world()
    const watch = `  - name: catalog-fails
    sources: [catalog]
    condition: { event: any }
    filters: [{ field: event_type, op: in, value: [failed, drifted] }]
`
    git.commit({ 'shop.yaml': SHOP(5, watch) }, 'watched')
    const one = follow(git.repository({ policy: 'auto' }))
    await one.sync()
    git.commit({ 'shop.yaml': 'triggers: 7\n' }, 'a slip')
    await one.sync()
    await one.sync()
    const { firings } = await one.engine.listFirings({ limit: 10 })
    expect(firings).toMatchObject([
      { trigger: 'catalog-fails', entity: { label: 'repository', value: 'remote' } },
    ])
  })

  it('leaves what no file names, and with auto-prune deletes it, within its bounds', async () => {
    const git = world()
    const many = Array.from({ length: 11 }, (_, i) => TRIGGER(`extra-${i}`)).join('')
    git.commit({ 'shop.yaml': SHOP(5, TRIGGER('one-more') + many) }, 'twelve more')
    const one = follow(git.repository({ policy: 'auto' }))
    await one.sync()
    git.commit({ 'shop.yaml': SHOP(5, many) }, 'one fewer')
    expect(await one.sync()).toMatchObject({
      state: 'synced',
      unmanaged: [{ kind: 'trigger', name: 'one-more' }],
    })
    expect(await one.names()).toContain('one-more')
    const two = follow(git.repository({ policy: 'auto-prune', folder: `${git.folder}/other` }))
    await two.sync()
    git.commit({ 'shop.yaml': SHOP(5, TRIGGER('one-more') + many) }, 'again')
    await two.sync()
    git.commit({ 'shop.yaml': SHOP(5, many) }, 'one fewer')
    expect(await two.sync()).toMatchObject({ state: 'synced', unmanaged: [] })
    expect(await two.names()).not.toContain('one-more')
    git.commit({ 'shop.yaml': SHOP() }, 'eleven fewer')
    const held = await two.sync()
    expect(held).toMatchObject({ state: 'out_of_sync', code: 'deletions', plan: { deletes: 11 } })
    expect(held.reason).toContain('at most 10 may be')
    expect(await two.names()).toHaveLength(12)
    expect(await two.sync({ max_deletions: 11 })).toMatchObject({ problems: [], plan: { deletes: 11 } })
    expect(await two.names()).toHaveLength(12)
    expect(await two.refused({ apply: true })).toMatchObject({ code: 'invalid' })
    expect(await two.sync({ apply: true, max_deletions: 11 })).toMatchObject({ state: 'synced' })
    expect(await two.names()).toEqual(['gateway-errors'])
  })

  it('gives up what a catalog owned that the commit has no more', async () => {
    const git = world()
    const ops = 'catalog: ops\nsources:\n  - { name: deploys, connector: webhook }\n'
    git.commit({ 'shop.yaml': SHOP(), 'ops/catalog.yaml': ops }, 'two catalogs')
    const one = follow(git.repository({ policy: 'auto-prune' }))
    await one.sync()
    expect((await one.engine.catalogDrift()).files.map(({ name }) => name)).toEqual(['ops', 'shop'])
    git.commit({ 'ops/catalog.yaml': null }, 'no ops')
    expect(await one.sync()).toMatchObject({ state: 'synced', unmanaged: [] })
    expect((await one.engine.listSources()).map(({ name }) => name).sort()).toEqual(['catalog', 'gateway'])
    expect((await one.engine.catalogDrift()).files.map(({ name }) => name)).toEqual(['shop'])
  })

  it('reads environments, values and files that are included from elsewhere in the commit', async () => {
    const git = world()
    const trigger = `kind: trigger
name: gateway-errors
sources: [gateway]
condition: { aggregate: count, predicate: "> ((values.errors))", window: 5m }
`
    git.commit(
      {
        'shared/gateway.yaml': 'kind: source\nname: gateway\nconnector: webhook\n',
        'apps/shop/catalog.yaml': 'catalog: shop\ninclude: ../../shared\nvalues: { errors: 5 }\n',
        'apps/shop/errors.yaml': trigger,
        'apps/shop/prod.yaml': 'environment: prod\nvalues: { errors: 50 }\n',
        'apps/shop/.hidden.yaml': 'sources: 7\n',
        'apps/other/broken.yaml': 'sources: 7\n',
      },
      'folders',
    )
    const one = follow(git.repository({ path: 'apps/shop', policy: 'auto', environment: 'prod' }))
    expect(await one.sync()).toMatchObject({ state: 'synced', counts: { synced: 2 } })
    expect(await one.threshold()).toBe('> 50')
    git.commit({ 'apps/shop/catalog.yaml': 'catalog: shop\ninclude: ../../../etc\n' }, 'out of it')
    expect(await one.sync()).toMatchObject({
      state: 'failed',
      reason: expect.stringMatching(/^apps\/shop\/catalog\.yaml:2:10: .*leads out of the repository/),
    })
  })
})

describe('what changes nothing and is said', () => {
  const failing = async (one: ReturnType<typeof follow>, code: string, reason: RegExp) => {
    for (const _twice of [1, 2]) {
      const failed = await one.sync()
      expect(failed).toMatchObject({ state: 'failed', code })
      expect(failed.reason).toMatch(reason)
    }
    expect(await one.threshold()).toBe('> 5')
    // Told once, however often it is met.
    expect(await one.outcomes()).toEqual(['applied', 'failed'])
    expect((await one.events()).at(-1)).toMatch(/^failed: /)
    // There is no plan, which is not one that does nothing.
    expect((await one.history())[0]).toMatchObject({ creates: null, updates: null, deletes: null })
    const { catalogSync } = await one.engine.status()
    expect(catalogSync).toMatchObject({ state: 'failed', reason: expect.stringMatching(reason) })
  }

  it('a commit that cannot be read, with file, line and column; the one after it is applied', async () => {
    const git = world()
    git.commit({ 'shop.yaml': SHOP() }, 'five')
    const one = follow(git.repository({ policy: 'auto' }))
    await one.sync()
    const bad = git.commit({ 'shop.yaml': SHOP(9).replace('[gateway]', '[gateway') }, 'half a list')
    await failing(one, 'problems', /^shop\.yaml:13:/)
    const now = await one.engine.catalogSync('differing')
    expect(now).toMatchObject({
      head: { id: bad },
      files: [{ file: 'shop.yaml', state: 'failed', problems: 1 }],
    })
    git.commit({ 'shop.yaml': SHOP(9) }, 'a list')
    expect(await one.sync()).toMatchObject({ state: 'synced', reason: null, code: null })
    expect(await one.threshold()).toBe('> 9')
  })

  it('a commit that names what is not there', async () => {
    const git = world()
    git.commit({ 'shop.yaml': SHOP() }, 'five')
    const one = follow(git.repository({ policy: 'auto' }))
    await one.sync()
    git.commit({ 'shop.yaml': SHOP(9).replace('[gateway]', '[gatewya]') }, 'a slip')
    await failing(one, 'problems', /^shop\.yaml:12:15: triggers\[0\].*gatewya/)
  })

  it('a path that the commit has no more', async () => {
    const git = world()
    git.commit({ 'a/shop.yaml': SHOP() }, 'five')
    const one = follow(git.repository({ policy: 'auto-prune', path: 'a' }))
    await one.sync()
    git.commit({ 'a/shop.yaml': null, 'b/shop.yaml': SHOP() }, 'moved')
    await failing(one, 'problems', /has no catalog file at a$/)
  })

  it('a repository that is gone, until it is back', async () => {
    const git = world()
    git.commit({ 'shop.yaml': SHOP() }, 'five')
    const one = follow(git.repository({ policy: 'auto' }))
    await one.sync()
    renameSync(git.bare, `${git.bare}.away`)
    await failing(one, 'gone', /is not there/)
    renameSync(`${git.bare}.away`, git.bare)
    expect(await one.sync()).toMatchObject({ state: 'synced', reason: null })
  })

  it('and then waits again with what its plan would do', async () => {
    const git = world()
    git.commit({ 'shop.yaml': SHOP() }, 'five')
    const one = follow(git.repository())
    await one.sync()
    renameSync(git.bare, `${git.bare}.away`)
    expect(await one.sync()).toMatchObject({ state: 'failed' })
    renameSync(`${git.bare}.away`, git.bare)
    expect(await one.sync()).toMatchObject({ state: 'out_of_sync' })
    expect((await one.history()).map(({ outcome, creates }) => [outcome, creates])).toEqual([
      ['held', 2],
      ['failed', null],
      ['held', 2],
    ])
  })

  it('a branch that is gone', async () => {
    const git = world()
    git.commit({ 'shop.yaml': SHOP() }, 'five')
    const one = follow(git.repository({ policy: 'auto' }))
    await one.sync()
    git.git('--git-dir', git.bare, 'update-ref', '-d', 'refs/heads/main')
    await failing(one, 'ref', /^the repository has no branch: it is empty$/)
  })

  it('a force push, until a person applies what is there now', async () => {
    const git = world()
    git.commit({ 'shop.yaml': SHOP(3) }, 'three')
    const base = git.git('rev-parse', 'HEAD')
    git.commit({ 'shop.yaml': SHOP() }, 'five')
    const one = follow(git.repository({ policy: 'auto' }))
    await one.sync()
    git.git('reset', '--quiet', '--hard', base)
    const forced = git.commit({ 'shop.yaml': SHOP(9) }, 'nine')
    for (const _twice of [1, 2])
      expect(await one.sync()).toMatchObject({
        state: 'out_of_sync',
        code: 'rewritten',
        head: { id: forced },
      })
    expect(await one.threshold()).toBe('> 5')
    expect(await one.outcomes()).toEqual(['applied', 'held'])
    expect(await one.sync({ apply: true })).toMatchObject({
      state: 'synced',
      applied: { id: forced },
      code: null,
    })
    expect(await one.threshold()).toBe('> 9')
    git.commit({ 'shop.yaml': SHOP(11) }, 'eleven')
    expect(await one.sync()).toMatchObject({ state: 'synced' })
  })

  it('a mirror that was damaged is made anew', async () => {
    const git = world()
    git.commit({ 'shop.yaml': SHOP() }, 'five')
    const repository = git.repository({ policy: 'auto' })
    const one = follow(repository)
    await one.sync()
    rmSync(repository.folder, { recursive: true })
    git.commit({ 'shop.yaml': SHOP(9) }, 'nine')
    expect(await one.sync()).toMatchObject({ state: 'synced' })
    expect(await one.threshold()).toBe('> 9')
  })

  it('two instances that follow one repository each apply it to themselves alone', async () => {
    const git = world()
    git.commit({ 'shop.yaml': SHOP() }, 'five')
    const one = follow(git.repository({ policy: 'auto' }))
    const two = follow(git.repository({ policy: 'auto', folder: `${git.folder}/second` }))
    await Promise.all([one.sync(), two.sync()])
    git.commit({ 'shop.yaml': SHOP(9) }, 'nine')
    await Promise.all([one.sync(), two.sync()])
    expect([await one.threshold(), await two.threshold()]).toEqual(['> 9', '> 9'])
    expect([await one.outcomes(), await two.outcomes()]).toEqual([
      ['applied', 'applied'],
      ['applied', 'applied'],
    ])
  })

  it('a look that nothing asks for: no repository is followed', async () => {
    const engine = createEngine({ dataFile: null, clock: { now: () => T0 } })
    opened.push(() => engine.close())
    expect(await engine.catalogSync('differing')).toMatchObject({ state: 'off', repository: null })
    await expect(engine.syncCatalog({}, MARIA)).rejects.toMatchObject({ code: 'not_found' })
  })
})
