/** `npm start [-- options of svc up]`: sets up what is missing, then is the daemon, with the console. */
import { join } from 'node:path'
import { launch } from '../bin/runtime.mjs'
import { main, root } from './run.mjs'
import { setUp } from './setup.mjs'

await main(async () => {
  await setUp()
  // In this process, whose id is the one that a supervisor knows.
  await launch(join(root, 'dist', 'svc.mjs'), ['up', ...process.argv.slice(2)], { isDaemon: true })
  return Number(process.exitCode ?? 0)
})
