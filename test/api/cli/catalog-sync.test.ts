/** `svc catalog sync` against a real server that follows a real repository. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, expect, it } from 'vitest'
import { unmanagedText } from '../../../api/cli/catalog-text.ts'
import { buildServer } from '../../../api/http/server.ts'
import { createEngine } from '../../../engine/local.ts'
import type { CatalogSyncHistory } from '../../../schemas/types.ts'
import { gitWorld, SHOP, TRIGGER } from '../../engine/reconcile/git-world.ts'
import { svc } from './cli-harness.ts'

const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

async function followed(policy: 'manual' | 'auto' = 'manual') {
  const git = gitWorld()
  opened.push(() => git.remove())
  const engine = createEngine({
    ...{ dataFile: null, env: process.env, repository: git.repository({ policy }) },
    clock: { now: () => Date.parse('2026-11-20T12:00:00Z') },
  })
  const app = await buildServer({
    ...{ engine, log: pino({ level: 'silent' }) },
    config: {
      ...{ host: '127.0.0.1', port: 0, rootToken: null, publicUrl: null, allowedHosts: [] },
      ...{ version: '1.0.0', hostedUrls: {}, consoleDir: null },
    },
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  opened.push(() => app.close().then(() => engine.close()))
  const run = (...args: string[]) => svc(['catalog', 'sync', ...args, '--svcd', url])
  return { git, run, url }
}

it('looks, shows the plan, applies what was approved, and exits by what it came to', async () => {
  const { git, run, url } = await followed()
  const first = git.commit({ 'shop.yaml': SHOP() }, 'the shop')
  const looked = await run()
  expect(looked.code).toBe(2)
  expect(looked.out).toContain(`says commit ${first.slice(0, 10)} of Ada`)
  expect(looked.out).toContain('out of sync: shop.yaml:11 trigger gateway-errors')
  expect(looked.out).toContain('+ trigger gateway-errors')
  const unsure = await run('--apply')
  expect([unsure.code, unsure.err]).toEqual([1, expect.stringContaining('--yes applies without asking')])
  const applied = await svc(['catalog', 'sync', '--apply', '--why', 'reviewed', '--svcd', url], {
    confirm: true,
  })
  expect([applied.code, applied.err]).toEqual([0, expect.stringMatching(/^applied as change-set \d+/)])
  expect(await run('--status')).toMatchObject({ code: 0, out: expect.stringMatching(/^synced\n/) })
  const all = await run('--status', '--parts', 'all', '--json')
  expect(JSON.parse(all.out)).toMatchObject({
    state: 'synced',
    parts: [{ name: 'gateway' }, { name: 'gateway-errors' }],
  })
  expect((await run('--history')).out).toMatch(/applied .*Ada/)
})

it('tells problems with file, line and column, and goes back to an earlier commit', async () => {
  const { git, run } = await followed()
  const first = git.commit({ 'shop.yaml': SHOP() }, 'five')
  await run('--apply', '--yes')
  git.commit({ 'shop.yaml': SHOP(9).replace('[gateway]', '[gatewya]') }, 'a slip')
  const failed = await run()
  expect([failed.code, failed.err]).toEqual([65, expect.stringContaining('shop.yaml:12:15: triggers[0]')])
  expect((await run('--apply', '--yes')).code).toBe(65)
  expect((await run('--history')).out).toMatch(/failed .* none .*\n.*applied .* \+2 ~1 -0 /)
  const { entries } = JSON.parse((await run('--history', '--json')).out) as CatalogSyncHistory
  expect(entries[0]).toMatchObject({ outcome: 'failed', creates: null, updates: null, deletes: null })
  git.commit({ 'shop.yaml': SHOP(9) }, 'nine')
  expect((await run('--apply', '--yes')).code).toBe(0)
  const thought = await run('--commit', first.slice(0, 10))
  expect([thought.code, thought.out]).toEqual([2, expect.stringContaining('~ trigger gateway-errors')])
  expect((await run('--commit', first, '--apply', '--yes')).code).toBe(0)
  expect((await run('--status')).out).toContain('rolled back to commit')
  expect((await run('--commit', '1234567', '--apply', '--yes')).code).toBe(1)
})

it('lists as in no file what drift does: not what other catalogs declare, and of very many a number', async () => {
  const { git, run, url } = await followed()
  const apply = (name: string, stdin: string) =>
    svc(['catalog', 'apply', '-', '--name', name, '--yes', '--svcd', url], { stdin })
  git.commit({ 'shop.yaml': SHOP() }, 'the shop')
  await run('--apply', '--yes')
  await apply('kk', 'catalog: kk\nsources: [{ name: theirs, connector: webhook }]\n')
  await apply('hand', 'sources: [{ name: by-hand, connector: webhook }]\n')
  await svc(['catalog', 'forget', 'hand', '--svcd', url])
  const { out } = await run()
  expect(out).toContain('1 in no file')
  expect(out).toContain('in no file: source by-hand')
  expect(out).not.toContain('theirs')
  const many = Array.from({ length: 60 }, (_, i) => ({ kind: 'source' as const, name: `s${i}` }))
  const text = unmanagedText(many, 1_200, 'in no file: ')
  expect(text.split('\n')).toHaveLength(52)
  expect(text).toContain('in no file: 1150 more;')
})

it('says after a look that failed that nothing is known, not that nothing differs', async () => {
  const { git, run } = await followed()
  git.commit({ 'shop.yaml': 'triggers: [{ name: t }]\n' }, 'a slip')
  await run()
  const { out } = await run('--status')
  expect(out).toContain('what differs is not known')
  expect(out).not.toContain('0 in no file')
})

it('keeps the name that a part was given by hand in a merge, tells who gave it, and adopts it as moved', async () => {
  const { git, run, url } = await followed()
  git.commit({ 'shop.yaml': SHOP() }, 'the shop')
  await run('--apply', '--yes')
  const renamed = await svc(['triggers', 'rename', 'gateway-errors', 'failures', '--svcd', url])
  expect(renamed).toMatchObject({ code: 0 })
  const planned = await run()
  expect(planned.out).toContain('~ trigger gateway-errors (renamed from failures)')
  expect(planned.out).not.toContain('in no file: ')
  const merged = await run('--merge')
  expect(merged.out).toContain('trigger failures, name: "failures", the file says "gateway-errors"')
  expect(merged.out).not.toContain('in no file: ')
  const { out } = await svc(['catalog', 'adopt', '--svcd', url])
  expect(out).toMatch(
    /trigger failures, name: "failures", the file says "gateway-errors"\n {2}by hand: .+ change-set/,
  )
  expect(out).toContain('+  - { trigger: gateway-errors, to: failures }')
  expect(out).not.toContain('made by hand')
})

it('with the policy auto shows what --prune would delete, and deletes it once that is approved', async () => {
  const { git, run, url } = await followed('auto')
  git.commit({ 'shop.yaml': SHOP() }, 'the shop')
  expect(await run()).toMatchObject({ code: 0 })
  await svc(['sources', 'add', 'by-hand', '--connector', 'webhook', '--svcd', url])
  const sources = async () => (await svc(['sources', 'list', '--svcd', url])).out
  const planned = await run('--prune')
  expect([planned.code, planned.out]).toEqual([2, expect.stringContaining('- source by-hand')])
  expect(planned.out).toContain('in no file: source by-hand')
  const unsure = await run('--prune', '--apply')
  expect([unsure.code, unsure.out]).toEqual([1, expect.stringContaining('- source by-hand')])
  const bounded = await run('--prune', '--max-deletions', '0')
  expect([bounded.code, bounded.out]).toEqual([2, expect.stringContaining('at most 0 may be')])
  expect(await sources()).toContain('by-hand')
  expect(await run('--prune', '--apply', '--yes')).toMatchObject({ code: 0 })
  expect(await sources()).not.toContain('by-hand')
})

it('refuses what does not go together', async () => {
  const { run } = await followed()
  expect((await run('--status', '--apply')).code).toBe(64)
  expect((await run('--parts', 'all')).code).toBe(64)
  expect((await run('--max-deletions', 'many')).code).toBe(64)
})

it('shows what was changed by hand with who did it, and writes a patch that git takes', async () => {
  const { git, url } = await followed()
  const adopt = (...args: string[]) => svc(['catalog', 'adopt', ...args, '--svcd', url])
  git.commit({ 'shop.yaml': SHOP() }, 'the shop')
  await svc(['catalog', 'sync', '--apply', '--yes', '--svcd', url])
  expect(await adopt()).toMatchObject({ code: 0, out: expect.stringContaining('no change') })
  expect((await adopt('--patch', '-')).out).toBe('')
  await fetch(`${url}/api/change-sets`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      operations: [
        {
          ...{ op: 'patch', kind: 'trigger', name: 'gateway-errors' },
          spec: { condition: { aggregate: 'count', predicate: '> 9', window: '5m' } },
        },
      ],
    }),
  })
  const shown = await adopt()
  expect([shown.code, shown.out]).toEqual([
    2,
    expect.stringMatching(
      /^shop\.yaml:13: trigger gateway-errors, condition\.predicate: "> 9", the file says "> 5"\n {2}by hand: .+ at .+, change-set \d+\n {2}in git: Ada at .+ the shop\n/,
    ),
  ])
  const file = join(git.folder, 'by-hand.patch')
  expect(await adopt('--patch', file)).toMatchObject({ code: 0, err: expect.stringContaining('git apply') })
  expect((await adopt('--patch', '-')).out).toBe(readFileSync(file, 'utf8'))
  git.git('apply', file)
  git.commit({}, 'what was changed by hand')
  expect((await svc(['catalog', 'sync', '--svcd', url])).code).toBe(0)
  expect((await adopt()).code).toBe(0)
  expect((await adopt('--patch', file, '--pull-request')).code).toBe(64)
  expect((await adopt('--why', 'x')).code).toBe(64)
  expect((await adopt('--pull-request')).code).toBe(0)
})

it('merges a commit with what was changed by hand, tells a conflict by its three values, and settles it', async () => {
  const { git, run, url } = await followed()
  git.commit({ 'shop.yaml': SHOP() }, 'five')
  await run('--apply', '--yes')
  const condition = { aggregate: 'count', predicate: '> 7', window: '5m' }
  await fetch(`${url}/api/change-sets`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      operations: [{ op: 'patch', kind: 'trigger', name: 'gateway-errors', spec: { condition } }],
    }),
  })
  git.commit({ 'shop.yaml': SHOP(9) }, 'nine')
  const asked = await svc(['catalog', 'sync', '--apply', '--svcd', url], { confirm: false })
  expect(asked.out).toContain(
    'this writes over 1 change by hand; --merge keeps what only the instance changed:\nshop.yaml:13: trigger gateway-errors, condition.predicate',
  )
  const conflict = await run('--merge')
  expect([conflict.code, conflict.out]).toEqual([65, ''])
  expect(conflict.err).toMatch(/shop\.yaml:13:\d+: trigger gateway-errors, condition\.predicate/)
  for (const value of ['"> 5"', '"> 7"', '"> 9"']) expect(conflict.err).toContain(value)
  const adopted = await svc(['catalog', 'adopt', '--svcd', url])
  expect([adopted.code, adopted.err]).toEqual([65, expect.stringContaining('--merge --ours')])
  expect((await run('--ours', 'file')).code).toBe(64)
  const settled = await run('--merge', '--ours', 'instance', '--apply', '--yes')
  expect([settled.code, settled.err]).toEqual([0, expect.stringContaining('what was changed by hand stays')])
  expect(settled.err).toContain('nothing changed\n')
  git.commit({ 'shop.yaml': SHOP(9, TRIGGER('more')) }, 'one more')
  const added = await run('--merge', '--apply', '--yes')
  expect([added.code, added.err]).toEqual([0, expect.stringContaining('applied as change-set')])
  const again = await run('--merge', '--apply', '--yes')
  expect([again.code, again.err]).toEqual([0, expect.stringContaining('nothing changed\n')])
  const patch = await svc(['catalog', 'adopt', '--patch', '-', '--svcd', url])
  expect([patch.code, patch.out]).toEqual([
    0,
    expect.stringContaining('+    condition: { aggregate: count, predicate: "> 7"'),
  ])
})
