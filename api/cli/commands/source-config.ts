/** The config of a source from command line options. */
import type { Label } from '../../../schemas/types.ts'
import { CliError, EXIT, usageError } from '../exit.ts'
import { readText, shownFile } from '../files.ts'
import { parsePairs } from '../labels.ts'
import type { Io } from '../terminal.ts'

export interface ConfigFlags {
  label?: string[]
  const?: string[]
  number?: string[]
  primary?: string
  set?: string[]
  setJson?: string[]
  config?: string
  preset?: string
}

/**
 * Adds --set and --set-json fields and --label, --const, --number and --primary labels to `base`.
 * @throws CliError 64 when an option does not fit, or --primary or --number names no label.
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
  const preset = flags.preset === undefined ? {} : { preset: flags.preset }
  return { ...base, ...preset, ...texts, ...Object.fromEntries(values), ...(labels.length ? { labels } : {}) }
}

/** The config of --config: a file, - for standard input, nothing without it. @throws CliError 65, 66 */
export async function baseConfig(io: Io, file: string | undefined): Promise<Record<string, unknown>> {
  if (file === undefined) return {}
  return parseConfig(await readText(io, file), shownFile(file))
}

function parseConfig(text: string, from: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new CliError(`--config: ${from} is not JSON: ${(error as Error).message}`, EXIT.data)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new CliError(`--config: ${from} must be a JSON object`, EXIT.data)
  return value as Record<string, unknown>
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
