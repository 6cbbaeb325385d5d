/**
 * When the log is copied into the data file, where another connection does the copying so that the
 * writer need not wait for its flushes. The log begins anew only once all of it is copied, and while
 * writers go on the other connection is never quite done: the writer copies the small rest itself.
 *
 * Two connections may do so since SQLite 3.51.3, which fixed the one fault there was (WAL-reset).
 */
import BetterSqlite3 from 'better-sqlite3'
import { isSqliteError } from './disk-fault.ts'
import type { Database, Statement } from './handle.ts'
import { noteCopying, noteWhole } from './witness.ts'

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
export interface LogLimits {
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
