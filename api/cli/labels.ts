/** label=value arguments. */
import { Option } from 'commander'
import { usageError } from './exit.ts'

/**
 * Reads `name=value` arguments; several are a strict AND.
 * @throws CliError 2 for one that is not of that form, or a name given twice with two values.
 */
export function parsePairs(pairs: readonly string[], what = 'label=value'): Record<string, string> {
  const result = new Map<string, string>()
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    if (at < 1 || at === pair.length - 1) throw usageError(`"${pair}" is not of the form ${what}`)
    const name = pair.slice(0, at)
    const value = pair.slice(at + 1)
    if (result.has(name) && result.get(name) !== value)
      throw usageError(
        `${name} is given twice with different values; several constraints are all required, so nothing could match`,
      )
    result.set(name, value)
  }
  return Object.fromEntries(result)
}

/** An option that may be given several times; its value is the list, undefined without it. */
export function repeatable(flags: string, description: string): Option {
  return new Option(flags, `${description}; may be repeated`).argParser(
    (value: string, previous?: string[]) => [...(previous ?? []), value],
  )
}

/** An integer option of at least `least`. @throws CliError 2. */
export function parseCount(value: string, option: string, least = 1): number {
  const count = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
  if (!(count >= least)) throw usageError(`${option} must be a whole number of at least ${least}`)
  return count
}
