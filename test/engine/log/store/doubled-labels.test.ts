/** Files in which a daemon of before 2026-12-01 stored labels twice. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { joinDoubledLabels } from '../../../../engine/log/store/append.ts'
import { LabelCounts, SEGMENT_SIZE } from '../../../../engine/log/store/labels.ts'
import { openStore } from '../../../../engine/log/store/open.ts'
import { firstPositions } from '../../../../engine/log/store/scan.ts'
import { addSource, event, openHarness, type StoreHarness, T0 } from './store-harness.ts'

const KEYED_AT = 8_192

describe('labels that are stored twice are joined by a start', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-doubled-'))
  const files = {
    growing: join(folder, 'growing.db'),
    'partly sealed': join(folder, 'partly-sealed.db'),
    sealed: join(folder, 'sealed.db'),
  }
  /** Ids of the events of `cart`, in each file. */
  const ofCart: Record<string, number[]> = {}
  let now: StoreHarness
  let carts: number[] = []

  // The labels of the source and of the type are stored twice, too.
  const cart = () => event({ service: 'cart' }, T0)
  const other = (n: number) => event({ service: 'search', order: `o${n}` }, T0)
  const keep = (name: keyof typeof files) => {
    now.store.db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    copyFileSync(join(folder, 'svc.db'), files[name])
    ofCart[name] = [...carts]
  }

  beforeAll(() => {
    now = openHarness(join(folder, 'svc.db'))
    addSource(now.store, 'app')
    carts = now.append([cart()])
    now.store.close()
    now = openHarness(join(folder, 'svc.db'))
    // What such a daemon took for granted where it found no key: that all labels are at hand.
    Object.assign(now.ctx.dictionary, { beganEmpty: true })
    const orders = (from: number, n: number) =>
      now.append(Array.from({ length: n }, (_, k) => other((from + k) % (KEYED_AT + 500))))
    orders(0, KEYED_AT)
    carts.push(...now.append([cart()]))
    const second = now.ctx.dictionary.find('service', 'cart')
    now.store.db
      .prepare("INSERT INTO active_keys VALUES (1, 'cart', ?, 0, 'fir_1', 0)")
      .run(JSON.stringify([second]))
    now.store.db
      .prepare("INSERT INTO watched_keys VALUES (1, 'cart', ?, 0, 0, 0)")
      .run(JSON.stringify([second]))
    keep('growing')
    orders(KEYED_AT, SEGMENT_SIZE - KEYED_AT - 10)
    carts.push(...now.append([cart(), cart()]))
    orders(0, 20)
    for (let n = 0; n < 4; n++) orders(n * 700, 700)
    expect(now.appender.sealer.busy).toBe(true)
    carts.push(...now.append([cart()]))
    keep('partly sealed')
    while (now.appender.sealer.busy) orders(0, 700)
    carts.push(...now.append([cart()]))
    keep('sealed')
    now.store.close()
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each(['growing', 'partly sealed', 'sealed'] as const)('%s', (name) => {
    const before = openHarness(files[name])
    const said = before.store.done
    expect(said).toEqual([expect.stringMatching(/had 3 labels stored twice/)])
    expect(before.store.db.prepare("SELECT count(*) FROM labels WHERE value = 'cart'").pluck().get()).toBe(1)
    const id = before.ctx.dictionary.find('service', 'cart')!
    const found = () => {
      const q = { groups: [[id]], masked: [], from: -8e15, to: 8e15, afterId: -1, ceiling: 8e15 }
      return firstPositions(before.ctx.index.all(), q, 'asc', 100, null).map((one) => one.id)
    }
    expect(found()).toEqual(ofCart[name])
    const ofEntity = before.store.db.prepare('SELECT id FROM events WHERE entity = ? ORDER BY id').pluck()
    expect(ofEntity.all(id)).toEqual(ofCart[name])
    for (const table of ['active_keys', 'watched_keys'])
      expect(before.store.db.prepare(`SELECT labels FROM ${table}`).pluck().all()).toEqual([`[${id}]`])
    // What is written from then on has one id too, is sealed, and its keys can be written.
    const more = before.append([
      cart(),
      ...Array.from({ length: 2 * KEYED_AT }, (_, n) => event({ order: `n${n}` }, T0)),
    ])
    for (let n = 0; n < 70 && before.appender.sealer.busy; n++)
      before.append(Array.from({ length: 700 }, (_, k) => other(k)))
    expect(before.appender.sealer.busy).toBe(false)
    expect(found()).toEqual([...ofCart[name]!, more[0]])
    const sealed = found().filter((one) => one < before.ctx.index.sealedCount * SEGMENT_SIZE)
    const counted = new LabelCounts(before.store.db, false).read([id]).get(id)?.n ?? 0
    expect(counted).toBe(sealed.length)
    before.store.close()
  })

  it('once', () => {
    const store = openStore(files.sealed, T0)
    expect(store.done).toEqual([])
    expect(joinDoubledLabels(store.db)).toBe(0)
    store.close()
  })
})
