/** The long forms: `npm run chaos` (500 kills), `npm run chaos -- 50`, `npm run chaos -- declared`. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { killEverywhere } from './declared-every.ts'
import { runKills } from './kill.ts'

const ok = process.argv[2] === 'declared' ? await killDeclared() : await killWriters()
process.exit(ok ? 0 : 1)

async function killWriters(): Promise<boolean> {
  const kills = Number(process.argv[2] ?? 500)
  const seed = Number(process.env.CHAOS_SEED ?? Date.now() % 1e6)
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
