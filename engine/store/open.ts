/**
 * Opens the data file. One writing connection, WAL, synchronous=FULL: "acknowledged" survives
 * power loss. better-sqlite3 is built with synchronous=NORMAL as the WAL default, so a reopened
 * file silently loses that promise unless the pragma is set on every open; it is set and checked.
 */
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { StartError } from '../errors.ts'
import { type Checkpointer, Checkpoints } from './checkpoints.ts'
import type { Database, StoreHandle } from './handle.ts'
import { type DataLock, realDataFile, takeLock } from './lock.ts'
import { migrate } from './migrate.ts'

/** Page size and cache by measurement: 8 KiB pages gave 20 % more ingest than 4 KiB (2026-11). */
const PAGE_SIZE = 8_192
const WRITER_CACHE_KIB = 32_768
const READER_CACHE_KIB = 32_768

export interface OpenStore extends StoreHandle {
  /** Path of the file, or null in memory. */
  file: string | null
  close(): void
}

/**
 * Opens (and makes) the store for writing.
 * @param dataFile path, or null for a store in memory (tests).
 * @param now epoch ms.
 * @param checkpointer copies the log beside the writer; absent: the writer does.
 * @throws StartError 75 when locked, 78 when the file cannot be used.
 */
export function openStore(dataFile: string | null, now: number, checkpointer?: Checkpointer): OpenStore {
  if (dataFile === null) return openWriting(':memory:', null, null)
  if (dataFile.startsWith('file:')) throw new StartError('SVC_DB must be a path, not a file: address', 78)
  mkdirSync(dirname(dataFile), { recursive: true, mode: 0o700 })
  const file = realDataFile(dataFile)
  const lock = takeLock(file, now)
  try {
    guardStaleWal(file)
    return openWriting(file, file, lock, checkpointer)
  } catch (error) {
    lock.release()
    throw error
  }
}

function openWriting(
  name: string,
  file: string | null,
  lock: DataLock | null,
  checkpointer?: Checkpointer,
): OpenStore {
  const db = connect(name)
  let checkpoints: Checkpoints | null = null
  try {
    db.pragma(`page_size = ${PAGE_SIZE}`)
    db.pragma('auto_vacuum = INCREMENTAL')
    if (file) db.pragma('journal_mode = WAL')
    db.pragma('synchronous = FULL')
    if (file && db.pragma('synchronous', { simple: true }) !== 2)
      throw new StartError('the store cannot be opened with synchronous=FULL', 78)
    db.pragma('foreign_keys = ON')
    db.pragma('trusted_schema = OFF')
    db.pragma('mmap_size = 0')
    db.pragma(`cache_size = -${WRITER_CACHE_KIB}`)
    db.pragma('journal_size_limit = 67108864')
    db.pragma('wal_autocheckpoint = 1000')
    migrate(db)
    checkAfterUncleanStop(db)
    if (file) newIncarnation(db, file)
    if (file) chmodSync(file, 0o600)
    if (checkpointer) checkpoints = new Checkpoints(db, checkpointer)
  } catch (error) {
    db.close()
    throw asStartError(error, name)
  }
  return {
    db,
    file,
    ...transactions(db, () => checkpoints?.committed()),
    close: () => closeWriting(db, file, lock),
  }
}

/** Transactions that nest, and what is to run once the outermost has committed. @param after each of those. */
function transactions(db: Database, after: () => void): Pick<StoreHandle, 'tx' | 'rehearse' | 'afterCommit'> {
  let due: (() => void)[] = []
  return {
    tx: (fn) => {
      const run = db.transaction(fn)
      if (db.inTransaction) return run()
      due = []
      const result = run.immediate()
      const committed = due
      due = []
      for (const follow of committed) follow()
      after()
      return result
    },
    rehearse: (fn) => {
      if (db.inTransaction) throw new Error('a rehearsal inside a transaction would undo it')
      due = []
      db.exec('BEGIN IMMEDIATE')
      try {
        return fn()
      } finally {
        due = []
        // SQLite ends the transaction by itself where the disk fails.
        if (db.inTransaction) db.exec('ROLLBACK')
      }
    },
    afterCommit: (fn) => {
      if (db.inTransaction) due.push(fn)
      else fn()
    },
  }
}

function closeWriting(db: Database, file: string | null, lock: DataLock | null): void {
  db.prepare("INSERT OR REPLACE INTO meta VALUES ('clean_stop', '1')").run()
  if (file) db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  lock?.release()
}

