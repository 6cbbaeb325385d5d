/**
 * Tokens of a GitHub App: a JSON Web Token signed with the key of the app is exchanged for a token of one of its
 * installations, which lives for an hour (docs.github.com, Authenticating as a GitHub App installation). Tokens are kept
 * in memory alone and made anew before they end, so that what uses one never waits for a refusal.
 */
import { createHash, createPrivateKey, sign } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { AppCredential, TokenCredential, UsableCredential } from '../model/credentials.ts'
import { isApp } from '../model/credentials.ts'
import type { Egress } from './fetch.ts'
import { storedFault } from './redact.ts'

/** Why there is no token, as a sentence without secrets. */
export class GithubAppFault extends Error {
  /** How long GitHub, or what is between, is to be left alone; null: it will not pass by itself. */
  readonly retryAfterMs: number | null
  constructor(message: string, retryAfterMs: number | null = null) {
    super(message)
    this.name = 'GithubAppFault'
    this.retryAfterMs = retryAfterMs
  }
}

/** One place where an app is installed. */
export interface Installation {
  id: number
  /** Login of the organisation or person. */
  account: string
  repositories: 'all' | 'selected'
  suspended: boolean
}

/** What GitHub says of an app. */
export interface AppFacts {
  slug: string
  /** What it may, such as contents: read. */
  permissions: Record<string, string>
}

export interface GithubTokens {
  /**
   * A credential as it is sent: a stored token as it is, of an app one that holds for five minutes at least.
   * @param repo owner/name that it is for, which decides the installation where the credential names none.
   * @throws GithubAppFault
   */
  use(credential: UsableCredential, repo: string | null): Promise<TokenCredential>
  /** The app itself. @throws GithubAppFault */
  facts(credential: AppCredential): Promise<AppFacts>
  /** Where it is installed, 1,000 at most. @throws GithubAppFault */
  installations(credential: AppCredential): Promise<Installation[]>
  /** A token that GitHub refused: the next use makes another. */
  drop(token: string): void
}

/** A token that ends sooner is made anew: what is asked with it must not be refused half-way. */
const REFRESH_MS = 5 * 60_000
/** Within GitHub's ten minutes, the clock before: theirs and ours may differ by a minute. */
const JWT_MS = 9 * 60_000
const SKEW_MS = 60_000
/** How long it is remembered of whose installation an owner is, and how many. */
const OWNER_MS = 10 * 60_000
const KEPT_MAX = 1_000
const REQUEST_MS = 15_000
const ANSWER_BYTES = 4 * 1024 * 1024
const PAGE = 100
const PAGES = 10
const WAIT_MS = 60_000
const TOLD_MAX = 200

interface Held {
  token: string
  /** Epoch ms by our clock. */
  endsAt: number
}

export function createGithubTokens(parts: { egress: Pick<Egress, 'send'>; clock: Clock }): GithubTokens {
  const { clock } = parts
  const held = new Map<string, Held>()
  const making = new Map<string, Promise<Held>>()
  const owners = new Map<string, { id: number; until: number }>()
  const ask = asker(parts)

  async function installations(credential: AppCredential): Promise<Installation[]> {
    const all: Installation[] = []
    for (let page = 1; page <= PAGES; page++) {
      const { body, hasNext } = await ask(
        credential,
        'GET',
        `/app/installations?per_page=${PAGE}&page=${page}`,
      )
      if (!Array.isArray(body)) throw notGithub()
      all.push(...body.flatMap(installationOf))
      if (!hasNext) break
    }
    return all
  }

  async function installationFor(credential: AppCredential, repo: string | null): Promise<number> {
    if (credential.app.installation !== null) return credential.app.installation
    if (repo === null) return onlyOne(credential.app.name, await installations(credential))
    const key = `${keyOf(credential)} ${repo.split('/')[0]!.toLowerCase()}`
    const known = owners.get(key)
    if (known && known.until > clock.now()) return known.id
    const { body } = await ask(credential, 'GET', `/repos/${repo}/installation`)
    const [found] = installationOf(body)
    if (!found) throw notGithub()
    keep(owners, key, { id: found.id, until: clock.now() + OWNER_MS })
    return found.id
  }

  async function make(credential: AppCredential, installation: number): Promise<Held> {
    const path = `/app/installations/${installation}/access_tokens`
    const { body, at } = await ask(credential, 'POST', path)
    const { token, expires_at: ends } = (body ?? {}) as { token?: unknown; expires_at?: unknown }
    const left = typeof ends === 'string' ? Date.parse(ends) - at : Number.NaN
    if (typeof token !== 'string' || token === '' || Number.isNaN(left)) throw notGithub()
    return { token, endsAt: clock.now() + left }
  }

  /** Those that ask at once for one token wait for the same. */
  async function tokenOf(credential: AppCredential, installation: number): Promise<string> {
    const key = `${keyOf(credential)} ${installation}`
    const known = held.get(key)
    if (known && known.endsAt - clock.now() > REFRESH_MS) return known.token
    const begun = making.get(key) ?? make(credential, installation).finally(() => making.delete(key))
    making.set(key, begun)
    const made = await begun
    keep(held, key, made)
    return made.token
  }

  return {
    installations,
    async use(credential, repo) {
      if (!isApp(credential)) return credential
      const installation = await installationFor(credential, repo)
      return { apiUrl: credential.apiUrl, token: await tokenOf(credential, installation) }
    },
    async facts(credential) {
      const { body } = await ask(credential, 'GET', '/app')
      const { slug, permissions } = (body ?? {}) as { slug?: unknown; permissions?: unknown }
      if (typeof slug !== 'string') throw notGithub()
      return { slug, permissions: textsIn(permissions) }
    },
    drop(token) {
      for (const [key, one] of held) if (one.token === token) held.delete(key)
    },
  }
}

