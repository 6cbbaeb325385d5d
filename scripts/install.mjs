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

/**
 * Installs what is missing; says so in one line before it does.
 * @param {AbortSignal} [signal] cuts it off
 */
export async function ensureInstalled(signal) {
  const missing = describeMissing()
  if (missing !== null) {
    say(`installing packages (${missing}; about a minute the first time)…`)
    const flags = ['--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    const { code, output } = await runNpm(['ci', ...flags], { signal })
    if (code !== 0) throw new ScriptError(`npm ci failed:\n${output}`)
  }
  linkCommand()
}

/** @returns {string | null} why the installed packages are not those of the lock file */
function describeMissing() {
  const installedFile = join(root, 'node_modules', '.package-lock.json')
  if (!existsSync(installedFile)) return 'none are installed'
  const wanted = packagesOf(join(root, 'package-lock.json'))
  const installed = packagesOf(installedFile)
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '' || entry.link) continue
    const found = installed[path]
    if (found ? found.version !== entry.version : !entry.optional)
      return `${path.replace(/^.*node_modules\//, '')} is missing or has another version`
    if (found && !existsSync(join(root, path))) return `${path} is missing`
  }
  return null
}

/**
 * @param {string} file a lock file
 * @returns {Record<string, { version?: string, optional?: boolean, link?: boolean }>}
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
