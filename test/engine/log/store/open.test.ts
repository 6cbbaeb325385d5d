import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { StartError } from '../../../../engine/errors.ts'
import { backupDatabase, restoreDatabase } from '../../../../engine/log/store/backup.ts'
import {
  migrate,
  openReading,
  openStore,
  readMigrations,
  tellUpgrade,
} from '../../../../engine/log/store/open.ts'

import { addSource, event, openHarness, T0 } from './store-harness.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-store-'))
  file = join(folder, 'svc.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function startError(run: () => unknown): StartError {
  try {
    run()
  } catch (error) {
    expect(error).toBeInstanceOf(StartError)
    return error as StartError
  }
  throw new Error('it started')
}

describe('opening the store', () => {
  it('runs with WAL and synchronous=FULL on the first open and on every other, and is private to the user', () => {
    for (let i = 0; i < 2; i++) {
      const store = openStore(file, T0)
      expect(store.db.pragma('journal_mode', { simple: true })).toBe('wal')
      expect(store.db.pragma('synchronous', { simple: true })).toBe(2)
      expect(store.db.pragma('page_size', { simple: true })).toBe(8192)
      store.close()
    }
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('says what it did to a file of an older version, and nothing of a new one', () => {
    const all = readMigrations()
    const older = new BetterSqlite3(file)
    migrate(older, all.slice(0, -1))
    older.close()
    const [from, to] = all.slice(-2).map(({ version }) => version)
    for (const said of [
      [expect.stringContaining(`svc.db was brought from schema ${from} to ${to} in `)],
      [],
    ]) {
      const store = openStore(file, T0)
      expect(store.done).toEqual(said)
      store.close()
    }
    const made = openStore(join(folder, 'new.db'), T0)
    expect(made.done).toEqual([])
    made.close()
  })

  it('says of an upgrade that ran out of room how far the file is, and the next start goes on', () => {
    const all = readMigrations()
    const older = new BetterSqlite3(file)
    migrate(older, all.slice(0, -2))
    older.close()
    const [from, , to] = all.slice(-3).map(({ version }) => version)
    symlinkSync('/dev/full', `${file}.incarnation.new`)
    const full = startError(() => openStore(file, T0))
    expect(full.exitCode).toBe(74)
    expect(full.message).toContain(
      `is full; free some space, then start again. What was acknowledged is there. An upgrade from schema ${from} to ${to} is under way: the file is at ${to}, and the next start goes on from there. The svc before does not open it any more`,
    )
    rmSync(`${file}.incarnation.new`)
    openStore(file, T0).close()

    const fault = new StartError('it is full', 74)
    expect(tellUpgrade(fault, 38, 38, 40).message).toBe(
      'it is full. An upgrade from schema 38 to 40 was to be made, and none of it is: the svc before opens the file as it did',
    )
    expect(tellUpgrade(fault, 40, 40, 40)).toBe(fault)
    expect(tellUpgrade(new StartError('another program', 78), 3, 3, 40).message).toBe('another program')
  })

  it('refuses a second daemon on the same data, by another path too, naming the first one', () => {
    const store = openStore(file, T0)
    const alias = join(folder, 'alias.db')
    symlinkSync(file, alias)
    // In another process: POSIX locks do not hold between two handles of one process.
    const program = `import { openStore } from ${JSON.stringify(new URL('../../../../engine/log/store/open.ts', import.meta.url).href)}
      try { openStore(process.argv[1], 0); console.log('opened') } catch (error) { console.log(error.exitCode + ' ' + error.message) }`
    for (const path of [file, alias]) {
      const result = spawnSync(
        process.execPath,
        ['--import', 'tsx', '--input-type=module', '-e', program, path],
        { encoding: 'utf8' },
      )
      expect(result.stdout).toMatch(
        new RegExp(
          `^75 another daemon \\(pid ${process.pid}, since 2026-11-20T12:00:00.000Z\\) holds .*svc\\.db; `,
        ),
      )
    }
    store.close()
    openStore(file, T0).close()
  })

  it('leaves one complete file after a clean stop', () => {
    const harness = openHarness(file)
    harness.append([event({ service: 'a' }, T0)])
    harness.store.close()
    expect(existsSync(`${file}-wal`) && statSync(`${file}-wal`).size > 0).toBe(false)
    const copy = new BetterSqlite3(file, { readonly: true })
    expect(copy.prepare('SELECT count(*) FROM events').pluck().get()).toBe(1)
    copy.close()
  })

  it('refuses a file of a newer version, of another program, and one that is no database', () => {
    openStore(file, T0).close()
    const newer = new BetterSqlite3(file)
    newer.pragma('user_version = 999')
    newer.close()
    expect(startError(() => openStore(file, T0))).toMatchObject({
      exitCode: 78,
      message: expect.stringContaining('made by a newer svc (schema 999'),
    })
    const other = join(folder, 'other.db')
    const db = new BetterSqlite3(other)
    db.exec('CREATE TABLE mine (a)')
    db.close()
    expect(startError(() => openStore(other, T0)).message).toContain('a database of another program')
    const text = join(folder, 'text.db')
    writeFileSync(text, 'not a database, but long enough to have a header '.repeat(10))
    expect(startError(() => openStore(text, T0))).toMatchObject({
      exitCode: 78,
      message: expect.stringContaining('not a usable data file'),
    })
    expect(readFileSync(text, 'utf8')).toMatch(/^not a database/)
  })

  it('refuses a data file put back beside the log of another time', () => {
    openStore(file, T0).close()
    const old = join(folder, 'old.db')
    copyFileSync(file, old)
    const store = openHarness(file)
    store.append([event({ service: 'a' }, T0)])
    // A crash: the log stays, and the lock goes with the process.
    copyFileSync(`${file}-wal`, join(folder, 'wal'))
    store.store.close()
    copyFileSync(old, file)
    copyFileSync(join(folder, 'wal'), `${file}-wal`)
    expect(startError(() => openStore(file, T0)).message).toContain('are from different times')
    rmSync(`${file}-wal`)
    openStore(file, T0).close()
  })
})

describe('migrations', () => {
  it('apply each once and in order, and one that fails leaves the version before it', () => {
    const db = new BetterSqlite3(':memory:')
    const first = { version: 1, name: '0001_a.sql', sql: 'CREATE TABLE a (x)' }
    expect(migrate(db, [first])).toBe(1)
    expect(migrate(db, [first])).toBe(0)
    const broken = { version: 2, name: '0002_b.sql', sql: 'CREATE TABLE b (x); CREATE TABLE a (x)' }
    expect(() => migrate(db, [first, broken])).toThrow('table a already exists')
    expect(db.pragma('user_version', { simple: true })).toBe(1)
    expect(db.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'b'").pluck().get()).toBe(0)
    expect(migrate(db, [first, { ...broken, sql: 'CREATE TABLE b (x)' }])).toBe(1)
  })

  it('D: 0019 fills in the skills that runs of before loaded, in order and once each, from their tapes', () => {
    const all = readMigrations()
    const db = new BetterSqlite3(':memory:')
    migrate(db, all.slice(0, 18))
    const required = (
      db.pragma('table_info(runs)') as { name: string; notnull: number; dflt_value: unknown; type: string }[]
    )
      .filter(({ notnull, dflt_value }) => notnull && dflt_value === null)
      .map(({ name, type }) => [name, type === 'TEXT' ? '{}' : 0] as const)
    const addRun = (id: string, seq: number) => {
      const row: Record<string, unknown> = { ...Object.fromEntries(required), id, seq }
      const names = Object.keys(row)
      db.prepare(`INSERT INTO runs (${names}) VALUES (${names.map((name) => `@${name}`)})`).run(row)
    }
    const addStep = (run: string, n: number, data: object) =>
      db
        .prepare('INSERT INTO run_steps (run_id, n, kind, round, at, ms, data) VALUES (?, ?, ?, 0, 0, 0, ?)')
        .run(run, n, 'tool', JSON.stringify(data))
    const load = (name: unknown, more = {}) => ({
      call: { name: 'skill', arguments: { name } },
      server: null,
      ...more,
    })
    addRun('loaded', 1)
    addStep('loaded', 1, load('triage'))
    addStep('loaded', 2, load(' deploys ', { call: { name: ' Skill ', arguments: { name: ' deploys ' } } }))
    addStep('loaded', 3, load('triage'))
    addStep('loaded', 4, load('nosuch', { is_error: true }))
    addStep('loaded', 5, load(7))
    addStep('loaded', 6, load('foreign', { server: 'tools' }))
    addStep('loaded', 7, { call: { name: 'read', arguments: { name: 'read' } }, server: null })
    addRun('none', 2)
    addStep('none', 1, { call: { name: 'read', arguments: {} }, server: null })
    addRun('empty', 3)
    migrate(db, all)
    expect(db.prepare('SELECT id, skills FROM runs ORDER BY seq').all()).toEqual([
      { id: 'loaded', skills: '["triage","deploys"]' },
      { id: 'none', skills: '[]' },
      { id: 'empty', skills: '[]' },
    ])
    db.close()
  })

  it('one by one and the schema written from them make the same file', () => {
    const [written, stepped] = [new BetterSqlite3(':memory:'), new BetterSqlite3(':memory:')]
    expect(migrate(written)).toBe(migrate(stepped, readMigrations()))
    const contents = (db: BetterSqlite3.Database) => ({
      version: db.pragma('user_version', { simple: true }),
      schema: db.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name').all(),
      rows: (
        db
          .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
          .pluck()
          .all() as string[]
      ).map((table) => [table, db.prepare(`SELECT * FROM "${table}"`).safeIntegers().all()]),
    })
    expect(contents(written)).toEqual(contents(stepped))
    expect(contents(written).schema.length).toBeGreaterThan(50)
  })

  it('are numbered without gaps', () => {
    expect(readMigrations().map((migration) => migration.version)).toEqual(
      readMigrations().map((_, i) => i + 1),
    )
  })
})

describe('backup and restore', () => {
  it('copies a store that is being written, and a restore brings it back and keeps what was there', async () => {
    const harness = openHarness(file)
    addSource(harness.store, 'app')
    harness.append(Array.from({ length: 500 }, (_, i) => event({ service: 'a' }, T0 + i)))
    const target = join(folder, 'backup.db')
    await backupDatabase(file, target)
    harness.append([event({ service: 'late' }, T0)])
    await expect(backupDatabase(file, target)).rejects.toThrow('exists; choose another file')
    harness.store.close()
    const moved = restoreDatabase(target, file, T0)
    expect(moved[0]).toBe(`${file}.before-restore-2026-11-20T12-00-00-000Z`)
    const restored = openHarness(file)
    expect(restored.store.db.prepare('SELECT count(*) FROM events').pluck().get()).toBe(500)
    expect(restored.append([event({ service: 'b' }, T0)])).toEqual([501])
    restored.store.close()
  })

  it('copies the state of when it began, and ends, however much is written meanwhile', async () => {
    const harness = openHarness(file)
    addSource(harness.store, 'app')
    const large = { raw: Buffer.alloc(9_000, 'x') }
    harness.append(Array.from({ length: 1_500 }, (_, i) => event({ service: 'a' }, T0 + i, large)))
    const target = join(folder, 'backup.db')
    const done: number[] = []
    await backupDatabase(file, target, (pages) => {
      done.push(pages)
      if (done.length > 100) throw new Error('it begins anew each time')
      harness.append([event({ service: 'meanwhile' }, T0)])
    })
    expect(done.length).toBeGreaterThan(3)
    expect(done).toEqual(done.toSorted((a, b) => a - b))
    const copy = new BetterSqlite3(target, { readonly: true })
    expect(copy.prepare('SELECT count(*) FROM events').pluck().get()).toBe(1_500)
    copy.close()
    harness.store.close()
  })

  it('refuses to restore what is no backup, and leaves the data file alone', () => {
    openStore(file, T0).close()
    const before = readFileSync(file)
    const wrong = join(folder, 'wrong.db')
    writeFileSync(wrong, 'x'.repeat(9_000))
    expect(() => restoreDatabase(wrong, file, T0)).toThrow('cannot be read as a backup')
    expect(() => restoreDatabase(join(folder, 'none.db'), file, T0)).toThrow('there is no backup at')
    const newer = join(folder, 'newer.db')
    writeFileSync(newer, before)
    const db = new BetterSqlite3(newer)
    db.pragma('user_version = 9000')
    db.close()
    expect(() => restoreDatabase(newer, file, T0)).toThrow(
      /newer\.db was made by a newer svc \(schema 9000; this one knows \d+\): restore it with that version/,
    )
    expect(readFileSync(file).equals(before)).toBe(true)
  })
})

describe('a read-only connection', () => {
  it('cannot write', () => {
    const store = openStore(file, T0)
    const reader = openReading(file)
    expect(() => reader.prepare("INSERT INTO meta VALUES ('a', 'b')").run()).toThrow('readonly')
    reader.close()
    store.close()
  })
})
