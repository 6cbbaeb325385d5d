/**
 * What the slices get of the store: the writing connection and transactions.
 *
 * `rehearsingStore` rehearses writes on a connection that cannot write the data file, so that nothing waits for it and nothing of
 * it stays: what would be written goes to tables of the same names that only this connection has (SQLite finds
 * those of its temporary schema first), in memory, which are undone with the transaction. What a rehearsal would
 * write and has no such table is refused by the file itself.
 */
import type BetterSqlite3 from 'better-sqlite3'
import { SvcError } from '../../errors.ts'

export type Database = BetterSqlite3.Database
export type { Statement } from 'better-sqlite3'

type AnyStatement = BetterSqlite3.Statement<unknown[]>

/** Told of each statement of a connection that is compiled when it is first used. */
type Watcher = (compile: () => void, sql: string) => void

/** Who is told of statements (tests, which compile all that an engine has). */
let watcher: Watcher | null = null

/** @param told of every statement that is prepared from now on; null: nobody any more. */
export function watchStatements(told: Watcher | null): void {
  watcher = told
}

/** Compiled statements of a connection that are kept: an engine has some five hundred, and few are made of parts. */
const KEPT_STATEMENTS = 1_000

/**
 * Compiled statements of a connection, by their text and by the form of their rows (pluck, raw). A function that calls
 * `prepare` each time it runs compiles its statement once. Before, compiling was an eighth of the processor time of short
 * reads, and a twelfth of the writer's while 200 agents were at work (2026-11-27).
 */
class CompiledStatements {
  private readonly kept = new Map<string, AnyStatement>()

  constructor(private readonly prepare: (sql: string) => AnyStatement) {}

  /** Compiles a statement that is not shared. SQLite refuses any other use of a statement while `iterate` has rows left. */
  make(sql: string, isPlucked: boolean, isRaw: boolean): AnyStatement {
    const statement = this.prepare(sql)
    if (isPlucked) statement.pluck()
    if (isRaw) statement.raw()
    return statement
  }

  /** The kept statement; compiled where none is kept. For `run`, `get` and `all`, which are over when they return. */
  shared(sql: string, isPlucked: boolean, isRaw: boolean): AnyStatement {
    const key = `${isPlucked ? 'p' : ''}${isRaw ? 'r' : ''} ${sql}`
    const statement = this.kept.get(key) ?? this.make(sql, isPlucked, isRaw)
    // Last in the map: the first is the one that was used longest ago.
    this.kept.delete(key)
    this.kept.set(key, statement)
    if (this.kept.size > KEPT_STATEMENTS) this.kept.delete(this.kept.keys().next().value!)
    return statement
  }
}

/**
 * A statement that is compiled when it is first used. An engine holds some five hundred, a thread uses a few of them
 * before it is asked anything, and compiling all is more than half of what opening an engine costs.
 */
class LazyStatement {
  private isPlucked = false
  private isRaw = false

  constructor(
    private readonly compiled: CompiledStatements,
    private readonly sql: string,
  ) {
    watcher?.(() => void compiled.make(sql, false, false), sql)
  }

  /** Compiled; its methods take the place of those below, so that later calls go straight to them. */
  private open(): AnyStatement {
    const statement = this.compiled.shared(this.sql, this.isPlucked, this.isRaw)
    this.run = statement.run.bind(statement)
    this.get = statement.get.bind(statement)
    this.all = statement.all.bind(statement)
    return statement
  }

  run(...values: unknown[]): BetterSqlite3.RunResult {
    return this.open().run(...values)
  }
  get(...values: unknown[]): unknown {
    return this.open().get(...values)
  }
  all(...values: unknown[]): unknown[] {
    return this.open().all(...values)
  }
  iterate(...values: unknown[]): IterableIterator<unknown> {
    const statement = this.compiled.make(this.sql, this.isPlucked, this.isRaw)
    this.iterate = statement.iterate.bind(statement)
    return this.iterate(...values)
  }

