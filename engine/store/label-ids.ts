/** Ids of labels that are at hand, by name and value: no joined key is built and hashed for a look-up. */

/** Values remembered, of all names. */
const REMEMBERED_MAX = 200_000

export class LabelIds {
  private readonly names = new Map<string, Map<string, number>>()
  private size = 0
  private forgot = false

  constructor(private readonly most = REMEMBERED_MAX) {}

  /** One that forgets nothing. */
  static unbounded(): LabelIds {
    return new LabelIds(Number.POSITIVE_INFINITY)
  }

  /** Whether values had to be forgotten. */
  get hasForgotten(): boolean {
    return this.forgot
  }

  get(name: string, value: string): number | undefined {
    return this.names.get(name)?.get(value)
  }

  set(name: string, value: string, id: number): void {
    // Clearing all at once costs one slow moment per 200,000 new values and no bookkeeping before.
    if (this.size >= this.most) {
      this.names.clear()
      this.size = 0
      this.forgot = true
    }
    this.valuesOf(name).set(value, id)
    this.size++
  }

  delete(name: string, value: string): void {
    if (this.names.get(name)?.delete(value)) this.size--
  }

  /** Ids of a name's values; may change at any time. */
  known(name: string): ReadonlyMap<string, number> {
    return this.names.get(name) ?? NONE
  }

  private valuesOf(name: string): Map<string, number> {
    let values = this.names.get(name)
    if (!values) {
      values = new Map()
      this.names.set(name, values)
    }
    return values
  }
}

const NONE: ReadonlyMap<string, number> = new Map()
