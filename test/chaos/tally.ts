/** Counts what happens, for those who wait until so much of it has happened: no machine is too slow for that. */
export class Tally {
  #count = 0
  #waiting: { at: number; resolve: () => void }[] = []

  add(): void {
    this.#count++
    this.#waiting = this.#waiting.filter(({ at, resolve }) => {
      if (at > this.#count) return true
      resolve()
      return false
    })
  }

  /** Resolves once it has happened so many times more. */
  more(times: number): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ at: this.#count + times, resolve }))
  }
}
