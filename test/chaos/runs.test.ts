import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runAgentKills } from './runs.ts'

const seed = Number(process.env.CHAOS_SEED ?? Date.now() % 1e6)

it(`6 kills while agents are at work: each chain happens once (CHAOS_SEED=${seed})`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-runs-'))
  const report = await runAgentKills(folder, 6, seed)
  expect(report).toMatchObject({ wrong: [], failed: [], findings: [], remembered: [], open: 0 })
  expect(report.again).toBeLessThanOrEqual(report.kills * 100)
  rmSync(folder, { recursive: true, force: true })
}, 600_000)
