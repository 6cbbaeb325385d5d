/** Stored credentials in words, and as their form edits them. */
import type { CredentialTested, StoredCredential } from '../../schemas/types.ts'

const API_URL = 'https://api.github.com'
const SOON_MS = 14 * 86_400_000

/** GitHub itself, or the host of an Enterprise. */
export const hostWords = (apiUrl: string): string =>
  apiUrl === API_URL ? 'GitHub' : `GitHub Enterprise at ${new URL(apiUrl).host}`

/** The address as the form shows it: blank stands for GitHub's own. */
export const addressDraft = (apiUrl: string): string => (apiUrl === API_URL ? '' : apiUrl)

/** "over", "soon" or neither, of a token that expires. @param now epoch ms */
export function expiry({ expires_at: at }: StoredCredential, now: number): 'over' | 'soon' | null {
  if (at === null) return null
  const left = Date.parse(at) - now
  return left <= 0 ? 'over' : left < SOON_MS ? 'soon' : null
}

/** What came of a test: a title, and what GitHub said. */
export function testedWords(tested: CredentialTested): { title: string; text: string } {
  const { ok, login, scopes, expires_at: expires, error, installations } = tested
  if (!ok) return { title: 'GitHub rejects it', text: error ?? 'GitHub gave no reason.' }
  if (installations) return { title: 'GitHub accepts it', text: appWords(tested) }
  const told = [
    login ? `A token of ${login}` : 'GitHub names no owner',
    ...(scopes?.length ? [`its scopes are ${scopes.join(', ')}`] : []),
    ...(expires ? [`it expires on ${expires.slice(0, 10)}`] : []),
  ]
  return { title: 'GitHub accepts it', text: `${told.join('; ')}.` }
}

/** Where an app is installed, and what it may. */
function appWords({ login, permissions = {}, installations = [] }: CredentialTested): string {
  const places = installations.map(
    ({ id, account, repositories, suspended }) =>
      `${account} (installation ${id}, ${repositories === 'all' ? 'all' : 'selected'} repositories${suspended ? ', suspended' : ''})`,
  )
  const may = Object.entries(permissions).map(([what, how]) => `${what.replaceAll('_', ' ')}: ${how}`)
  return `The app ${login} is installed for ${places.join(', ')}.${may.length ? ` It may ${may.join(', ')}.` : ''}`
}

/** What a credential is. */
export const kindWords = ({ kind, installation_id: one }: StoredCredential): string =>
  kind === 'token' ? 'Token' : one === null ? 'App, all installations' : `App, installation ${one}`

/** What the form of an installation means; undefined: it is no number. Blank stands for all. */
export function installationIn(text: string): number | null | undefined {
  if (text.trim() === '') return null
  return /^[1-9]\d{0,15}$/.test(text.trim()) ? Number(text.trim()) : undefined
}

/** What stops where a credential is deleted; null: nothing uses it. */
export function breaksWords({ sources, mcp_servers }: StoredCredential): string | null {
  const parts = [
    ...(sources.length ? [`${sources.join(', ')} will no longer be polled`] : []),
    ...(mcp_servers.length ? [`${mcp_servers.join(', ')} will be left out of runs`] : []),
  ]
  if (parts.length === 0) return null
  return `${parts.join(', and ')} until a credential of the same name is added, or another is chosen there.`
}
