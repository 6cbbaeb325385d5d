/** How many events of sealed segments carry each label, and when the last one came. */
import type { Statement } from 'better-sqlite3'
import type { Database } from './handle.ts'

const BLOCK = 512

export class LabelCounts {
  private readonly select: Statement<[number], Uint8Array>
  private readonly upsert: Statement<[number, Uint8Array]> | null

  /** @param writable only on the writing connection. */
  constructor(db: Database, writable: boolean) {
    this.select = db.prepare('SELECT counts FROM label_counts WHERE block = ?').pluck() as Statement<
      [number],
      Uint8Array
    >
    this.upsert = writable
      ? db.prepare(
          'INSERT INTO label_counts (block, counts) VALUES (?, ?) ON CONFLICT (block) DO UPDATE SET counts = excluded.counts',
        )
      : null
  }

  /** Counts of labels; `last` is epoch ms, 0 when none was sealed. @param ids in any order. */
  read(ids: readonly number[]): Map<number, { n: number; last: number }> {
    const found = new Map<number, { n: number; last: number }>()
    let block = -1
    let counts: Float64Array | null = null
    for (const id of [...ids].sort((a, b) => a - b)) {
      if (id >> 9 !== block) {
        block = id >> 9
        counts = this.load(block)
      }
      if (counts) found.set(id, { n: counts[id & (BLOCK - 1)]!, last: counts[BLOCK + (id & (BLOCK - 1))]! })
    }
    return found
  }

  /**
   * Adds to counts; call inside the transaction.
   * @param changes label id → events (negative to take away) and time of the last ingest, epoch ms.
   */
  add(changes: ReadonlyMap<number, { n: number; last: number }>): void {
    const byBlock = new Map<number, [number, { n: number; last: number }][]>()
    for (const entry of changes) {
      const list = byBlock.get(entry[0] >> 9)
      if (list) list.push(entry)
      else byBlock.set(entry[0] >> 9, [entry])
    }
    for (const [block, entries] of byBlock) {
      const counts = this.load(block) ?? new Float64Array(2 * BLOCK)
      for (const [id, { n, last }] of entries) {
        const at = id & (BLOCK - 1)
        counts[at] = Math.max(0, counts[at]! + n)
        counts[BLOCK + at] = Math.max(counts[BLOCK + at]!, last)
      }
      this.upsert!.run(block, new Uint8Array(counts.buffer))
    }
  }

  private load(block: number): Float64Array | null {
    const bytes = this.select.get(block)
    return bytes ? new Float64Array(new Uint8Array(bytes).buffer) : null
  }
}
