/**
 * The daemon that follows a repository, killed at each step of a look: in the fetch, before the plan, at any time of plan
 * and apply, and before GitHub is told. After a start the instance is as before or as the commit says, and goes on.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { CatalogSync, CatalogSyncHistory, ChangeSetsResult, Trigger } from '../../schemas/types.ts'
import { gitServer } from '../engine/reconcile/git-server.ts'
import { type GitWorld, gitWorld, SHOP } from '../engine/reconcile/git-world.ts'
import { eventually } from '../eventually.ts'
import { type Daemon, startDaemon } from './daemon.ts'
import { isDone } from './scale.ts'

/** Milliseconds from the last file that is read, in which a plan is made and applied. */
const PAST = [20, 25, 30, 35, 40, 50, 65, 80]
const TOKEN = 'ghp_canary0token0of0the0repository'
/** What is closed, last to first. */
type Closing = (() => unknown)[]
const opened: Closing = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

interface World {
  git: GitWorld
  home: string
  /** Holds git where it is at these words, until the file is gone; `reached` is there once it is. */
  holdAt: string
  reached: string
  env: Record<string, string>
  closing: Closing
}

/** A git that can be held, in front of the one of the system. */
function world(closing = opened): World {
  const git = gitWorld()
  closing.push(() => git.remove())
  const home = mkdtempSync(join(tmpdir(), 'svc-sync-kill-'))
  closing.push(() => rmSync(home, { recursive: true, force: true }))
  const bin = join(home, 'bin')
  mkdirSync(bin)
  const [holdAt, reached] = [join(home, 'hold-at'), join(home, 'reached')]
  const script = `#!/bin/sh
if [ -f ${holdAt} ] && [ "$3" = "$(cat ${holdAt})" ]; then
  touch ${reached}
  while [ -f ${holdAt} ]; do sleep 0.02; done
fi
exec "$REAL_GIT" "$@"
`
  // The daemon passes little on: the real one is written out.
  const real = process.env
    .PATH!.split(':')
    .map((dir) => join(dir, 'git'))
    .find((file) => existsSync(file))!
  writeFileSync(join(bin, 'git'), script.replace('"$REAL_GIT"', real), { mode: 0o755 })
  const env = {
    ...{ SVC_CATALOG_REPO: git.bare, SVC_CATALOG_REPO_POLICY: 'auto', SVC_CATALOG_REPO_INTERVAL: '5s' },
    ...{ PATH: `${bin}:${process.env.PATH}`, SVC_INSTANCE_NAME: 'killed' },
  }
  return { git, home, holdAt, reached, env, closing }
}

async function start({ home, env, closing }: World, more: Record<string, string> = {}): Promise<Daemon> {
  const daemon = await startDaemon(join(home, 'data'), [], { ...env, ...more })
  closing.push(() => daemon.kill())
  return daemon
}

const get = async <T>(daemon: Daemon, path: string): Promise<T> =>
  (await fetch(daemon.url + path)).json() as Promise<T>
const threshold = async (daemon: Daemon): Promise<string> => {
  const found = (await get<Trigger[]>(daemon, '/api/triggers')).find(({ name }) => name === 'gateway-errors')
  return /"predicate":"([^"]*)"/.exec(JSON.stringify(found))?.[1] ?? 'none'
}
const synced = (daemon: Daemon, head: string) =>
  eventually(async () => {
    const sync = await get<CatalogSync>(daemon, '/api/catalog/sync')
    expect(sync).toMatchObject({ state: 'synced', applied: { id: head } })
  })

/** What a start finds must fit together, whatever it was killed in. */
async function whole(daemon: Daemon, before: string, after: string): Promise<void> {
  expect([before, after]).toContain(await threshold(daemon))
  const { entries } = await get<CatalogSyncHistory>(daemon, '/api/catalog/sync/history')
  const sets = await get<ChangeSetsResult>(daemon, '/api/change-sets')
  const applied = entries.filter(({ outcome }) => outcome === 'applied')
  const ofSync = sets.change_sets.filter(({ origin }) => origin === 'catalog')
  // Each change-set of the catalog has its entry, and each entry its change-set.
  expect(applied.map(({ change_set: set }) => set)).toEqual(ofSync.map(({ id }) => id))
}

/** A daemon that follows a repository, in step with it, to be killed again and again. */
async function following(closing: Closing) {
  const made = world(closing)
  const { git, holdAt, reached } = made
  let above = 5
  const first = git.commit({ 'shop.yaml': SHOP(above) }, `to ${above}`)
  let daemon = await start(made)
  await synced(daemon, first)
  /** A look at a new commit that is held at `step`, until `kill`; the daemon that is started then goes on. */
  return async (step: string, kill: (killed: Daemon, made: World) => Promise<void>): Promise<void> => {
    writeFileSync(holdAt, step)
    rmSync(reached, { force: true })
    const [before, after] = [`> ${above}`, `> ${++above}`]
    const head = git.commit({ 'shop.yaml': SHOP(above) }, `to ${above}`)
    void fetch(`${daemon.url}/api/catalog/sync`, { method: 'POST' }).catch(() => null)
    await eventually(() => expect(existsSync(reached)).toBe(true))
    await kill(daemon, made)
    rmSync(holdAt, { force: true })
    daemon = await start(made)
    await whole(daemon, before, after)
    await synced(daemon, head)
    expect(await threshold(daemon)).toBe(after)
  }
}

