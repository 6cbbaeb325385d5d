/** `npm start [-- options of svc up]`: sets up what is missing, then is the daemon, with the console. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { main, root } from './run.mjs'
import { setUp } from './setup.mjs'

await main(async () => {
  await setUp()
  const daemon = join(root, 'dist', 'svc.mjs')
  // In this process, whose id is the one that a supervisor knows.
  process.argv = [process.execPath, daemon, 'up', ...process.argv.slice(2)]
  await import(pathToFileURL(daemon).href)
  return Number(process.exitCode ?? 0)
})