  /** Both are set where a statement is made, before its first use. */
  pluck(): this {
    this.isPlucked = true
    return this
  }
  raw(): this {
    this.isRaw = true
    return this
  }
}

/**
 * Makes a connection compile what it prepares at its first use.
 * A fault in a statement's text is thrown there; a test compiles all that an engine has.
 */
export function prepareLazily(db: Database): Database {
  const compiled = new CompiledStatements(db.prepare.bind(db) as (sql: string) => AnyStatement)
  const lazily = (sql: string) => new LazyStatement(compiled, sql)
  return Object.assign(db, { prepare: lazily as never })
}

export interface StoreHandle {
  /** The one writing connection. */
  db: Database
  /**
   * Runs `fn` in one immediate transaction and returns its result; inside another transaction it
   * becomes a savepoint, so a failure undoes only itself. Synchronous: never await inside.
   */
  tx<T>(fn: () => T): T
  /**
   * Runs `fn` in a transaction that is rolled back, whatever comes of it: what it reads of its own
   * writes is as it would be, and nothing is left of it, what was to run after the commit included.
   * Ids that memory counts up may be skipped. Not inside another transaction.
   */
  rehearse<T>(fn: () => T): T
  /**
   * Runs `fn` once the outermost transaction has committed, at once where there is none; never when
   * it is rolled back. Only for what is read again from the rows, so that running it needlessly,
   * after a savepoint was undone, does no harm.
   */
  afterCommit(fn: () => void): void
}

/*
 * Errors of SQLite that come from the disk, as the errors callers are told. A full volume is
 * survivable: SQLite has undone the transaction, and writing goes on once there is room.
 */

/** Whether SQLite threw it, of whatever kind. */
export function isSqliteError(error: unknown): error is Error & { code: string } {
  return ((error as { code?: unknown } | null)?.code ?? '').toString().startsWith('SQLITE_')
}

/** Whether somebody else holds the file. */
export function isBusy(error: unknown): boolean {
  return isSqliteError(error) && error.code.startsWith('SQLITE_BUSY')
}

/** The error to answer with where a write found no room (507) or the store busy (503); else null. */
export function survivableDiskFault(error: unknown): SvcError | null {
  if (!isSqliteError(error)) return null
  if (error.code === 'SQLITE_FULL')
    return new SvcError(
      'storage_full',
      'the volume is full; nothing of this request was stored. Free some space, then repeat it',
    )
  if (isBusy(error)) return new SvcError('unavailable', 'the store is busy; try again', { retryAfter: 1 })
  return null
}

/** Copied: as many rows as there are objects, not as there are events. */
const COPIED = [
  ...['sources', 'triggers', 'agents', 'mcp_servers', 'skills', 'entities', 'projects'],
  ...[
    'keys',
    'project_uses',
    'planned_objects',
    'polls',
    'guarded_parts',
    'part_syncs',
    'purges',
    'settings',
  ],
  ...['setups', 'setup_steps', 'subscriptions', 'mcp_tools'],
]
/** Grow with each change: what is there is looked at where it is, and what is added lies beside it. */
const GROWING = ['changes', 'change_set_projects', 'history']
/** Only taken from, and read by nobody in a rehearsal. */
const FORGOTTEN = ['agent_examples', 'agent_tests']

/**
 * @param db a connection of its own, opened to read (store/open.ts).
 * @param begun told inside each rehearsal, before it: what is held in memory of the rows is to be read again.
 */
