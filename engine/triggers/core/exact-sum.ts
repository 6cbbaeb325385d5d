/**
 * A sum of floats that is exact, whatever was added and taken away before: the value of a window must
 * not depend on what left it, or a restart would change it. Shewchuk's partial sums, as in Python's
 * math.fsum.
 */

export class ExactSum {
  /** Do not overlap, smallest first; their sum is exact. */
  private readonly partials: number[] = []

  add(value: number): void {
    const { partials } = this
    let x = value
    let kept = 0
    for (let k = 0; k < partials.length; k++) {
      let y = partials[k]!
      if (Math.abs(x) < Math.abs(y)) [x, y] = [y, x]
      const high = x + y
      const low = y - (high - x)
      if (low !== 0) partials[kept++] = low
      x = high
    }
    partials.length = kept
    if (x !== 0) partials.push(x)
  }

  /** Rounded once. */
  value(): number {
    const { partials } = this
    let k = partials.length - 1
    if (k < 0) return 0
    let high = partials[k]!
    let low = 0
    while (k > 0 && low === 0) {
      const x = high
      const y = partials[--k]!
      high = x + y
      low = y - (high - x)
    }
    // Half way between two floats, the partials below decide where to.
    if (k > 0 && Math.sign(low) === Math.sign(partials[k - 1]!)) {
      const twice = low * 2
      const rounded = high + twice
      if (twice === rounded - high) return rounded
    }
    return high
  }
}
