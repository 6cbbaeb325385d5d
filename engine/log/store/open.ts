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
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { countWords } from '../../../schemas/plain-words.ts'
import { systemClock } from '../../clock.ts'
import { StartError } from '../../errors.ts'
import { joinDoubledLabels } from './append.ts'
import { type Checkpointer, Checkpoints, foldLog, guardLoss, readWitness, Witness } from './checkpoints.ts'
import { type Database, isBusy, type Statement, type StoreHandle, survivableDiskFault } from './handle.ts'
import {
  asStartError,
  BUSY_TIMEOUT_MS,
  connect,
  type DataLock,
  guardOtherNames,
  realDataFile,
  takeLock,
} from './lock.ts'
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
  /** What was done to a file of an older version, or to mend what one had left, a sentence each. */
  done: string[]
  /** Copies the log into the data file and empties it, where nobody reads or copies it: its room is free again. */
  foldLog(): void
  /** Whether the file can be written at this moment; nobody is waited for. */
  isWritable(): boolean
  close(): void
}

interface OpenOptions {
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
  secure(db)
  if (empty === undefined) {
    migrate(db)
    empty = db.serialize()
  }
  return {
    ...{ db, file: null, loss: null, done: [] },
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

/** Settings of the writing connection. @throws StartError */
function secure(db: Database): void {
  db.pragma('synchronous = FULL')
  if (db.pragma('synchronous', { simple: true }) !== 2)
    throw new StartError('the store cannot be opened with synchronous=FULL', 78)
  db.pragma('foreign_keys = ON')
  db.pragma('trusted_schema = OFF')
  db.pragma('mmap_size = 0')
  db.pragma(`cache_size = -${WRITER_CACHE_KIB}`)
}

function openWriting(
  file: string,
  lock: DataLock,
  state: WriterState,
  checkpointer?: Checkpointer,
): Omit<OpenStore, 'loss'> {
  const db = connect(file)
  let from = 0
  try {
    from = versionOf(db)
    format(db)
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = FULL')
    db.pragma('journal_size_limit = 67108864')
    // Before anything can fail, for closing the file deletes the log.
    foldLog(db, file)
    secure(db)
    const upgrade = upgradeFile(db, file, from)
    checkAfterUncleanStop(db)
    const done = [upgrade, tellJoined(file, joinDoubledLabels(db))].filter((one) => one !== null)
    const incarnation = newIncarnation(db, file, () => foldLog(db, file))
    chmodSync(file, 0o600)
    const checkpoints = new Checkpoints(db, file, checkpointer ?? null)
    const count = new CommitCount(db, file, incarnation)
    return {
      ...{ db, file, done },
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
    const fault = asStartError(error, file)
    const told = fault instanceof StartError ? tellUpgrade(fault, from, versionOf(db)) : fault
    db.close()
    throw told
  }
}

/**
 * What is to be known beside the reason where a start ends for want of room, and was to upgrade the file.
 * @param from schema of the file before the start @param now its schema now
 */
export function tellUpgrade(
  fault: StartError,
  from: number,
  now: number,
  newest = newestSchema(),
): StartError {
  if (fault.exitCode !== 74 || from === 0 || from >= newest) return fault
  const told =
    now === from
      ? `An upgrade from schema ${from} to ${newest} was to be made, and none of it is: the svc before opens the file as it did`
      : `An upgrade from schema ${from} to ${newest} is under way: the file is at ${now}, and the next start goes on from there. The svc before does not open it any more; to go back to it, restore a backup made before the upgrade`
  return new StartError(`${fault.message}. ${told}`, fault.exitCode)
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
  'entities',
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

/*
 * Forward-only schema versions: engine/log/store/migrations/NNNN_name.sql, each applied in one
 * transaction together with its number in `user_version`, so a crash leaves the old version or
 * the new one. A file of a newer version is refused: nothing here knows how to read it.
 */

/** Marks a file as ours in the SQLite header ("svc1"). */
export const APPLICATION_ID = 0x73766331

interface Migration {
  version: number
  name: string
  sql: string
}

const MIGRATIONS = new URL('./migrations/', import.meta.url)

/**
 * What all migrations come to, for a file that is new: a tenth of the time of running them one by one.
 * Written by `npm run generate`; one of another version than the newest is not used.
 */
export const SCHEMA_FILE = 'schema.sql'

/** First line of that file. @param version of the newest migration */
export function schemaHead(version: number): string {
  return `-- Version ${version}: all migrations, for a new file. Written by npm run generate.\n`
}

/** The migrations beside this module; the build copies them beside the bundle. */
export function readMigrations(): Migration[] {
  return readdirSync(MIGRATIONS)
    .filter((name) => /^\d{4}_[a-z0-9-]+\.sql$/.test(name))
    .sort()
    .map((name) => ({
      version: Number(name.slice(0, 4)),
      name,
      sql: readFileSync(new URL(name, MIGRATIONS), 'utf8'),
    }))
}

/**
 * Brings the file to the newest version.
 * @returns how many migrations ran.
 * @throws StartError 78 when the file is newer than this program, or belongs to another program.
 */
export function migrate(db: Database, migrations?: Migration[]): number {
  return migrateFrom(db, migrations ?? readMigrations(), migrations === undefined)
}

/** @returns what was done to a file of an older version, in a sentence; null: it is new, or of this version */
function upgradeFile(db: Database, file: string, from: number): string | null {
  const begun = systemClock.now()
  if (migrate(db) === 0 || from === 0) return null
  const seconds = ((systemClock.now() - begun) / 1_000).toFixed(1)
  return `${file} was brought from schema ${from} to ${versionOf(db)} in ${seconds} s; to go back to the svc before, restore a backup made before the upgrade`
}

const tellJoined = (file: string, labels: number): string | null =>
  labels === 0
    ? null
    : `${file} had ${countWords(labels, 'label')} stored twice, and reads of them missed events; they are joined, and nothing is missing`

const versionOf = (db: Database): number => db.pragma('user_version', { simple: true }) as number

const newestSchema = (): number => readMigrations().at(-1)?.version ?? 0

/** That a newer version made the file, for a sentence that begins with its name; null: this version can read it. */
export function newerFault(db: Database, newest = newestSchema()): string | null {
  const version = versionOf(db)
  return version > newest ? `was made by a newer svc (schema ${version}; this one knows ${newest})` : null
}

function migrateFrom(db: Database, migrations: readonly Migration[], isWhole: boolean): number {
  const applicationId = db.pragma('application_id', { simple: true }) as number
  const version = versionOf(db)
  const tables = db
    .prepare("SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")
    .pluck()
    .get() as number
  if (tables > 0 && applicationId !== APPLICATION_ID)
    throw new StartError(
      `${db.name} is a database of another program; choose another --data-dir or SVC_DB`,
      78,
    )
  const newest = migrations.at(-1)?.version ?? 0
  const newer = newerFault(db, newest)
  if (newer !== null)
    throw new StartError(
      `${db.name} ${newer}; start that version, or restore a backup made before the upgrade`,
      78,
    )
  const due = migrations.filter((migration) => migration.version > version)
  const schema = isWhole && tables === 0 && version === 0 ? readSchema(newest) : null
  const steps = schema === null ? due : [{ version: newest, sql: schema }]
  for (const step of steps) {
    db.transaction(() => {
      db.exec(step.sql)
      db.pragma(`user_version = ${step.version}`)
      db.pragma(`application_id = ${APPLICATION_ID}`)
    }).immediate()
  }
  return due.length
}

/** @returns the statements that make a new file; null: those written are not of `newest`. */
function readSchema(newest: number): string | null {
  const sql = readFileSync(new URL(SCHEMA_FILE, MIGRATIONS), 'utf8')
  return sql.startsWith(schemaHead(newest)) ? sql : null
}

/* Transactions that nest, and what is to run once the outermost has committed. */

/** What accompanies each outermost transaction. */
interface Accompaniment {
  /** Inside it, first. */
  begin(): void
  /** Inside it, last. */
  beforeCommit(): void
  /** After COMMIT; must not throw. */
  committed(): void
  /** Once it is over, whatever came of it: null when it was committed; must not throw. */
  over(error: unknown): void
}

/** @throws SvcError storage_full or unavailable from `tx`, where the disk has no room or the store is busy. */
function transactions(
  db: Database,
  { begin, beforeCommit, committed, over }: Accompaniment,
): Pick<StoreHandle, 'tx' | 'rehearse' | 'afterCommit'> {
  let due: (() => void)[] = []
  // Made once: each such function is four, with a statement for each way to begin.
  const within = db.transaction((fn: () => unknown) => fn())
  return {
    tx: <T>(fn: () => T) => {
      if (db.inTransaction) return within(fn) as T
      due = []
      const whole = () => {
        begin()
        const value = fn()
        beforeCommit()
        return value
      }
      const result = outermost(() => within.immediate(whole) as T, over)
      const follows = due
      due = []
      for (const follow of follows) follow()
      committed()
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
        over(null)
      }
    },
    afterCommit: (fn) => {
      if (db.inTransaction) due.push(fn)
      else fn()
    },
  }
}

function outermost<T>(run: () => T, over: Accompaniment['over']): T {
  let result: T
  try {
    result = run()
  } catch (error) {
    over(error)
    throw survivableDiskFault(error) ?? error
  }
  over(null)
  return result
}

/*
 * A data file put back beside the log of another time would be read as damaged, or worse, as a mix
 * of two histories. Each start therefore writes a new incarnation into the data file itself, past
 * the log, and notes it beside the file; after a crash the two must agree before the log is used.
 * A backup carries an incarnation of its own.
 */

/** @throws StartError 78 when the data file and the log beside it are of different times. */
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
  const draft = draftOf(file)
  // A start that ended before it had folded its own may have left either in the file.
  const begun = existsSync(draft) ? readFileSync(draft, 'utf8').trim() : null
  const found = incarnationWithoutLog(file, expected)
  if (found !== null && found !== expected && found !== begun)
    throw new StartError(
      `${file} and ${wal} are from different times; use svc restore to put a backup in place, or move the -wal file away to open the data file alone`,
      78,
    )
}

/**
 * The incarnation the data file holds by itself. SQLite finds a log by the name the file is opened
 * by, so under another name, a hard link, the file is read without it. A log that was copied in part, to a
 * volume that was full, leaves a file that cannot be read alone; the witness then says whose log it is.
 */
function incarnationWithoutLog(file: string, expected: string): string | null {
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
    const isTorn = (error as { code?: string }).code === 'SQLITE_CORRUPT'
    if (isTorn && readWitness(file)?.incarnation === expected) return expected
    throw asStartError(error, file)
  } finally {
    db.close()
    for (const suffix of ['', '-wal', '-shm']) rmSync(alone + suffix, { force: true })
  }
}

const incarnationFile = (file: string): string => `${file}.incarnation`
const draftOf = (file: string): string => `${incarnationFile(file)}.new`

/** Writes a new incarnation into the data file and beside it. @param fold copies all of the log. @returns it. */
function newIncarnation(db: Database, file: string, fold: () => void): string {
  const incarnation = randomUUID()
  // First, for there may be no room: a note that is cut off would not fit the log ever after.
  const draft = draftOf(file)
  writeFileSync(draft, incarnation, { mode: 0o600 })
  db.prepare("INSERT OR REPLACE INTO meta VALUES ('incarnation', ?)").run(incarnation)
  fold()
  renameSync(draft, incarnationFile(file))
  return incarnation
}

/*
 * Counts commits in the data file, in the transaction itself, and tells the witness beside it after
 * each. A transaction that changes nothing is not counted: counting it would make it one that writes.
 */

class CommitCount {
  private n: number
  private changesBefore = 0
  private isCounted = false
  private readonly changes: Statement<[], number>
  private readonly update: Statement<[number]>
  private readonly lastEvent: Statement<[], number | null>
  private readonly witness: Witness

