/** The rules of a declared MCP server that its schema cannot say, and its canonical form. */

import { check } from '../../schemas/index.ts'
import type { McpServerSpec } from '../../schemas/types.ts'
import { fail } from '../errors.ts'
import { refuseMoved } from '../model/credentials.ts'
import { documentOf } from '../model/documents.ts'
import { MASK } from '../model/plan.ts'
import { keepAddressSecrets, keepSecrets, type SecretNames } from '../net/address-secrets.ts'
import { commandOf, programFor, programNameOf } from '../net/programs.ts'
import { isElsewhere } from '../net/secrets.ts'

export const MCP_SERVER_SECRETS = {
  secrets: ['auth_value'],
  addresses: ['url'],
} as const satisfies SecretNames

/** Headers of the connection and of the protocol: ours to set. */
const OURS =
  /^(host|content-(length|type|encoding)|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|accept|accept-encoding|last-event-id|proxy-.*|mcp-.*)$/i
/** Names that say that the value is a credential. */
const CREDENTIAL =
  /(^|-)(authorization|auth|cookie|token|secret|password|passwd|credentials?|signature|session|apikey|(api|access|secret|private|auth|app|account|client|subscription|functions)-key)(-|$)/i
/** What a header can carry (RFC 9110, 5.5). */
const CARRIED = /^[\t\x20-\x7e\x80-\xff]*$/

/** @returns the spec in canonical form. @throws SvcError invalid, naming the field and the rule. */
export function normaliseMcpServer(given: McpServerSpec): McpServerSpec {
  const fault = check('mcp-server-spec.json', given)
  if (fault) fail('invalid', fault)
  const { url, auth_header, auth_value, headers } = given
  if (programNameOf(url) !== null) {
    for (const [field, value] of Object.entries({ auth_header, headers }))
      if (value && (typeof value === 'string' || Object.keys(value).length))
        fail('invalid', `${field} must not be given where url is a program: a program gets no headers`, {
          field,
        })
    return { url, ...(auth_value ? { auth_value } : {}) }
  }
  checkUrl(url)
  if (auth_header && OURS.test(auth_header))
    fail('invalid', `auth_header must not be ${auth_header}: the connection sets it`, {
      field: 'auth_header',
    })
  if (auth_value && !CARRIED.test(auth_value))
    fail('invalid', 'auth_value has characters that a header cannot carry', { field: 'auth_value' })
  for (const [name, value] of Object.entries(headers ?? {})) checkHeader(name, value, auth_header)
  const isDefaultHeader = !auth_header || auth_header.toLowerCase() === 'authorization'
  return {
    url,
    ...(isDefaultHeader ? {} : { auth_header }),
    ...(auth_value ? { auth_value } : {}),
    ...(headers && Object.keys(headers).length ? { headers } : {}),
  }
}

/**
 * A spec given to replace the stored one, where a blank or masked auth_value keeps what is stored. It is
 * not kept for another host: whoever may change the address must not thereby learn the credential.
 * @throws SvcError invalid
 */
export function keepMcpSecrets(
  given: Readonly<Record<string, unknown>>,
  stored: { doc: Readonly<Record<string, unknown>>; unreadable: readonly string[] } | undefined,
): McpServerSpec {
  const kept = keepSecrets(given, stored, MCP_SERVER_SECRETS)
  const isKept = (given.auth_value ?? MASK) === MASK || given.auth_value === ''
  if (stored && isKept && kept.auth_value !== undefined)
    refuseMoved('auth_value', stored.doc.url, kept.url, { field: 'auth_value' })
  return documentOf('mcp_server', kept)
}

function checkUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol))
    fail('invalid', 'url must be an http or https address, or stdio: and the name of a program', {
      field: 'url',
    })
  if (url.username || url.password)
    fail('invalid', 'url must not contain a user name or a password; a credential goes into auth_value', {
      field: 'url',
    })
  if (text.includes('#')) fail('invalid', 'url must not contain a fragment (#)', { field: 'url' })
  keepAddressSecrets(text, undefined, 'url')
}

function checkHeader(name: string, value: string, authHeader: string | undefined): void {
  const refuse = (why: string): never => fail('invalid', `headers.${name} ${why}`, { field: 'headers' })
  if (OURS.test(name)) refuse('must not be given: the connection sets it')
  if (CREDENTIAL.test(name))
    refuse(
      `is named like a credential, and headers are shown: put it into auth_value, with auth_header ${name}`,
    )
  if (authHeader && name.toLowerCase() === authHeader.toLowerCase()) refuse('is the auth_header already')
  if (!CARRIED.test(value)) refuse('has characters that a header cannot carry')
}

/* Programs: what is declared says which one runs, and the operator alone says which there are. */

/** What a write of an MCP server makes of it; null: it is deleted. */
interface Written {
  kind: string
  stored?: { doc: Readonly<Record<string, unknown>> } | undefined
  doc: Readonly<Record<string, unknown>> | null
}

/**
 * One that stays as it is passes: it is refused where it would run, and an edit of another part must not wait for it.
 * @throws SvcError invalid where the program is not one that the operator allows
 */
export function refuseProgram(
  { kind, stored, doc }: Written,
  env: Readonly<Record<string, string | undefined>>,
): void {
  const name = kind === 'mcp_server' && doc ? programNameOf(doc.url) : null
  if (name === null || (stored?.doc.url === doc!.url && stored?.doc.auth_value === doc!.auth_value)) return
  // Which programs there are is for the operator of the instance to say.
  if (isElsewhere(env)) return
  const program = programFor(name, env)
  if (typeof program === 'string') fail('invalid', `url: ${program}`, { field: 'url' })
  if (doc!.auth_value && !program.takesCredential)
    fail('invalid', `auth_value must not be given: the program ${name} takes no credential`, {
      field: 'auth_value',
    })
}

/** A line for each MCP server of an edit that will run a program, with the command it is. */
export function programWarnings(
  touched: readonly (Written & { key: string })[],
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  return touched.flatMap(({ kind, key, stored, doc }) => {
    const name = kind === 'mcp_server' && doc && stored?.doc.url !== doc.url ? programNameOf(doc.url) : null
    const program = name === null ? name : programFor(name, env)
    return program === null || typeof program === 'string'
      ? []
      : [`mcp_server ${key}: runs a program where svc runs: ${commandOf(program)}`]
  })
}
