/** An answer cut to what shows its shape: of each list one entry, of texts the beginning. */

const TEXT_MAX = 200
const KEYS_MAX = 60
const DEPTH_MAX = 6

export function shortened(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return value.length > TEXT_MAX ? `${value.slice(0, TEXT_MAX)}…` : value
  if (value === null || typeof value !== 'object') return value
  if (depth === DEPTH_MAX) return '…'
  if (Array.isArray(value)) return value.slice(0, 1).map((one) => shortened(one, depth + 1))
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, KEYS_MAX)
      .map(([key, one]) => [key, shortened(one, depth + 1)]),
  )
}
