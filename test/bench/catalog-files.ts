/** Catalog files as a repository has them: 5,000 parts in 500 files, checked without a daemon and planned by one. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Daemon } from '../chaos/daemon.ts'

export interface FilesMeasure {
  what: string
  ms: number
  goalMs: number | null
}

export const FILES = 500
const OF_EACH = 2
const CHECK_MS = 1_500
const PLAN_MS = 3_000
const TRIES = 5

/** @param daemon with nothing declared yet. @param folder where to put the files */
export function measureCatalogFiles(daemon: Daemon, folder: string): FilesMeasure[] {
  const root = join(folder, 'repository')
  mkdirSync(root, { recursive: true })
  for (let n = 0; n < FILES; n++) writeFileSync(join(root, `${n}.yaml`), fileOf(n))
  const measures: FilesMeasure[] = []
  const timed = (what: string, goalMs: number | null, codes: readonly number[], ...args: string[]): void => {
    const runs = Array.from({ length: goalMs === null ? 1 : TRIES }, () => run(args, codes))
    measures.push({ what, ms: runs.toSorted((a, b) => a - b)[Math.floor(runs.length / 2)]!, goalMs })
  }
  const at = ['--svcd', daemon.url]
  timed('checking 5,000 parts in 500 files, no daemon', CHECK_MS, [0], 'check', root, '--offline')
  timed('planning them all new', PLAN_MS, [2], 'plan', root, ...at)
  timed('applying them', null, [0], 'apply', root, '--yes', ...at)
  timed('planning them as they are', PLAN_MS, [0], 'plan', root, ...at)
  timed('merging them with what was changed by hand', null, [0], 'plan', root, '--merge', ...at)
  timed('pulling what was changed by hand: nothing', null, [0], 'pull', root, ...at)
  timed('laying them out, nothing to change or not', null, [0, 1], 'fmt', root, '--check')
  timed('lint of them', null, [0, 1], 'lint', root)
  return measures
}

/** Ten parts, each with what such a part usually says. */
export function fileOf(n: number): string {
  const each = (make: (name: string) => string) =>
    Array.from({ length: OF_EACH }, (_, i) => make(`${n}-${i}`)).join('')
  return `sources:
${each(
  (id) => `  - name: source-${id}
    connector: webhook
    config:
      event_type: request
      labels:
        - { name: service, field: service, primary: true }
        - { name: status, field: status, type: number }
`,
)}triggers:
${each(
  (id) => `  - name: trigger-${id}
    sources: [source-${id}]
    filters:
      - { field: status, op: gte, value: 500 }
    condition: { aggregate: count, predicate: "> 5", window: 5m }
    cooldown: 10m
`,
)}agents:
${each(
  (id) => `  - name: agent-${id}
    trigger: trigger-${id}
    prompt: Say what broke in ${id} and conclude.
    run_budget_usd: 1
    enabled: true
`,
)}skills:
${each(
  (id) => `  - name: skill-${id}
    description: How to roll back ${id}.
    body: |
      # Roll back

      Stop it, then start the version before.
`,
)}mcp_servers:
${each((id) => `  - name: server-${id}\n    url: https://mcp-${id}.example.com/mcp\n`)}`
}

function run(args: readonly string[], codes: readonly number[]): number {
  const command = fileURLToPath(new URL('../../bin/svc.mjs', import.meta.url))
  const started = performance.now()
  const { status, stderr } = spawnSync(process.execPath, [command, 'catalog', ...args], { encoding: 'utf8' })
  const ms = performance.now() - started
  if (status === null || !codes.includes(status))
    throw new Error(`svc catalog ${args.join(' ')} exited with ${status}: ${stderr.slice(0, 2_000)}`)
  return ms
}
