/** Which repository of which GitHub a config means. */
import type { GithubConfig } from '../../../schemas/types.ts'

const API_URL = 'https://api.github.com'
const NAME = /^[A-Za-z0-9_-]{1,100}\/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/

/** @param text owner/name, or an address as people paste it. @returns owner/name; null: it is none. */
export function repoOf(text: string): string | null {
  const path = text
    .trim()
    .replace(/^(\w+:\/\/[^/]+\/|[\w.-]+@[^:/]+:|[\w-]+(\.[\w-]+)+\/(?=[^/]+\/))/, '')
    .replace(/[?#].*$/, '')
  const name = path
    .split('/')
    .slice(0, 2)
    .join('/')
    .replace(/\.git$/, '')
  return NAME.test(name) ? name : null
}

/** Base address of the API, without a slash at its end. */
export const apiOf = ({ api_url: url = API_URL }: Pick<GithubConfig, 'api_url'>): string =>
  url.replace(/\/+$/, '')

/** Rules a JSON Schema cannot say. @returns a sentence per fault. */
export function repoFaults({ repo, api_url: url }: Partial<GithubConfig>): string[] {
  const faults: string[] = []
  if (repo !== undefined && repoOf(repo) === null)
    faults.push('config.repo must be owner/name, or the address of a repository')
  if (url !== undefined && (!URL.canParse(url) || new URL(url).username || new URL(url).password))
    faults.push('config.api_url must be an address without a user name or a password')
  return faults
}

/** A token of its own and a stored one: which would be sent is not to be guessed. @returns a sentence per fault. */
export const tokenFaults = ({ token, credential }: Partial<GithubConfig>): string[] =>
  token && credential ? ['config.token and config.credential exclude each other: keep one of them'] : []
