/** A config that names a stored credential, as a poll uses it: with the token of now. */
import { credentialField } from '../connectors/config.ts'
import type { CredentialLookup } from '../credentials/types.ts'

type Config = Record<string, unknown>

/**
 * The config with the credential's token and address in it. An address of the source's own stays only
 * where it is of the same host: the token goes nowhere else.
 * @param config secrets opened. @returns a sentence where the credential cannot be used.
 */
export function withCredential(kind: string, config: Config, credentials: CredentialLookup): Config | string {
  const name = credentialOf(kind, config)
  if (name === null) return config
  if (config.token) return 'token and credential exclude each other: keep one of them'
  const found = credentials.find(name)
  if (typeof found === 'string') return found
  const own = typeof config.api_url === 'string' ? config.api_url : found.apiUrl
  if (originOf(own) !== originOf(found.apiUrl))
    return `the credential ${name} is for ${new URL(found.apiUrl).host} and is sent nowhere else; clear api_url, or name a credential for its host`
  return { ...config, token: found.token, api_url: own }
}

/** Name of the credential a config reads with; null: it names none. */
export function credentialOf(kind: string, config: Config): string | null {
  const field = credentialField(kind)
  const name = field === undefined ? undefined : config[field]
  return typeof name === 'string' && name !== '' ? name : null
}

const originOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).origin : null)
