/**
 * Rows for briefs, kept in memory without their texts: what a brief asks of an event that is stored hangs on that event
 * alone, and the event never changes, so that it is worked out once. A brief then reads texts of what it shows, and rows
 * of what came since the last one. Nothing of it is on disk: after a start the first brief reads all rows of its window.
 */
import type { Dictionary } from '../store/dictionary.ts'
import type { RowReader } from '../store/rows.ts'
import type { Tail } from '../store/tail.ts'
import { StoredRows } from './context-rows.ts'
import type { SourceNames } from './source-names.ts'
import { RowGone, type RowOrigin, type StoredRow } from './stored-row.ts'

/**
 * A page is of so many ids, and is kept once a brief wants so many of its rows at a time: fewer are read by themselves.
 * All pages have so many bytes at most, by what rows were seen to take.
 */
const SIZES = { page: 2_048, worth: 512, bytes: 64_000_000 }
const ROW_BYTES = 200
/** Of labels, and of what is known of a text, where a row does not share them with the one before. */
const LABELS_BYTES = 200
/** Texts that one brief asked for are asked for again in a moment. */
const TEXTS_MAX = 4_000

interface Page {
  /** By id from the first of the page. */
  rows: (StoredRow | undefined)[]
  bytes: number
  /** The brief that used it last. */
  used: number
}

export class RowPages implements RowOrigin {
  /** By label and number, in the order of their last use. */
  private readonly pages = new Map<string, Page>()
  private readonly makers = new Map<string, StoredRows>()
  private readonly texts = new Map<number, string>()
  private bytes = 0
  private briefs = 0

  constructor(
    private readonly rows: RowReader,
    private readonly dictionary: Dictionary,
    private readonly names: SourceNames,
    private readonly tail: Tail,
    private readonly sizes = SIZES,
  ) {}

  /**
   * Reads rows for one brief.
   * @param label of the entity that is asked about
   * @param isWhole reads all with their texts and keeps nothing: for one that met a row that was gone
   * @returns what gives the rows of some ids in their order; those that are gone are left out
   */
  reader(label: string, isWhole = false): (ids: readonly number[]) => StoredRow[] {
    this.texts.clear()
    const brief = ++this.briefs
    const maker = this.makerOf(label)
    maker.refresh()
    return (ids) => {
      if (isWhole) return this.rows.texts(ids, (stored) => maker.make(stored, true))
      const pages = this.pagesFor(ids, { label, maker, brief })
      const { page } = this.sizes
      const single = ids.filter((id) => !pages.has(Math.floor(id / page)))
      // The newest are looked at again, and their texts are at hand.
      const found = new Map(
        this.rows.texts(single, (stored) => maker.make(stored, true)).map((row) => [row.n, row]),
      )
      const rows: StoredRow[] = []
      for (const id of ids) {
        const row = pages.get(Math.floor(id / page))?.rows[id % page] ?? found.get(id)
        if (row) rows.push(row)
      }
      return rows
    }
  }

  /** @throws RowGone */
  textOf(id: number): string {
    const known = this.texts.get(id)
    if (known !== undefined) return known
    const text = this.rows.text(id)
    if (text === undefined) throw new RowGone(`event ${id} was removed`)
    if (this.texts.size >= TEXTS_MAX) this.texts.clear()
    this.texts.set(id, text)
    return text
  }

  /** Pages that are at hand, and those of which enough is wanted. */
  private pagesFor(
    ids: readonly number[],
    { label, maker, brief }: { label: string; maker: StoredRows; brief: number },
  ): Map<number, Page> {
    const { page: size, worth } = this.sizes
    const wanted = new Map<number, number>()
    for (const id of ids) addTo(wanted, Math.floor(id / size))
    const pages = new Map<number, Page>()
    for (const [n, count] of wanted) {
      const key = `${n} ${label}`
      const isWhole = (n + 1) * size - 1 <= this.tail.lastId
      const page = this.pages.get(key) ?? (count >= worth && isWhole ? this.make(n, maker) : undefined)
      if (!page) continue
      pages.set(n, page)
      page.used = brief
      this.keep(key, page)
    }
    return pages
  }

  /** @param n of a page of which all events are there: what is missing was removed. */
  private make(n: number, maker: StoredRows): Page {
    const { page: size } = this.sizes
    const page: Page = { rows: new Array(size).fill(undefined), bytes: size * 8, used: 0 }
    const ids = Array.from({ length: size }, (_, i) => n * size + i)
    const seen = new Set<unknown>()
    for (const row of this.rows.texts(ids, (stored) => maker.make(stored, false))) {
      page.rows[row.n % size] = row
      page.bytes += ROW_BYTES
      for (const [own, bytes] of [
        [row.labels, LABELS_BYTES],
        [row.known, LABELS_BYTES + row.known!.words.length],
      ] as const)
        if (!seen.has(own)) {
          seen.add(own)
          page.bytes += bytes
        }
    }
    return page
  }

  /**
   * As the last that was used. Where there is no room, those that this brief has not used are let go, else this one: of a
   * window that is larger than all there is room for, the same part stays, and not what comes last each time.
   */
  private keep(key: string, page: Page): void {
    if (this.pages.delete(key)) this.bytes -= page.bytes
    for (const [oldest, { bytes, used }] of this.pages) {
      if (this.bytes + page.bytes <= this.sizes.bytes || used === page.used) break
      this.pages.delete(oldest)
      this.bytes -= bytes
    }
    if (this.bytes + page.bytes > this.sizes.bytes) return
    this.pages.set(key, page)
    this.bytes += page.bytes
  }

  private makerOf(label: string): StoredRows {
    const known = this.makers.get(label)
    if (known) return known
    // What another label was asked for is seldom asked for again; its pages go as they are not used.
    if (this.makers.size >= MAKERS_MAX) this.makers.clear()
    const made = new StoredRows(this.dictionary, this.names, label, this)
    this.makers.set(label, made)
    return made
  }
}

const MAKERS_MAX = 8

const addTo = (counts: Map<number, number>, key: number): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
