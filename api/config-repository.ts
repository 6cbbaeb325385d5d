/** SVC_CATALOG_REPO and its kin: the git repository that the catalog is synced with. */
import { hostname } from 'node:os'
import {
  addressFaultOf,
  type Policy,
  pathFaultOf,
  pathIn,
  type Repository,
  type RepositoryHome,
  refFaultOf,
} from '../engine/index.ts'
import { ConfigError, parseChoice, parseDuration } from './config-values.ts'
import { type Environment, readVariable } from './environment.ts'

const POLICIES = ['manual', 'auto', 'auto-prune'] as const satisfies readonly Policy[]
const SHORTEST_MS = 5_000
const LONGEST_MS = 86_400_000
const SECRET_MIN = 16

interface Around {
  folder: string
  environment: string | null
  absolute(path: string): string
}

/**
 * @param at `folder` of the data file, for the mirror; `absolute` makes a path of this machine whole.
 * @returns null where none is named.
 * @throws ConfigError naming the variable and the rule it breaks
 */
export function loadRepository(env: Environment, at: Around): Repository | null {
  const value = (name: string): string | null => readVariable(env, `SVC_CATALOG_REPO${name}`) ?? null
  const address = value('')
  if (address === null) {
    // The key and the secret are for a stored one, too.
    const [lone] = ['_PATH', '_REF', '_POLICY', '_INTERVAL', '_CREDENTIAL'].filter(
      (name) => value(name) !== null,
    )
    if (lone)
      throw new ConfigError(`SVC_CATALOG_REPO${lone} is set, but no repository is: set SVC_CATALOG_REPO`)
    return null
  }
  const path = value('_PATH') ?? ''
  const ref = value('_REF') ?? 'main'
  refuse('SVC_CATALOG_REPO', addressFaultOf(address))
  refuse('SVC_CATALOG_REPO_PATH', pathFaultOf(path))
  refuse('SVC_CATALOG_REPO_REF', refFaultOf(ref))
  if (readVariable(env, 'SVC_CATALOG_SYNC') !== undefined)
    throw new ConfigError(
      'SVC_CATALOG_REPO and SVC_CATALOG_SYNC are both set: the catalog is kept in step with one of the two, a repository or a file',
    )
  const credential = value('_CREDENTIAL')
  if (credential !== null && value('_SSH_KEY') !== null)
    throw new ConfigError('SVC_CATALOG_REPO_CREDENTIAL and SVC_CATALOG_REPO_SSH_KEY exclude each other')
  const policy = value('_POLICY')
  return Object.freeze<Repository>({
    ...homeOf(env, at),
    ...{ address, path: pathIn(path), ref, credential },
    policy: policy === null ? 'manual' : parseChoice(policy, POLICIES, 'SVC_CATALOG_REPO_POLICY'),
    intervalMs: parseInterval(value('_INTERVAL') ?? '3m'),
  })
}

/**
 * What a repository is followed with that was stored (PUT /api/catalog/sync/repository).
 * @returns null where the catalog is kept like a file. @throws ConfigError
 */
export const loadRepositoryHome = (
  env: Environment,
  at: Around,
  isFileSynced: boolean,
): RepositoryHome | null => (isFileSynced ? null : Object.freeze(homeOf(env, at)))

function homeOf(env: Environment, { folder, environment, absolute }: Around): RepositoryHome {
  const sshKey = readVariable(env, 'SVC_CATALOG_REPO_SSH_KEY') ?? null
  const pushSecret = readVariable(env, 'SVC_CATALOG_REPO_SECRET') ?? null
  if (pushSecret !== null && pushSecret.length < SECRET_MIN)
    throw new ConfigError(`SVC_CATALOG_REPO_SECRET must have at least ${SECRET_MIN} characters`)
  return {
    ...{ folder, environment, pushSecret },
    sshKey: sshKey === null ? null : absolute(sshKey),
    instance: readVariable(env, 'SVC_INSTANCE_NAME') ?? hostname(),
  }
}

function parseInterval(text: string): number {
  const ms = parseDuration(text, 'SVC_CATALOG_REPO_INTERVAL')
  if (ms >= SHORTEST_MS && ms <= LONGEST_MS) return ms
  throw new ConfigError('SVC_CATALOG_REPO_INTERVAL must be from 5s to 1d')
}

function refuse(name: string, fault: string | null): void {
  if (fault !== null) throw new ConfigError(`${name} ${fault}`)
}
