/**
 * The process of declared-kill.ts: opens the data file, runs one operation and dies right before
 * the n-th statement of it, or at its end with the number of statements printed. With a folder for
 * images, what the files hold is copied there before each statement: a process that is killed
 * leaves what it wrote, no more and no less. Its one argument is a Run as JSON.
 */
import { copyFileSync, existsSync, mkdirSync, writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { join } from 'node:path'
import { BOOT, OPERATIONS, openWorld } from './declared-operations.ts'
import { foreseeRandom, installFaults } from './faults.ts'

export interface Run {
  file: string
  /** Of OPERATIONS, or of BOOT, whose statements count from the opening of the file. */
  operation: string
  killAt?: number
  images?: string
  /** The control: its transaction ends before this statement, and another begins. */
  splitAt?: number
}

const { file, operation, killAt, images, splitAt } = JSON.parse(process.argv[2]!) as Run
const faults = installFaults()

function before(n: number, db: { exec(sql: string): unknown }): void {
  if (n === splitAt) db.exec('COMMIT; BEGIN IMMEDIATE')
  if (n === killAt) die()
  if (images) keepImage(join(images, String(n)))
}

function keepImage(folder: string): void {
  mkdirSync(folder, { recursive: true })
  for (const name of ['svc.db', 'svc.db-wal'])
    if (existsSync(join(file, '..', name))) copyFileSync(join(file, '..', name), join(folder, name))
}

function die(): void {
  process.kill(process.pid, 'SIGKILL')
}

// It never ends by itself, which is when Node would write what it has compiled.
flushCompileCache()
foreseeRandom()
const boot = BOOT[operation]
if (boot) {
  faults.arm(before)
  const { failed } = await openWorld(file, boot).bootReport()
  if (failed.length) throw new Error(failed.join('; '))
} else {
  const engine = openWorld(file)
  faults.arm(before)
  await OPERATIONS[operation]!(engine)
}
if (images) keepImage(join(images, String(faults.count() + 1)))
writeSync(1, String(faults.count()))
// No close: what is left is what a process leaves that is simply gone.
die()
