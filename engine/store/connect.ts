/** Opens a connection, and says in a sentence why a file cannot be opened. */
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { StartError } from '../errors.ts'
import type { Database } from './handle.ts'

/** How long a connection waits for another one. */
export const BUSY_TIMEOUT_MS = 5_000

/**
 * @param name of a file, or the bytes of one to begin with in memory.
 * @throws StartError 78 when it cannot be opened; 74 when its volume is full.
 */
export function connect(name: string | Buffer, readonly = false): Database {
  try {
    return new BetterSqlite3(name, { timeout: BUSY_TIMEOUT_MS, readonly })
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
