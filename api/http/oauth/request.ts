/**
 * What a client asks for (RFC 6749, section 4.1.1; RFC 7636; RFC 8707), looked at before a person sees it and again
 * when the person decides. Nothing is sent anywhere before a person has said so: clients register by themselves, so
 * that an answer sent at once would make of this server a way to any site (RFC 9700, section 4.11.2).
 */
import type { OauthClient } from '../../../engine/index.ts'
import { isLoopback, kindOf, knownResource, type ResourceKind, SCOPES } from './resources.ts'

/** A request that a person may consent to. */
export interface AuthorizationRequest {
  client: OauthClient
  redirectUri: string
  state: string | null
  resource: string
  kind: ResourceKind
  scopes: string[]
  challenge: string
}

export interface RequestProblem {
  error: string
  detail: string
}

export interface ReadRequest {
  client: OauthClient | null
  /** Registered by the client; null: it is not, and nothing is sent there. */
  redirectUri: string | null
  state: string | null
  request: AuthorizationRequest | null
  problem: RequestProblem | null
}

const STATE_MAX = 2_048
/** RFC 7636, section 4.2: a SHA-256 as base64url. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/

interface Known {
  /** @returns null where no client has the id; a string says why there is none (no full stop) */
  client(id: string): Promise<OauthClient | string | null>
  base: string
  others: readonly string[]
}

/** @param query of the address that the client opened, as it is */
export async function readRequest(query: string, known: Known): Promise<ReadRequest> {
  const fields = new URLSearchParams(query)
  const one = (name: string): string | null => {
    const all = fields.getAll(name)
    return all.length === 1 && all[0] !== '' ? all[0]! : null
  }
  const nothing = { client: null, redirectUri: null, state: null, request: null }
  const repeated = [...new Set(fields.keys())].find((name) => fields.getAll(name).length > 1)
  if (repeated !== undefined && repeated !== 'resource')
    return {
      ...nothing,
      problem: { error: 'invalid_request', detail: `${repeated.slice(0, 40)} is given twice` },
    }
  const clientId = one('client_id')
  const client = clientId === null ? null : await known.client(clientId)
  if (client === null || typeof client === 'string')
    return { ...nothing, problem: { error: 'invalid_client', detail: client ?? NO_CLIENT } }
  const redirectUri = redirectOf(one('redirect_uri'), client)
  if (redirectUri === null)
    return {
      ...{ ...nothing, client },
      problem: { error: 'invalid_request', detail: 'redirect_uri is not one that the client registered' },
    }
  const state = one('state')
  const told = { client, redirectUri, state: state !== null && state.length <= STATE_MAX ? state : null }
  const problem = faultOf(one, state)
  if (problem) return { ...told, request: null, problem }
  const target = targetOf(fields, known)
  if ('error' in target) return { ...told, request: null, problem: target }
  const challenge = one('code_challenge')!
  return { ...told, request: { ...told, ...target, challenge }, problem: null }
}

const NO_CLIENT =
  'no client is registered under client_id; it may have been forgotten, and has to register again'

function faultOf(one: (name: string) => string | null, state: string | null): RequestProblem | null {
  if (one('response_type') !== 'code')
    return { error: 'unsupported_response_type', detail: 'response_type must be code' }
  if (one('response_mode') !== null && one('response_mode') !== 'query')
    return { error: 'invalid_request', detail: 'response_mode must be query' }
  if (one('code_challenge_method') !== 'S256')
    return { error: 'invalid_request', detail: 'code_challenge_method must be S256' }
  if (!CHALLENGE.test(one('code_challenge') ?? ''))
    return { error: 'invalid_request', detail: 'code_challenge must be the base64url of a SHA-256' }
  if (state !== null && state.length > STATE_MAX)
    return { error: 'invalid_request', detail: `state has more than ${STATE_MAX} characters` }
  return null
}

function targetOf(
  fields: URLSearchParams,
  { base, others }: { base: string; others: readonly string[] },
): RequestProblem | Pick<AuthorizationRequest, 'resource' | 'kind' | 'scopes'> {
  const given = fields.getAll('resource')
  const resource = given.length === 1 ? knownResource(given[0]!, base, others) : null
  if (resource === null)
    return {
      error: 'invalid_target',
      detail:
        'resource must be the address of one server of this instance: its telemetry query server, or one that SVC_OAUTH_RESOURCES names',
    }
  const kind = kindOf(resource)
  const asked = [...new Set((fields.get('scope') ?? '').split(' ').filter(Boolean))]
  const unknown = asked.find((scope) => !SCOPES[kind].includes(scope))
  if (unknown !== undefined)
    return { error: 'invalid_scope', detail: `scope may have ${SCOPES[kind].join(', ')}` }
  // To read is what all of them are for.
  return { resource, kind, scopes: [...new Set(['read', ...asked])] }
}

/** Exactly as it was registered; of a program on the person's computer the port may be another (RFC 8252, 7.3). */
function redirectOf(given: string | null, { redirectUris }: OauthClient): string | null {
  if (given === null) return null
  if (redirectUris.includes(given)) return given
  if (!URL.canParse(given)) return null
  const asked = new URL(given)
  if (!isLoopback(asked) || asked.username !== '' || asked.password !== '' || asked.hash !== '') return null
  const isSame = redirectUris.some((uri) => {
    const own = new URL(uri)
    return (
      isLoopback(own) &&
      own.hostname === asked.hostname &&
      own.pathname === asked.pathname &&
      own.search === asked.search
    )
  })
  return isSame ? given : null
}

/** Where the browser goes with an answer (RFC 6749, section 4.1.2; RFC 9207 for iss). */
export function answerUrl(
  redirectUri: string,
  answer: { code: string } | { error: string; error_description: string },
  { state, issuer }: { state: string | null; issuer: string },
): string {
  const url = new URL(redirectUri)
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value)
  if (state !== null) url.searchParams.set('state', state)
  url.searchParams.set('iss', issuer)
  return url.href
}
