/** A long body is stored piece by piece; the answer is one, as if it had been stored at once. */
import { type ErrorExtra, SvcError } from '../../engine/index.ts'
import type { IngestResult, RejectedItem } from '../../schemas/types.ts'
import { Notices } from '../notices.ts'
import type { Piece } from './ndjson.ts'

/** As many as the answer to a whole body lists. */
const REJECTED_LISTED = 100

/**
 * The next piece is read while one is stored; they are stored in order.
 * @param store stores a piece. @param itemsBefore items of the pieces before it.
 * @returns the sum. @throws SvcError of the piece that failed; those before it are stored.
 */
export async function storePieces(
  pieces: AsyncIterable<Piece>,
  store: (piece: Piece, n: number, itemsBefore: number) => Promise<IngestResult>,
): Promise<IngestResult> {
  const sum = new Sum()
  let storing: Promise<void> = Promise.resolve()
  let n = 0
  let items = 0
  let lines = 0
  try {
    for await (const piece of pieces) {
      await storing
      // Blank lines alone are no items: a gibibyte of them compresses to a mebibyte, and each piece costs a commit.
      const isBlank = n > 0 && piece.items === 0
      const stored = isBlank ? Promise.resolve({ ingested: 0 }) : store(piece, n, items)
      n++
      const before = lines
      items += piece.items
      lines += piece.lines
      storing = stored.then(
        (result) => sum.add(result, before),
        (error: unknown) => sum.refuse(error, before),
      )
      // Whoever waits for it hears of it; until then it is no fault that nobody does.
      storing.catch(() => {})
    }
    await storing
  } catch (error) {
    await storing.catch(() => {})
    throw sum.failure(error)
  }
  return sum.result()
}

class Sum {
  private ingested = 0
  private duplicates = 0
  private skewed = 0
  private untimed = 0
  private readonly notices = new Notices()
  private rejectedInAll = 0
  private readonly rejected: NonNullable<ErrorExtra['rejected']> = []
  private ids: string[] | undefined
  private allRefused: SvcError | undefined

  /** @param linesBefore lines of the pieces before it, as for the others. */
  add(result: IngestResult, linesBefore: number): void {
    this.ingested += result.ingested
    this.duplicates += result.duplicates ?? 0
    this.skewed += result.skewed ?? 0
    this.untimed += result.untimed ?? 0
    this.notices.add(result.notice)
    this.list(result.rejected ?? [], linesBefore, result.rejected_in_all)
    if (result.ids) this.ids = [this.ids?.[0] ?? result.ids[0]!, result.ids[1]!]
  }

  /** A piece of which no item could be stored is like the other items that could not. */
  refuse(error: unknown, linesBefore: number): void {
    if (!(error instanceof SvcError && error.extra.rejected)) throw error
    this.allRefused ??= error
    this.list(error.extra.rejected, linesBefore)
  }

  /** @throws SvcError where nothing of all could be stored. */
  result(): IngestResult {
    const { ingested, duplicates, skewed, untimed, rejected, rejectedInAll, ids, allRefused } = this
    const notice = this.notices.said()
    if (allRefused && ingested + duplicates === 0)
      throw new SvcError(allRefused.code, allRefused.message, { ...allRefused.extra, rejected })
    return {
      ingested,
      ...(duplicates ? { duplicates } : {}),
      ...(rejected.length ? { rejected } : {}),
      ...(rejectedInAll > rejected.length ? { rejected_in_all: rejectedInAll } : {}),
      ...(skewed ? { skewed } : {}),
      ...(untimed ? { untimed } : {}),
      ...(notice === undefined ? {} : { notice }),
      ...(ids ? { ids } : {}),
    }
  }

  /** The same error, which also says what is stored all the same. */
  failure(error: unknown): unknown {
    if (!(error instanceof SvcError) || this.ingested === 0) return error
    return new SvcError(
      error.code,
      `${error.message}; ${this.ingested} items before that are stored`,
      error.extra,
    )
  }

  private list(rejected: readonly RejectedItem[], linesBefore: number, inAll = rejected.length): void {
    this.rejectedInAll += inAll
    for (const { line, ...one } of rejected.slice(0, REJECTED_LISTED - this.rejected.length))
      this.rejected.push(line === undefined ? one : { ...one, line: linesBefore + line })
  }
}
