/** `npm run setup`: installs, builds what is missing, and lets `npx svc` find the command. */
import { fileURLToPath } from 'node:url'
import { ensureBuilt } from './build.mjs'
import { ensureInstalled } from './install.mjs'
import { main, say } from './run.mjs'

/** Everything a fresh clone needs before the daemon or the tests can run. */
export async function setUp() {
  await ensureInstalled()
  await ensureBuilt()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    await setUp()
    say('ready: npm start runs the daemon, npx svc --help shows the command')
  })
}
