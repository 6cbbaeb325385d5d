/** Small statistics that the parts share; pure. */

/** In ascending order, copied. */
export const ascending = (values: readonly number[]): Float64Array => Float64Array.from(values).sort()

/** @param sorted ascending. @param q 0 to 1. @returns NaN of nothing */
export function quantile(sorted: Float64Array, q: number): number {
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]! : Number.NaN
}

/** Median distance from a value, in units of a standard deviation of normal noise. */
export function spreadAround(values: readonly number[], middle: number): number {
  return quantile(ascending(values.map((value) => Math.abs(value - middle))), 0.5) * 1.48
}

/** Log likelihood ratio of more events than a Poisson rate expects; 0 where there are not more. */
export const ratioUp = (found: number, expected: number): number =>
  found > expected ? found * Math.log(found / expected) - (found - expected) : 0

/** The same of fewer. */
export const ratioDown = (found: number, expected: number): number =>
  found < expected ? (found > 0 ? found * Math.log(found / expected) : 0) + (expected - found) : 0

/** n·KL(k/n ‖ p): how surprising k of n is where a share p is usual. */
export const surprise = (k: number, n: number, p: number): number =>
  (k ? k * Math.log(k / n / p) : 0) + (n - k ? (n - k) * Math.log((n - k) / n / (1 - p)) : 0)

/** The value of a key, made when it is new. */
export function valueAt<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

export const listAt = <K, V>(map: Map<K, V[]>, key: K): V[] => valueAt(map, key, () => [])

export const mapAt = <K, L, V>(map: Map<K, Map<L, V>>, key: K): Map<L, V> =>
  valueAt(map, key, () => new Map())

export const addTo = <K>(map: Map<K, number>, key: K, count = 1): void => {
  map.set(key, (map.get(key) ?? 0) + count)
}
