/** `npm start [-- options of svc up]`: sets up what is missing, then runs the daemon and console. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { main, root } from './run.mjs'
import { setUp } from './setup.mjs'

await main(async () => {
  await setUp()
  const daemon = spawn(process.execPath, [join(root, 'dist', 'svc.mjs'), 'up', ...process.argv.slice(2)], { stdio: 'inherit' })
  // A terminal sends Ctrl-C to the daemon as well; a supervisor sends it only to this process.
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => process.stdin.isTTY || daemon.kill(signal))
  const [code] = await once(daemon, 'exit')
  return code ?? 1
})
