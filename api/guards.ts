/**
 * Checks for what a version before 1.0 left behind (SPEC.md, Startup guards): old names are never
 * read, so a start that finds them stops and prints the exact rename or move. Nothing is created
 * before these pass.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from './config.ts'
import { ConfigError } from './config-values.ts'
import { type Environment, readVariable } from './environment.ts'
import { adviceOn, goneRenamed, isOldName } from './old-names.ts'

const OLD_FILE = 'navflow.db'
const OLD_HOME = '.navflow'

const UPGRADE = 'docs/upgrade.md says how to upgrade from 0.x'

/** @throws ConfigError when a variable with the old prefix is set: each rename, and what is gone rather than renamed. */
export function guardOldVariables(env: Environment): void {
  const names = Object.keys(env)
    .filter((name) => isOldName(name) && env[name] !== undefined)
    .sort()
  if (names.length === 0) return
  throw new ConfigError(
    `variables with the prefix NAVFLOW_ are no longer read; rename or replace:\n${names.map((name) => `  ${adviceOn(name)}`).join('\n')}\n${UPGRADE}`,
  )
}

/**
 * A variable that kept others out before 0.2.0, renamed as all others are, does nothing today: an instance
 * that started open beside it would show to everybody what its operator believes to be protected.
 * @param auth how the instance is about to start. @throws ConfigError when it is open
 */
export function guardOpenStart(env: Environment, auth: Config['auth']): void {
  if (auth.mode !== 'open') return
  const lost = Object.keys(env)
    .sort()
    .flatMap((name) => {
      const gone = readVariable(env, name) === undefined ? null : goneRenamed(name)
      return gone?.isProtection ? [`  ${gone.advice}`] : []
    })
  if (lost.length === 0) return
  throw new ConfigError(
    `this would start svc open, without any login, although a variable that restricted access is set:\n${lost.join('\n')}\n${UPGRADE}`,
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
