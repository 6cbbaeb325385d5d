/**
 * Checks for what a version before 1.0 left behind (SPEC.md, Startup guards): old names are never
 * read, so a start that finds them stops and prints the exact rename or move. Nothing is created
 * before these pass.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from './config.ts'
import { ConfigError } from './config-values.ts'
import type { Environment } from './environment.ts'

const OLD_PREFIX = 'NAVFLOW_'
const OLD_FILE = 'navflow.db'
const OLD_HOME = '.navflow'

/** @throws ConfigError when a variable with the old prefix is set, listing each rename. */
export function guardOldVariables(env: Environment): void {
  const names = Object.keys(env)
    .filter((name) => name.startsWith(OLD_PREFIX) && env[name] !== undefined)
    .sort()
  if (names.length === 0) return
  const renames = names.map((name) => `  ${name} -> SVC_${name.slice(OLD_PREFIX.length)}`)
  throw new ConfigError(
    `variables with the prefix ${OLD_PREFIX} are no longer read; rename:\n${renames.join('\n')}`,
  )
}

/**
 * @param config names the data file; in the default data home the old home is looked at too.
 * @throws ConfigError when a data file from before 1.0 is there and no new one, with the `mv`.
 */
export function guardOldDataFile(config: Pick<Config, 'dataFile' | 'home' | 'isDefaultHome'>): void {
  if (existsSync(config.dataFile)) return
  const folder = dirname(config.dataFile)
  const candidates = [join(folder, OLD_FILE)]
  if (config.isDefaultHome) candidates.push(join(dirname(config.home), OLD_HOME, OLD_FILE))
  const old = candidates.find((file) => existsSync(file))
  if (old === undefined) return
  const move = `mv ${quote(old)} ${quote(config.dataFile)}`
  const command = existsSync(folder) ? move : `mkdir -p ${quote(folder)} && ${move}`
  throw new ConfigError(
    `a data file from before 1.0 is at ${old} and there is none at ${config.dataFile}; move it, then start again:\n  ${command}`,
  )
}

/** As a POSIX shell reads it back; plain paths stay plain. */
function quote(path: string): string {
  return /^[A-Za-z0-9_./~-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
