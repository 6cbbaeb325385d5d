/**
 * A data file put back beside the log of another time would be read as damaged, or worse, as a mix
 * of two histories. Each start therefore writes a new incarnation into the data file itself, past
 * the log, and notes it beside the file; after a crash the two must agree before the log is used.
 * A backup carries an incarnation of its own.
 */
import { randomUUID } from 'node:crypto'
import { existsSync, linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { StartError } from '../errors.ts'
import { asStartError, connect } from './connect.ts'
import type { Database } from './handle.ts'
import { readWitness } from './witness.ts'

/** @throws StartError 78 when the data file and the log beside it are of different times. */
export function guardStaleWal(file: string): void {
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
export function newIncarnation(db: Database, file: string, fold: () => void): string {
  const incarnation = randomUUID()
  // First, for there may be no room: a note that is cut off would not fit the log ever after.
  const draft = draftOf(file)
  writeFileSync(draft, incarnation, { mode: 0o600 })
  db.prepare("INSERT OR REPLACE INTO meta VALUES ('incarnation', ?)").run(incarnation)
  fold()
  renameSync(draft, incarnationFile(file))
  return incarnation
}
