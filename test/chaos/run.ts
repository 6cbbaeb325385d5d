/** The long form: `npm run chaos` (500 kills), or `npm run chaos -- 50`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runKills } from './kill.ts'

const kills = Number(process.argv[2] ?? 500)
const seed = Number(process.env.CHAOS_SEED ?? Date.now() % 1e6)
const folder = mkdtempSync(join(tmpdir(), 'svc-chaos-'))
console.log(`${kills} kills under 16 writers, CHAOS_SEED=${seed}, data in ${folder}`)
const report = await runKills(folder, kills, seed, (n, acknowledged) => {
  if (n % 10 === 0) console.log(`${n} kills, ${acknowledged} events acknowledged`)
})
const ok =
  report.lost.length + report.doubled.length + report.foreign.length + report.countDrift === 0 &&
  report.integrity === 'ok' &&
  report.exitCode === 0
console.log({
  ...report,
  lost: report.lost.length,
  doubled: report.doubled.length,
  foreign: report.foreign.length,
})
if (ok) rmSync(folder, { recursive: true, force: true })
console.log(ok ? 'nothing lost, nothing doubled' : `FAILED; the data is kept in ${folder}`)
process.exit(ok ? 0 : 1)
