/** The git repository that the catalog is synced with: what it is, and what may not be said of one. Pure. */
import { createHash } from 'node:crypto'
import type { CatalogRepository } from '../../schemas/types.ts'

export type Policy = CatalogRepository['policy']

/** As the daemon is started with it (SVC_CATALOG_REPO and its kin). */
export interface Repository {
  /** https, ssh or file address, or a path of this machine. */
  address: string
  /** Folder or file of the catalog in it, without slashes at its ends; empty: all of it. */
  path: string
  /** Branch or tag. */
  ref: string
  policy: Policy
  intervalMs: number
  environment: string | null
  /** Name of the stored credential that it is read with. */
  credential: string | null
  /** File of an SSH key, absolute. */
  sshKey: string | null
  /** What pushes are signed with; null: none is taken. */
  pushSecret: string | null
  /** Folder for the mirror, absolute. */
  folder: string
  /** Name of this instance, by which statuses of commits are told apart. */
  instance: string
}

/** What any repository is followed with, whoever names it. */
export type RepositoryHome = Pick<Repository, 'folder' | 'instance' | 'environment' | 'sshKey' | 'pushSecret'>

const SCHEMES = ['https:', 'http:', 'ssh:', 'file:']
/** git@HOST:PATH, as git takes it for SSH. */
const SCP = /^[A-Za-z0-9_][\w.-]*@[\w.-]+:[^\s:][^\s]*$/

/** What is wrong with the address of a repository, as the end of a sentence; null: nothing. */
export function addressFaultOf(address: string): string | null {
  // A name that git would take for an option, or a line of its own.
  if (/^-|\p{Cc}/u.test(address)) return 'must not begin with a dash or hold control characters'
  if (address.startsWith('/') || SCP.test(address)) return null
  if (!URL.canParse(address))
    return 'must be an https, ssh or file address, git@HOST:PATH or an absolute path'
  const url = new URL(address)
  if (!SCHEMES.includes(url.protocol))
    return `must be an https, ssh or file address, and ${url.protocol.slice(0, -1)} is none of these`
  if (url.password || (url.username && url.protocol !== 'ssh:'))
    return 'must have no user or password in it; name a stored credential in SVC_CATALOG_REPO_CREDENTIAL'
  if (url.username.startsWith('-') || url.hostname.startsWith('-'))
    return 'must not have a dash before a name'
  if (url.search || url.hash) return 'must have no query or fragment'
  return null
}

/** The same of a branch or tag: what git takes as one (git-check-ref-format), and no hash. */
export function refFaultOf(ref: string): string | null {
  const isOne = /^[A-Za-z0-9_][A-Za-z0-9_./+-]{0,199}$/.test(ref)
  if (isOne && !/\.\.|\/\/|\/\.|\.lock(\/|$)|[./]$/.test(ref)) return null
  return 'must be the name of a branch or a tag'
}

/** The same of a path in the repository. */
export function pathFaultOf(path: string): string | null {
  const steps = path.split('/').filter(Boolean)
  if (/\p{Cc}|\\/u.test(path) || steps.includes('..') || steps.includes('.'))
    return 'must be a path in the repository, without . and ..'
  return null
}

/** Of a path as it is given. */
export const pathIn = (path: string): string => path.split('/').filter(Boolean).join('/')

/** What it is called where no file says `catalog`: by its path, else by its address. */
export function nameOfRepository({ address, path }: Pick<Repository, 'address' | 'path'>): string {
  const last = (path || address)
    .replace(/[/\\]+$/, '')
    .split(/[/\\:]/)
    .at(-1)!
  const stem = last.replace(/\.(git|ya?ml|json)$/i, '').replace(/[^A-Za-z0-9_.-]/g, '-')
  return stem.replace(/^[^A-Za-z0-9]+/, '').slice(0, 64) || 'catalog'
}

/** Host a repository is at; null: this machine. */
export function hostOfRepository(address: string): string | null {
  if (address.startsWith('/')) return null
  if (SCP.test(address)) return /@([^:]+):/.exec(address)![1]!
  return new URL(address).hostname || null
}

/** Folder of its mirror: of another address another one. */
export const mirrorOf = ({ folder, address }: Repository): string =>
  `${folder}/${createHash('sha256').update(address).digest('hex').slice(0, 16)}.git`

/** What is stored and shown of it: neither secrets, nor places of this machine. */
export const shownOf = (of: Repository): CatalogRepository => ({
  address: of.address,
  path: of.path,
  ref: of.ref,
  environment: of.environment,
  policy: of.policy,
  interval_seconds: of.intervalMs / 1_000,
  credential: of.credential,
  takes_pushes: of.pushSecret !== null,
  links: linksOf(of.address),
})

/** Where the hosts that are known by their name show files and commits: GitHub and GitLab, also where they are run by oneself. */
const HOSTS: readonly [name: RegExp, commit: string, line: string][] = [
  [/(^|\.)github(\.|$)/, '/commit/COMMIT', '/blob/COMMIT/PATH#LLINE'],
  [/(^|\.)gitlab(\.|$)/, '/-/commit/COMMIT', '/-/blob/COMMIT/PATH#LLINE'],
]

/** Addresses for people of what is at a repository; null: its host is none that is known. */
export function linksOf(address: string): CatalogRepository['links'] {
  const [, scpHost, scpPath] = SCP.test(address) ? /@([^:]+):(.*)$/.exec(address)! : []
  const url = scpHost === undefined && URL.canParse(address) ? new URL(address) : null
  const [host, path] = url ? [url.hostname, url.pathname] : [scpHost ?? '', scpPath ?? '']
  const known = HOSTS.find(([name]) => name.test(host))
  if (!known || url?.protocol === 'file:') return null
  const name = path.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '')
  // The port of ssh is none of the pages.
  const origin = url && /^https?:$/.test(url.protocol) ? url.origin : `https://${host}`
  const [, commit, line] = known
  return { commit: `${origin}/${name}${commit}`, line: `${origin}/${name}${line}` }
}
