import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Dictionary } from '../../../../engine/log/store/labels.ts'
import { migrate, openReading, openStore, readMigrations } from '../../../../engine/log/store/open.ts'

import { labelNames } from '../../../../engine/log/timeline/plan.ts'

const KEYED_AT = 8_192

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-dictionary-'))
  file = join(folder, 'svc.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** The writer's: what a commit of events does around its labels. */
function open() {
  const store = openStore(file, 0)
  const dictionary = new Dictionary(store.db, true)
  const commit = (run: () => void): void => {
    store.tx(() => {
      run()
      dictionary.beforeCommit()
    })
    dictionary.commit()
  }
  const value = (sql: string) => store.db.prepare(sql).pluck().get()
  return { store, dictionary, commit, value }
}

const orderOf = (n: number): string => `value-${(n * 7_919) % 100_000}`

describe('labels', () => {
  it('are found by the writer, by a reader and after a start, before they have keys and after', () => {
    const first = open()
    const db = openReading(file)
    const reader = new Dictionary(db, false)
    const ids = new Map<string, number>()
    for (let from = 0; from < 3 * KEYED_AT; from += 1_500) {
      first.commit(() => {
        // Every other one is known already.
        for (let n = from; n < from + 1_500; n++)
          for (const of of [n, n >> 1]) ids.set(orderOf(of), first.dictionary.intern('order', orderOf(of)))
      })
      for (const n of [0, from >> 1, from, from + 1_499])
        expect(reader.find('order', orderOf(n))).toBe(ids.get(orderOf(n)))
      expect(first.value('SELECT count(*) FROM named_labels')).toBe(ids.size)
    }
    expect(new Set(ids.values()).size).toBe(ids.size)
    expect(first.value('SELECT count(*) FROM labels')).toBe(ids.size)
    expect(first.value('SELECT through FROM labels_keyed')).toBeGreaterThan(2 * KEYED_AT)
    expect(first.value('SELECT count(*) FROM label_keys')).toBe(
      first.value('SELECT through FROM labels_keyed'),
    )
    db.close()
    first.store.close()

    const again = open()
    again.commit(() => {
      for (const [value, id] of ids) expect(again.dictionary.intern('order', value)).toBe(id)
    })
    expect(again.value('SELECT count(*) FROM labels')).toBe(ids.size)
    expect(again.dictionary.find('order', 'none')).toBeUndefined()
    again.store.close()
  })

  it('of before a start are stored once, also where the first keys are written after it', () => {
    const before = open()
    let id = 0
    before.commit(() => {
      id = before.dictionary.intern('service', 'cart')
    })
    before.store.close()

    const { store, dictionary, commit, value } = open()
    commit(() => {
      for (let n = 0; n < KEYED_AT; n++) dictionary.intern('order', orderOf(n))
    })
    expect(value('SELECT through FROM labels_keyed')).toBeGreaterThan(KEYED_AT)
    commit(() => expect(dictionary.intern('service', 'cart')).toBe(id))
    commit(() => {
      for (let n = 0; n < 2 * KEYED_AT; n++) dictionary.intern('order', orderOf(n))
    })
    expect(value('SELECT count(*) FROM labels')).toBe(2 * KEYED_AT + 1)
    store.close()
  })

  it('of a transaction that failed are not there, and their ids are used again', () => {
    const { store, dictionary, commit, value } = open()
    commit(() => dictionary.intern('env', 'prod'))
    const fails = (n: number) => () =>
      store.tx(() => {
        for (let i = 0; i < n; i++) dictionary.intern('order', orderOf(i))
        // As a trigger that looks at the event asks.
        expect(dictionary.label(2)).toMatchObject({ name: 'order' })
        dictionary.beforeCommit()
        throw new Error('the disk is full')
      })
    for (const n of [10, KEYED_AT]) {
      expect(fails(n)).toThrow('the disk is full')
      dictionary.rollback()
      expect(dictionary.find('order', orderOf(3))).toBeUndefined()
      expect(dictionary.find('env', 'prod')).toBe(1)
    }
    commit(() => expect(dictionary.intern('host', 'next')).toBe(2))
    expect(dictionary.label(2)).toMatchObject({ name: 'host', value: 'next' })
    expect(value('SELECT count(*) FROM named_labels')).toBe(2)
    store.close()
  })

  it('are listed by name, those without keys among them', () => {
    const { store, dictionary, commit } = open()
    commit(() => {
      for (let n = 0; n < KEYED_AT; n++) dictionary.intern(n % 2 ? 'order' : 'host', orderOf(n))
    })
    commit(() => dictionary.intern('region', 'eu'))
    commit(() => dictionary.intern('order', 'after'))
    expect(labelNames(store.db)).toEqual(['host', 'order', 'region'])
    const listed = store.db.prepare("SELECT count(*) FROM named_labels WHERE name = 'order'").pluck().get()
    expect(listed).toBe(KEYED_AT / 2 + 1)
    store.close()
  })

  it('of a file of before keep their ids', () => {
    const db = new BetterSqlite3(file)
    migrate(
      db,
      readMigrations().filter(({ version }) => version < 13),
    )
    const insert = db.prepare('INSERT INTO labels (id, name, value) VALUES (?, ?, ?)')
    for (let n = 1; n <= 50; n++) insert.run(2 * n, n % 3 ? 'host' : 'order', `${n}`)
    db.close()
    const { store, dictionary, commit } = open()
    expect(dictionary.find('order', '3')).toBe(6)
    expect(dictionary.label(10)).toEqual({ name: 'host', value: '5' })
    commit(() => {
      expect(dictionary.intern('host', '50')).toBe(100)
      expect(dictionary.intern('host', 'new')).toBe(101)
    })
    store.close()
  })
})
