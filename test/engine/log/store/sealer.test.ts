import { describe, expect, it } from 'vitest'
import { Packer } from '../../../../engine/log/ingest/packed.ts'
import { offsetsOf, SEGMENT_SIZE } from '../../../../engine/log/store/labels.ts'
import { Capacity, Maintenance, removeEvents } from '../../../../engine/log/store/maintenance.ts'
import { labelIdsOf } from '../../../../engine/log/store/tail.ts'
import { addSource, event, openHarness, random, type StoreHarness, T0 } from './store-harness.ts'

/** Events of a commit, so that each commit gathers enough for a step of sealing. */
const COMMIT = 700

/** A full segment that is not sealed yet, with labels that few and that many events have. */
function withFullSegment(): StoreHarness {
  const harness = openHarness()
  addSource(harness.store, 'app')
  const next = random(11)
  for (let left = SEGMENT_SIZE - 1; left > 0; left -= 5_000)
    harness.append(
      Array.from({ length: Math.min(5_000, left) }, () =>
        event({ order: `o${Math.floor(next() * 9_000)}`, env: next() < 0.5 ? 'prod' : 'dev' }, T0),
      ),
    )
  return harness
}

const packed = ({ ctx }: StoreHarness, commit: number) => {
  const packer = new Packer(1, Buffer.alloc(0), ctx.dictionary)
  for (let i = 0; i < COMMIT; i++) packer.add(event({ order: `later${commit}-${i}` }, T0), [0, 0])
  return packer.finish()
}

type Failure = 'before sealing' | 'after sealing' | 'disk full'

/** A commit as the pipeline makes it, which fails where `failure` says. @returns whether it was stored. */
function commit(harness: StoreHarness, n: number, failure: Failure | null): boolean {
  const { store, appender } = harness
  const limit = store.db.pragma('max_page_count', { simple: true })
  if (failure === 'disk full')
    store.db.pragma(`max_page_count = ${store.db.pragma('page_count', { simple: true })}`)
  try {
    store.tx(() => {
      appender.append(1, packed(harness, n), T0, () => true)
      if (failure === 'before sealing') throw new Error('a trigger could not judge')
      appender.beforeCommit()
      if (failure === 'after sealing') throw new Error('the commit failed')
    })
  } catch (error) {
    if (!failure) throw error
    appender.rollback()
    return false
  } finally {
    store.db.pragma(`max_page_count = ${limit}`)
  }
  appender.commit()
  harness.ctx.index.refresh(false)
  return true
}

/** What the index holds on disk, and what the tail holds in memory. */
const indexOf = ({ store, ctx }: StoreHarness) => ({
  post: store.db.prepare('SELECT seg, last_label, hex(data) AS data FROM post ORDER BY 1, 2').all(),
  segs: store.db.prepare('SELECT seg, n, min_ts, max_ts FROM segs').all(),
  counts: store.db.prepare('SELECT * FROM label_counts ORDER BY 1').all(),
  tail: ctx.index.tail.segments.map(({ seg, n }) => [seg, n]),
})

describe('sealing goes on after a transaction that failed', () => {
  const undisturbed = withFullSegment()
  let commits = 0
  while (undisturbed.ctx.index.sealedCount === 0) commit(undisturbed, commits++, null)
  const expected = indexOf(undisturbed)

  it('takes many steps, so that there are many to fail in', () => expect(commits).toBeGreaterThan(10))

  it('and makes the index that an undisturbed run makes, where judging, the commit and the disk fail at each step', () => {
    const harness = withFullSegment()
    for (let n = 0; n < commits; n++) {
      // One after another: what the first failure left behind must not be what the next goes back to.
      for (const failure of ['before sealing', 'after sealing', 'disk full', 'before sealing'] as const)
        expect(commit(harness, n, failure)).toBe(false)
      commit(harness, n, null)
    }
    expect(indexOf(harness)).toEqual(expected)
  })

  it('and makes the same index where the steps between commits fail', () => {
    const harness = withFullSegment()
    const { store, appender, ctx } = harness
    for (let n = 0; n < commits; n++) commit(harness, n, 'after sealing')
    const maintenance = new Maintenance({
      ...{ store, appender, index: ctx.index, dictionary: ctx.dictionary },
      capacity: new Capacity(store, null),
      retention: { maxAgeMs: null, maxBytes: null },
    })
    const limit = store.db.pragma('max_page_count', { simple: true })
    commit(harness, 0, null)
    let failed = 0
    while (appender.sealer.busy) {
      store.db.pragma(`max_page_count = ${store.db.pragma('page_count', { simple: true })}`)
      try {
        maintenance.step(T0)
      } catch {
        failed++
        commit(harness, 1, 'before sealing')
        // What the next commit of ingest does with what sealing left behind.
        appender.commit()
      }
      store.db.pragma(`max_page_count = ${limit}`)
      maintenance.step(T0)
    }
    expect(failed).toBeGreaterThan(10)
    for (let n = 1; n < commits; n++) commit(harness, n, null)
    expect(indexOf(harness)).toEqual(expected)
  })
})

it('leaves nothing of events that are removed while it is under way', () => {
  const harness = withFullSegment()
  const { store, ctx } = harness
  let commits = 0
  while (store.db.prepare('SELECT count(*) FROM post').pluck().get() === 0) commit(harness, commits++, null)
  expect(ctx.index.sealedCount).toBe(0)
  const [from, count] = [100, 900]
  removeEvents(
    store,
    ctx.index.tail,
    Array.from({ length: count }, (_, i) => from + i),
  )
  while (ctx.index.sealedCount === 0) commit(harness, commits++, null)
  for (const env of ['prod', 'dev']) {
    const id = ctx.dictionary.find('env', env)!
    const stored = store.db
      .prepare<[number], { id: number; labels: Uint8Array }>('SELECT id, labels FROM events WHERE id < ?')
      .all(SEGMENT_SIZE)
      .flatMap((row) => ([...labelIdsOf(row.labels)].includes(id) ? [row.id] : []))
    const sealed = [...ctx.index.all()][0]!
    expect([...offsetsOf(sealed.posting(id)!)]).toEqual(stored)
    expect(ctx.counts.read([id]).get(id)!.n).toBe(stored.length)
  }
})
