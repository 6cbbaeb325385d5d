/**
 * Rehearses writes on a connection that cannot write the data file, so that nothing waits for it and nothing of
 * it stays: what would be written goes to tables of the same names that only this connection has (SQLite finds
 * those of its temporary schema first), in memory, which are undone with the transaction. What a rehearsal would
 * write and has no such table is refused by the file itself.
 */
import type { Database, StoreHandle } from '../store/handle.ts'

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
