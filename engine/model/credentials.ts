/** Stored credentials as those who use them see them. */
import { fail } from '../errors.ts'

/** A token in the clear, with the address it is for: not for doors. */
export interface TokenCredential {
  token: string
  /** Base address of the API, without a slash at its end. */
  apiUrl: string
}

/** An app of GitHub, by whose key tokens are made where they are used (net/github-app.ts). Not for doors. */
interface GithubApp {
  /** Name of the credential. */
  name: string
  id: string
  /** Null: every installation there is; which one, the repository decides. */
  installation: number | null
  /** PEM. */
  privateKey: string
}

/** What a stored credential is used as: a token, or an app that makes them. */
export type UsableCredential = TokenCredential | AppCredential

export interface AppCredential {
  app: GithubApp
  apiUrl: string
}

/** Whether tokens are made of it. */
export const isApp = (credential: UsableCredential): credential is AppCredential => 'app' in credential

/** Looked up anew at each use, so that a rotated token is used from then on. */
export interface CredentialLookup {
  /** Of all there are. */
  names(): string[]
  has(name: string): boolean
  /** The credential, or a sentence why it cannot be used. */
  find(name: string): UsableCredential | string
}

/** Where a person puts it right. */
export const WHERE = 'Settings, GitHub'

const PREFIX = 'github/'

/** The credential that `credential:github/<name>` means, of what stands after the colon; null: none. */
export const githubName = (stored: string | null): string | null =>
  stored?.startsWith(PREFIX) && stored.length > PREFIX.length ? stored.slice(PREFIX.length) : null

/** What an MCP server names, such as github/main, or a sentence why it cannot be had. */
export function credentialFor(credentials: CredentialLookup, stored: string): UsableCredential | string {
  const name = githubName(stored)
  return name === null
    ? `credential:${stored} is no stored credential; one is named credential:github/<name>`
    : credentials.find(name)
}

/*
 * A stored secret is for the address it was entered for. Whoever may change an address could otherwise
 * have the secret sent to a host of theirs; so where the address changes, the secret is entered again.
 * One rule for sources, MCP servers, agents, model providers, tracing, credentials and parameters.
 */

/** Scheme, host and port of an address; null: it is none, or one without a host. */
export function originOf(address: unknown): string | null {
  if (typeof address !== 'string' || !URL.canParse(address)) return null
  const { origin } = new URL(address)
  return origin === 'null' ? null : origin
}

/**
 * Refuses to keep a secret that is stored for another address.
 * @param field as the caller knows it. @param was, now the addresses; blank ones are sent nothing.
 * @throws SvcError invalid
 */
export function refuseMoved(field: string, was: unknown, now: unknown, extra: { field: string }): void {
  if (now === undefined || now === null || now === '' || now === was) return
  const origin = originOf(now)
  if (origin === null || origin !== originOf(was))
    fail('invalid', `${field}: enter it again: the address changed`, extra)
}

/** Host and path, the last part of the path but for two characters: where secrets tend to be. */
export function maskedUrl(url: string): string {
  const { protocol, host, pathname } = new URL(url)
  const parts = pathname.split('/')
  const last = parts.pop() ?? ''
  const shown = last.length > 2 ? `${last.slice(0, 2)}…` : last
  return `${protocol}//${host}${[...parts, shown].join('/')}`
}

/** slack://channel/ and the id, or the name, of a channel. */
const SLACK_CHANNEL = /^slack:\/\/channel\/(?:([A-Z][A-Z0-9]{4,39})|#?([a-z0-9][a-z0-9._-]{0,79}))$/

/** What a channel is called by in Slack's API; null: this is no address of one. */
export function slackChannelOf(url: string): string | null {
  const found = SLACK_CHANNEL.exec(url)
  if (!found) return null
  return found[1] ?? `#${found[2]}`
}
