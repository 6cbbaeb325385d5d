/** Where the data of an instance lies: what client commands need of the configuration, and all they load of it. */
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { ConfigError } from './config-values.ts'
import { type Environment, readVariable } from './environment.ts'

/** What a default depends on, besides the environment. */
export interface Surroundings {
  userHome: string
  cwd: string
  isTerminal: boolean
}

/**
 * @param dataDir of the command line; undefined: SVC_HOME, or ~/.svc
 * @returns the data home, absolute, and whether it is the default one
 * @throws ConfigError
 */
export function resolveHome(
  dataDir: string | undefined,
  env: Environment,
  around: Surroundings = surroundings(),
): { home: string; isDefaultHome: boolean } {
  if (dataDir !== undefined && dataDir.trim() === '') throw new ConfigError('--data-dir must not be empty')
  const given = dataDir ?? readVariable(env, 'SVC_HOME')
  const defaultHome = join(around.userHome, '.svc')
  const home = given === undefined ? defaultHome : absolute(given, around)
  return { home, isDefaultHome: home === defaultHome }
}

/**
 * A leading ~ is the user's home: service managers pass it on as it is written.
 * @throws the system's error for a relative path where the folder that the process was started in is gone
 */
export function absolute(path: string, around: Surroundings): string {
  const expanded = path === '~' || path.startsWith('~/') ? join(around.userHome, path.slice(1)) : path
  return isAbsolute(expanded) ? resolve(expanded) : resolve(around.cwd, expanded)
}

/** Those of this process. */
export function surroundings(): Surroundings {
  return {
    userHome: homedir(),
    // Read where a relative path needs it: the folder may have been deleted, and most commands never ask.
    get cwd() {
      return process.cwd()
    },
    isTerminal: process.stdout.isTTY === true,
  }
}
