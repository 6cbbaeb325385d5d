/** What `svc up` says of a data home or a data file that it cannot use. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { checkFolder, prepareDataFolders } from '../../../../api/cli/daemon/data-folder.ts'

const AUTH = { mode: 'open' } as const
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-data-folder-'))
})
afterEach(() => {
  chmodSync(folder, 0o700)
  rmSync(folder, { recursive: true })
})

const prepare = (home: string, dataFile = join(home, 'svc.db')) =>
  prepareDataFolders({ home, dataFile, auth: AUTH })
const NONE = 'is not a folder, or is within a file; choose another with'

/** As a user to whom nothing is open but what is open to all; a superuser becomes one for the while. */
function asAnother(act: () => void): void {
  const isRoot = process.getuid?.() === 0
  if (isRoot) process.seteuid!(65_534)
  try {
    act()
  } finally {
    if (isRoot) process.seteuid!(0)
  }
}

it('makes what is missing, level by level, for its owner alone, and leaves what is there', () => {
  const home = join(folder, 'a', 'b')
  prepare(home, join(folder, 'c', 'd', 'x.db'))
  for (const made of ['a', 'a/b', 'c', 'c/d']) expect(statSync(join(folder, made)).mode & 0o777).toBe(0o700)
  chmodSync(home, 0o750)
  prepare(home)
  expect(statSync(home).mode & 0o777).toBe(0o750)
})

it('names a file in place of a folder, and a folder in place of the data file', () => {
  const file = join(folder, 'file')
  writeFileSync(file, '')
  expect(() => prepare(file)).toThrow(`${file} ${NONE} --data-dir`)
  expect(() => prepare(join(file, 'in', 'it'))).toThrow(`${join(file, 'in', 'it')} ${NONE} --data-dir`)
  expect(() => prepare(folder, join(file, 'x.db'))).toThrow(`${file} ${NONE} SVC_DB`)
  mkdirSync(join(folder, 'svc.db'))
  expect(() => prepare(folder)).toThrow('svc.db is a folder, and the data file must be a file; move it away')
  const data = join(folder, 'elsewhere', 'data')
  mkdirSync(data, { recursive: true })
  expect(() => prepare(folder, data)).toThrow(`a file; name one in it: SVC_DB=${join(data, 'svc.db')}`)
})

it.runIf(process.platform === 'linux')('ends where the system makes no folder, for whomever', () => {
  expect(() => prepare('/proc/svc')).toThrow(
    '/proc/svc does not exist, and is not made; choose another with --data-dir',
  )
})

it('a backup needs a folder that is there', () => {
  expect(() => checkFolder(join(folder, 'none'))).toThrow(
    'none does not exist, and is not made; choose another file',
  )
  writeFileSync(join(folder, 'file'), '')
  expect(() => checkFolder(join(folder, 'file'))).toThrow(
    'file is not a folder, or is within a file; choose another file',
  )
  expect(checkFolder(folder)).toBeUndefined()
})

it('says that a folder or a file is of another user, and what to do', () => {
  const rule = /cannot be written by this user \(uid \d+\): give it to this user with chown; /
  chmodSync(folder, 0o500)
  asAnother(() => expect(() => prepare(join(folder, 'home'))).toThrow(rule))
  chmodSync(folder, 0o777)
  const file = join(folder, 'svc.db')
  writeFileSync(file, '', { mode: 0o400 })
  asAnother(() => expect(() => prepare(folder)).toThrow(rule))
})
