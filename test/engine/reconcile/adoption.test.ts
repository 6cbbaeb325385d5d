/** What was changed by hand, as patches that git takes and as a pull request on a host: real git, a real instance. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { formatCatalog } from '../../../engine/declared/catalog/lint.ts'
import type { Repository } from '../../../engine/reconcile/git.ts'
import type {
  CatalogAdoption,
  CatalogPullRequestOpened,
  CatalogSync,
  CatalogSyncHistory,
} from '../../../schemas/types.ts'
import { startHere } from '../../contract/instance.ts'
import { gitServer } from './git-server.ts'
import { gitWorld, SHOP, TRIGGER } from './git-world.ts'

const TOKEN = 'ghp_canary0token0of0the0repository'
const opened: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

const ADOPTION = '/api/catalog/sync/adoption'
const PULL_REQUEST = '/api/catalog/sync/pull-request'
const SOURCE = SHOP().split('triggers:')[0]!
/** Blanks in its name, and a comment. */
const ERRORS = (above = 5, cooldown = '10m') => `kind: trigger
name: gateway-errors
# Never more.
sources: [gateway]
condition: { aggregate: count, predicate: "> ${above}", window: 5m } # five minutes
cooldown: ${cooldown}
`
const FILES = { 'catalog.yaml': SOURCE, 'triggers/the errors.yaml': ERRORS() }

async function followed(over: Partial<Repository> = {}) {
  const git = gitWorld()
  opened.push(() => git.remove())
  const svc = await startHere({ repository: git.repository(over) })
  opened.push(() => svc.stop())
  const apply = () => svc.post<CatalogSync>('/api/catalog/sync', { apply: true })
  const byHand = (spec: object, name = 'gateway-errors') =>
    svc.post<{ change_set: number }>('/api/change-sets', {
      operations: [{ op: 'patch', kind: 'trigger', name, spec }],
      why: 'it was too loud',
    })
  const adoption = () => svc.get<CatalogAdoption>(ADOPTION)
  return { git, svc, apply, byHand, adoption }
}

/** As a person does with what was downloaded. */
const applyPatch = (clone: string, patch: string): void => {
  execFileSync('git', ['apply', '--whitespace=nowarn'], { cwd: clone, input: patch })
}