/** The oldest goes where there are too many. */
function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > KEPT_MAX) map.delete(map.keys().next().value!)
}

/** Another key, app or address is another app: what was made of the one before is not used for it. */
const keyOf = ({ app, apiUrl }: AppCredential): string =>
  createHash('sha256').update(`${apiUrl}\n${app.id}\n${app.privateKey}`).digest('hex')

function onlyOne(name: string, found: readonly Installation[]): number {
  const active = found.filter(({ suspended }) => !suspended)
  if (active.length === 1) return active[0]!.id
  if (active.length === 0)
    throw new GithubAppFault(
      `the app of the credential ${name} is installed nowhere; install it on GitHub first`,
    )
  const listed = active
    .slice(0, 5)
    .map(({ id, account }) => `${id} (${account})`)
    .join(', ')
  throw new GithubAppFault(
    `the app of the credential ${name} is installed in ${active.length} places; give the credential an installation_id: ${listed}`,
  )
}

function installationOf(entry: unknown): Installation[] {
  const { id, account, repository_selection, suspended_at } = (entry ?? {}) as Record<string, unknown>
  const { login, slug } = (account ?? {}) as { login?: unknown; slug?: unknown }
  if (!Number.isSafeInteger(id)) return []
  return [
    {
      id: id as number,
      // Of an enterprise there is a slug alone.
      account: typeof login === 'string' ? login : typeof slug === 'string' ? slug : '',
      repositories: repository_selection === 'selected' ? 'selected' : 'all',
      suspended: typeof suspended_at === 'string',
    },
  ]
}

const textsIn = (value: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(value !== null && typeof value === 'object' ? value : {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  )

interface Said {
  body: unknown
  hasNext: boolean
  /** When GitHub answered, by its own clock where it says so; epoch ms. */
  at: number
}

/** Requests as the app itself. */
function asker({ egress, clock }: { egress: Pick<Egress, 'send'>; clock: Clock }) {
  return async (credential: AppCredential, method: 'GET' | 'POST', path: string): Promise<Said> => {
    const jwt = appToken(credential, clock.now())
    const answer = await egress.send({
      ...{ url: `${credential.apiUrl}${path}`, method, timeoutMs: REQUEST_MS },
      ...{ audience: 'operator', maxResponseBytes: ANSWER_BYTES, repeatable: true },
      headers: {
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${jwt}`,
        'x-github-api-version': '2022-11-28',
      },
    })
    if (!answer.ok) throw new GithubAppFault(`GitHub cannot be asked for a token: ${answer.message}`, WAIT_MS)
    const { status, headers } = answer
    const body = parsed(answer.body)
    if (status >= 300) throw refusal(credential, { status, path, told: toldIn(body, jwt) })
    const at = Date.parse(headers.date ?? '')
    return {
      body,
      hasNext: /;\s*rel="next"/.test(String(headers.link ?? '')),
      at: Number.isNaN(at) ? clock.now() : at,
    }
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (error) {
    // What a proxy answers is a page for people; the status is enough.
    if (!(error instanceof SyntaxError)) throw error
    return undefined
  }
}

function toldIn(body: unknown, jwt: string): string {
  const { message } = (body ?? {}) as { message?: unknown }
  return typeof message === 'string' ? storedFault(message, [jwt]).replace(/\.$/, '').slice(0, TOLD_MAX) : ''
}

function refusal(
  { app }: AppCredential,
  { status, path, told }: { status: number; path: string; told: string },
): GithubAppFault {
  const own = told === '' ? '' : `: ${told}`
  if (status === 401)
    return new GithubAppFault(
      `GitHub does not take the key of the app ${app.id} (401)${own}; check app_id and private_key under Settings, GitHub, and the clock of this machine`,
    )
  const [, repo] = /^\/repos\/(.*)\/installation$/.exec(path) ?? []
  if (status === 404 && repo !== undefined)
    return new GithubAppFault(`the app ${app.id} is not installed for ${repo} (404); install it on GitHub`)
  const [, installation] = /^\/app\/installations\/(\d+)\//.exec(path) ?? []
  if (status === 404 && installation !== undefined)
    return new GithubAppFault(
      `the app ${app.id} has no installation ${installation} (404); it may have been uninstalled`,
    )
  if (status === 404) return notGithub()
  if (status === 403)
    return new GithubAppFault(`GitHub forbids the app ${app.id} a token (403)${own}`, WAIT_MS)
  return new GithubAppFault(`GitHub answered ${status} to the app ${app.id}${own}`, WAIT_MS)
}

const notGithub = (): GithubAppFault =>
  new GithubAppFault(
    'what answers at api_url is not the API of GitHub; for GitHub Enterprise it is https://HOST/api/v3',
  )

/** RFC 7519 with RS256 (RFC 7518, 3.3). @param nowMs epoch ms */
function appToken({ app }: AppCredential, nowMs: number): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const seconds = (ms: number) => Math.floor(ms / 1_000)
  const claims = { iat: seconds(nowMs - SKEW_MS), exp: seconds(nowMs + JWT_MS), iss: app.id }
  const signed = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}`
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), app.privateKey).toString('base64url')}`
}

const RSA_BITS_MIN = 2_048

/** @param given PEM, also with \n written out as environments have it. @returns it as it is kept; null: it is none */
export function privateKeyOf(given: string): string | null {
  const pem = `${given.replaceAll('\\n', '\n').trim()}\n`
  try {
    const key = createPrivateKey(pem)
    const isFit =
      key.asymmetricKeyType === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= RSA_BITS_MIN
    return isFit ? pem : null
  } catch {
    // A key of node:crypto says why in the words of OpenSSL, which are of no use to who pasted it.
    return null
  }
}
