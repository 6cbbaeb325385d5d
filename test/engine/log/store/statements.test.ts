/** Statements of a connection: compiled at their first use, and once for each text. */
import BetterSqlite3 from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { prepareLazily } from '../../../../engine/log/store/handle.ts'

/** A connection with a table of three, that says what it has compiled. */
function connection() {
  const db = new BetterSqlite3(':memory:')
  onTestFinished(() => void db.close())
  db.exec('CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1), (2), (3)')
  const compiled: string[] = []
  const prepare = db.prepare.bind(db)
  db.prepare = ((sql: string) => {
    compiled.push(sql)
    return prepare(sql)
  }) as never
  return { db: prepareLazily(db), compiled }
}

const ALL = 'SELECT a FROM t ORDER BY a'

describe('a statement', () => {
  it('is compiled when it is first used, and once however often it is prepared', () => {
    const { db, compiled } = connection()
    db.prepare(ALL)
    expect(compiled).toEqual([])
    for (let n = 0; n < 3; n++) expect(db.prepare(ALL).all()).toHaveLength(3)
    expect(compiled).toEqual([ALL])
  })

  it('has its rows as it was prepared to, whoever prepares the same text in another way', () => {
    const { db } = connection()
    const [plain, plucked, raw] = [db.prepare(ALL), db.prepare(ALL).pluck(), db.prepare(ALL).raw()]
    expect([plain.get(), plucked.get(), raw.get()]).toEqual([{ a: 1 }, 1, [1]])
    expect([plain.get(), plucked.get(), raw.get()]).toEqual([{ a: 1 }, 1, [1]])
  })

  it('can be asked while rows of the same text are walked through, here and in each other walk', () => {
    const { db } = connection()
    const seen: number[] = []
    for (const one of db.prepare(ALL).pluck().iterate() as Iterable<number>) {
      seen.push(one, ...(db.prepare(ALL).pluck().all() as number[]))
      for (const other of db.prepare(ALL).pluck().iterate() as Iterable<number>) seen.push(other)
    }
    expect(seen).toEqual([1, 2, 3].flatMap((one) => [one, 1, 2, 3, 1, 2, 3]))
  })

  it('is kept as long as it is among the last thousand', () => {
    const { db, compiled } = connection()
    const ask = (n: number) => db.prepare(`SELECT ${n}`).pluck().get()
    for (let n = 0; n < 1_000; n++) ask(n)
    // Used again, so that the second is the one used longest ago.
    ask(0)
    ask(1_000)
    expect(compiled).toHaveLength(1_001)
    expect([ask(0), ask(1)]).toEqual([0, 1])
    expect(compiled.slice(1_001)).toEqual(['SELECT 1'])
  })
})
