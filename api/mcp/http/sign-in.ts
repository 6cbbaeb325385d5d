/**
 * What lets clients that cannot set headers sign in to a server that listens by itself (MCP, Authorization): its own
 * address, the metadata that names the daemon as who issues its tokens (RFC 9728), and whether a token is for it.
 */
import type { IncomingMessage } from 'node:http'
import type { Identity } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { type Daemon, DaemonError } from '../daemon.ts'

/** How long what the daemon says of itself is good for, milliseconds. */
const FRESH_MS = 60_000
const WELL_KNOWN = '/.well-known/oauth-protected-resource'
const HOST = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?$/

export interface SignInOptions {
  daemon: Daemon
  /** Path that clients connect to. */
  path: string
  /** Address that clients know it by, where a proxy is in front; null: the one they asked. */
  ownUrl: string | null
  name: string
  scopes: readonly string[]
  /** Milliseconds, never going back. */
  now(): number
}

export class SignIn {
  private issuer: { at: number; value: Promise<string | null> } | null = null

  constructor(private readonly options: SignInOptions) {}

  /** Path of its metadata. */
  get metadataPath(): string {
    const { ownUrl, path } = this.options
    return WELL_KNOWN + (ownUrl === null ? path : new URL(ownUrl).pathname)
  }

  /** Address of the server, which tokens for it name. */
  private urlOf(request: IncomingMessage): string {
    const { ownUrl, path } = this.options
    if (ownUrl !== null) return ownUrl
    const host = request.headers.host ?? ''
    return new URL(path, `http://${HOST.test(host) ? host : 'localhost'}`).href
  }

  /** Whether the credential is for this server: a token of OAuth says which one it is for. */
  isFor(identity: Identity, request: IncomingMessage): boolean {
    return identity.oauth === undefined || identity.oauth.resource === this.urlOf(request)
  }

  /** RFC 9728, section 2; null: the daemon signs nobody in. */
  async metadata(request: IncomingMessage): Promise<object | null> {
    const issuer = await this.issuerNow()
    if (issuer === null) return null
    const { name, scopes } = this.options
    return {
      resource: this.urlOf(request),
      authorization_servers: [issuer],
      scopes_supported: scopes,
      bearer_methods_supported: ['header'],
      resource_name: name,
    }
  }

  /** Address of the metadata, for WWW-Authenticate; null: there is none. */
  async metadataUrl(request: IncomingMessage): Promise<string | null> {
    if ((await this.issuerNow()) === null) return null
    return new URL(this.urlOf(request)).origin + this.metadataPath
  }

  private issuerNow(): Promise<string | null> {
    const { daemon, now } = this.options
    if (this.issuer && now() - this.issuer.at < FRESH_MS) return this.issuer.value
    const value = daemon
      .as(null)
      .ask(calls.getOauthServer)
      .then(({ issuer }) => issuer)
      .catch((error: unknown) => {
        // An open daemon, or one of before: clients go on with keys.
        if (error instanceof DaemonError) return null
        throw error
      })
    this.issuer = { at: now(), value }
    return value
  }
}
