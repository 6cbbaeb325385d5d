import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ANSWERS_BEFORE_KILL, runFiringKills } from './firings.ts'

const seed = Number(process.env.CHAOS_SEED ?? Date.now() % 1e6)

it(`8 kills under load: each crossing fires exactly once, and each firing is told (CHAOS_SEED=${seed})`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-firings-'))
  const report = await runFiringKills(folder, 8, seed)
  expect(report).toMatchObject({ missing: [], extra: [], untold: [], renamed: [] })
  expect(report.events).toBeGreaterThanOrEqual(8 * ANSWERS_BEFORE_KILL)
  expect(report.firings).toBeGreaterThan(report.events)
  rmSync(folder, { recursive: true, force: true })
}, 600_000)
