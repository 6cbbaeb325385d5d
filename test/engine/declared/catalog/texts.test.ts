import BetterSqlite3 from 'better-sqlite3'
import { expect, it } from 'vitest'
import { rememberedFiles } from '../../../../engine/declared/catalog/texts.ts'
import { migrate, readMigrations } from '../../../../engine/log/store/open.ts'

it('the one catalog file that was remembered before is remembered by the name catalog', () => {
  const db = new BetterSqlite3(':memory:')
  const all = readMigrations()
  const { version: named } = all.find(({ name }) => name.includes('catalog-files'))!
  migrate(
    db,
    all.filter(({ version }) => version < named),
  )
  db.prepare('INSERT INTO catalog_file (id, text, imported_at) VALUES (1, ?, ?)').run('sources: []\n', 1_000)
  migrate(db, all)
  expect(rememberedFiles(db).all()).toEqual([{ name: 'catalog', text: 'sources: []\n', imported_at: 1_000 }])
})

it('the newest file is the one kept last, whatever the clock says', () => {
  const db = new BetterSqlite3(':memory:')
  migrate(db)
  const files = rememberedFiles(db)
  files.keep('shop', 'a', 2_000)
  files.keep('ops', 'b', 1_000)
  expect(files.newest()?.name).toBe('ops')
  files.keep('shop', 'c', 500)
  expect(files.newest()).toEqual({ name: 'shop', text: 'c', imported_at: 500 })
})
