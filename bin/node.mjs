/** `node bin/node.mjs FILE [ARGS]`: runs a module of this project under a Node that is new enough. */
import { basename, resolve } from 'node:path'
import { endWithNpm, launch, RuntimeError } from './runtime.mjs'

/** Scripts that install what is missing first, and whether the packages of tests and checks are among it. */
const NEED_PACKAGES = new Map([
  ['start.mjs', { tests: false }],
  ['setup.mjs', { tests: false }],
  ['dev.mjs', { tests: false }],
  ['test.mjs', { tests: true }],
  ['check.mjs', { tests: true }],
  ['tsx.mjs', { tests: true }],
  ['package.mjs', { tests: true }],
])

/**
 * Installs packages while a Node is fetched: both wait for the registry.
 * @param {{ tests: boolean }} need
 * @returns {(signal: AbortSignal) => Promise<void>}
 */
function installMeanwhile(need) {
  return async (signal) => {
    try {
      const { ensureInstalled } = await import('../scripts/install.mjs')
      await ensureInstalled({ ...need, signal })
    } catch {
      // The script itself installs what is missing then, and tells what fails.
    }
  }
}

endWithNpm()
const [file = '', ...args] = process.argv.slice(2)
try {
  const need = NEED_PACKAGES.get(basename(file))
  await launch(resolve(file), args, need ? { meanwhile: installMeanwhile(need) } : {})
} catch (error) {
  if (!(error instanceof RuntimeError)) throw error
  process.stderr.write(`svc: ${error.message}\n`)
  process.exitCode = 1
}
