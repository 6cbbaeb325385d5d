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
  setJson?: string[]
  config?: string
}

/**
 * Adds --set and --set-json fields and --label, --const, --number and --primary labels to `base`.
 * @throws CliError 2 when an option does not fit, or --primary or --number names no label.
 */
export function buildConfig(base: Record<string, unknown>, flags: ConfigFlags): Record<string, unknown> {
  const texts = parsePairs(flags.set ?? [], 'field=value')
  const values = Object.entries(parsePairs(flags.setJson ?? [], 'field=json')).map(([name, text]) => [
    name,
    parseJson(name, text),
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
  return { ...base, ...texts, ...Object.fromEntries(values), ...(labels.length ? { labels } : {}) }
}

function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's message would show a part of the value, which may be a secret.
    throw usageError(`--set-json ${name}: the value is not JSON; a text is given with --set`)
  }
}

function missing(name: string, option: string): never {
  throw usageError(`${option} ${name}: give that label with --label or --const`)
}