export function rehearsingStore(db: Database, begun: () => void): StoreHandle {
  db.pragma('temp_store = MEMORY')
  // A table of the temporary schema can only refer to others of it, which need not be there.
  db.pragma('foreign_keys = OFF')
  let shadows: string | null = null
  return {
    db,
    tx: (fn) => (db.inTransaction ? db.transaction(fn)() : db.transaction(fn).deferred()),
    rehearse: (fn) => {
      if (db.inTransaction) throw new Error('a rehearsal inside a transaction would undo it')
      db.exec('BEGIN DEFERRED')
      try {
        shadows ??= shadowsOf(db)
        begun()
        db.exec(shadows)
        return fn()
      } finally {
        if (db.inTransaction) db.exec('ROLLBACK')
      }
    },
    // Nothing is ever committed.
    afterCommit: () => {},
  }
}

/** SQL that makes them; the schema of a file does not change while it is open. */
function shadowsOf(db: Database): string {
  return [
    ...COPIED.map((table) => copyOf(db, table, '')),
    // The newest, which gives the next its number.
    copyOf(db, 'change_sets', ' WHERE id = (SELECT max(id) FROM main.change_sets)'),
    ...GROWING.map((table) => grownOf(db, table)),
    ...FORGOTTEN.map(
      (table) => `CREATE TEMP VIEW ${table} AS SELECT * FROM main.${table};
      CREATE TEMP TRIGGER ${table}_gone INSTEAD OF DELETE ON ${table} BEGIN SELECT 1; END;`,
    ),
  ].join('\n')
}

/** The table with its indexes. */
function copyOf(db: Database, table: string, which: string): string {
  const made = db
    .prepare<[string], string>(
      "SELECT sql FROM main.sqlite_schema WHERE tbl_name = ? AND type IN ('table', 'index') AND sql IS NOT NULL ORDER BY type DESC",
    )
    .pluck()
    .all(table)
    .map((sql) => sql.replace(/^CREATE (TABLE|(?:UNIQUE )?INDEX) /, (_, what) => inTemp(what)))
  const columns = columnsOf(db, table).join(', ')
  return `${made.join(';\n')};\nINSERT INTO temp.${table} (${columns}) SELECT ${columns} FROM main.${table}${which};`
}

const inTemp = (what: string): string => (what === 'TABLE' ? 'CREATE TEMP TABLE ' : `CREATE ${what} temp.`)

/** What is there and what is added as one. */
function grownOf(db: Database, table: string): string {
  const columns = columnsOf(db, table)
  const list = columns.join(', ')
  return `CREATE TEMP TABLE added_${table} AS SELECT ${list} FROM main.${table} WHERE 0;
    CREATE TEMP VIEW ${table} AS SELECT ${list} FROM main.${table} UNION ALL SELECT ${list} FROM temp.added_${table};
    CREATE TEMP TRIGGER ${table}_added INSTEAD OF INSERT ON ${table} BEGIN
      INSERT INTO added_${table} (${list}) VALUES (${columns.map((column) => `NEW.${column}`).join(', ')});
    END;`
}

/** Without those that are worked out. */
function columnsOf(db: Database, table: string): string[] {
  const all = db.pragma(`main.table_xinfo(${table})`) as { name: string; hidden: number }[]
  return all.filter(({ hidden }) => hidden === 0).map(({ name }) => name)
}

/* A store that is only read: what is built on a store works on it, as long as it writes nothing. */

/** @param db a connection that cannot write, inside the snapshot of a read or outside of one. */
export function readingStore(db: Database): StoreHandle {
  const refuse = (): never => {
    throw new Error('nothing is written on a connection that reads')
  }
  return {
    db,
    // What is planned and not written runs in a transaction too; one view of the store is what it needs.
    tx: (fn) => (db.inTransaction ? fn() : db.transaction(fn).deferred()),
    rehearse: refuse,
    afterCommit: refuse,
  }
}

/** Remembers the largest id ever given, so that ids never come back after their rows are gone. */
export function keepHighId(store: StoreHandle, id: number): void {
  store.db
    .prepare(
      "INSERT INTO meta VALUES ('high_id', ?) ON CONFLICT (key) DO UPDATE SET value = max(CAST(value AS INTEGER), excluded.value)",
    )
    .run(String(id))
}
