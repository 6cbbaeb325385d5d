import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ANSWERS_BEFORE_KILL, runFiringKills } from './firings.ts'
import { longOr, seed } from './scale.ts'

const KILLS = longOr(8, 2)

it(`${KILLS} kills under load: each crossing fires exactly once, and each firing is told (CHAOS_SEED=${seed})`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-firings-'))
  const report = await runFiringKills(folder, KILLS, seed)
  expect(report).toMatchObject({ missing: [], extra: [], untold: [], renamed: [], adrift: [] })
  expect(report.events).toBeGreaterThanOrEqual(KILLS * ANSWERS_BEFORE_KILL)
  expect(report.firings).toBeGreaterThan(report.events)
  rmSync(folder, { recursive: true, force: true })
}, 600_000)
