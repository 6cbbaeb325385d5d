/** `node scripts/tsx.mjs FILE [ARGS]`: sets up what is missing, then runs a TypeScript program with tsx. */
import { main, root, run } from './run.mjs'
import { setUp } from './setup.mjs'

await main(async () => {
  await setUp({ tests: true })
  const tsx = `${root}/node_modules/tsx/dist/cli.mjs`
  return (await run(process.execPath, [tsx, ...process.argv.slice(2)], { show: true })).code
})