describe('what was changed by hand', () => {
  it('is a patch that git takes, and says who did it and who wrote the line', async () => {
    const { git, svc, apply, byHand, adoption } = await followed()
    const first = git.commit(FILES, 'the shop')
    await apply()
    // The mirror is a cache.
    rmSync(join(git.folder, 'mirror'), { recursive: true })
    expect(await adoption()).toMatchObject({
      commit: { id: first },
      files: [],
      differences: [],
      conflicts: 0,
    })
    const { change_set: set } = await byHand({ cooldown: '1h' })
    await svc.post('/api/triggers', {
      ...{ name: 'slow', sources: ['gateway'] },
      condition: { aggregate: 'count', predicate: '> 1', window: '1m' },
      filters: [{ field: 'status', op: 'gte', value: 500 }],
    })
    const found = await adoption()
    expect(found.files.map(({ file, action }) => [file, action])).toEqual([
      ['triggers/the errors.yaml', 'change'],
      ['triggers/slow.yaml', 'create'],
    ])
    expect(found.files[0]!.patch).toContain('-cooldown: 10m\n+cooldown: 1h\n')
    expect(found.differences).toEqual([
      {
        ...{ kind: 'trigger', name: 'gateway-errors', path: '/cooldown', changed_in: 'instance' },
        ...{ base: '10m', in_files: '10m', in_instance: '1h' },
        ...{ file: 'triggers/the errors.yaml', line: 6 },
        hand: expect.objectContaining({ change_set: set, why: 'it was too loud' }),
        commit: expect.objectContaining({ id: first, author: 'Ada', message: 'the shop' }),
      },
      expect.objectContaining({ name: 'slow', path: '', changed_in: 'instance', file: null, commit: null }),
    ])
    applyPatch(join(git.folder, 'clone'), found.files.map(({ patch }) => patch).join(''))
    const made = readFileSync(join(git.folder, 'clone', 'triggers/slow.yaml'), 'utf8')
    expect(made).toContain('- { field: status, op: gte, value: 500 }')
    expect(formatCatalog({ path: 'slow.yaml', text: made }).text).toBe(made)
    git.commit({}, 'what was changed by hand')
    expect(await svc.post<CatalogSync>('/api/catalog/sync')).toMatchObject({ state: 'synced' })
    expect(await adoption()).toMatchObject({ files: [], differences: [] })
  })

  it('is taken out of the files where it was deleted, with the file that held nothing else', async () => {
    const { git, svc, apply, adoption } = await followed()
    git.commit(
      {
        ...FILES,
        'triggers/slow.yaml': `kind: trigger\n${TRIGGER('slow')
          .replace(/^ {2}(- )?/gm, '')
          .replace(/^ {2}/gm, '')}`,
      },
      'two',
    )
    await apply()
    await svc.call('DELETE', '/api/triggers/slow')
    const { files } = await adoption()
    expect(files).toEqual([expect.objectContaining({ file: 'triggers/slow.yaml', action: 'delete' })])
    applyPatch(join(git.folder, 'clone'), files[0]!.patch)
    git.commit({}, 'one')
    expect(await svc.post<CatalogSync>('/api/catalog/sync')).toMatchObject({ state: 'synced' })
  })

  it('of what files changed, too, says each with its commit, and a conflict gives no patch', async () => {
    const { git, apply, byHand, adoption, svc } = await followed()
    git.commit(FILES, 'the shop')
    await apply()
    await byHand({ cooldown: '1h' })
    const second = git.commit({ 'triggers/the errors.yaml': ERRORS(9) }, 'nine')
    await svc.post('/api/catalog/sync')
    const both = await adoption()
    expect(
      both.differences.map(({ path, changed_in: where, commit }) => [path, where, commit?.message]),
    ).toEqual([
      ['/cooldown', 'instance', 'the shop'],
      ['/condition/predicate', 'files', 'nine'],
    ])
    expect(both.differences[1]).toMatchObject({
      base: '> 5',
      in_files: '> 9',
      in_instance: '> 5',
      hand: null,
    })
    expect(both.files[0]!.patch).toContain('+cooldown: 1h')
    expect(both.files[0]!.patch).not.toContain('-condition')
    expect(both.commit.id).toBe(second)
    const third = git.commit({ 'triggers/the errors.yaml': ERRORS(9, '3h') }, 'rarer')
    await svc.post('/api/catalog/sync')
    const conflict = await adoption()
    expect(conflict).toMatchObject({ files: [], conflicts: 1 })
    expect(conflict.differences.map(({ path, changed_in: where }) => [path, where])).toEqual([
      ['/cooldown', 'both'],
      ['/condition/predicate', 'files'],
    ])
    expect(conflict.differences[0]).toMatchObject({
      ...{ path: '/cooldown', changed_in: 'both', base: '10m', in_files: '3h', in_instance: '1h' },
      ...{
        file: 'triggers/the errors.yaml',
        line: 6,
        hand: { why: 'it was too loud' },
        commit: { id: third },
      },
    })
  })

  it('stays where a commit is applied by merging, and a conflict is settled field by field', async () => {
    const { git, svc, apply, byHand, adoption } = await followed()
    const wider = (text: string) => `${text}description: of the gateway\n`
    git.commit({ ...FILES, 'triggers/the errors.yaml': wider(ERRORS()) }, 'the shop')
    await apply()
    await byHand({
      cooldown: '1h',
      description: 'loud',
      condition: { aggregate: 'count', predicate: '> 6', window: '5m' },
    })
    const text = wider(ERRORS(9, '3h'))
    const head = git.commit({ 'triggers/the errors.yaml': text }, 'rarer')
    const sync = (body: object) => svc.post<CatalogSync>('/api/catalog/sync', body)
    const asked = await sync({ merge: true })
    expect(asked).toMatchObject({ state: 'out_of_sync', plan: null })
    expect(asked.conflicts?.map(({ path, file, line }) => [path, file, line])).toEqual([
      ['/condition/predicate', 'triggers/the errors.yaml', 5],
      ['/cooldown', 'triggers/the errors.yaml', 6],
    ])
    // What is stored of the look is of the commit as it is.
    expect(await svc.get('/api/catalog/sync')).toMatchObject({ plan: { updates: 1 } })
    const choice = (path: string, take: string) => ({ kind: 'trigger', name: 'gateway-errors', path, take })
    const one = [choice('/cooldown', 'instance')]
    expect(
      (await svc.refused('POST', '/api/catalog/sync', { merge: true, apply: true, choices: one }))[0],
    ).toBe(409)
    const choices = [...one, choice('/condition/predicate', 'file')]
    const { plan, fingerprint, kept } = await sync({ merge: true, choices })
    expect(plan?.changes.flatMap(({ fields }) => fields)).toEqual([
      { path: '/condition/predicate', from: '> 6', to: '> 9' },
    ])
    expect(kept?.map(({ path }) => path).sort()).toEqual(['/cooldown', '/description'])
    const other = {
      merge: true,
      apply: true,
      fingerprint,
      choices: [choice('/cooldown', 'file'), choices[1]],
    }
    expect((await svc.refused('POST', '/api/catalog/sync', other))[0], 'another plan').toBe(409)
    expect(await sync({ merge: true, apply: true, fingerprint, choices })).toMatchObject({
      ...{ state: 'out_of_sync', code: 'drifted', applied: { id: head } },
    })
    expect(await svc.get('/api/triggers/gateway-errors')).toMatchObject({
      ...{ cooldown: '1h', description: 'loud', condition: { predicate: '> 9' } },
    })
    const { files, conflicts } = await adoption()
    expect(conflicts).toBe(0)
    applyPatch(join(git.folder, 'clone'), files[0]!.patch)
    expect(readFileSync(join(git.folder, 'clone', 'triggers/the errors.yaml'), 'utf8')).toBe(
      `${ERRORS(9, '1h')}description: loud\n`,
    )
    git.commit({}, 'adopted')
    expect(await sync({})).toMatchObject({ state: 'synced' })
  })

  it('that is all taken in a conflict changes nothing, and is then to be adopted', async () => {
    const { git, svc, apply, byHand, adoption } = await followed()
    git.commit(FILES, 'the shop')
    await apply()
    await byHand({ cooldown: '1h' })
    const head = git.commit({ 'triggers/the errors.yaml': ERRORS(5, '3h') }, 'rarer')
    expect(await svc.post('/api/catalog/sync', { merge: true, apply: true, ours: 'instance' })).toMatchObject(
      { state: 'out_of_sync', code: 'drifted', applied: { id: head } },
    )
    const { entries } = await svc.get<CatalogSyncHistory>('/api/catalog/sync/history')
    const told = entries.map(({ reason }) => reason)
    expect(told).toContain('changed by hand, and kept by a merge: trigger gateway-errors')
    expect(await svc.get('/api/triggers/gateway-errors')).toMatchObject({ cooldown: '1h' })
    const { files, conflicts } = await adoption()
    expect([conflicts, files[0]!.patch]).toEqual([0, expect.stringContaining('-cooldown: 3h\n+cooldown: 1h')])
  })

  it('is merged by a person alone: a policy that applies would overwrite it', async () => {
    const { git, svc } = await followed({ policy: 'auto' })
    git.commit(FILES, 'the shop')
    await svc.post('/api/catalog/sync')
    expect(await svc.refused('POST', '/api/catalog/sync', { merge: true })).toEqual([
      400,
      expect.stringContaining('with the policy auto the next look overwrites'),
    ])
    const choices = [{ kind: 'trigger', name: 'gateway-errors', path: '/cooldown', take: 'file' }]
    for (const body of [{ ours: 'file' }, { choices }])
      expect(await svc.refused('POST', '/api/catalog/sync', body)).toEqual([
        400,
        expect.stringContaining('needs merge'),
      ])
    for (const path of ['/api/catalog/check', '/api/catalog/import'])
      expect((await svc.refused('POST', path, { yaml: SOURCE, choices }))[0]).toBe(400)
  })

  it('has names with quotes and blanks in patches as git takes them', async () => {
    const { git, apply, byHand, adoption } = await followed()
    const path = 'triggers/"so\tcalled" errors.yaml'
    git.commit({ 'catalog.yaml': SOURCE, [path]: ERRORS() }, 'the shop')
    await apply()
    await byHand({ cooldown: '1h' })
    const { files } = await adoption()
    applyPatch(join(git.folder, 'clone'), files[0]!.patch)
    expect(readFileSync(join(git.folder, 'clone', path), 'utf8')).toBe(ERRORS(5, '1h'))
  })

  it('that comes of a value of an environment is held with its place', async () => {
    const { git, apply, byHand, adoption } = await followed({ environment: 'prod' })
    const cooled = ERRORS().replace('10m', '((values.cooldown))')
    const values = { 'env.yaml': 'environment: prod\nvalues: { cooldown: 10m }\n' }
    const catalog = `values: { cooldown: { type: text, default: 5m } }\n${SOURCE}`
    git.commit({ ...values, 'catalog.yaml': catalog, 'triggers/errors.yaml': cooled }, 'the shop')
    await apply()
    await byHand({ cooldown: '1h' })
    expect(await adoption()).toMatchObject({
      files: [],
      held: [
        { file: 'triggers/errors.yaml', line: 6, message: expect.stringContaining('((values.cooldown))') },
      ],
    })
  })

  it('is refused where no repository is followed', async () => {
    const none = await startHere({ repository: null })
    opened.push(() => none.stop())
    expect((await none.refused('GET', ADOPTION))[0]).toBe(404)
    expect((await none.refused('POST', PULL_REQUEST))[0]).toBe(404)
  })
})

