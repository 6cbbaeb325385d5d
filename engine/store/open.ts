/**
 * Opens the data file. One writing connection, WAL, synchronous=FULL: "acknowledged" survives
 * power loss. better-sqlite3 is built with synchronous=NORMAL as the WAL default, so a reopened
 * file silently loses that promise unless the pragma is set on every open; it is set and checked.
 */
import { chmodSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { systemClock } from '../clock.ts'
import { StartError } from '../errors.ts'
import { type Checkpointer, Checkpoints, foldLog } from './checkpoints.ts'
import { CommitCount } from './commit-count.ts'
import { asStartError, BUSY_TIMEOUT_MS, connect } from './connect.ts'
import { isBusy, survivableDiskFault } from './disk-fault.ts'
import type { Database, StoreHandle } from './handle.ts'
import { guardStaleWal, newIncarnation } from './incarnation.ts'
import { type DataLock, guardOtherNames, realDataFile, takeLock } from './lock.ts'
import { guardLoss } from './loss.ts'
import { migrate } from './migrate.ts'
import { transactions } from './transactions.ts'
import { WriterState } from './writer-state.ts'

/**
 * Page size by measurement: 8 KiB pages gave 20 % more ingest than 4 KiB (2026-11). Caches are small, there are up
 * to four connections: what is not in one comes out of the kernel's.
 */
const PAGE_SIZE = 8_192
const WRITER_CACHE_KIB = 8_192
const READER_CACHE_KIB = 4_096

export interface OpenStore extends StoreHandle {
  /** Path of the file, or null in memory. */
  file: string | null
  /** What is missing and was accepted, in a sentence; null: nothing is. */
  loss: string | null
  /** Copies the log into the data file and empties it, where nobody reads or copies it: its room is free again. */
  foldLog(): void
  /** Whether the file can be written at this moment; nobody is waited for. */
  isWritable(): boolean
  close(): void
}

export interface OpenOptions {
  /** Copies the log beside the writer; absent: the writer does. */
  checkpointer?: Checkpointer | undefined
  /** Open the file although commits that were acknowledged are missing. */
  acceptLoss?: boolean | undefined
  /** Told how writing goes. */
  state?: WriterState | undefined
}

/**
 * Opens (and makes) the store for writing.
 * @param dataFile path, or null for a store in memory (tests).
 * @param now epoch ms.
 * @throws StartError 75 when locked, 78 when the file cannot be used or acknowledged data is missing.
 */
export function openStore(dataFile: string | null, now: number, options: OpenOptions = {}): OpenStore {
  const state = options.state ?? new WriterState()
  if (dataFile === null) return openInMemory(state)
  if (dataFile.startsWith('file:')) throw new StartError('SVC_DB must be a path, not a file: address', 78)
  mkdirSync(dirname(dataFile), { recursive: true, mode: 0o700 })
  const file = realDataFile(dataFile)
  const lock = takeLock(file, now)
  try {
    guardOtherNames(file)
    guardStaleWal(file)
    const loss = guardLoss(file, options.acceptLoss ?? false, now)
    return { ...openWriting(file, lock, state, options.checkpointer), loss }
  } catch (error) {
    lock.release()
    throw asStartError(error, file)
  }
}

/** A store in memory with the newest schema and nothing in it: the next begin as a copy. */
let empty: Buffer | undefined

function openInMemory(state: WriterState): OpenStore {
  const db = connect(empty ?? ':memory:')
  format(db)
  prepare(db)
  empty ??= db.serialize()
  return {
    ...{ db, file: null, loss: null },
    ...transactions(db, {
      begin: () => {},
      beforeCommit: () => {},
      committed: () => {},
      over: tellingOf(state),
    }),
    foldLog: () => {},
    isWritable: () => true,
    close: () => db.close(),
  }
}

/** Tells how transactions end. */
function tellingOf(state: WriterState): (error: unknown) => void {
  return (error) => {
    state.over()
    if (isBusy(error)) state.blocked()
    else state.wrote(systemClock.now())
  }
}

/** What holds of a file from its first page on. */
function format(db: Database): void {
  db.pragma(`page_size = ${PAGE_SIZE}`)
  db.pragma('auto_vacuum = INCREMENTAL')
}

/** Settings of the writing connection, and the newest schema. @throws StartError */
function prepare(db: Database): void {
  db.pragma('synchronous = FULL')
  if (db.pragma('synchronous', { simple: true }) !== 2)
    throw new StartError('the store cannot be opened with synchronous=FULL', 78)
  db.pragma('foreign_keys = ON')
  db.pragma('trusted_schema = OFF')
  db.pragma('mmap_size = 0')
  db.pragma(`cache_size = -${WRITER_CACHE_KIB}`)
  migrate(db)
  checkAfterUncleanStop(db)
}

function openWriting(
  file: string,
  lock: DataLock,
  state: WriterState,
  checkpointer?: Checkpointer,
): Omit<OpenStore, 'loss'> {
  const db = connect(file)
  try {
    format(db)
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = FULL')
    db.pragma('journal_size_limit = 67108864')
    // Before anything can fail, for closing the file deletes the log.
    foldLog(db, file)
    prepare(db)
    const incarnation = newIncarnation(db, file, () => foldLog(db, file))
    chmodSync(file, 0o600)
    const checkpoints = new Checkpoints(db, file, checkpointer ?? null)
    const count = new CommitCount(db, file, incarnation)
    return {
      ...{ db, file },
      ...transactions(db, {
        begin: () => count.begin(),
        beforeCommit: () => count.beforeCommit(),
        committed: () => {
          count.committed()
          checkpoints.committed()
        },
        over: tellingOf(state),
      }),
      isWritable: () => isWritable(db, state),
      foldLog: () => foldAtOnce(db, file, !checkpoints.isCopying),
      close: () => closeWriting(db, file, lock, count),
    }
  } catch (error) {
    db.close()
    throw asStartError(error, file)
  }
}

/** Without waiting for readers; a volume without room for it leaves the log as it is. */
function foldAtOnce(db: Database, file: string, mayEmpty: boolean): void {
  db.pragma('busy_timeout = 0')
  try {
    foldLog(db, file, mayEmpty)
  } catch (error) {
    if (survivableDiskFault(error) === null) throw error
  } finally {
    db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
  }
}

function isWritable(db: Database, state: WriterState): boolean {
  db.pragma('busy_timeout = 0')
  try {
    db.exec('BEGIN IMMEDIATE; ROLLBACK')
    state.wrote(systemClock.now())
    return true
  } catch (error) {
    if (isBusy(error)) return false
    throw error
  } finally {
    db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
  }
}

function closeWriting(db: Database, file: string, lock: DataLock, count: CommitCount): void {
  let isComplete = false
  try {
    db.prepare("INSERT OR REPLACE INTO meta VALUES ('clean_stop', '1')").run()
    foldLog(db, file)
    isComplete = true
  } catch (error) {
    // A volume without room: the log is whole and stays, and the next start takes it up as after a kill.
    if (survivableDiskFault(error) === null) throw error
  } finally {
    db.close()
  }
  if (isComplete) count.close()
  else count.leave()
  lock.release()
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

/** Opens a read-only connection beside the writing one. @throws StartError 78. */
export function openReading(file: string): Database {
  const db = connect(file, true)
  db.pragma('trusted_schema = OFF')
  db.pragma('mmap_size = 0')
  db.pragma(`cache_size = -${READER_CACHE_KIB}`)
  return db
}
