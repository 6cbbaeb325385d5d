/**
 * US dollars without the noise of binary fractions: 0.1 + 0.2 is 0.3 to whoever reads it. Rounded where
 * they are priced or summed, to a billionth of a dollar, which is less than a token of the cheapest
 * model costs.
 */

const DIGITS = 9

/** @param usd US dollars. @returns the same to a billionth */
export const dollars = (usd: number): number => Number(usd.toFixed(DIGITS))

/** The same in SQL. @param expression SQL of an amount or of a sum; null stays null. */
export const dollarsSql = (expression: string): string => `round(${expression}, ${DIGITS})`
