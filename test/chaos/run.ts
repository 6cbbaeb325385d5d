/**
 * The long forms: `npm run chaos` (500 kills), `npm run chaos -- 50`, and `-- declared`, `-- firings`, `-- runs`;
 * `-- restarts` of a file that grows, and `-- removal` where retention removes events of it meanwhile;
 * `-- tests` for the tests of which `npm test` does a part, with all their kills, faults, states of the disk and random runs;
 * `-- mixed 60` for seconds of mixed load, and `-- --node 22,24,26` for it and the tests under each Node.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { killEverywhere } from './declared-every.ts'
import { runFiringKills } from './firings.ts'
import { runKills } from './kill.ts'
import { runMixedLoad } from './mixed.ts'
import { runUnderNodes } from './nodes.ts'
import { runRemoval, runRestarts } from './restarts.ts'
import { runAgentKills } from './runs.ts'
import { seed } from './scale.ts'

/** Highest resident memory under mixed load. */
const PEAK_MB = 450

const forms: Record<string, () => Promise<boolean>> = {
  '--node': () => runUnderNodes((process.argv[3] ?? '22,24,26').split(',')),
  mixed: loadMixed,
  declared: killDeclared,
  firings: () => killAtWork('firings', runFiringKills),
  tests: runLongTests,
  runs: () => killAtWork('runs', runAgentKills),
  restarts: () => killAtWork('restarts', runRestarts, 25),
  removal: () => killAtWork('removal', runRemoval, 25),
}
const [, , form] = process.argv
if (form !== undefined && !forms[form] && !/^\d+$/.test(form)) {
  console.error(
    `svc: ${form} is no form of this: a number of kills, or one of ${Object.keys(forms).join(', ')}`,
  )
  process.exit(1)
}
const ok = await (forms[form ?? ''] ?? killWriters)()
process.exit(ok ? 0 : 1)

/** So many kills; everything in the report that is a list must be empty. */
async function killAtWork(
  name: string,
  kill: (folder: string, kills: number, seed: number) => Promise<object>,
  kills = 100,
): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), `svc-${name}-`))
  console.log(`${kills} ${kills === 100 ? 'kills' : 'restarts'}, CHAOS_SEED=${seed}, data in ${folder}`)
  const report = await kill(folder, kills, seed)
  const faults = Object.values(report).flatMap((value) => (Array.isArray(value) ? value : []))
  console.log(report)
  if (faults.length === 0) rmSync(folder, { recursive: true, force: true })
  return faults.length === 0
}

/** @returns files of tests of which `npm test` does a part */
function scaled(): string[] {
  const folder = fileURLToPath(new URL('../', import.meta.url))
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts') && (name.startsWith('chaos') || isScaled(join(folder, name))))
    .map((name) => join('test', name))
}

const isScaled = (file: string): boolean => readFileSync(file, 'utf8').includes("scale.ts'")

async function runLongTests(): Promise<boolean> {
  const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url))
  const env = { ...process.env, CHAOS_LONG: '1', CHAOS_SEED: String(seed) }
  console.log(`all of the random tests, CHAOS_SEED=${seed}`)
  const child = spawn(process.execPath, [vitest, 'run', ...scaled()], {
    stdio: 'inherit',
    env,
  })
  const [code] = await once(child, 'exit')
  return code === 0
}

async function killWriters(): Promise<boolean> {
  const kills = Number(process.argv[2] ?? 500)
  const folder = mkdtempSync(join(tmpdir(), 'svc-chaos-'))
  console.log(`${kills} kills under 16 writers, CHAOS_SEED=${seed}, data in ${folder}`)
  const report = await runKills(folder, kills, seed, (n, acknowledged) => {
    if (n % 10 === 0) console.log(`${n} kills, ${acknowledged} events acknowledged`)
  })
  const isWhole =
    report.lost.length + report.doubled.length + report.foreign.length + report.countDrift === 0 &&
    report.integrity === 'ok' &&
    report.exitCode === 0
  console.log({
    ...report,
    lost: report.lost.length,
    doubled: report.doubled.length,
    foreign: report.foreign.length,
  })
  if (isWhole) rmSync(folder, { recursive: true, force: true })
  console.log(isWhole ? 'nothing lost, nothing doubled' : `FAILED; the data is kept in ${folder}`)
  return isWhole
}

/** Everything is answered, stored and fired, in bounded memory, and the daemon ends well. */
async function loadMixed(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-mixed-'))
  try {
    const report = await runMixedLoad(folder, Number(process.argv[3] ?? 60))
    console.log(report)
    return (
      report.failed.length === 0 &&
      report.stored === report.acknowledged &&
      report.firings > 0 &&
      report.exitCode === 0 &&
      report.peakMb <= PEAK_MB
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function killDeclared(): Promise<boolean> {
  const scratch = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'svc-declared-'))
  let between = 0
  try {
    for await (const killed of killEverywhere(scratch)) {
      between += killed.between.length
      console.log(`${killed.operation}: ${killed.kills} kills, ${killed.between.length} left a state between`)
      for (const { statement, difference } of killed.between)
        console.log(`  before statement ${statement}:\n    ${difference.slice(0, 20).join('\n    ')}`)
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
  console.log(between === 0 ? 'each left the old state or the new one' : `FAILED: ${between} states between`)
  return between === 0
}