describe('a daemon that is killed while it syncs', () => {
  const closing: Closing = []
  let look: Awaited<ReturnType<typeof following>>
  beforeAll(async () => {
    look = await following(closing)
  })
  afterAll(async () => {
    for (const close of closing.reverse()) await close()
  })

  it.each(['fetch', 'ls-tree', 'cat-file'].filter((_, at) => isDone(at, 3)))(
    'in git %s is as before, and goes on after a start',
    async (step) => {
      await look(step, async (daemon, { home }) => {
        await daemon.kill()
        // As a kill in the middle of writing a reference leaves it.
        const mirrors = join(home, 'data', 'catalog-mirror')
        const [mirror] = readdirSync(mirrors)
        writeFileSync(join(mirrors, mirror!, 'refs', 'svc', 'followed.lock'), '')
      })
    },
  )

  it('at any time of plan and apply is as before or after, and goes on after a start', async () => {
    for (const past of PAST.filter((_, at) => isDone(at, 8)))
      await look('cat-file', async (daemon, { holdAt }) => {
        rmSync(holdAt)
        await new Promise((resolve) => setTimeout(resolve, past))
        await daemon.kill()
      })
  })

  it('before GitHub is told has told it after a start, once', async () => {
    const made = world()
    const { git, home } = made
    const host = await gitServer(git.folder)
    opened.push(() => host.close())
    host.tokens = new Set([TOKEN])
    mkdirSync(join(git.folder, 'acme'))
    symlinkSync(git.bare, join(git.folder, 'acme', 'catalog.git'))
    const more = { SVC_CATALOG_REPO: `${host.url}/acme/catalog.git`, SVC_CATALOG_REPO_CREDENTIAL: 'main' }
    const head = git.commit({ 'shop.yaml': SHOP() }, 'five')
    const daemon = await start(made, more)
    const body = JSON.stringify({ name: 'main', token: TOKEN, api_url: `${host.url}/api/v3` })
    const headers = { 'content-type': 'application/json' }
    await fetch(`${daemon.url}/api/integrations/github`, { method: 'POST', headers, body })
    let release = () => {}
    host.hold = new Promise((resolve) => {
      release = resolve
    })
    const isStatus = ([method, path]: [string, string, unknown]) =>
      method === 'POST' && path.includes('/statuses/')
    void fetch(`${daemon.url}/api/catalog/sync`, { method: 'POST' }).catch(() => null)
    await eventually(() => expect(host.asked.some(isStatus)).toBe(true))
    await daemon.kill()
    host.hold = null
    release()
    host.asked.splice(0)
    const again = await start(made, more)
    await synced(again, head)
    await eventually(() => expect(host.comments.size).toBe(1))
    await fetch(`${again.url}/api/catalog/sync`, { method: 'POST' })
    expect(host.asked.filter(isStatus)).toHaveLength(1)
    expect(host.comments.size).toBe(1)
    expect(readFileSync(join(home, 'data', 'svc.db')).includes(TOKEN)).toBe(false)
  })

  it.each(['fast-import', 'push'].filter((_, at) => isDone(at, 2)))(
    'in git %s of a pull request is as before, and opens one when it is asked for again',
    async (step) => {
      const made = world()
      const { git, holdAt, reached } = made
      const host = await gitServer(git.folder)
      opened.push(() => host.close())
      host.tokens = new Set([TOKEN])
      mkdirSync(join(git.folder, 'acme'))
      symlinkSync(git.bare, join(git.folder, 'acme', 'catalog.git'))
      const more = {
        ...{ SVC_CATALOG_REPO: `${host.url}/acme/catalog.git`, SVC_CATALOG_REPO_CREDENTIAL: 'main' },
        ...{ SVC_CATALOG_REPO_POLICY: 'manual', SVC_CATALOG_REPO_INTERVAL: '1h' },
      }
      const head = git.commit({ 'shop.yaml': SHOP() }, 'five')
      const daemon = await start(made, more)
      const headers = { 'content-type': 'application/json' }
      const post = (of: Daemon, path: string, body: object) =>
        fetch(of.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
      const credential = { name: 'main', token: TOKEN, api_url: `${host.url}/api/v3` }
      await post(daemon, '/api/integrations/github', credential)
      await post(daemon, '/api/catalog/sync', { apply: true })
      const condition = { aggregate: 'count', predicate: '> 7', window: '5m' }
      const operations = [{ op: 'patch', kind: 'trigger', name: 'gateway-errors', spec: { condition } }]
      await post(daemon, '/api/change-sets', { operations })
      writeFileSync(holdAt, step)
      void post(daemon, '/api/catalog/sync/pull-request', {}).catch(() => null)
      await eventually(() => expect(existsSync(reached)).toBe(true))
      await daemon.kill()
      rmSync(holdAt)
      const again = await start(made, more)
      expect(await threshold(again)).toBe('> 7')
      expect(host.pulls.size).toBe(0)
      const answer = await post(again, '/api/catalog/sync/pull-request', {})
      expect([answer.status, await answer.json()]).toMatchObject([200, { pull_request: { number: 41 } }])
      expect(git.git('--git-dir', git.bare, 'log', '-1', '--format=%P', 'svc/adopt-killed')).toBe(head)
      expect(host.pulls.size).toBe(1)
    },
  )
})