  /** @param incarnation of the data file, by which the witness knows it. */
  constructor(db: Database, file: string, incarnation: string) {
    this.changes = db.prepare('SELECT total_changes()').pluck() as Statement<[], number>
    this.update = db.prepare('UPDATE commits SET n = ?')
    this.lastEvent = db.prepare('SELECT max(id) FROM events').pluck() as Statement<[], number | null>
    this.n = db.prepare('SELECT n FROM commits').pluck().get() as number
    this.witness = new Witness(file, incarnation, this.n, this.lastEvent.get() ?? 0)
  }

  /** First of an outermost transaction. */
  begin(): void {
    this.isCounted = false
    this.changesBefore = this.changes.get()!
  }

  /** Last of an outermost transaction. */
  beforeCommit(): void {
    if (this.changes.get() === this.changesBefore) return
    this.update.run(this.n + 1)
    this.isCounted = true
  }

  /** After COMMIT. */
  committed(): void {
    if (!this.isCounted) return
    this.isCounted = false
    this.n++
    this.witness.committed(this.n, this.lastEvent.get() ?? 0)
  }

  /** After a clean stop: the data file is complete by itself. */
  close(): void {
    this.witness.remove()
  }

  /** After a stop whose log could not be copied: the next start looks whether all of it is there. */
  leave(): void {
    this.witness.leave()
  }
}
