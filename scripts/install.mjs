/**
 * Installs the packages of package-lock.json where they are not all there. No package needs its install
 * script: those that are native carry their binaries. Node built-ins only.
 */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { root, runNpm, ScriptError, say } from './run.mjs'

/** What npm is told each time: no package needs its install script. */
const QUIET = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']

/**
 * Installs what is missing; says so in one line before it does.
 * @param {{ tests?: boolean, signal?: AbortSignal }} [options] `tests`: also the packages that only tests and
 *   checks need, more than half of all; `signal` cuts it off
 */
export async function ensureInstalled({ tests = false, signal } = {}) {
  const missing = describeMissing(isForRunning)
  if (missing !== null) {
    const duration = tests ? 'about a minute' : 'half a minute'
    say(`installing packages (${missing}; ${duration} the first time)…`)
    await callNpm(['ci', tests ? '--include=dev' : '--omit=dev'], signal)
  } else if (tests) {
    const missingForTests = describeMissing(() => true)
    if (missingForTests !== null) {
      say(`installing the packages of tests and checks (${missingForTests}; half a minute the first time)…`)
      // Added to what is there: `npm ci` would take away what a running daemon has yet to load.
      await callNpm(['install', '--include=dev', '--no-save'], signal)
    }
  }
  linkCommand()
}

/**
 * @param {readonly string[]} args
 * @param {AbortSignal | undefined} signal
 */
async function callNpm(args, signal) {
  const { code, output } = await runNpm([...args, ...QUIET], { signal })
  if (code !== 0) throw new ScriptError(`npm ${args[0]} failed:\n${output}`)
}

/** @typedef {{ version?: string, optional?: boolean, devOptional?: boolean, dev?: boolean, link?: boolean }} Package */

/** @param {Package} entry of the lock file */
function isForRunning(entry) {
  return !entry.dev && !entry.devOptional
}

/**
 * @param {(entry: Package) => boolean} isNeeded
 * @returns {string | null} why the installed packages are not those of the lock file
 */
function describeMissing(isNeeded) {
  const installedFile = join(root, 'node_modules', '.package-lock.json')
  if (!existsSync(installedFile)) return 'none are installed'
  const wanted = packagesOf(join(root, 'package-lock.json'))
  const installed = packagesOf(installedFile)
  for (const [path, entry] of Object.entries(wanted)) {
    // The root and the folder of the console are this project's own.
    if (!path.startsWith('node_modules/') || entry.link || !isNeeded(entry)) continue
    const found = installed[path]
    if (found ? found.version !== entry.version : !entry.optional)
      return `${path.replace(/^.*node_modules\//, '')} is missing or has another version`
    if (found && !existsSync(join(root, path))) return `${path} is missing`
  }
  return null
}

/**
 * @param {string} file a lock file
 * @returns {Record<string, Package>}
 */
function packagesOf(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages
}

/** Lets `npx svc` find the command of this project: npm links the bins of packages, not its own. */
function linkCommand() {
  const { bin } = createRequire(import.meta.url)('../package.json')
  const target = join(root, bin.svc)
  const folder = join(root, 'node_modules', '.bin')
  const link = join(folder, 'svc')
  mkdirSync(folder, { recursive: true })
  chmodSync(target, 0o755)
  if (process.platform === 'win32')
    return writeFileSync(`${link}.cmd`, `@node "%~dp0\\..\\..\\${bin.svc.replaceAll('/', '\\')}" %*\r\n`)
  if (lstatSync(link, { throwIfNoEntry: false })) {
    if (existsSync(link)) return
    rmSync(link)
  }
  symlinkSync(join('..', '..', bin.svc), link)
}
