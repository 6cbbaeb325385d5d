/** The config of a source from command line options. */
import type { Label } from '../../../schemas/types.ts'
import { usageError } from '../exit.ts'
import { parsePairs } from '../labels.ts'

export interface ConfigFlags {
  label?: string[]
  const?: string[]
  number?: string[]
  primary?: string
  set?: string[]
  config?: string
}

/**
 * Adds --set fields and --label, --const, --number and --primary labels to `base`.
 * @throws CliError 2 when an option does not fit, or --primary or --number names no label.
 */
export function buildConfig(base: Record<string, unknown>, flags: ConfigFlags): Record<string, unknown> {
  const fields = Object.entries(parsePairs(flags.set ?? [], 'field=value')).map(([name, value]) => [
    name,
    scalarOf(value),
  ])
  const labels: Label[] = [...((base.labels as Label[] | undefined) ?? [])]
  for (const [name, field] of Object.entries(parsePairs(flags.label ?? [], 'name=field')))
    labels.push({ name, field })
  for (const [name, value] of Object.entries(parsePairs(flags.const ?? [], 'name=value')))
    labels.push({ name, const: value })
  const named = (name: string, option: string): Label =>
    labels.find((label) => label.name === name) ?? missing(name, option)
  for (const name of flags.number ?? []) named(name, '--number').type = 'number'
  if (flags.primary !== undefined) named(flags.primary, '--primary').primary = true
  return { ...base, ...Object.fromEntries(fields), ...(labels.length ? { labels } : {}) }
}

/** JSON where the text is a number, a truth value, an array or an object; else the text itself. */
function scalarOf(value: string): unknown {
  if (!/^(-?\d|true$|false$|\[|\{)/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    // Text that only begins like JSON, such as 5s or an address.
    return value
  }
}

function missing(name: string, option: string): never {
  throw usageError(`${option} ${name}: give that label with --label or --const`)
}
