/** Steps of `npm test` and `npm run check`: each one line with its duration; after a failure no step begins. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { localBin, root, run } from './run.mjs'

/**
 * @typedef {object} Step
 * @property {string} title
 * @property {string} program a program of node_modules/.bin
 * @property {string[]} args
 * @property {Record<string, string>} [env]
 * @property {() => string} [count] what it counted, for its line and the summary
 */

// Not in test-results/, which Playwright empties when it starts.
export const VITEST_RESULTS = join(root, 'dist', 'results', 'vitest.json')
export const PLAYWRIGHT_RESULTS = join(root, 'dist', 'results', 'playwright.json')

const cruised = ['schemas', 'machines', 'engine', 'api', 'console', 'test', 'e2e'].filter((folder) =>
  existsSync(join(root, folder)),
)

// TypeScript 7 has no program of its own name in .bin: TypeScript 6, which the import rules are read with, has it.
const TSC = '../typescript-native/bin/tsc'

/** Checks that need no run of the product. @type {Step[]} */
export const checks = [
  { title: 'types', program: TSC, args: ['-p', '.'] },
  { title: 'types of the console', program: TSC, args: ['-p', 'console'] },
  { title: 'lint and format', program: 'biome', args: ['check', '--error-on-warnings', '.'] },
  { title: 'dead code', program: 'knip', args: [] },
  {
    title: 'import rules',
    program: 'depcruise',
    args: ['--config', '.dependency-cruiser.cjs', '--output-type', 'err', ...cruised],
  },
]

/** Unit and integration tests. @type {Step} */
export const unitTests = {
  title: 'unit and integration tests',
  program: 'vitest',
  args: ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${VITEST_RESULTS}`],
  count: () => describeCount(countVitest()),
}

/**
 * Tests in a browser; none where there are no such tests.
 * @param {string} browser
 * @returns {Step[]}
 */
export function browserTests(browser) {
  const folder = join(root, 'e2e')
  if (!existsSync(folder) || !readdirSync(folder).some((file) => file.endsWith('.spec.ts'))) return []
  return [
    {
      title: 'browser tests',
      program: 'playwright',
      args: ['test', '--config', 'e2e/playwright.config.ts', '--reporter=list,json'],
      env: {
        SVC_TEST_BROWSER: browser,
        PLAYWRIGHT_JSON_OUTPUT_NAME: PLAYWRIGHT_RESULTS,
      },
      count: () => describeCount(countPlaywright()),
    },
  ]
}

/**
 * Runs steps in order, each line as its step ends.
 * @param {readonly Step[]} steps
 * @param {number} atOnce how many run side by side: steps that need nothing of each other
 * @returns {Promise<boolean>} whether all passed; none is begun after one that failed
 */
export async function runSteps(steps, atOnce = 1) {
  const waiting = [...steps]
  let isGood = true
  const work = async () => {
    for (let step = waiting.shift(); step && isGood; step = waiting.shift())
      if (!(await runStep(step))) isGood = false
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return isGood
}

/** @param {Step} step */
async function runStep(step) {
  const startedAt = performance.now()
  const { code, output } = await run(localBin(step.program), step.args, {
    env: { FORCE_COLOR: process.stdout.isTTY ? '1' : '0', ...step.env },
  })
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  if (code !== 0) {
    process.stdout.write(`✗ ${step.title} (${seconds} s)\n\n${output}\n`)
    return false
  }
  process.stdout.write(`✓ ${step.title} (${seconds} s)${step.count ? `: ${step.count()}` : ''}\n`)
  return true
}

/** @typedef {{ passed: number, failed: number }} Count */

/** @returns {Count} of the last run; zeros when there was none */
export function countVitest() {
  const report = readReport(VITEST_RESULTS)
  return {
    passed: report?.numPassedTests ?? 0,
    failed: report ? report.numFailedTests + (report.success || report.numFailedTests ? 0 : 1) : 0,
  }
}

/** @returns {Count} of the last run; zeros when there was none */
export function countPlaywright() {
  const stats = readReport(PLAYWRIGHT_RESULTS)?.stats
  return { passed: (stats?.expected ?? 0) + (stats?.flaky ?? 0), failed: stats?.unexpected ?? 0 }
}

/** @param {Count} count */
export function describeCount(count) {
  return `${count.passed} passed, ${count.failed} failed`
}

/** @param {string} file */
function readReport(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null
}
