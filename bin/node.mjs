/** `node bin/node.mjs FILE [ARGS]`: runs a module of this project under a Node that is new enough. */
import { basename, resolve } from 'node:path'
import { endWithNpm, launch, RuntimeError } from './runtime.mjs'

/** Scripts that install what is missing first. */
const NEED_PACKAGES = new Set(['start.mjs', 'test.mjs', 'setup.mjs', 'check.mjs', 'dev.mjs', 'tsx.mjs'])

/**
 * Installs packages while a Node is fetched: both wait for the registry.
 * @param {AbortSignal} signal
 */
async function installMeanwhile(signal) {
  try {
    const { ensureInstalled } = await import('../scripts/install.mjs')
    await ensureInstalled(signal)
  } catch {
    // The script itself installs what is missing then, and tells what fails.
  }
}

endWithNpm()
const [file = '', ...args] = process.argv.slice(2)
try {
  await launch(resolve(file), args, NEED_PACKAGES.has(basename(file)) ? { meanwhile: installMeanwhile } : {})
} catch (error) {
  if (!(error instanceof RuntimeError)) throw error
  process.stderr.write(`svc: ${error.message}\n`)
  process.exitCode = 1
}
