import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runAgentKills } from './runs.ts'
import { longOr } from './scale.ts'

const KILLS = longOr(6, 3)
const seed = Number(process.env.CHAOS_SEED ?? Date.now() % 1e6)

it(`${KILLS} kills while agents are at work: each chain happens once, each finding is told (CHAOS_SEED=${seed})`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-runs-'))
  const report = await runAgentKills(folder, KILLS, seed)
  expect(report).toMatchObject({ wrong: [], failed: [], findings: [], remembered: [], open: 0 })
  expect(report).toMatchObject({ untold: [], astray: [] })
  // At least once is the promise. Findings go out side by side, at most 16 to a receiver of two agents, and what is
  // not found in Slack is posted again (docs/slack.md).
  expect(report.toldAgain).toBeLessThanOrEqual(report.kills * 16)
  expect(report.again).toBeLessThanOrEqual(report.kills * 100)
  rmSync(folder, { recursive: true, force: true })
}, 600_000)
