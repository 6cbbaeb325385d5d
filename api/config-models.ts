/** Model providers of the environment (SPEC.md, Deployment and configuration; Model providers 3). */
import type { ModelEnvironment } from '../engine/index.ts'
import { ConfigError, parseHttpUrl } from './config-values.ts'
import { type Environment, readVariable } from './environment.ts'

/** @throws ConfigError naming the variable and the rule, never the value. */
export function loadModels(env: Environment): ModelEnvironment {
  const read = <T>(name: string, parse: (value: string, from: string) => T): T | null => {
    const value = readVariable(env, name)
    return value === undefined ? null : parse(value, name)
  }
  const baseUrl = read('PROVIDERA_BASE_URL', parseHttpUrl)
  const platformUrl = read('SVC_PLATFORM_PROVIDER_URL', parseHttpUrl)
  const platformKey = read('SVC_PLATFORM_PROVIDER_KEY', parseCredential)
  if (platformKey !== null && platformUrl === null)
    throw new ConfigError('SVC_PLATFORM_PROVIDER_KEY needs SVC_PLATFORM_PROVIDER_URL, the address it is for')
  return Object.freeze<ModelEnvironment>({
    providera: {
      token: read('PROVIDERA_AUTH_TOKEN', parseCredential),
      key: read('PROVIDERA_API_KEY', parseCredential),
      baseUrl: baseUrl ?? read('SVC_PROVIDERA_BASE', parseHttpUrl),
      baseFrom:
        baseUrl === null && readVariable(env, 'SVC_PROVIDERA_BASE')
          ? 'SVC_PROVIDERA_BASE'
          : 'PROVIDERA_BASE_URL',
    },
    providerb: {
      key: read('PROVIDERB_API_KEY', parseCredential),
      baseUrl: read('PROVIDERB_BASE_URL', parseHttpUrl),
    },
    platform:
      platformUrl === null
        ? null
        : {
            url: platformUrl,
            key: platformKey,
            name: read('SVC_PLATFORM_PROVIDER_NAME', (name) => name.slice(0, 80)) ?? 'Platform',
          },
    defaultProvider: read('SVC_MODEL_PROVIDER', parseProviderId),
    agentModel: read('SVC_AGENT_MODEL', parseModel),
    dailyCap: read('SVC_AGENT_DAILY_CAP', parseCap),
  })
}

/** What fits in a header: visible ASCII, no blanks. */
function parseCredential(value: string, from: string): string {
  if (!/^[\x21-\x7e]{1,4096}$/.test(value))
    throw new ConfigError(`${from} must be 1 to 4096 visible ASCII characters without spaces`)
  return value
}

function parseProviderId(value: string, from: string): string {
  if (!/^[a-z0-9][a-z0-9-]{0,39}$/.test(value))
    throw new ConfigError(
      `${from} must be providera, providerb or the id of a saved endpoint: lower-case letters, digits and dashes`,
    )
  return value
}

function parseModel(value: string, from: string): string {
  if (value.length > 200) throw new ConfigError(`${from} must be a model name of at most 200 characters`)
  return value
}

function parseCap(value: string, from: string): number {
  const cap = /^[0-9]{1,5}$/.test(value) ? Number(value) : 0
  if (cap < 1 || cap > 10_000) throw new ConfigError(`${from} must be a number from 1 to 10000`)
  return cap
}
