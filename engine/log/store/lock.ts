/**
 * One daemon per data file (SPEC.md, What the service does 9). The lock is a SQLite file of its
 * own, `<data file>.lock`, held in an exclusive transaction for the life of the daemon: the kernel
 * releases it when the process dies, however it dies, and it works between containers that share
 * a volume, where process ids mean nothing. `<data file>.pid` only names the holder in the message.
 *
 * Nothing else in the process may open these files: closing any descriptor of a file drops the
 * POSIX locks the process holds on it.
 */
import { readFileSync, realpathSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { StartError } from '../../errors.ts'
import { type Database, prepareLazily } from './handle.ts'

export interface DataLock {
  release(): void
}

/** Handles live on globalThis: one only a module constant reaches can be collected, and closed. */
const held = new Set<unknown>()
Object.assign(globalThis, { svcDataLocks: held })

/** The data file with symbolic links resolved, so that an alias meets the same lock. */
export function realDataFile(dataFile: string): string {
  const folder = realpathSync(dirname(dataFile))
  try {
    return realpathSync(dataFile)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return join(folder, basename(dataFile))
    throw error
  }
}

/**
 * A hard link is a second name with a lock of its own, and SQLite looks for the log beside the name
 * it is given: two daemons would each have a log, and the file be a mix of both.
 * @throws StartError 78 when the file has another name. Call with the lock taken.
 */
export function guardOtherNames(file: string): void {
  // Left behind by a start that was killed; its own second name, see open.ts.
  rmSync(`${file}.alone`, { force: true })
  const names = statSync(file, { throwIfNoEntry: false })?.nlink ?? 1
  if (names <= 1) return
  throw new StartError(
    `${file} has ${names} names (hard links), and a daemon may run on another one; remove the others, which find -samefile ${file} lists, or use a copy of the file`,
    78,
  )
}

/**
 * Takes the lock of a data file.
 * @param now epoch ms, written for the message of a second daemon.
 * @throws StartError 75 when another daemon holds it.
 */
export function takeLock(dataFile: string, now: number): DataLock {
  const file = realDataFile(dataFile)
  const db = new BetterSqlite3(`${file}.lock`, { timeout: 2_000 })
  held.add(db)
  try {
    db.pragma('journal_mode = DELETE')
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    held.delete(db)
    db.close()
    const code = (error as { code?: string }).code ?? ''
    if (!code.startsWith('SQLITE_BUSY'))
      throw new StartError(`cannot lock ${file}: ${(error as Error).message}`, 78)
    throw new StartError(
      `another daemon (${holderOf(file)}) holds ${file}; stop it, or start this one with another --data-dir`,
      75,
    )
  }
  try {
    const said = JSON.stringify({ pid: process.pid, since: new Date(now).toISOString() })
    writeFileSync(`${file}.pid`, said, { mode: 0o600 })
  } catch (error) {
    held.delete(db)
    db.close()
    throw asStartError(error, file)
  }
  return {
    release: () => {
      if (!held.delete(db)) return
      rmSync(`${file}.pid`, { force: true })
      db.exec('ROLLBACK')
      db.close()
    },
  }
}

function holderOf(file: string): string {
  try {
    const { pid, since } = JSON.parse(readFileSync(`${file}.pid`, 'utf8')) as { pid: number; since: string }
    return `pid ${pid}, since ${since}`
  } catch {
    // The other daemon may be between taking the lock and writing its pid.
    return 'pid not known'
  }
}

/* Opens a connection, and says in a sentence why a file cannot be opened. */

/** How long a connection waits for another one. */
export const BUSY_TIMEOUT_MS = 5_000

/**
 * @param name of a file, or the bytes of one to begin with in memory.
 * @throws StartError 78 when it cannot be opened; 74 when its volume is full.
 */
export function connect(name: string | Buffer, readonly = false): Database {
  try {
    return prepareLazily(new BetterSqlite3(name, { timeout: BUSY_TIMEOUT_MS, readonly }))
  } catch (error) {
    throw asStartError(error, typeof name === 'string' ? name : 'a store in memory')
  }
}

/** Less than this is no room: the smallest file that a connection needs beside the data file is larger. */
const ROOM_BYTES = 32_768

/** Whether the volume of a file has no room: what SQLite cannot do then it calls by many names. */
function isFull(name: string): boolean {
  const { bavail, bsize } = statfsSync(dirname(name))
  return bavail * bsize < ROOM_BYTES
}

/** The error to end a start with. */
export function asStartError(error: unknown, name: string): Error {
  if (error instanceof StartError) return error
  const code = (error as { code?: string }).code ?? ''
  if (code === 'SQLITE_CORRUPT' || code === 'SQLITE_NOTADB')
    return new StartError(
      `${name} is not a usable data file (${(error as Error).message}); if it was just put back, remove ${name}-wal and ${name}-shm, or use svc restore`,
      78,
    )
  if (code === 'SQLITE_FULL' || code === 'ENOSPC' || (code.startsWith('SQLITE_') && isFull(name)))
    return new StartError(
      `the volume of ${name} is full; free some space, then start again. What was acknowledged is there`,
      74,
    )
  if (code.startsWith('SQLITE_') || (error as NodeJS.ErrnoException).code)
    return new StartError(`cannot open ${name}: ${(error as Error).message}`, 78)
  return error as Error
}
