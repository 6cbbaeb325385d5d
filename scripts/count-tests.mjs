/**
 * Prints `N passed, N failed` for the last `npm test`.
 * @argument the exit code of `npm test`: a run that failed counts at least one failure, also where
 * it ended before any test ran.
 */
import { countPlaywright, countVitest, describeCount } from './steps.mjs'

const unit = countVitest()
const e2e = countPlaywright()
const isBad = process.argv[2] !== '0'
process.stdout.write(
  `${describeCount({ passed: unit.passed + e2e.passed, failed: Math.max(unit.failed + e2e.failed, isBad ? 1 : 0) })}\n`,
)
