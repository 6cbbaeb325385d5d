/** Real git in folders of a test: a bare repository, a clone to write in, and an instance that follows it. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Repository } from '../../../engine/reconcile/git.ts'

/** Set for every call, so that what a machine is configured with decides nothing. */
const ENV = {
  PATH: process.env.PATH ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
}

export interface GitWorld {
  folder: string
  /** Path of the bare repository. */
  bare: string
  /** Runs git in the clone. @returns what it says */
  git(...args: string[]): string
  /** Writes files (null deletes one), commits and pushes. @returns the commit's hash */
  commit(files: Record<string, string | null>, message: string): string
  /** How an instance follows it. */
  repository(over?: Partial<Repository>): Repository
  remove(): void
}

export function gitWorld(): GitWorld {
  const folder = mkdtempSync(join(tmpdir(), 'svc-sync-'))
  const bare = join(folder, 'remote.git')
  const clone = join(folder, 'clone')
  const run = (cwd: string, args: string[]): string =>
    execFileSync('git', args, { cwd, env: ENV, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
  run(folder, ['init', '--quiet', '--bare', '--initial-branch=main', bare])
  run(folder, ['clone', '--quiet', bare, clone])
  run(clone, ['checkout', '--quiet', '-B', 'main'])
  const git = (...args: string[]) => run(clone, args)
  return {
    ...{ folder, bare, git },
    commit: (files, message) => {
      for (const [path, text] of Object.entries(files)) {
        const file = join(clone, path)
        mkdirSync(dirname(file), { recursive: true })
        if (text === null) rmSync(file)
        else writeFileSync(file, text)
      }
      git('add', '--all')
      git('commit', '--quiet', '--allow-empty', '-m', message)
      git('push', '--quiet', '--force', 'origin', 'HEAD:main')
      return git('rev-parse', 'HEAD')
    },
    repository: (over = {}) => ({
      ...{ address: bare, path: '', ref: 'main', policy: 'manual', intervalMs: 60_000, environment: null },
      ...{ credential: null, sshKey: null, pushSecret: null, instance: 'test' },
      folder: join(folder, 'mirror'),
      ...over,
    }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** A catalog of a source and a trigger, the threshold and more as given. */
export const SHOP = (threshold = 5, more = ''): string => `catalog: shop
sources:
  - name: gateway
    connector: webhook
    config:
      event_type: request
      labels:
        - { name: service, field: service, primary: true }
        - { name: status, field: status, type: number }
triggers:
  - name: gateway-errors
    sources: [gateway]
    condition: { aggregate: count, predicate: "> ${threshold}", window: 5m }
${more}`

/** One more trigger. */
export const TRIGGER = (name: string): string => `  - name: ${name}
    sources: [gateway]
    condition: { aggregate: count, predicate: "> 1", window: 1m }
`
