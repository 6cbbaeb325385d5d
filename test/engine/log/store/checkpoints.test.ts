import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import BetterSqlite3 from 'better-sqlite3'
import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  Checkpoints,
  foldLog,
  openCheckpointing,
  readWitness,
  Witness,
} from '../../../../engine/log/store/checkpoints.ts'
import { eventually } from '../../../eventually.ts'

const LIMITS = { ask: 20, rest: 20, long: 100, most: 400 }
const PAGE = 8_192

let folder: string
let db: BetterSqlite3.Database
let other: ReturnType<typeof openCheckpointing>
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-checkpoints-'))
  const file = join(folder, 'svc.db')
  db = new BetterSqlite3(file)
  db.pragma(`page_size = ${PAGE}`)
  db.pragma('journal_mode = WAL')
  db.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, body BLOB)')
  other = openCheckpointing(file)
})
afterEach(() => {
  other.close()
  db.close()
  rmSync(folder, { recursive: true, force: true })
})

/** About ten pages a commit. @returns the longest the log was, in pages. */
function write(commits: number, checkpoints: Checkpoints, between: (n: number) => void = () => {}): number {
  const insert = db.prepare('INSERT INTO rows (body) VALUES (?)')
  const commit = db.transaction(() => {
    for (let i = 0; i < 10; i++) insert.run(Buffer.alloc(PAGE - 400, i))
  })
  let longest = 0
  for (let n = 0; n < commits; n++) {
    commit.immediate()
    checkpoints.committed()
    longest = Math.max(longest, statSync(join(folder, 'svc.db-wal')).size / PAGE)
    between(n)
  }
  return longest
}

const rows = (): unknown => {
  const reader = new BetterSqlite3(join(folder, 'svc.db'), { readonly: true })
  try {
    return reader.prepare('SELECT count(*) FROM rows').pluck().get()
  } finally {
    reader.close()
  }
}

it('keeps the log short while another connection copies, always some commits behind', () => {
  let asked = 0
  let done = () => {}
  const checkpoints = new Checkpoints(
    db,
    join(folder, 'svc.db'),
    { ask: () => asked++, onDone: (listener) => (done = listener) },
    LIMITS,
  )
  let behind = 0
  const longest = write(300, checkpoints, (n) => {
    // Asked once, and answered one commit after it has copied what there was.
    if (asked > behind && n % 2 === 0) other.run()
    else if (asked > behind) {
      behind = asked
      done()
    }
  })
  expect(asked).toBeGreaterThan(10)
  // 3,000 pages and more were written.
  expect(longest).toBeLessThan(LIMITS.long + 60)
  expect(rows()).toBe(3_000)
})

it('asks once until it is answered, and for little not at all', () => {
  let asked = 0
  const checkpoints = new Checkpoints(
    db,
    join(folder, 'svc.db'),
    { ask: () => asked++, onDone: () => {} },
    LIMITS,
  )
  write(1, checkpoints)
  expect(asked).toBe(0)
  write(5, checkpoints)
  expect(asked).toBe(1)
})

it('has the writer copy where the other connection does not answer', () => {
  const checkpoints = new Checkpoints(db, join(folder, 'svc.db'), { ask: () => {}, onDone: () => {} }, LIMITS)
  expect(write(120, checkpoints)).toBeLessThan(LIMITS.most + 20)
  expect(rows()).toBe(1_200)
})

it('is held up by a reader for as long as it reads, and no longer', () => {
  const reader = new BetterSqlite3(join(folder, 'svc.db'), { readonly: true })
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM rows').get()
  let done = () => {}
  const checkpoints = new Checkpoints(
    db,
    join(folder, 'svc.db'),
    { ask: () => other.run(), onDone: (listener) => (done = listener) },
    LIMITS,
  )
  const held = write(30, checkpoints, () => done())
  expect(held).toBeGreaterThan(LIMITS.long + 100)
  reader.close()
  write(10, checkpoints, () => done())
  expect(write(100, checkpoints, () => done())).toBeLessThanOrEqual(held + LIMITS.ask)
  expect(rows()).toBe(1_400)
})

it('has an SQLite in which two connections may copy the log', () => {
  const [major, minor, patch] = String(db.prepare('SELECT sqlite_version()').pluck().get())
    .split('.')
    .map(Number)
  expect(major! * 1e6 + minor! * 1e3 + patch!).toBeGreaterThanOrEqual(3_051_003)
})

it('leaves a commit standing where the copying finds the disk full', () => {
  const full = () => {
    throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
  }
  const noRoom = { pragma: () => {}, prepare: () => ({ raw: () => ({ get: full }) }) }
  const checkpoints = new Checkpoints(
    noRoom as unknown as BetterSqlite3.Database,
    join(folder, 'svc.db'),
    { ask: () => {}, onDone: () => {} },
    LIMITS,
  )
  expect(() => checkpoints.committed()).not.toThrow()
})

/** Copies on a thread of its own, and holds SQLite's lock for it as long as a reader has an older state open. */
const COPYING = `
  const { workerData } = require('node:worker_threads')
  const db = new (require(workerData.sqlite))(workerData.file, { timeout: 60_000 })
  db.pragma('wal_checkpoint(FULL)')
`

it('while another connection copies, nothing says that all of the log is in the data file', async () => {
  const file = join(folder, 'svc.db')
  const checkpoints = new Checkpoints(db, file, null, { ...LIMITS, ask: 10_000, long: 10_000, most: 30 })
  const witness = new Witness(file, 'a'.repeat(36), 0, 0)
  db.exec("INSERT INTO rows (body) VALUES ('first')")
  const reader = new BetterSqlite3(file, { readonly: true })
  reader.exec('BEGIN; SELECT count(*) FROM rows')
  const sqlite = createRequire(import.meta.url).resolve('better-sqlite3')
  const none = { committed: () => {} } as Checkpoints
  write(10, none)
  const copying = new Worker(COPYING, { eval: true, workerData: { file, sqlite } })
  const ended = once(copying, 'exit')
  const copy = db.prepare('PRAGMA wal_checkpoint(PASSIVE)').raw()
  await eventually(() => expect(copy.get()).toEqual([1, -1, -1]))
  db.pragma('busy_timeout = 0')
  checkpoints.committed()
  expect(readWitness(file)).toMatchObject({ isCopying: true })
  other.run()
  foldLog(db, file)
  expect(readWitness(file)).toMatchObject({ isCopying: true })
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(0)
  reader.exec('COMMIT')
  await ended
  foldLog(db, file)
  expect(readWitness(file)).toMatchObject({ isCopying: false })
  expect(statSync(`${file}-wal`).size).toBe(0)
  reader.close()
  witness.leave()
})
