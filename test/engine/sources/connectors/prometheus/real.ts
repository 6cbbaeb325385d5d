/**
 * A real Prometheus with rules of the test's own, which make series and alerts without anything to scrape.
 * `npm test` takes the program from Debian's package where it is not on the path.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { findProgram } from '../../../../../scripts/programs.mjs'

/** Whether there is a Prometheus to start. */
export const hasPrometheus = findProgram('prometheus') !== null

export interface RealPrometheus {
  url: string
  /** Takes other rules, as an operator does. */
  reload(rules: string): Promise<void>
  /** Resolves once the query has a result; fails after a minute and a half. */
  has(promql: string): Promise<void>
  stop(): Promise<void>
}

/** Ends what hangs; how fast a machine is must not decide a test. */
const LONGEST_MS = 90_000
const EVERY = '100ms'

/** @param rules the rules of one group, as YAML indented by six. */
export async function startPrometheus(rules: string): Promise<RealPrometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-prometheus-'))
  const write = (text: string) =>
    writeFile(join(folder, 'rules.yml'), `groups:\n  - name: test\n    rules:\n${text}`)
  await write(rules)
  await writeFile(
    join(folder, 'prometheus.yml'),
    `global:\n  evaluation_interval: ${EVERY}\nrule_files: [rules.yml]\n`,
  )
  const child = spawn(
    findProgram('prometheus')!,
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      '--web.listen-address=127.0.0.1:0',
      '--web.enable-lifecycle',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const url = await readyAt(child)
  return {
    url,
    async reload(text) {
      await write(text)
      const { status } = await fetch(`${url}/-/reload`, { method: 'POST' })
      if (status !== 200) throw new Error(`reload answered ${status}`)
    },
    has: (promql) =>
      within(async () => {
        const answer = await fetch(`${url}/api/v1/query`, {
          method: 'POST',
          body: new URLSearchParams({ query: promql }),
        })
        const { data } = (await answer.json()) as { data?: { result: unknown[] } }
        return (data?.result.length ?? 0) > 0
      }, `Prometheus has no ${promql}`),
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Asks again until it is so. @param otherwise what to fail with after a minute and a half. */
export async function within(isSo: () => Promise<boolean>, otherwise: string): Promise<void> {
  const until = performance.now() + LONGEST_MS
  while (!(await isSo())) {
    if (performance.now() > until) throw new Error(otherwise)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Port 0 lets the system choose; the log says which it was. */
async function readyAt(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stderr! })
  const told: string[] = []
  let address = ''
  let isReady = false
  const waiting = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS)
  for await (const line of lines) {
    told.push(line)
    // Each is written by a thread of its own, in either order.
    address = /"?Listening on"? address=(127\.0\.0\.1:\d+)/.exec(line)?.[1] ?? address
    isReady ||= line.includes('ready to receive web requests')
    if (!address || !isReady) continue
    clearTimeout(waiting)
    child.stderr!.resume()
    return `http://${address}`
  }
  clearTimeout(waiting)
  throw new Error(`Prometheus did not start:\n${told.join('\n')}`)
}
