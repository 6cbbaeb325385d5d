/** Answers that were asked before their page is there; lib/ahead.ts says when, lib/first-reads.ts hands them on. */

/** An answer that was asked ahead is as good as one in the cache of the page, milliseconds. */
const KEPT_MS = 5_000
const KEPT_MOST = 4

export class ReadsAhead {
  private readonly kept = new Map<string, { answer: Promise<Response>; at: number }>()

  /** @param ask undefined: it cannot be asked ahead. @param now milliseconds of any clock that only goes on */
  constructor(
    private readonly ask: (path: string) => Promise<Response> | undefined,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Asks what a page will ask, once for a while. */
  begin(path: string): void {
    const now = this.now()
    for (const [asked, { at }] of this.kept) if (now - at > KEPT_MS) this.kept.delete(asked)
    if (this.kept.has(path) || this.kept.size >= KEPT_MOST) return
    const answer = this.ask(path)
    if (answer) this.kept.set(path, { answer, at: now })
  }

  /** @returns the answer, which is given once; undefined: none is known, or it is too old */
  take(path: string): Promise<Response> | undefined {
    const asked = this.kept.get(path)
    this.kept.delete(path)
    return asked && this.now() - asked.at <= KEPT_MS ? asked.answer : undefined
  }

  /** Forgets all answers: something was written, or another person logged in, and they may show the state before. */
  drop(): void {
    this.kept.clear()
  }
}