const SMALL_TABLES = [
  'meta',
  'labels',
  'label_keys',
  'sources',
  'keys',
  'triggers',
  'agents',
  'mcp_servers',
  'skills',
  'projects',
  'change_sets',
]

/** A file that was not closed cleanly is checked before it is served. */
function checkAfterUncleanStop(db: Database): void {
  const clean = db.prepare("SELECT value FROM meta WHERE key = 'clean_stop'").pluck().get()
  const isNew = db.prepare('SELECT count(*) FROM meta').pluck().get() === 0
  if (clean !== '1' && !isNew) {
    // The whole quick_check reads every page (seconds at 10 million events), and WAL recovery has
    // already verified the frames' checksums; the schema and the small tables are checked here.
    for (const table of SMALL_TABLES) {
      const result = db.pragma(`quick_check(${table})`, { simple: true })
      if (result !== 'ok')
        throw new StartError(
          `${db.name} is damaged (${String(result)}); restore a backup with svc restore`,
          78,
        )
    }
  }
  db.prepare("INSERT OR REPLACE INTO meta VALUES ('clean_stop', '0')").run()
}

/**
 * A data file put back beside the log of another time would be read as damaged, or worse, as a mix
 * of two histories. Each start therefore writes a new incarnation into the data file itself, past
 * the log, and notes it beside the file; after a crash the two must agree before the log is used.
 * A backup carries an incarnation of its own.
 */
function guardStaleWal(file: string): void {
  const wal = `${file}-wal`
  if (!existsSync(wal) || statSync(wal).size === 0) return
  if (!existsSync(file) || statSync(file).size === 0)
    throw new StartError(
      `${wal} exists without ${file}; put the data file back, or move the -wal file away`,
      78,
    )
  if (!existsSync(incarnationFile(file))) return
  const expected = readFileSync(incarnationFile(file), 'utf8').trim()
  const found = incarnationWithoutLog(file)
  if (found !== null && found !== expected)
    throw new StartError(
      `${file} and ${wal} are from different times; use svc restore to put a backup in place, or move the -wal file away to open the data file alone`,
      78,
    )
}

/**
 * The incarnation the data file holds by itself. SQLite finds a log by the name the file is opened
 * by, so under another name, a hard link, the file is read without it.
 */
function incarnationWithoutLog(file: string): string | null {
  const alone = `${file}.alone`
  rmSync(alone, { force: true })
  linkSync(file, alone)
  const db = connect(alone, true)
  try {
    return (
      (db.prepare("SELECT value FROM meta WHERE key = 'incarnation'").pluck().get() as string | undefined) ??
      null
    )
  } catch (error) {
    throw asStartError(error, file)
  } finally {
    db.close()
    for (const suffix of ['', '-wal', '-shm']) rmSync(alone + suffix, { force: true })
  }
}

const incarnationFile = (file: string): string => `${file}.incarnation`

function newIncarnation(db: Database, file: string): void {
  const incarnation = randomUUID()
  db.prepare("INSERT OR REPLACE INTO meta VALUES ('incarnation', ?)").run(incarnation)
  db.pragma('wal_checkpoint(TRUNCATE)')
  writeFileSync(incarnationFile(file), incarnation, { mode: 0o600 })
}

function connect(name: string, readonly = false): Database {
  try {
    return new BetterSqlite3(name, { timeout: 5_000, readonly })
  } catch (error) {
    throw asStartError(error, name)
  }
}

function asStartError(error: unknown, name: string): Error {
  if (error instanceof StartError) return error
  const code = (error as { code?: string }).code ?? ''
  if (code === 'SQLITE_CORRUPT' || code === 'SQLITE_NOTADB')
    return new StartError(
      `${name} is not a usable data file (${(error as Error).message}); if it was just put back, remove ${name}-wal and ${name}-shm, or use svc restore`,
      78,
    )
  if (code.startsWith('SQLITE_') || (error as NodeJS.ErrnoException).code)
    return new StartError(`cannot open ${name}: ${(error as Error).message}`, 78)
  return error as Error
}

/** Opens a read-only connection beside the writing one. @throws StartError 78. */
export function openReading(file: string): Database {
  const db = connect(file, true)
  db.pragma('trusted_schema = OFF')
  db.pragma('mmap_size = 0')
  db.pragma(`cache_size = -${READER_CACHE_KIB}`)
  return db
}
