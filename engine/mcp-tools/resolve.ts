/** A declared MCP server as it can be connected to: references in its credential become values. */
import type { McpServerSpec } from '../../schemas/types.ts'
import { addressSecrets, hasMaskedSecret } from '../address-secrets.ts'
import { isReference, storedName } from '../parts/secret-fields.ts'
import { addressFault, openVariable } from '../secret-variables.ts'
import type { McpServerRef } from './types.ts'

export interface ResolveWith {
  /** What `${NAME}` refers to. */
  env: Readonly<Record<string, string | undefined>>
  /** A stored credential's token, by a name such as github/main, or a sentence why there is none. */
  credential(name: string): { token: string } | string
}

/** Shorter values are too common in text to be taken out of it. */
const SECRET_MIN = 8

/**
 * The declared headers, then the credential in its header. A stored credential is sent as a bearer
 * token, any other as it was entered.
 * @returns a sentence where the credential cannot be had.
 */
export function resolveServer(
  name: string,
  spec: McpServerSpec,
  { env, credential }: ResolveWith,
): McpServerRef | string {
  const { url, auth_header, auth_value, headers } = spec
  if (hasMaskedSecret(url)) return 'the secret in its url cannot be read here; enter it again'
  const fault = addressFault(url)
  if (fault !== null) return `url: ${fault}`
  const inUrl = addressSecrets(url).filter(({ length }) => length >= SECRET_MIN)
  const server: McpServerRef = {
    name,
    url,
    headers: { ...headers },
    ...(inUrl.length ? { secrets: inUrl } : {}),
  }
  if (!auth_value) return server
  let value = auth_value
  if (isReference(auth_value)) {
    const stored = storedName(auth_value)
    const found = stored === null ? openVariable(auth_value.slice(2, -1), env) : credential(stored)
    if (typeof found === 'string') return found
    value = 'value' in found ? found.value : `Bearer ${found.token}`
  }
  if (!/^[\t\x20-\x7e\x80-\xff]+$/.test(value))
    return 'its credential has characters that a header cannot carry'
  // The token alone too: a server may echo it without the word before it.
  const secrets = [value, value.replace(/^\S+ /, '')].filter(({ length }) => length >= SECRET_MIN)
  secrets.push(...inUrl)
  return { ...server, headers: { ...server.headers, [auth_header || 'Authorization']: value }, secrets }
}
