/**
 * When the log is copied into the data file, where another connection does the copying so that the
 * writer need not wait for its flushes. The log begins anew only once all of it is copied, and while
 * writers go on the other connection is never quite done: the writer copies the small rest itself.
 *
 * Two connections may do so since SQLite 3.51.3, which fixed the one fault there was (WAL-reset).
 */

import {
  closeSync,
  copyFileSync,
  existsSync,
  fdatasyncSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { crc32 } from 'node:zlib'
import BetterSqlite3 from 'better-sqlite3'
import { countWords } from '../../../schemas/plain-words.ts'
import { StartError } from '../../errors.ts'
import { type Database, isSqliteError, type Statement } from './handle.ts'

/** The other connection, wherever it is. */
export interface Checkpointer {
  /** Copies what it can. */
  ask(): void
  /** @param listener called each time it has. */
  onDone(listener: () => void): void
}

/** Pages in the log, and how many of them are copied. */
interface LogState {
  pages: number
  copied: number
  /** All of them, as far as could be seen: not while another connection copies. */
  isWhole: boolean
}

/** In pages of 8 KiB. */
interface LogLimits {
  /** Worth asking for. */
  ask: number
  /** A rest the writer copies itself, in some milliseconds. */
  rest: number
  /** From here on the log should begin anew. */
  long: number
  /** Where the other connection does not keep up and the writer waits. */
  most: number
}

const LIMITS: LogLimits = { ask: 1_000, rest: 1_000, long: 6_000, most: 32_000 }
/** A rest that is not worth another round. */
const LITTLE_PAGES = 500
/** Copies one after another at most, for what was written meanwhile. */
const ROUNDS = 8

export class Checkpoints {
  private readonly look: Statement<[], [busy: number, pages: number, copied: number]>
  private readonly copy: Statement<[], [busy: number, pages: number, copied: number]>
  private asked = false

  /**
   * @param db the writing connection. @param file path of the data file.
   * @param checkpointer absent: the writer copies all of it itself.
   */
  constructor(
    db: Database,
    private readonly file: string,
    private readonly checkpointer: Checkpointer | null,
    private readonly limits = LIMITS,
  ) {
    db.pragma('wal_autocheckpoint = 0')
    this.look = db.prepare<[], [number, number, number]>('PRAGMA wal_checkpoint(NOOP)').raw()
    this.copy = db.prepare<[], [number, number, number]>('PRAGMA wal_checkpoint(PASSIVE)').raw()
    checkpointer?.onDone(() => {
      this.asked = false
      this.committed()
    })
  }

  /** Whether the other connection may be copying now. */
  get isCopying(): boolean {
    return this.asked
  }

  /** To be called after each commit. Never throws: the commit stands, whatever comes of the copying. */
  committed(): void {
    try {
      this.copyIfDue()
    } catch (error) {
      // A volume without room for the copy, or a disk that fails: the log stays whole, so nothing is
      // lost. The next commit tries again, and meets a disk that fails itself.
      if (!isSqliteError(error)) throw error
    }
  }

  private copyIfDue(): void {
    const { ask, rest: little, long, most } = this.limits
    const { pages, copied } = stateOf(this.look)
    const rest = pages - copied
    if (pages >= most || (pages >= long && rest <= little) || (!this.checkpointer && rest >= ask))
      noteCopying(this.file, 'writer', () => isAllCopied(this.copy))
    else if (this.checkpointer && !this.asked && rest >= ask) {
      this.asked = true
      this.checkpointer.ask()
    }
  }
}

/** A connection of its own that copies the log. @param file path of the data file. */
export function openCheckpointing(file: string): { run(): void; close(): void } {
  const db = new BetterSqlite3(file, { fileMustExist: true })
  db.pragma('synchronous = FULL')
  db.pragma('wal_autocheckpoint = 0')
  db.pragma('query_only = ON')
  const copy = db.prepare<[], [number, number, number]>('PRAGMA wal_checkpoint(PASSIVE)').raw()
  const look = db.prepare<[], [number, number, number]>('PRAGMA wal_checkpoint(NOOP)').raw()
  const copyRounds = (): boolean => {
    let rest = Number.POSITIVE_INFINITY
    for (let round = 0; round < ROUNDS; round++) {
      const { pages, copied, isWhole } = stateOf(copy)
      // Readers may hold it up: then there is nothing to be gained now.
      if (pages - copied >= rest || pages - copied < LITTLE_PAGES) return isWhole
      rest = pages - copied
    }
    return false
  }
  return {
    run: () => {
      // The writer may have copied all of it since it asked.
      if (!isAllCopied(look)) noteCopying(file, 'checkpointer', copyRounds)
    },
    close: () => db.close(),
  }
}

/**
 * Copies all of the log into the data file and empties it.
 * @param mayEmpty not while another connection may copy it, which notes that it does: then a log must be there.
 */
export function foldLog(db: Database, file: string, mayEmpty = true): void {
  if (isAllCopied(db.prepare<[], [number, number, number]>('PRAGMA wal_checkpoint(NOOP)').raw()))
    noteWhole(file)
  else if (!noteCopying(file, 'writer', () => copyAll(db))) return
  // A log that is gone while the data file is not known to be whole would be taken for a loss.
  if (mayEmpty) db.pragma('wal_checkpoint(TRUNCATE)')
}

function copyAll(db: Database): boolean {
  return isAllCopied(db.prepare<[], [number, number, number]>('PRAGMA wal_checkpoint(FULL)').raw())
}

/** @param statement looks, or copies first: without a reader in the way, all that there was when it began. */
function isAllCopied(statement: Statement<[], [number, number, number]>): boolean {
  return stateOf(statement).isWhole
}

/** Both numbers are -1 without a log, and where another connection is copying: only then it is busy. */
function stateOf(statement: Statement<[], [number, number, number]>): LogState {
  const [busy, pages, copied] = statement.get()!
  return {
    ...{ pages: Math.max(0, pages), copied: Math.max(0, copied) },
    isWhole: busy === 0 && pages === copied,
  }
}

/**
 * Keeps the log beside the data file for as long as it is held. A process that exits at once closes what its threads have
 * open, and the last to close the file folds the log in and removes it, without a word to the witness: the next start
 * would miss it. A connection that only reads does neither, and while it is open no other is the last.
 * @param file path of the data file, which is open already. @returns lets go of it
 */
export function holdLog(file: string): () => void {
  const db = new BetterSqlite3(file, { readonly: true })
  // It holds the file from the first read on.
  db.pragma('user_version')
  return () => void db.close()
}

/*
 * A witness of the last commit, outside the data file: `<data file>.witness`. SQLite takes a log that
 * is missing, cut off or damaged for one that ends earlier, so that after a kill acknowledged commits
 * could be gone without a word. The witness knows how many there were.
 *
 * It is written after a commit's flush has returned and is not flushed itself: it survives the end of
 * the process, after a power cut it may be some commits behind, and it is never ahead. It counts for
 * one incarnation of the data file (open.ts) alone, so that a restored backup has none.
 *
 * Layout, ASCII, so that it can be read by people: incarnation, commits and newest event, CRC-32 of
 * these; then for each copier of the log whether it is at work. While one is, the data file is whole
 * only together with the log.
 */

interface Witnessed {
  incarnation: string
  /** Commits of the data file, ever. */
  commits: number
  /** Id of the newest event, 0 when there is none. */
  lastEvent: number
  /** Whether the log was being copied into the data file, or had been in part. */
  isCopying: boolean
}

/** Who copies the log: the writer itself, or the connection that does nothing else. */
type Copier = 'writer' | 'checkpointer'

const NUMBER_WIDTH = 16
const RECORD_BYTES = 36 + 1 + NUMBER_WIDTH + 1 + NUMBER_WIDTH + 1 + 8 + 1
const FLAG_AT: Record<Copier, number> = { writer: RECORD_BYTES, checkpointer: RECORD_BYTES + 1 }

const witnessFile = (dataFile: string): string => `${dataFile}.witness`

/** The witness of a data file; null where there is none, or a power cut tore it. */
export function readWitness(dataFile: string): Witnessed | null {
  let text: string
  try {
    text = readFileSync(witnessFile(dataFile), 'latin1')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  const [incarnation, commits, lastEvent, checksum] = text.slice(0, RECORD_BYTES - 1).split(' ')
  if (recordOf(incarnation!, Number(commits), Number(lastEvent)) !== text.slice(0, RECORD_BYTES)) return null
  return {
    incarnation: incarnation!,
    commits: Number(commits),
    lastEvent: Number(lastEvent),
    isCopying: checksum !== undefined && text.slice(RECORD_BYTES).includes('1'),
  }
}

/** Removes the witness: after a clean stop the data file is complete by itself. */
function removeWitness(dataFile: string): void {
  rmSync(witnessFile(dataFile), { force: true })
}

/** The writer's handle. */
export class Witness {
  private readonly descriptor: number

  /** Begins anew for an incarnation of the data file. */
  constructor(
    private readonly dataFile: string,
    private readonly incarnation: string,
    commits: number,
    lastEvent: number,
  ) {
    removeWitness(dataFile)
    this.descriptor = openSync(witnessFile(dataFile), 'w', 0o600)
    writeSync(this.descriptor, `${recordOf(incarnation, commits, lastEvent)}00\n`, 0, 'latin1')
    fdatasyncSync(this.descriptor)
  }

  /** To be called once a commit is on disk, and not before. About 5 µs. */
  committed(commits: number, lastEvent: number): void {
    writeSync(this.descriptor, recordOf(this.incarnation, commits, lastEvent), 0, 'latin1')
  }

  /** It stays for the next start. */
  leave(): void {
    closeSync(this.descriptor)
  }

  /** After a clean stop. */
  remove(): void {
    this.leave()
    removeWitness(this.dataFile)
  }
}

/**
 * Copies the log into the data file, and notes meanwhile that the data file is not whole by itself. Not for a log
 * of which nothing is left to copy: it may be empty, and a kill in between would look as if it had been lost.
 * @param copy answers whether all of the log was copied; what it throws leaves the note.
 * @returns what `copy` answered.
 */
export function noteCopying(dataFile: string, copier: Copier, copy: () => boolean): boolean {
  const descriptor = openExisting(dataFile)
  if (descriptor === null) return copy()
  try {
    writeSync(descriptor, '1', FLAG_AT[copier], 'latin1')
    const isWhole = copy()
    // All of the log is copied, so what the other one had copied in part is whole as well.
    if (isWhole) clearFlags(descriptor)
    return isWhole
  } finally {
    closeSync(descriptor)
  }
}

/** Notes that the data file is whole by itself: all of the log is in it, whoever copied it. */
function noteWhole(dataFile: string): void {
  const descriptor = openExisting(dataFile)
  if (descriptor === null) return
  try {
    clearFlags(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function clearFlags(descriptor: number): void {
  writeSync(descriptor, '00', RECORD_BYTES, 'latin1')
  // The next commit may begin the log anew: by then the note must not come back with a power cut.
  fdatasyncSync(descriptor)
}

function openExisting(dataFile: string): number | null {
  try {
    return openSync(witnessFile(dataFile), 'r+')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

function recordOf(incarnation: string, commits: number, lastEvent: number): string {
  const facts = `${incarnation} ${padded(commits)} ${padded(lastEvent)}`
  return `${facts} ${crc32(facts).toString(16).padStart(8, '0')}\n`
}

const padded = (n: number): string => String(n).padStart(NUMBER_WIDTH, '0')

/*
 * Looks at a start whether commits that were acknowledged are missing: the data file with its log
 * must have as many as the witness beside it knows of. Nothing on disk changes here, for the log may
 * be put back yet.
 */

interface Found {
  commits: number
  lastEvent: number
  incarnation: string | null
}

/**
 * @param acceptLoss go on with what is there; a copy of the log is kept.
 * @param now epoch ms, for the name of that copy.
 * @returns what is missing, in a sentence, where that was accepted; null when nothing is.
 * @throws StartError 78 when something is missing.
 */
export function guardLoss(file: string, acceptLoss: boolean, now: number): string | null {
  const missing = missingFrom(file)
  if (missing === null) return null
  if (!acceptLoss)
    throw new StartError(
      `${missing}. If you have ${file}-wal as it was, put it back and start again. Else put a backup in place with svc restore FILE; if you have just put back an older data file by hand, or want to go on with what is there, start once with svc up --accept-loss`,
      78,
    )
  return `started with --accept-loss: ${missing}${keepLog(file, now)}`
}

/** What is missing, in a sentence; null when nothing is, or nothing is known. */
export function missingFrom(file: string): string | null {
  const witnessed = readWitness(file)
  if (witnessed === null) return null
  const log = `${file}-wal`
  const state = existsSync(log) && statSync(log).size > 0 ? 'damaged or cut off' : 'missing'
  const found = existsSync(file) && statSync(file).size > 0 ? look(file) : null
  if (found === null)
    return witnessed.commits === 0
      ? null
      : `${file} is missing or empty, and ${witnessFile(file)} knows of ${countWords(witnessed.commits, 'commit')} in it`
  if (found.incarnation !== witnessed.incarnation) return null
  if (found.commits < witnessed.commits)
    return `${file} lacks acknowledged data: ${lackOf(witnessed, found)}; the log ${log} is ${state}`
  if (witnessed.isCopying && !hasUsableLog(log))
    return `${file} may lack acknowledged data: the daemon ended while it copied the log into it, and the log ${log} is ${state}`
  return null
}

function lackOf(witnessed: Witnessed, found: Found): string {
  const events = witnessed.lastEvent - found.lastEvent
  const commits = `the last ${countWords(witnessed.commits - found.commits, `of ${witnessed.commits} commits is`, `of ${witnessed.commits} commits are`)} missing`
  return events > 0
    ? `${commits}, with up to ${countWords(events, 'event')} after evt_${found.lastEvent}`
    : `${commits}; no events were in them`
}

/** A connection that only reads neither copies the log nor deletes it. */
function look(file: string): Found {
  let db: BetterSqlite3.Database | null = null
  try {
    db = new BetterSqlite3(file, { readonly: true, timeout: 5_000 })
    const one = (sql: string): unknown => db!.prepare(sql).pluck().get()
    const known = one("SELECT count(*) FROM sqlite_schema WHERE name IN ('commits', 'events', 'meta')")
    if (known !== 3) return { commits: 0, lastEvent: 0, incarnation: null }
    return {
      commits: Number(one('SELECT n FROM commits')),
      lastEvent: Number(one('SELECT max(id) FROM events') ?? 0),
      incarnation: (one("SELECT value FROM meta WHERE key = 'incarnation'") as string | undefined) ?? null,
    }
  } catch (error) {
    throw new StartError(
      `${file} cannot be read (${(error as Error).message}), and its log ${file}-wal may be missing or damaged; put the log back as it was, or put a backup in place with svc restore FILE`,
      78,
    )
  } finally {
    db?.close()
  }
}

function keepLog(file: string, now: number): string {
  const log = `${file}-wal`
  if (!existsSync(log) || statSync(log).size === 0) return ''
  const kept = `${file}.before-accept-loss-${new Date(now).toISOString().replace(/[:.]/g, '-')}-wal`
  copyFileSync(log, kept)
  return `; a copy of the log is kept as ${kept}`
}

/*
 * The write-ahead log as it lies on disk, looked at without SQLite, which takes a damaged log for an
 * empty one and deletes it when it closes the file. The format is https://sqlite.org/fileformat2.html#walformat.
 */

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
/** Last bit of the magic number: checksums are of big-endian words. */
const MAGIC = 0x377f0682

/**
 * Whether a log is there that SQLite would use: at least one whole commit, or one that was begun
 * anew and has none yet, which it is only once all of the one before is in the data file.
 */
function hasUsableLog(file: string): boolean {
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
  try {
    return isUsable(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function isUsable(descriptor: number): boolean {
  const header = Buffer.alloc(HEADER_BYTES)
  if (readSync(descriptor, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return false
  const magic = header.readUInt32BE(0)
  if (magic !== MAGIC && magic !== MAGIC + 1) return false
  const isBigEndian = magic === MAGIC + 1
  const sums: [number, number] = [0, 0]
  addChecksum(sums, header.subarray(0, 24), isBigEndian)
  if (sums[0] !== header.readUInt32BE(24) || sums[1] !== header.readUInt32BE(28)) return false
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + header.readUInt32BE(8))
  for (let at = HEADER_BYTES; readSync(descriptor, frame, 0, frame.length, at) === frame.length; ) {
    if (!frame.subarray(8, 16).equals(header.subarray(16, 24))) return isOfTheLogBefore(frame, header)
    addChecksum(sums, frame.subarray(0, 8), isBigEndian)
    addChecksum(sums, frame.subarray(FRAME_HEADER_BYTES), isBigEndian)
    if (sums[0] !== frame.readUInt32BE(16) || sums[1] !== frame.readUInt32BE(20)) return false
    // Size of the data file after the commit; 0 in frames that are not the last of one.
    if (frame.readUInt32BE(4) > 0) return true
    at += frame.length
  }
  return false
}

/** Each time the log begins anew its first salt grows by one; frames of the one before lie behind the new header. */
function isOfTheLogBefore(frame: Buffer, header: Buffer): boolean {
  return (frame.readUInt32BE(8) + 1) >>> 0 === header.readUInt32BE(16)
}

function addChecksum(sums: [number, number], bytes: Buffer, isBigEndian: boolean): void {
  let [first, second] = sums
  for (let at = 0; at < bytes.length; at += 8) {
    const [a, b] = isBigEndian
      ? [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)]
      : [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)]
    first = (first + a + second) >>> 0
    second = (second + b + first) >>> 0
  }
  sums[0] = first
  sums[1] = second
}
