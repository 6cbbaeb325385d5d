/** `npm run setup`: installs, builds what is missing, and lets `npx svc` find the command. */
import { fileURLToPath } from 'node:url'
import { ensureBuilt } from './build.mjs'
import { ensureInstalled } from './install.mjs'
import { main, say } from './run.mjs'

/**
 * Everything a fresh clone needs before the daemon can run.
 * @param {{ tests?: boolean }} [options] `tests`: also what only tests and checks need
 */
export async function setUp(options) {
  await ensureInstalled(options)
  await ensureBuilt()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    await setUp()
    say('ready: npm start runs the daemon, npx svc --help shows the command')
  })
}
