/**
 * Where a number changed its level: binary segmentation by absolute deviations from the median, which a single
 * outlier does not move. The noise is taken from neighbouring values, so that a change of level is none of it.
 */

/** A level lasts for so many values. */
const LEAST = 3
/** By so many units of noise, times the logarithm of the count, a split must explain the values better. */
const BETTER = 4
/** Of the median, what is noise in any case. */
const NOISE_SHARE = 0.01
const POINTS_MAX = 5
/** Longer series are looked at by medians of their parts. */
const LOOKED_AT = 300

/** @param values in order of time. @returns the places of first values of a new level, ascending */
export function changePoints(values: readonly number[]): number[] {
  const every = Math.max(1, Math.ceil(values.length / LOOKED_AT))
  const parts: number[] = []
  for (let at = 0; at < values.length; at += every) parts.push(medianOf(values.slice(at, at + every)))
  const steps = parts.slice(1).map((value, i) => Math.abs(value - parts[i]!))
  const noise = (medianOf(steps) || 0) + NOISE_SHARE * Math.abs(medianOf(parts)) + Number.EPSILON
  const found: number[] = []
  split(parts, 0, BETTER * noise * Math.log(1 + parts.length), found)
  return found.map((at) => at * every).sort((a, b) => a - b)
}

function split(values: readonly number[], offset: number, needed: number, found: number[]): void {
  if (values.length < 2 * LEAST || found.length >= POINTS_MAX) return
  const whole = deviation(values)
  let best = needed
  let at = 0
  for (let i = LEAST; i <= values.length - LEAST; i++) {
    const gain = whole - deviation(values.slice(0, i)) - deviation(values.slice(i))
    if (gain <= best) continue
    best = gain
    at = i
  }
  if (at === 0) return
  found.push(offset + at)
  split(values.slice(0, at), offset, needed, found)
  split(values.slice(at), offset + at, needed, found)
}

/** Sum of distances from the median. */
function deviation(values: readonly number[]): number {
  const middle = medianOf(values)
  return values.reduce((sum, value) => sum + Math.abs(value - middle), 0)
}

export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
