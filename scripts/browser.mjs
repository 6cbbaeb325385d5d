/**
 * Finds a Chromium for the browser tests, or installs one: SVC_TEST_BROWSER, one of the system,
 * one that Playwright has downloaded; else Debian's package where this is root, else Playwright's.
 */
import { accessSync, constants, existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { localBin, run, ScriptError, say } from './run.mjs'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** @returns {Promise<string>} path of the browser's program */
export async function ensureBrowser() {
  const given = process.env.SVC_TEST_BROWSER
  if (given) {
    if (!existsSync(given)) throw new ScriptError(`SVC_TEST_BROWSER names ${given}, which does not exist`)
    return given
  }
  const found = findOnPath(NAMES) ?? downloadedBrowser()
  if (found) return found
  if (process.getuid?.() === 0 && findOnPath(['apt-get'])) {
    say('installing chromium for the browser tests (apt-get, about half a minute)…')
    await mustRun('apt-get', ['update', '-qq'])
    await mustRun('apt-get', [
      'install',
      '-y',
      '-qq',
      '--no-install-recommends',
      'chromium',
      'fonts-liberation',
    ])
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

/** @param {readonly string[]} names */
function findOnPath(names) {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    for (const name of names) {
      const file = join(folder, name)
      if (isProgram(file)) return file
    }
  }
  return null
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

/**
 * @param {string} command
 * @param {string[]} args
 */
async function mustRun(command, args) {
  const { code, output } = await run(command, args, { env: { DEBIAN_FRONTEND: 'noninteractive' } })
  if (code !== 0)
    throw new ScriptError(
      `no browser could be installed; install Chromium, or name one with SVC_TEST_BROWSER:\n${output}`,
    )
}

/** @returns {never} */
function fail() {
  throw new ScriptError('no browser was found after installing one; name one with SVC_TEST_BROWSER')
}
