/**
 * `npm run demo [-- --no-open] [-- options of svc up]`: sets up what is missing, then is the daemon with the demo
 * loaded, on a data file of its own, so that nothing of anybody's is touched. It needs no network.
 */
import { join } from 'node:path'
import { launch } from '../bin/runtime.mjs'
import { main, root } from './run.mjs'
import { setUp } from './setup.mjs'

await main(async () => {
  await setUp()
  const given = process.argv.slice(2)
  const options = given.filter((option) => option !== '--no-open')
  process.env.SVC_DB ??= join(root, '.svc', 'demo.db')
  process.env.SVC_HOME ??= join(root, '.svc')
  process.env.SVC_LOG_LEVEL ??= 'warn'
  // A port that the daemon of somebody's own may have.
  process.env.SVC_OTLP_GRPC_PORT ??= 'off'
  // Where nobody looks at the terminal, nobody looks at a browser.
  const isWatched = process.stdout.isTTY === true && !given.includes('--no-open')
  await launch(
    join(root, 'dist', 'svc.mjs'),
    ['up', '--demo', ...(isWatched ? ['--open'] : []), ...options],
    {
      isDaemon: true,
    },
  )
  return Number(process.exitCode ?? 0)
})
