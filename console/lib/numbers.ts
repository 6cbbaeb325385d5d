/** Numbers as people type them. */

/**
 * @param isDecimal whether a point may be in it; a comma is taken for one
 * @returns '' for none yet (empty, a sign or point alone), null where it cannot become a number
 */
export function numberIn(text: string, isDecimal: boolean): number | '' | null {
  const trimmed = text.trim().replace(',', '.')
  if (!(isDecimal ? /^-?\d*\.?\d*(e-?\d+)?$/ : /^-?\d*$/).test(trimmed)) return null
  return /\d/.test(trimmed) ? Number(trimmed) : ''
}

/** The number, or the bound that it is beyond; without the tail that adding steps of 0.1 leaves. */
export const clamped = (number: number, min = -Infinity, max = Infinity): number =>
  Number(Math.min(max, Math.max(min, number)).toPrecision(12))
