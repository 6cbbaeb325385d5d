/**
 * Backup and restore of the data file. A backup is SQLite's online backup, in steps of 500 pages: the state of the instant
 * at which it began, while the daemon writes on.
 */
import { randomUUID } from 'node:crypto'
import { closeSync, copyFileSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { fail, SvcError } from '../../errors.ts'
import { takeLock } from './lock.ts'
import { APPLICATION_ID, newerFault } from './open.ts'

const STEP_PAGES = 500

/**
 * Writes a complete copy of the data file to `target`, through a temporary name beside it.
 * @param onProgress called with pages done and in all.
 * @throws SvcError not_found, conflict when the target exists, invalid when it is not a data file.
 */
export async function backupDatabase(
  dataFile: string,
  target: string,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<void> {
  if (!existsSync(dataFile)) fail('not_found', `there is no data file at ${dataFile}`)
  if (existsSync(target)) fail('conflict', `${target} exists; choose another file`)
  const partial = `${target}.partial`
  removePartial(partial)
  const db = new BetterSqlite3(dataFile, { readonly: true, timeout: 5_000 })
  try {
    // Without a read that is held SQLite begins anew after each commit of the daemon, and would never end under load.
    db.exec('BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1')
    await db.backup(partial, {
      progress: ({ totalPages, remainingPages }) => {
        onProgress(totalPages - remainingPages, totalPages)
        return STEP_PAGES
      },
    })
    markBackup(partial)
    syncFile(partial)
  } catch (error) {
    removePartial(partial)
    throw error
  } finally {
    db.close()
  }
  renameSync(partial, target)
  syncFile(dirname(target))
}

/** With the journal that SQLite writes beside it. */
function removePartial(partial: string): void {
  for (const suffix of ['', '-journal']) rmSync(partial + suffix, { force: true })
}

/** Gives the copy an incarnation of its own, so that it is never mixed with the original's log. */
function markBackup(file: string): void {
  const db = new BetterSqlite3(file)
  try {
    db.pragma('journal_mode = DELETE')
    db.prepare("INSERT OR REPLACE INTO meta VALUES ('incarnation', ?), ('clean_stop', '1')").run(randomUUID())
  } finally {
    db.close()
  }
}

/**
 * Puts a backup in place of the data file; what was there is kept beside it.
 * @param now epoch ms, for the name of what is kept.
 * @returns the names the old files were moved to.
 * @throws SvcError invalid when the backup is damaged, no data file, or of a newer version; StartError 75 while a daemon runs.
 */
export function restoreDatabase(file: string, dataFile: string, now: number): string[] {
  if (!existsSync(file)) fail('not_found', `there is no backup at ${file}`)
  verify(file)
  const lock = takeLock(dataFile, now)
  try {
    const partial = `${dataFile}.restoring`
    copyFileSync(file, partial)
    syncFile(partial)
    const stamp = new Date(now).toISOString().replace(/[:.]/g, '-')
    const moved: string[] = []
    for (const suffix of ['', '-wal', '-shm', '.incarnation', '.witness']) {
      if (!existsSync(dataFile + suffix)) continue
      const kept = `${dataFile}.before-restore-${stamp}${suffix}`
      renameSync(dataFile + suffix, kept)
      moved.push(kept)
    }
    renameSync(partial, dataFile)
    syncFile(dirname(dataFile))
    return moved
  } finally {
    lock.release()
  }
}

function verify(file: string): void {
  let db: BetterSqlite3.Database | null = null
  try {
    db = new BetterSqlite3(file, { readonly: true })
    if (db.pragma('application_id', { simple: true }) !== APPLICATION_ID)
      fail('invalid', `${file} is not a backup of this service`)
    // The start would refuse it, with what worked before already moved away.
    const newer = newerFault(db)
    if (newer !== null) fail('invalid', `${file} ${newer}: restore it with that version`)
    const result = db.pragma('integrity_check(1)', { simple: true })
    if (result !== 'ok') fail('invalid', `${file} is damaged: ${String(result)}`)
  } catch (error) {
    if (error instanceof SvcError) throw error
    fail('invalid', `${file} cannot be read as a backup: ${(error as Error).message}`)
  } finally {
    db?.close()
  }
}

function syncFile(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
