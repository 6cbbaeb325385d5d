/**
 * `npm run dev [-- options of svc up]`: the daemon, built and started again on each change, and the
 * console with Vite's dev server; one terminal, Ctrl-C ends both.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { daemonOptions, finishDaemon } from './build.mjs'
import { localBin, main, root, say } from './run.mjs'
import { setUp } from './setup.mjs'

const OUTPUT = 'dist/dev'

await main(async () => {
  await setUp()
  const { context } = await import('esbuild')
  /** @type {import('node:child_process').ChildProcess | null} */
  let daemon = null
  const stopDaemon = async () => {
    if (!daemon || daemon.exitCode !== null) return
    daemon.kill('SIGTERM')
    await once(daemon, 'exit')
  }
  const restart = {
    name: 'restart',
    /** @param {import('esbuild').PluginBuild} build */
    setup(build) {
      build.onEnd(async (result) => {
        if (result.errors.length) return say('the daemon does not build; the last one goes on')
        finishDaemon(OUTPUT, Object.keys(result.metafile?.outputs ?? {}))
        await stopDaemon()
        daemon = start(process.execPath, [
          '--enable-source-maps',
          `${OUTPUT}/svc.mjs`,
          'up',
          ...process.argv.slice(2),
        ])
      })
    },
  }
  const watcher = await context({ ...daemonOptions(OUTPUT), logLevel: 'warning', plugins: [restart] })
  await watcher.watch()
  const vite = start(localBin('vite'), ['--config', 'console/vite.config.ts'])
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM'), once(vite, 'exit')])
  vite.kill('SIGTERM')
  await watcher.dispose()
  await stopDaemon()
})

/**
 * @param {string} command
 * @param {string[]} args
 */
function start(command, args) {
  return spawn(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
}
