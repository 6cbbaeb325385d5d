/**
 * Checks for what a version before 1.0 left behind (SPEC.md, Startup guards): old names are never
 * read, so a start that finds them stops and prints the exact rename or move. Nothing is created
 * before these pass.
 */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from './config.ts'
import { ConfigError } from './config-values.ts'
import { type Environment, environment, readVariable } from './environment.ts'
import { isLoopbackHost } from './host-rules.ts'

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
 * A token that was meant and is blank, such as one of a variable that a script never set, would open the instance to
 * every machine that reaches it. On this machine alone a blank variable is as an unset one.
 * @param auth how the instance is about to start. @throws ConfigError when it is open to others
 */
export function guardBlankToken(env: Environment, { auth, host }: Pick<Config, 'auth' | 'host'>): void {
  if (auth.mode !== 'open' || isLoopbackHost(host)) return
  if (env.SVC_AUTH_TOKEN === undefined) return
  throw new ConfigError(
    `SVC_AUTH_TOKEN is blank, and would start svc open, without any login, on ${host}: give it a token, or start with --auth, or unset it to start open`,
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

/**
 * A file that the configuration names and that is not there would be found out by what fails later, far from here.
 * @throws ConfigError naming the variable
 */
export function guardSshKey({
  repository,
  repositoryHome,
}: Pick<Config, 'repository' | 'repositoryHome'>): void {
  const file = repository?.sshKey ?? repositoryHome?.sshKey ?? null
  if (file === null) return
  const refuse = (why: string) => new ConfigError(`SVC_CATALOG_REPO_SSH_KEY must name a file: ${file} ${why}`)
  try {
    if (!statSync(file).isFile()) throw refuse('is none')
    accessSync(file, constants.R_OK)
  } catch (error) {
    if (error instanceof ConfigError) throw error
    const { code } = error as NodeJS.ErrnoException
    throw refuse(
      code === 'ENOENT' || code === 'ENOTDIR'
        ? 'does not exist'
        : `cannot be read by this user (${code ?? 'no reason is given'})`,
    )
  }
}

/** As a POSIX shell reads it back; plain paths stay plain. */
function quote(path: string): string {
  return /^[A-Za-z0-9_./~-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}

/*
 * Names of variables from before 1.0 and what became of them (SPEC.md, Startup guards; Versioning 2 and 5):
 * every NAVFLOW_* variable is SVC_*, a few have another name today, and three are gone.
 */

/** Names that changed by more than their prefix. */
const RENAMED: Readonly<Record<string, string>> = {
  NAVFLOW_SEED_USECASE: 'SVC_SEED_PROJECT',
  NAVFLOW_PROVIDERA_BASE: 'PROVIDERA_BASE_URL',
  NAVFLOWD_URL: 'SVCD_URL',
}

interface Gone {
  /** Of a name without its prefix; 0.x spelt some of them in more than one way. */
  pattern: RegExp
  what: string
  instead: string
  /** It kept others out: an instance that starts open without it shows what it protected. */
  isProtection: boolean
}

/** The three variables that are gone rather than renamed. */
const GONE: readonly Gone[] = [
  {
    pattern: /^INGEST_(AUTH_)?(TOKEN|KEY)$/,
    what: 'the ingest token',
    instead:
      'set SVC_AUTH_TOKEN (or start with --auth), make an API key with the scope ingest for each producer, and remove this variable',
    isProtection: true,
  },
  {
    pattern: /^READ_?ONLY(_MODE)?$/,
    what: 'the read-only mode',
    instead:
      'set SVC_AUTH_TOKEN (or start with --auth), give out API keys with the scope read, and remove this variable',
    isProtection: true,
  },
  {
    pattern: /^((MODEL|LLM|PROVIDER|AGENT|ASK)_)?(API_)?KEY$/,
    what: 'the key of the model provider',
    instead:
      'set PROVIDERA_API_KEY or PROVIDERB_API_KEY, or add the provider under Settings, Model providers; then remove this variable',
    isProtection: false,
  },
]

const OLD_PREFIX = /^NAVFLOWD?_/

const isOldName = (name: string): boolean => OLD_PREFIX.test(name)

const goneOf = (bare: string): Gone | undefined => GONE.find(({ pattern }) => pattern.test(bare))
const isKnown = (name: string): boolean => environment.some((variable) => variable.name === name)

/** @param name with the old prefix. @returns what to do about it, in a line, without its value */
function adviceOn(name: string): string {
  const bare = name.replace(OLD_PREFIX, '')
  const renamed = RENAMED[name] ?? `SVC_${bare}`
  if (isKnown(renamed)) return `${name} -> ${renamed}`
  const gone = goneOf(bare)
  if (gone) return `${name} is gone, not renamed (${gone.what}): ${gone.instead}`
  return `${name}: svc has no ${renamed}; remove it (docs/configuration.md lists every variable)`
}

/**
 * Advice for a variable that does not exist under its new prefix either: somebody renamed one that is gone.
 * @param name with the prefix SVC_. @returns null when no such variable is gone
 */
export function goneRenamed(name: string): { advice: string; isProtection: boolean } | null {
  if (!name.startsWith('SVC_') || isKnown(name)) return null
  const gone = goneOf(name.slice('SVC_'.length))
  if (!gone) return null
  return {
    advice: `${name} is read by nothing: ${gone.what} is gone since 0.2.0. Instead, ${gone.instead}`,
    isProtection: gone.isProtection,
  }
}
