/** Values that differ from a right one in what stands in one place, for tests of what is told of odd input. */

/**
 * @param odd what may stand in any place
 * @returns the odd values themselves, and the value with each of them in each of its places
 */
export function differing(value: unknown, odd: readonly unknown[]): unknown[] {
  if (typeof value !== 'object' || value === null) return [...odd]
  const inner = Object.entries(value).flatMap(([key, of]) =>
    differing(of, odd).map((other) =>
      Array.isArray(value) ? value.with(Number(key), other) : { ...value, [key]: other },
    ),
  )
  return [...odd, ...inner]
}
