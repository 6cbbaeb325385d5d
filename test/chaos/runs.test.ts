import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runAgentKills } from './runs.ts'
import { longOr, seed } from './scale.ts'

const KILLS = longOr(6, 2)

it(`${KILLS} kills while agents are at work: each chain happens once, each finding is told (CHAOS_SEED=${seed})`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-runs-'))
  const report = await runAgentKills(folder, KILLS, seed)
  expect(report).toMatchObject({ wrong: [], failed: [], findings: [], remembered: [], open: 0 })
  expect(report).toMatchObject({ untold: [], astray: [] })
  // One request is under way to each receiver of two agents.
  expect(report.toldAgain).toBeLessThanOrEqual(report.kills * 4)
  expect(report.again).toBeLessThanOrEqual(report.kills * 100)
  rmSync(folder, { recursive: true, force: true })
}, 600_000)
