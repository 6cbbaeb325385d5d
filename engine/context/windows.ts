/** The times that a brief looks at, seconds before its end. */

/** What is new or moved in it is told. */
export const FOCUS = 900
/** What is usual is learned from the time before the focus. */
export const BASELINE = 7_200
/** Changes and slow trends are looked for so far back. */
export const BACK = 129_600
/** Rates are compared over each of these; the one that moved most counts. */
export const RATE_WINDOWS = [60, 120, 180, 300, 600, 900]
export const SERIES_WINDOWS = [90, 180, 300, 600, 900]
