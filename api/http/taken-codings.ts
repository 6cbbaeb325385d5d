/** Which compression of an answer its asker takes (RFC 9110, section 12.5.3). */

/** In the order of preference: Brotli is smaller. */
export type Coding = 'br' | 'gzip'

/**
 * @param accepted the Accept-Encoding, if there is one: none, and nothing is taken but the bytes as they are
 * @param offered in the order of preference
 * @returns the coding that is liked best; null: as it is
 */
export function bestCoding<Offered extends Coding>(
  accepted: string | string[] | undefined,
  offered: readonly Offered[],
): Offered | null {
  if (!accepted || offered.length === 0) return null
  const weights = weightsOf(String(accepted))
  const weightOf = (coding: string): number => weights.get(coding) ?? weights.get('*') ?? 0
  const asItIs = weights.get('identity') ?? 0
  let best: Offered | null = null
  for (const coding of offered) {
    const weight = weightOf(coding)
    if (weight > 0 && weight >= asItIs && (best === null || weight > weightOf(best))) best = coding
  }
  return best
}

/** Each coding that is named, with its weight from 0 to 1. */
function weightsOf(accepted: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const part of accepted.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((one) => one.trim())
    const given = parameters.find((one) => one.startsWith('q='))?.slice(2)
    const weight = given === undefined ? 1 : Number(given)
    if (name !== '') weights.set(name, weight >= 0 && weight <= 1 ? weight : 0)
  }
  return weights
}
