/** Programs that tests run beside the product: found on the path, or taken from Debian's packages. */
import { accessSync, constants, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { root, run } from './run.mjs'

/** Programs taken out of packages, and their libraries; `npm ci` empties it. */
export const CACHE = join(root, 'node_modules', '.cache', 'programs')

/** @param {readonly string[]} names @returns {string | null} path of the first that is on the path */
export function findOnPath(names) {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    for (const name of names) {
      const file = join(folder, name)
      if (isProgram(file)) return file
    }
  }
  return null
}

/** @param {string} name @returns {string | null} path of a program on the path, or taken out of a package */
export function findProgram(name) {
  const kept = join(CACHE, name)
  return findOnPath([name]) ?? (isProgram(kept) ? kept : null)
}

/** @returns {boolean} whether packages of Debian can be had here */
export const hasApt = () => findOnPath(['apt-get']) !== null

/** @type {ReturnType<typeof run> | undefined} */
let updated

/** Brings apt's lists up to date, once in a run. Needs root. */
export function aptUpdate() {
  updated ??= run('apt-get', ['update', '-qq', ...BOUNDED])
  return updated
}

const BOUNDED = ['-o', 'Acquire::Retries=0', '-o', 'Acquire::http::Timeout=20']

/**
 * Takes one program, or a library that one needs, out of a package without installing it, so that no service starts.
 * @param {string} name of its file, with or without what follows in a version
 * @param {string} [from] the package, where it is not called so
 * @returns {Promise<boolean>} false: it cannot be had here
 */
export async function takeFromDebian(name, from = name) {
  const folder = join(CACHE, `${name}.unpacked`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  try {
    const download = () => run('apt-get', ['download', '-qq', ...BOUNDED, from], { cwd: folder })
    let { code } = await download()
    if (code !== 0 && process.getuid?.() === 0 && (await aptUpdate()).code === 0)
      code = (await download()).code
    const file = readdirSync(folder).find((entry) => entry.endsWith('.deb'))
    if (code !== 0 || !file) return false
    if ((await run('dpkg-deb', ['-x', file, '.'], { cwd: folder })).code !== 0) return false
    const found = readdirSync(folder, { recursive: true, withFileTypes: true }).find(
      (entry) =>
        entry.isFile() && entry.name.startsWith(name) && /\/(s?bin|lib)(\/|$)/.test(entry.parentPath),
    )
    if (!found) return false
    renameSync(join(found.parentPath, found.name), join(CACHE, name))
    return true
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @param {string} file */
function isProgram(file) {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    // Not there, or not for this user: not a candidate.
    return false
  }
}