describe('a pull request with what was changed by hand', () => {
  async function hosted() {
    const git = gitWorld()
    opened.push(() => git.remove())
    const host = await gitServer(git.folder)
    opened.push(() => host.close())
    host.tokens = new Set([TOKEN])
    const bare = join(git.folder, 'catalog.git')
    renameSync(git.bare, bare)
    git.git('remote', 'set-url', 'origin', bare)
    mkdirSync(join(git.folder, 'acme'))
    symlinkSync(bare, join(git.folder, 'acme', 'catalog.git'))
    const address = `${host.url}/acme/catalog.git`
    const svc = await startHere({
      repository: git.repository({ address, credential: 'main', instance: 'Shop 1' }),
    })
    opened.push(() => svc.stop())
    await svc.post('/api/integrations/github', { name: 'main', token: TOKEN, api_url: `${host.url}/api/v3` })
    const first = git.commit(FILES, 'the shop')
    await svc.post('/api/catalog/sync', { apply: true })
    const byHand = (spec: object) =>
      svc.post('/api/change-sets', {
        operations: [{ op: 'patch', kind: 'trigger', name: 'gateway-errors', spec }],
      })
    const open = (body: object = {}) => svc.post<CatalogPullRequestOpened>(PULL_REQUEST, body)
    const branch = (format: string) =>
      git.git('--git-dir', bare, 'log', '-1', `--format=${format}`, 'svc/adopt-shop-1')
    return { git, host, svc, bare, first, byHand, open, branch }
  }

  it('is opened once, and a second press updates the same', async () => {
    const { git, host, svc, bare, first, byHand, open, branch } = await hosted()
    await byHand({ cooldown: '1h' })
    const { commit } = await svc.get<CatalogAdoption>(ADOPTION)
    const made = await open({ commit: commit.id, why: 'quieter nights' })
    expect(made).toMatchObject({
      pull_request: { number: 41, url: `${host.url}/acme/catalog/pull/41`, branch: 'svc/adopt-shop-1' },
      ...{ existing: false, files: ['triggers/the errors.yaml'] },
    })
    expect(branch('%P %cn')).toBe(`${first} svc`)
    expect(git.git('--git-dir', bare, 'show', 'svc/adopt-shop-1:triggers/the errors.yaml')).toBe(
      ERRORS(5, '1h').trim(),
    )
    expect(host.pulls.get(41)).toMatchObject({
      ...{ base: 'main', title: 'What was changed by hand on Shop 1' },
      body: expect.stringMatching(
        /quieter nights[\s\S]*trigger gateway-errors, cooldown, by somebody at .+, change-set \d+/,
      ),
    })
    const pushed = branch('%H')
    expect(await open()).toMatchObject({ existing: true, pull_request: { number: 41, commit: pushed } })
    expect(branch('%H'), 'nothing new to push').toBe(pushed)
    await byHand({ cooldown: '2h' })
    expect(await open()).toMatchObject({ existing: true, pull_request: { number: 41 } })
    expect(branch('%P')).toBe(first)
    expect(host.pulls.size).toBe(1)
    expect(await svc.get(ADOPTION)).toMatchObject({ pull_request: { number: 41, commit: branch('%H') } })
    // Merged, the instance is as the commit says, and there is nothing left to open.
    git.git('fetch', '--quiet', 'origin')
    git.git('merge', '--quiet', '--ff-only', 'origin/svc/adopt-shop-1')
    git.git('push', '--quiet', 'origin', 'HEAD:main')
    expect(await svc.post('/api/catalog/sync')).toMatchObject({ state: 'synced' })
    expect(await svc.get(ADOPTION)).toMatchObject({ files: [], pull_request: null })
    expect(await svc.refused('POST', PULL_REQUEST)).toEqual([
      400,
      expect.stringContaining('nothing was changed by hand'),
    ])
    host.pulls.get(41)!.state = 'closed'
    await byHand({ cooldown: '3h' })
    expect(await open()).toMatchObject({ existing: false, pull_request: { number: 42 } })
  })

  it('names what is in its way, and leaves what others pushed', async () => {
    const { git, host, svc, bare, byHand, open, branch } = await hosted()
    const refused = (body: object = {}) => svc.refused('POST', PULL_REQUEST, body)
    await byHand({ cooldown: '1h' })
    const { commit } = await svc.get<CatalogAdoption>(ADOPTION)
    const next = git.commit({ 'README.md': 'x' }, 'a readme')
    expect(await refused({ commit: commit.id })).toEqual([
      409,
      expect.stringContaining(`main is at commit ${next.slice(0, 10)} by now`),
    ])
    host.refusal = { status: 403, body: { message: 'Resource not accessible by personal access token' } }
    expect(await refused()).toEqual([
      502,
      expect.stringMatching(
        /is pushed, but no pull request.*403.*not accessible.*right to write pull requests/,
      ),
    ])
    host.refusal = {
      status: 422,
      body: { message: 'Validation Failed', errors: [{ message: 'base is a tag' }] },
    }
    expect(await refused()).toEqual([502, expect.stringContaining('Validation Failed: base is a tag')])
    host.refusal = null
    const hook = join(bare, 'hooks', 'pre-receive')
    mkdirSync(join(bare, 'hooks'), { recursive: true })
    writeFileSync(
      hook,
      '#!/bin/sh\necho "error: GH006: Protected branch update failed for svc/adopt-shop-1."\nexit 1\n',
    )
    chmodSync(hook, 0o755)
    await byHand({ cooldown: '2h' })
    expect(await refused()).toEqual([
      502,
      expect.stringMatching(/it is protected, or the credential may not write it: GH006: Protected branch/),
    ])
    writeFileSync(hook, '#!/bin/sh\nexit 0\n')
    expect(await open()).toMatchObject({ pull_request: { number: 41 } })
    git.git('fetch', '--quiet', 'origin')
    git.git('checkout', '--quiet', '-B', 'theirs', 'origin/svc/adopt-shop-1')
    git.git('commit', '--quiet', '--allow-empty', '-m', 'my own')
    git.git('push', '--quiet', 'origin', 'HEAD:svc/adopt-shop-1')
    const theirs = branch('%H')
    await byHand({ cooldown: '3h' })
    expect(await refused()).toEqual([409, expect.stringContaining('has a commit of Ada')])
    expect(branch('%H')).toBe(theirs)
    host.tokens = new Set(['ghp_another'])
    expect(await refused()).toEqual([502, expect.stringContaining('refuses the credential')])
    await svc.call('DELETE', '/api/integrations/github/main')
    expect(await refused()).toEqual([502, expect.stringContaining('no credential is named main')])
  })

  it('needs a credential and a host of GitHub', async () => {
    const { git, svc, apply, byHand } = await followed()
    git.commit(FILES, 'the shop')
    await apply()
    await byHand({ cooldown: '1h' })
    expect(await svc.refused('POST', PULL_REQUEST)).toEqual([
      400,
      expect.stringContaining('SVC_CATALOG_REPO_CREDENTIAL'),
    ])
  })
})
