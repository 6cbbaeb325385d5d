/** A store with its index and no engine around it, for tests of the core. */
import { Packer, type PreparedEvent } from '../../../../engine/log/ingest/packed.ts'
import { firstSnapshot } from '../../../../engine/log/lifecycle.ts'
import { Appender, sizeOfBatch } from '../../../../engine/log/store/append.ts'
import { type OpenStore, openStore } from '../../../../engine/log/store/open.ts'
import { createReadContext, type ReadContext } from '../../../../engine/log/timeline/context.ts'

export const T0 = Date.parse('2026-11-20T12:00:00Z')

interface AppendOptions {
  sourceId?: number
  at?: number
  /** Whether an event with this key is new; all are when absent. */
  claim?: (key: string, id: number) => boolean
}

export interface StoreHarness {
  store: OpenStore
  ctx: ReadContext
  appender: Appender
  /** Stores events of a source in one transaction. */
  append(events: PreparedEvent[], options?: AppendOptions): number[]
}

export function addSource(store: OpenStore, name: string, labels: unknown[] = []): number {
  const sql =
    "INSERT INTO sources (name, connector, poll, config, snapshot, created_at, updated_at) VALUES (?, 'webhook', '5s', ?, ?, 0, 0)"
  const config = JSON.stringify({ labels })
  return Number(store.db.prepare(sql).run(name, config, firstSnapshot('source')).lastInsertRowid)
}

export function openHarness(file: string | null = null): StoreHarness {
  const store = openStore(file, T0)
  const ctx = createReadContext(store.db, true, 'secret')
  const appender = new Appender(store.db, ctx.dictionary, ctx.index.tail)
  return {
    store,
    ctx,
    appender,
    append: (events, { sourceId = 1, at = T0, claim = () => true } = {}) => {
      store.tx(() => {
        const packer = new Packer(sourceId, Buffer.alloc(0), ctx.dictionary)
        for (const event of events) packer.add(event, [0, 0])
        appender.append(sourceId, packer.finish(), at, claim)
        appender.beforeCommit()
      })
      const ids = appender
        .commit()
        .flatMap((batch) => Array.from({ length: sizeOfBatch(batch) }, (_, k) => batch.firstId + k))
      ctx.index.refresh(false)
      return ids
    },
  }
}

/** An event with string labels, the first being its entity. */
export function event(
  labels: Record<string, string>,
  ts: number | null,
  more: Partial<PreparedEvent> = {},
): PreparedEvent {
  return {
    eventType: 'test',
    text: 'text',
    ts,
    claimed: null,
    strings: Object.entries(labels),
    hasEntity: Object.keys(labels).length > 0,
    numbers: null,
    dedupeKey: null,
    raw: Buffer.from('{}'),
    ...more,
  }
}

/** Small deterministic generator (mulberry32), so that a failure can be run again. */
export function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
