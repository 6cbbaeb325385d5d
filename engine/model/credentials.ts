/** Stored credentials as those who use them see them. */

/** A token in the clear, with the address it is for: not for doors. */
export interface TokenCredential {
  token: string
  /** Base address of the API, without a slash at its end. */
  apiUrl: string
}

/** An app of GitHub, by whose key tokens are made where they are used (net/github-app.ts). Not for doors. */
export interface GithubApp {
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
