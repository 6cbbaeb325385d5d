/**
 * `npm test`: sets up, then checks, unit and integration tests, browser tests; ends at the first
 * step that fails, with its output. Results stay in dist/results/ for `.ci/run`.
 */
import { rmSync } from 'node:fs'
import { ensureBrowser } from './browser.mjs'
import { main } from './run.mjs'
import { setUp } from './setup.mjs'
import {
  browserTests,
  checks,
  countPlaywright,
  countVitest,
  describeCount,
  PLAYWRIGHT_RESULTS,
  runSteps,
  unitTests,
  VITEST_RESULTS,
} from './steps.mjs'
import { ensurePrograms } from './test-programs.mjs'

await main(async () => {
  const startedAt = performance.now()
  for (const file of [VITEST_RESULTS, PLAYWRIGHT_RESULTS]) rmSync(file, { force: true })
  await setUp({ tests: true })
  const browser = await ensureBrowser()
  await ensurePrograms()
  const isGood = (await runSteps(checks, 2)) && (await runSteps([unitTests, ...browserTests(browser)]))
  const unit = countVitest()
  const e2e = countPlaywright()
  const all = { passed: unit.passed + e2e.passed, failed: unit.failed + e2e.failed }
  process.stdout.write(
    `\n${isGood ? 'all good' : 'not good'}: ${describeCount(all)} in ${Math.round((performance.now() - startedAt) / 1000)} s\n`,
  )
  return isGood ? 0 : 1
})
