/** `npm run check`: types, lint and format, dead code, import rules. */
import { main } from './run.mjs'
import { setUp } from './setup.mjs'
import { checks, runSteps } from './steps.mjs'

await main(async () => {
  await setUp({ tests: true })
  return (await runSteps(checks, 2)) ? 0 : 1
})
