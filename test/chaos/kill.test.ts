import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startDaemon } from './daemon.ts'
import { ANSWERS_BEFORE_KILL, runKills } from './kill.ts'
import { longOr, seed } from './scale.ts'

const KILLS = longOr(60, 4)

it(`${KILLS} kills under load lose no acknowledged event and store none twice (CHAOS_SEED=${seed})`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-kill-'))
  const report = await runKills(folder, KILLS, seed)
  expect(report).toMatchObject({
    kills: KILLS,
    lost: [],
    doubled: [],
    foreign: [],
    integrity: 'ok',
    countDrift: 0,
    exitCode: 0,
  })
  expect(report.acknowledged).toBeGreaterThanOrEqual(KILLS * ANSWERS_BEFORE_KILL)
  rmSync(folder, { recursive: true, force: true })
}, 600_000)

it('refuses a second daemon on the same folder, naming the first, and a SIGTERM under load loses nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-second-'))
  const first = await startDaemon(folder)
  await expect(startDaemon(folder)).rejects.toThrow(
    new RegExp(`ended with 75[\\s\\S]*another daemon \\(pid ${first.process.pid}`),
  )
  expect(await first.stop()).toBe(0)
  rmSync(folder, { recursive: true, force: true })
})
