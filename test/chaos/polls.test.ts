import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { POLLS_BEFORE_KILL, runPollKills } from './polls.ts'
import { longOr, seed } from './scale.ts'

const KILLS = longOr(4, 2)

it(`${KILLS} kills while an API is polled: cursor and events agree after each, and each entry is stored once (CHAOS_SEED=${seed})`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-polls-'))
  const report = await runPollKills(folder, KILLS, seed)
  expect(report).toMatchObject({ missing: [], doubled: [], disagreed: [] })
  expect(report.entries).toBeGreaterThanOrEqual(KILLS * POLLS_BEFORE_KILL)
  rmSync(folder, { recursive: true, force: true })
})
