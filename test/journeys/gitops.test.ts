/**
 * A catalog in git, from the first commit to a roll back: real git with a bare remote, the real daemon that follows it,
 * each step by its output and its exit code. After each the daemon is killed, and has what it had when it is back: after
 * some of them in each run, after all by `npm run chaos -- tests`.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CatalogSync, Trigger } from '../../schemas/types.ts'
import { type Ran, type Setting, svc } from '../api/cli/cli-harness.ts'
import { type Daemon, startDaemon } from '../chaos/daemon.ts'
import { isDone } from '../chaos/scale.ts'
import { type GitWorld, gitWorld } from '../engine/reconcile/git-world.ts'

const SOURCE = `kind: source
name: gateway
connector: webhook
config:
  event_type: request
  labels:
    - { name: service, field: service, primary: true }
`
const triggerOf = (above: number, cooldown = '10m'): string => `kind: trigger
name: gateway-errors
# Never more.
sources: [gateway]
condition: { aggregate: count, predicate: "> ${above}", window: 5m } # five minutes
cooldown: ${cooldown}
tests:
  - name: three in a row
    events:
      - { source: gateway, at: 0s, body: { service: cart } }
      - { source: gateway, at: 1s, body: { service: cart } }
      - { source: gateway, at: 2s, body: { service: cart } }
    expect:
      - { trigger: gateway-errors, ${above < 3 ? 'fires: 1' : 'not_fires: true'}, entity: cart }
`
const FILES = {
  'catalog.yaml':
    'catalog: shop\n\nagents:\n  - name: look\n    prompt: Say what broke.\n    run_budget_usd: 1\n',
  'sources/gateway.yaml': SOURCE,
  'triggers/errors.yaml': triggerOf(2),
}

describe('a catalog in git', () => {
  let git: GitWorld
  let home: string
  let clone: string
  let daemon: Daemon
  let commits: string[] = []

  const start = async () => {
    daemon = await startDaemon(join(home, 'data'), [], {
      ...{ SVC_CATALOG_REPO: git.bare, SVC_CATALOG_REPO_POLICY: 'manual', SVC_CATALOG_REPO_INTERVAL: '1h' },
    })
  }
  const run = (line: string, setting: Setting = {}): Promise<Ran> => svc(line.split(' '), setting)
  const ask = (line: string, setting: Setting = {}): Promise<Ran> =>
    run(`${line} --svcd ${daemon.url}`, setting)
  const sync = async (): Promise<CatalogSync> => {
    const { code, out } = await ask('catalog sync --status --json')
    expect([0, 2]).toContain(code)
    return JSON.parse(out) as CatalogSync
  }
  const declared = async () => {
    const triggers = (await (await fetch(`${daemon.url}/api/triggers`)).json()) as Trigger[]
    const found = triggers.find(({ name }) => name === 'gateway-errors')
    return found ? JSON.stringify([found.condition, found.cooldown]) : null
  }
  /** A person changes the trigger in the console. */
  const byHand = async (change: Record<string, unknown>) => {
    const { status } = await fetch(`${daemon.url}/api/change-sets`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        operations: [{ op: 'patch', kind: 'trigger', name: 'gateway-errors', spec: change }],
      }),
    })
    expect(status).toBe(200)
  }
  let steps = 0
  /** What was there is there after a kill. */
  const killed = async () => {
    await ask('catalog sync --json')
    if (!isDone(steps++, 3)) return
    const before = [await declared(), (await sync()).state, (await sync()).applied?.id]
    await daemon.kill()
    await start()
    // The first look after a start is the daemon's own.
    await ask('catalog sync --json')
    expect([await declared(), (await sync()).state, (await sync()).applied?.id]).toEqual(before)
  }
  const file = () => readFileSync(join(clone, 'triggers/errors.yaml'), 'utf8')

  beforeAll(async () => {
    git = gitWorld()
    clone = join(git.folder, 'clone')
    home = mkdtempSync(join(tmpdir(), 'svc-walk-'))
    commits = [git.commit(FILES, 'the first')]
    await start()
  })
  afterAll(async () => {
    await daemon.kill()
    git.remove()
    rmSync(home, { recursive: true, force: true })
  })

  it('is followed, edited, planned, merged, pulled, in conflict, adopted and rolled back', async () => {
    // The first commit waits for a person, who sees its plan and applies just that.
    const first = await ask('catalog sync')
    expect([first.code, first.out]).toEqual([2, expect.stringContaining('+ trigger gateway-errors')])
    expect(await declared()).toBeNull()
    expect(await ask('catalog sync --apply --yes')).toMatchObject({ code: 0 })
    expect(await declared()).toContain('> 2')
    await killed()

    // An edit, as its author checks it: no daemon is asked.
    git.git('checkout', '--quiet', '-b', 'calmer')
    git.commit({ 'triggers/errors.yaml': triggerOf(9).replace('not_fires: true', 'fires: 1') }, 'calmer')
    const failing = await run(`catalog test ${clone}`)
    expect([failing.code, failing.out]).toEqual([1, expect.stringContaining('three in a row')])
    git.git('push', '--quiet', '--force', 'origin', `${commits[0]}:main`)
    git.commit({ 'triggers/errors.yaml': triggerOf(9) }, 'calmer, with its test')
    const branch = git.git('rev-parse', 'HEAD')
    git.git('push', '--quiet', '--force', 'origin', `${commits[0]}:main`, `${branch}:refs/heads/calmer`)
    for (const line of ['check --offline', 'lint', 'test', 'fmt --check'])
      expect([line, await run(`catalog ${line} ${clone}`)]).toEqual([
        line,
        expect.objectContaining({ code: 0 }),
      ])

    // What the pull request says: the fields, and what the change would have done to events that were recorded.
    for (let n = 0; n < 3; n++) await ask('send gateway -', { stdin: '{"service":"cart"}\n' })
    const events = join(home, 'events.ndjson')
    expect(await ask(`events export ${events} --window 1h`)).toMatchObject({ code: 0 })
    const base = join(home, 'base')
    git.git('worktree', 'add', '--quiet', base, commits[0]!)
    const comment = await run(`catalog plan ${clone} --base ${base} --events ${events} --markdown`)
    expect([comment.code, comment.err]).toEqual([2, ''])
    expect(comment.out).toContain('gateway-errors')
    expect(comment.out).toMatch(/> 2.*> 9/s)
    await killed()

    // Merged, it is looked at; a person applies the plan that was seen.
    git.git('push', '--quiet', 'origin', `${branch}:main`)
    commits.push(branch)
    expect(await ask('catalog sync')).toMatchObject({ code: 2, out: expect.stringContaining('> 9') })
    expect(await ask('catalog sync --apply --yes')).toMatchObject({ code: 0 })
    expect(await declared()).toContain('> 9')
    expect((await sync()).applied).toMatchObject({ id: branch, author: 'Ada' })
    await killed()

    // Somebody changes it by hand: that is drift, and goes into the file where it lives.
    await byHand({ cooldown: '1h' })
    const drifted = await ask('catalog sync')
    expect([drifted.code, drifted.out]).toEqual([2, expect.stringContaining('1h')])
    expect(await sync()).toMatchObject({ state: 'out_of_sync', code: 'drifted' })
    await killed()
    const shown = await ask(`catalog pull ${clone} --dry-run`)
    expect([shown.code, shown.out]).toEqual([2, expect.stringContaining('-cooldown: 10m\n+cooldown: 1h')])
    expect(await ask(`catalog pull ${clone}`)).toMatchObject({ code: 0 })
    expect(file()).toBe(triggerOf(9, '1h'))
    git.git('commit', '--quiet', '--all', '-m', 'what was changed by hand')
    git.git('push', '--quiet', 'origin', 'HEAD:main')
    commits.push(git.git('rev-parse', 'HEAD'))
    expect(await ask('catalog sync')).toMatchObject({ code: 0 })
    expect(await sync()).toMatchObject({ state: 'synced', applied: { id: commits[2] } })
    await killed()

    // By hand and in the file: a conflict that names all three values and the place, and nothing is done.
    await byHand({ cooldown: '2h' })
    git.commit({ 'triggers/errors.yaml': triggerOf(9, '3h') }, 'rarer')
    commits.push(git.git('rev-parse', 'HEAD'))
    const conflict = await ask(`catalog plan ${clone} --merge`)
    expect(conflict.code).toBe(65)
    for (const value of ['1h', '2h', '3h', 'triggers/errors.yaml:6'])
      expect(conflict.out + conflict.err).toContain(value)
    expect(await ask(`catalog apply ${clone} --merge --yes`)).toMatchObject({ code: 65 })
    expect(await declared()).toContain('2h')
    expect(await ask('catalog sync --merge')).toMatchObject({ code: 65, err: expect.stringContaining('2h') })
    await killed()

    // Settled for the instance, it goes into the files as a patch, and the next commit says what runs.
    expect(await ask('catalog sync --merge --ours instance --apply --yes')).toMatchObject({ code: 0 })
    expect(await declared()).toContain('2h')
    expect(await sync()).toMatchObject({ state: 'out_of_sync', code: 'drifted', applied: { id: commits[3] } })
    await killed()
    const adopted = await ask('catalog adopt')
    expect([adopted.code, adopted.out]).toEqual([2, expect.stringContaining('-cooldown: 3h\n+cooldown: 2h')])
    expect(adopted.out).toMatch(/by hand: .*\n {2}in git: Ada .*rarer/)
    const patch = join(home, 'by-hand.patch')
    expect(await ask(`catalog adopt --patch ${patch}`)).toMatchObject({ code: 0 })
    git.git('apply', patch)
    expect(file()).toBe(triggerOf(9, '2h'))
    commits.push(git.commit({}, 'adopted'))
    expect(await ask('catalog sync')).toMatchObject({ code: 0 })
    expect(await sync()).toMatchObject({ state: 'synced', applied: { id: commits[4] } })
    await killed()
    git.commit({ 'triggers/errors.yaml': triggerOf(9, '3h') }, 'rarer after all')
    expect(await ask('catalog sync --apply --yes')).toMatchObject({ code: 0 })
    expect(await declared()).toContain('3h')
    await killed()

    // Back to what was merged first; that holds until there is a newer commit.
    expect(await ask(`catalog sync --apply --yes --commit ${commits[0]!.slice(0, 12)}`)).toMatchObject({
      code: 0,
    })
    expect(await declared()).toContain('> 2')
    await killed()
    const { out } = await ask('catalog sync --history --json')
    const { entries } = JSON.parse(out) as { entries: { outcome: string; commit: { id: string } | null }[] }
    expect(entries[0]).toMatchObject({ outcome: 'rolled_back', commit: { id: commits[0] } })
    expect(new Set(entries.map(({ outcome }) => outcome))).toEqual(
      new Set(['held', 'applied', 'drifted', 'rolled_back']),
    )
  })
})
