/** A repository of 5,000 parts in 500 files that the daemon follows: from a push to the commit applied. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CatalogSync } from '../../schemas/types.ts'
import type { Daemon } from '../chaos/daemon.ts'
import { FILES, type FilesMeasure, fileOf } from './catalog-files.ts'

const RECONCILE_MS = 2_000
const TRIES = 5

/** A bare repository with them all, and how a line of it is changed. */
export function syncedRepository(folder: string): { env: Record<string, string>; commit(n: number): void } {
  const [bare, clone] = [join(folder, 'synced.git'), join(folder, 'synced')]
  const who = ['AUTHOR', 'COMMITTER'].flatMap((one) => [
    [`GIT_${one}_NAME`, 'Ada'],
    [`GIT_${one}_EMAIL`, 'ada@example.com'],
  ])
  const git = (...args: string[]) =>
    void execFileSync('git', args, { env: { ...process.env, ...Object.fromEntries(who) }, stdio: 'pipe' })
  mkdirSync(clone, { recursive: true })
  git('init', '--quiet', '--bare', '--initial-branch=main', bare)
  git('-C', clone, 'init', '--quiet', '--initial-branch=main')
  git('-C', clone, 'remote', 'add', 'origin', bare)
  const push = (message: string) => {
    git('-C', clone, 'add', '--all')
    git('-C', clone, 'commit', '--quiet', '-m', message)
    git('-C', clone, 'push', '--quiet', 'origin', 'main')
  }
  for (let n = 0; n < FILES; n++) writeFileSync(join(clone, `${n}.yaml`), fileOf(n))
  push('all of them')
  return {
    env: { SVC_CATALOG_REPO: bare, SVC_CATALOG_REPO_POLICY: 'auto', SVC_CATALOG_REPO_INTERVAL: '1d' },
    commit: (n) => {
      writeFileSync(join(clone, '7.yaml'), fileOf(7).replace('cooldown: 10m', `cooldown: ${n}m`))
      push(`a line, ${n}`)
    },
  }
}

/** @param daemon that follows it */
export async function measureCatalogSync(
  daemon: Daemon,
  commit: (n: number) => void,
): Promise<FilesMeasure[]> {
  const look = async (): Promise<number> => {
    const started = performance.now()
    const answer = await fetch(`${daemon.url}/api/catalog/sync`, { method: 'POST' })
    const sync = (await answer.json()) as CatalogSync
    if (sync.state !== 'synced') throw new Error(`the sync is ${sync.state}: ${sync.reason}`)
    return performance.now() - started
  }
  const first = await look()
  const runs: number[] = []
  for (let n = 0; n < TRIES; n++) {
    commit(n + 20)
    runs.push(await look())
  }
  const same = await look()
  const middle = runs.toSorted((a, b) => a - b)[Math.floor(TRIES / 2)]!
  return [
    { what: 'first sync of 5,000 parts in 500 files of a repository', ms: first, goalMs: null },
    { what: 'a commit of one line, fetched, planned and applied', ms: middle, goalMs: RECONCILE_MS },
    { what: 'a look at a commit that is applied already', ms: same, goalMs: null },
  ]
}
