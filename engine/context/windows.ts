/** The times that a brief looks at, seconds before its end. */

export interface Windows {
  /** What is new or moved in it is told. */
  focus: number
  /** What is usual is learned from so long before the focus. */
  baseline: number
  /** Changes and slow trends are looked for so far back. */
  back: number
  /** Rates are compared over each of these; the one that moved most counts. */
  rates: readonly number[]
  series: readonly number[]
}

/** Of a run's first message: the last quarter of an hour against the two hours before it. */
export const LATELY: Windows = {
  focus: 900,
  baseline: 7_200,
  back: 129_600,
  rates: [60, 120, 180, 300, 600, 900],
  series: [90, 180, 300, 600, 900],
}

/** Shorter ones hold too few events to be compared. */
const SHORTEST = 15

/** The same of a window of any length. @param focus, baseline seconds */
export function windowsOf(focus: number, baseline: number): Windows {
  const scaled = (lengths: readonly number[]) => {
    const all = lengths.map((length) => Math.max(SHORTEST, Math.round((length * focus) / LATELY.focus)))
    return [...new Set(all)]
  }
  return {
    focus,
    baseline,
    back: focus + baseline,
    rates: scaled(LATELY.rates),
    series: scaled(LATELY.series),
  }
}
