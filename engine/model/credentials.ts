/** Stored credentials as those who use them see them. */

/** A token in the clear, with the address it is for: not for doors. */
export interface UsableCredential {
  token: string
  /** Base address of the API, without a slash at its end. */
  apiUrl: string
}

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

/** The token for what an MCP server names, such as github/main, or a sentence why there is none. */
export function tokenFor(credentials: CredentialLookup, stored: string): { token: string } | string {
  const name = githubName(stored)
  return name === null
    ? `credential:${stored} is no stored credential; one is named credential:github/<name>`
    : credentials.find(name)
}
