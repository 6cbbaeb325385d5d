/** The monitoring programs that some tests ask for real: where they cannot be had, those tests are skipped. */

import { findProgram, hasApt, takeFromDebian } from './programs.mjs'
import { say } from './run.mjs'

const PROGRAMS = ['prometheus']

/** Finds them, or takes them out of Debian's packages, which takes a few seconds once. */
export async function ensurePrometheus() {
  const missing = PROGRAMS.filter((name) => findProgram(name) === null)
  if (missing.length === 0) return
  if (hasApt()) say(`taking ${missing.join(' and ')} from Debian's packages for tests (a few seconds)…`)
  for (const name of missing) {
    if (hasApt() && (await takeFromDebian(name))) continue
    say(`no ${name} on the path and none to be had: the tests against a real one are skipped`)
  }
}
