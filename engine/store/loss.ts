/**
 * Looks at a start whether commits that were acknowledged are missing: the data file with its log
 * must have as many as the witness beside it knows of. Nothing on disk changes here, for the log may
 * be put back yet.
 */
import { copyFileSync, existsSync, statSync } from 'node:fs'
import BetterSqlite3 from 'better-sqlite3'
import { StartError } from '../errors.ts'
import { hasUsableLog } from './log-file.ts'
import { readWitness, type Witnessed, witnessFile } from './witness.ts'

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
      : `${file} is missing or empty, and ${witnessFile(file)} knows of ${witnessed.commits} commits in it`
  if (found.incarnation !== witnessed.incarnation) return null
  if (found.commits < witnessed.commits)
    return `${file} lacks acknowledged data: ${lackOf(witnessed, found)}; the log ${log} is ${state}`
  if (witnessed.isCopying && !hasUsableLog(log))
    return `${file} may lack acknowledged data: the daemon ended while it copied the log into it, and the log ${log} is ${state}`
  return null
}

function lackOf(witnessed: Witnessed, found: Found): string {
  const events = witnessed.lastEvent - found.lastEvent
  const commits = `the last ${witnessed.commits - found.commits} of ${witnessed.commits} commits are missing`
  return events > 0
    ? `${commits}, with up to ${events} events after evt_${found.lastEvent}`
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
