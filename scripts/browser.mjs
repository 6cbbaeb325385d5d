/**
 * Finds a Chromium for the browser tests, or installs one: SVC_TEST_BROWSER, one of the system,
 * one that Playwright has downloaded; else Debian's package where this is root, else Playwright's.
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { aptUpdate, findOnPath, hasApt } from './programs.mjs'
import { localBin, run, ScriptError, say } from './run.mjs'

/** The shell without a window first: it draws the same with less work. */
const NAMES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
]

/** @returns {Promise<string>} path of the browser's program */
export async function ensureBrowser() {
  const given = process.env.SVC_TEST_BROWSER
  if (given) {
    if (!existsSync(given)) throw new ScriptError(`SVC_TEST_BROWSER names ${given}, which does not exist`)
    return given
  }
  const found = findOnPath(NAMES) ?? downloadedBrowser()
  if (found) return found
  if (process.getuid?.() === 0 && hasApt()) {
    say('installing chromium for the browser tests (apt-get, about half a minute)…')
    mustPass(await aptUpdate())
    // Debian has the shell, its descendants do not all.
    const shell = await installPackage('chromium-headless-shell')
    if (shell.code !== 0) mustPass(await installPackage('chromium'))
  } else {
    say('downloading a browser for the browser tests (Playwright, about a minute)…')
    await mustRun(localBin('playwright'), ['install', 'chromium'])
  }
  return findOnPath(NAMES) ?? downloadedBrowser() ?? fail()
}

function downloadedBrowser() {
  const { chromium } = createRequire(import.meta.url)('@playwright/test')
  const path = chromium.executablePath()
  return path && existsSync(path) ? path : null
}

/** @param {string} name of a package of a browser @returns {Promise<{ code: number, output: string }>} */
function installPackage(name) {
  const args = ['install', '-y', '-qq', '--no-install-recommends', name, 'fonts-liberation']
  return run('apt-get', args, { env: { DEBIAN_FRONTEND: 'noninteractive' } })
}

/**
 * @param {string} command
 * @param {string[]} args
 */
async function mustRun(command, args) {
  mustPass(await run(command, args, { env: { DEBIAN_FRONTEND: 'noninteractive' } }))
}

/** @param {{ code: number, output: string }} ended */
function mustPass({ code, output }) {
  if (code !== 0)
    throw new ScriptError(
      `no browser could be installed; install Chromium, or name one with SVC_TEST_BROWSER:\n${output}`,
    )
}

/** @returns {never} */
function fail() {
  throw new ScriptError('no browser was found after installing one; name one with SVC_TEST_BROWSER')
}
