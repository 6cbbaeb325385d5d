/** Programs that some tests ask for real: where they cannot be had, those tests are skipped. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CACHE, findProgram, hasApt, takeFromDebian } from './programs.mjs'
import { say } from './run.mjs'

/** @type {readonly { name: string, from?: string, isLibrary?: true }[]} */
const PROGRAMS = [
  { name: 'prometheus' },
  // Makes journals of systemd out of their export, with a library that is rarely there.
  { name: 'systemd-journal-remote' },
  { name: 'libmicrohttpd.so.12', from: 'libmicrohttpd12', isLibrary: true },
]

/** Finds them, or takes them out of Debian's packages, which takes a few seconds once. */
export async function ensurePrograms() {
  const missing = PROGRAMS.filter(({ name, isLibrary }) =>
    isLibrary ? !existsSync(join(CACHE, name)) : findProgram(name) === null,
  )
  if (missing.length === 0) return
  const names = missing.map(({ name }) => name).join(' and ')
  if (hasApt()) say(`taking ${names} from Debian's packages for tests (a few seconds)…`)
  for (const { name, from } of missing) {
    if (hasApt() && (await takeFromDebian(name, from))) continue
    say(`no ${name} on the path and none to be had: the tests against a real one are skipped`)
  }
}
