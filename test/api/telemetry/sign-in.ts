/** A person's part of signing a client in, over the API that the console uses, and a provider of the official SDK. */
import { createHash, randomBytes } from 'node:crypto'
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import type { OAuthClientInformationFull, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import { ROOT, type TelemetryWorld } from './telemetry-world.ts'

export const REDIRECT = 'http://127.0.0.1:3334/callback'

/** Logs in as the console does, and decides on what the client opened. @returns where the browser is sent */
export async function decide(
  svc: TelemetryWorld,
  query: string,
  { allow = true, token = ROOT, scopes }: { allow?: boolean; token?: string; scopes?: string[] } = {},
): Promise<URL> {
  const opened = await svc.call('POST', '/api/session', { token }, {})
  const cookie = opened.headers.get('set-cookie')!.split(';')[0]!
  const answer = await svc.call<{ redirect: string; detail?: string }>(
    'POST',
    '/api/oauth/decisions',
    { query, allow, ...(scopes ? { scopes } : {}) },
    { cookie, origin: svc.url },
  )
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
  return new URL(answer.json.redirect)
}

/** Keeps in memory what a client keeps, and notes where it sends its person. */
export class Provider implements OAuthClientProvider {
  client: OAuthClientInformationFull | undefined
  kept: OAuthTokens | undefined
  verifier = ''
  opened: URL | null = null
  constructor(
    private readonly scope?: string,
    /** Address of its document: then it does not register. */
    readonly clientMetadataUrl?: string,
  ) {}
  readonly redirectUrl = REDIRECT
  get clientMetadata() {
    return {
      client_name: 'Official client',
      redirect_uris: [REDIRECT],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      ...(this.scope ? { scope: this.scope } : {}),
    }
  }
  state = () => 'state-of-the-client'
  clientInformation = () => this.client
  saveClientInformation(client: OAuthClientInformationFull) {
    this.client = client
  }
  tokens = () => this.kept
  saveTokens(tokens: OAuthTokens) {
    this.kept = tokens
  }
  redirectToAuthorization(url: URL) {
    this.opened = url
  }
  saveCodeVerifier(verifier: string) {
    this.verifier = verifier
  }
  codeVerifier = () => this.verifier
}

/** A client by hand, for what no official one would send. */
export async function handMade(svc: TelemetryWorld, more: Record<string, string | null> = {}) {
  const body = { client_name: 'By hand', redirect_uris: [REDIRECT] }
  let registered = await svc.call<{ client_id: string }>('POST', '/oauth/register', body, {})
  if (registered.status === 429) {
    // Ten a minute of one address.
    svc.clock.ahead += 60_000
    registered = await svc.call('POST', '/oauth/register', body, {})
  }
  const clientId = registered.json.client_id
  const verifier = randomBytes(32).toString('base64url')
  const fields: Record<string, string | null> = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: REDIRECT,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    resource: svc.mcpUrl,
    scope: 'read',
    state: 's',
    ...more,
  }
  const query = new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) =>
      value === null ? [] : [[name, value] as [string, string]],
    ),
  ).toString()
  return { clientId, verifier, query }
}

export interface Answered {
  status: number
  json: Record<string, string>
  headers: Headers
}

export async function form(url: string, fields: Record<string, string>): Promise<Answered> {
  const answer = await fetch(url, { method: 'POST', body: new URLSearchParams(fields) })
  return {
    status: answer.status,
    json: (await answer.json()) as Record<string, string>,
    headers: answer.headers,
  }
}

/** From consent to tokens. */
export async function signedIn(
  svc: TelemetryWorld,
  more: Record<string, string | null> = {},
  decision: Parameters<typeof decide>[2] = {},
) {
  const client = await handMade(svc, more)
  const back = await decide(svc, client.query, decision)
  const code = back.searchParams.get('code')!
  const exchange = {
    ...{ grant_type: 'authorization_code', code, client_id: client.clientId },
    ...{ redirect_uri: more.redirect_uri ?? REDIRECT, code_verifier: client.verifier },
  }
  const { status, json } = await form(`${svc.url}/oauth/token`, exchange)
  if (status !== 200) throw new Error(JSON.stringify(json))
  return { ...client, exchange, access: json.access_token!, refresh: json.refresh_token!, json }
}
