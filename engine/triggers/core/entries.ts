/** Events of one key that a condition counts, in typed arrays, in order of (event time, id). */

const FIRST_CAPACITY = 8

export class Entries {
  private ts = new Float64Array(FIRST_CAPACITY)
  private ids = new Float64Array(FIRST_CAPACITY)
  private numbers = new Float64Array(FIRST_CAPACITY)
  /** Only where texts are counted. */
  private texts: string[] | null = null
  private start = 0
  private end = 0

  get length(): number {
    return this.end - this.start
  }

  tsAt(i: number): number {
    return this.ts[this.start + i]!
  }

  idAt(i: number): number {
    return this.ids[this.start + i]!
  }

  numberAt(i: number): number {
    return this.numbers[this.start + i]!
  }

  textAt(i: number): string {
    return this.texts![this.start + i]!
  }

  /** Event time of the newest; -Infinity: there is none. */
  get lastTs(): number {
    return this.end === this.start ? Number.NEGATIVE_INFINITY : this.ts[this.end - 1]!
  }

  /** Place of the first entry with a later event time. */
  after(ts: number): number {
    let low = this.start
    let high = this.end
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.ts[middle]! > ts) high = middle
      else low = middle + 1
    }
    return low - this.start
  }

  /**
   * Its id is larger than those before, so it goes behind those of the same event time.
   * @returns its place
   */
  insert(ts: number, id: number, value: number | string): number {
    if (this.end === this.ts.length) this.makeRoom()
    const place = ts >= this.lastTs ? this.length : this.after(ts)
    const at = this.start + place
    if (at < this.end) {
      this.ts.copyWithin(at + 1, at, this.end)
      this.ids.copyWithin(at + 1, at, this.end)
      this.numbers.copyWithin(at + 1, at, this.end)
      this.texts?.splice(at, 0, '')
    }
    this.end++
    this.ts[at] = ts
    this.ids[at] = id
    if (typeof value === 'number') this.numbers[at] = value
    else {
      this.texts ??= []
      this.texts[at] = value
    }
    return place
  }

  /** Forgets the first entries. */
  drop(count: number): void {
    this.start += count
    // What is forgotten must not stay in memory.
    if (this.start * 2 > this.ts.length)
      this.moveTo(Math.max(FIRST_CAPACITY, this.length + (this.length >> 1)))
  }

  /** The entries of another, all of an earlier event time, come before these. */
  prepend(older: Entries): void {
    const { length } = older
    const [ts, ids, numbers, texts] = [this.ts, this.ids, this.numbers, this.texts]
    const { start, end } = this
    older.moveTo(length + end - start + FIRST_CAPACITY)
    older.ts.set(ts.subarray(start, end), length)
    older.ids.set(ids.subarray(start, end), length)
    older.numbers.set(numbers.subarray(start, end), length)
    this.ts = older.ts
    this.ids = older.ids
    this.numbers = older.numbers
    if (texts || older.texts) this.texts = [...(older.texts ?? []), ...(texts?.slice(start, end) ?? [])]
    this.start = 0
    this.end = length + end - start
  }

  private makeRoom(): void {
    this.moveTo(this.start * 2 > this.end ? this.ts.length : this.ts.length * 2)
  }

  private moveTo(capacity: number): void {
    this.ts = moved(this.ts, this.start, this.end, capacity)
    this.ids = moved(this.ids, this.start, this.end, capacity)
    this.numbers = moved(this.numbers, this.start, this.end, capacity)
    if (this.texts) this.texts = this.texts.slice(this.start, this.end)
    this.end -= this.start
    this.start = 0
  }
}

function moved(from: Float64Array<ArrayBuffer>, start: number, end: number, capacity: number) {
  const to = new Float64Array(capacity)
  to.set(from.subarray(start, end))
  return to
}
