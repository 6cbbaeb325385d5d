/** `npm start [-- options of svc up]`: sets up what is missing, then runs the daemon and console. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { main, root } from './run.mjs'
import { setUp } from './setup.mjs'

await main(async () => {
  await setUp()
  const daemon = spawn(process.execPath, [join(root, 'dist', 'svc.mjs'), 'up', ...process.argv.slice(2)], {
    stdio: 'inherit',
  })
  // A terminal sends Ctrl-C to the daemon as well; everything else only reaches this process.
  process.on('SIGINT', () => {
    if (!process.stdin.isTTY) daemon.kill('SIGINT')
  })
  process.on('SIGTERM', () => daemon.kill('SIGTERM'))
  const [code] = await once(daemon, 'exit')
  return code ?? 1
})
