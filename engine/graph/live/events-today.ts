/**
 * Events of sources since midnight, from the postings of the index. Sealed segments do not change, so
 * that each is counted once: what is asked every two seconds costs one look at the open segment.
 */
import { SOURCE_LABEL } from '../../store/dictionary.ts'
import { offsetsOf, SEGMENT_SIZE, sizeOf } from '../../store/posting.ts'
import type { Segment } from '../../store/segments.ts'
import type { ReadContext } from '../../timeline/context.ts'

export class EventsToday {
  private midnight = Number.NaN
  /** Largest id ingested before midnight. */
  private after = 0
  /** By label of the source: events of sealed segments up to one. */
  private readonly counted = new Map<number, { through: number; n: number }>()

  constructor(private readonly ctx: ReadContext) {}

  /**
   * @param source id of its row. @param midnight epoch ms. The view of the index must be up to date.
   * @returns events ingested since then
   */
  of(source: number, midnight: number): number {
    this.begin(midnight)
    const { dictionary, index } = this.ctx
    const label = dictionary.find(SOURCE_LABEL, String(source))
    if (label === undefined) return 0
    const known = this.counted.get(label) ?? { through: Math.floor(this.after / SEGMENT_SIZE) - 1, n: 0 }
    this.counted.set(label, known)
    const sealed = index.lastSealed()
    let open = 0
    for (const segment of index.all()) {
      if (segment.seg <= known.through) continue
      const n = this.countIn(segment, label)
      if (segment.seg > sealed) open += n
      else {
        known.n += n
        known.through = segment.seg
      }
    }
    return known.n + open
  }

  private begin(midnight: number): void {
    if (midnight === this.midnight) return
    this.midnight = midnight
    this.after = this.ctx.ceilingAt(midnight - 1)
    this.counted.clear()
  }

  private countIn(segment: Segment, label: number): number {
    const posting = segment.posting(label)
    if (!posting) return 0
    const first = segment.seg * SEGMENT_SIZE
    if (first > this.after) return sizeOf(posting)
    return offsetsOf(posting).filter((offset) => first + offset > this.after).length
  }
}
