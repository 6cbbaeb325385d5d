/** Cost and time of runs in words. */

/** @param usd null: not priced */
export function costText(usd: number | null): string {
  if (usd === null) return 'not priced'
  if (usd === 0) return '$0'
  return usd < 0.0001 ? 'under $0.0001' : `$${usd.toFixed(usd < 1 ? 4 : 2)}`
}

/** @param ms null: it has not ended */
export function timeText(ms: number | null): string {
  if (ms === null) return ''
  if (ms < 1000) return `${ms} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1000)} s`
}

/** The first line, cut off where it is long. */
export function shortText(text: string, max: number): string {
  const line = text.trim().replace(/\s+/g, ' ')
  return line.length > max ? `${line.slice(0, max - 1)}…` : line
}
