/**
 * A stand-in for GitHub that apps sign in at: JSON Web Tokens are checked with the public key as GitHub says it does
 * (docs.github.com, Generating a JSON Web Token for a GitHub App), tokens of installations live for an hour, and what is
 * asked with them is answered in the shapes of the REST API, 2022-11-28. test/…/github-app.test.ts holds @octokit/app
 * against it.
 */
import { generateKeyPairSync, verify } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export const REPO = 'acme/shop'
export const SHA = '9c1f0a4be07ad8d5bb2d2f0ce5a3f6a4d7c0e1b2'
export const APP_ID = '4711'

/** A key as GitHub gives it: RSA, PKCS#1. */
export function makeKey(): { privateKey: string; publicKey: string } {
  return generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  })
}

interface Place {
  id: number
  account: { login: string }
  repository_selection: 'all' | 'selected'
  suspended_at: string | null
  repositories: string[]
}

export interface GithubAppServer {
  url: string
  /** Keys whose signatures are taken. */
  publicKeys: string[]
  privateKey: string
  installations: Place[]
  /** Tokens that were made, with when they end, epoch ms. */
  tokens: Map<string, { installation: number; endsAt: number }>
  /** What was asked, in order: method and path; and what was sent. */
  asked: string[]
  sent: { path: string; body: Record<string, unknown> }[]
  checkRuns: Map<number, Record<string, unknown>>
  comments: Map<number, { number: number; body: string }>
  /** Answers the next requests of this method and path with that, until it is used up. */
  refusals: {
    method: string
    path: RegExp
    status: number
    body?: object
    headers?: Record<string, string>
  }[]
  /** Called after a write was done and before it is answered. */
  beforeAnswer: ((method: string, path: string) => Promise<void> | void) | null
  now(): number
}

/** @param now its clock, epoch ms */
export async function githubAppServer(now: () => number = Date.now): Promise<GithubAppServer> {
  const key = makeKey()
  const made: GithubAppServer = {
    ...{ url: '', publicKeys: [key.publicKey], privateKey: key.privateKey, now },
    installations: [place(1, 'acme', [REPO, 'acme/docs'])],
    ...{ tokens: new Map(), asked: [], sent: [], checkRuns: new Map(), comments: new Map(), refusals: [] },
    beforeAnswer: null,
  }
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request)
    const [method, path] = [request.method!, request.url!]
    made.asked.push(`${method} ${path}`)
    const refusal = made.refusals.findIndex((one) => one.method === method && one.path.test(path))
    const [refused] = refusal === -1 ? [] : made.refusals.splice(refusal, 1)
    const answer = refused
      ? { status: refused.status, value: refused.body ?? {}, headers: refused.headers ?? {} }
      : { headers: {}, ...answerTo(made, { method, path, body, bearer: bearerOf(request) }) }
    if (method !== 'GET') await made.beforeAnswer?.(method, path)
    response.writeHead(answer.status, {
      'content-type': 'application/json; charset=utf-8',
      date: new Date(now()).toUTCString(),
      ...answer.headers,
    })
    response.end(answer.status === 204 ? undefined : JSON.stringify(answer.value))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  made.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return made
}

export const place = (id: number, login: string, repositories: string[]): Place => ({
  ...{ id, account: { login }, repository_selection: 'selected', suspended_at: null, repositories },
})

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const text = Buffer.concat(parts).toString('utf8')
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
}

const bearerOf = ({ headers }: IncomingMessage): string =>
  (headers.authorization ?? '').replace(/^(bearer|token) /i, '')

interface Asked {
  method: string
  path: string
  body: Record<string, unknown>
  bearer: string
}
interface Said {
  status: number
  value: unknown
  headers?: Record<string, string>
}

function answerTo(made: GithubAppServer, asked: Asked): Said {
  const ofApp = /^\/app(\/|$)|^\/repos\/[^/]+\/[^/]+\/installation$/.test(asked.path.split('?')[0]!)
  return ofApp ? asApp(made, asked) : asInstallation(made, asked)
}

/** @returns why a JSON Web Token is refused, in GitHub's words; null: it is taken */
function jwtFault({ publicKeys, now }: GithubAppServer, jwt: string): string | null {
  const [head = '', claims = '', signature = ''] = jwt.split('.')
  const parsed = (part: string) =>
    JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>
  try {
    const { alg } = parsed(head)
    const { iss, iat, exp } = parsed(claims) as { iss: unknown; iat: number; exp: number }
    const isSigned = publicKeys.some((key) =>
      verify('RSA-SHA256', Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url')),
    )
    if (alg !== 'RS256' || !isSigned || String(iss) !== APP_ID) return 'A JSON web token could not be decoded'
    const seconds = now() / 1_000
    if (exp - seconds > 600) return "'Expiration time' claim ('exp') is too far in the future"
    if (exp <= seconds)
      return "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires"
    if (iat > seconds + 60)
      return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
    return null
  } catch {
    return 'A JSON web token could not be decoded'
  }
}

function asApp(made: GithubAppServer, { method, path, bearer }: Asked): Said {
  const fault = jwtFault(made, bearer)
  if (fault !== null) return { status: 401, value: { message: fault } }
  if (path === '/app')
    return {
      status: 200,
      value: {
        ...{ id: Number(APP_ID), slug: 'shop-watch', name: 'Shop watch', owner: { login: 'acme' } },
        permissions: { checks: 'write', contents: 'read', issues: 'write', metadata: 'read' },
        events: ['push'],
      },
    }
  if (path.split('?')[0] === '/app/installations') return paged(made, path, made.installations.map(shown))
  const [, repo] = /^\/repos\/([^/]+\/[^/]+)\/installation$/.exec(path) ?? []
  if (repo !== undefined) {
    const found = made.installations.find(({ repositories }) => repositories.includes(repo))
    return found ? { status: 200, value: shown(found) } : NOT_FOUND
  }
  const [, id] = /^\/app\/installations\/(\d+)\/access_tokens$/.exec(path) ?? []
  const found = made.installations.find((one) => one.id === Number(id))
  if (method !== 'POST' || !found) return NOT_FOUND
  if (found.suspended_at !== null)
    return { status: 403, value: { message: 'This installation has been suspended' } }
  const token = `ghs_canary${made.tokens.size}of${found.id}x${'0'.repeat(20)}`
  const endsAt = made.now() + 3_600_000
  made.tokens.set(token, { installation: found.id, endsAt })
  return {
    status: 201,
    value: { token, expires_at: new Date(endsAt).toISOString().replace('.000Z', 'Z'), permissions: {} },
  }
}

const NOT_FOUND: Said = { status: 404, value: { message: 'Not Found' } }

const shown = ({ repositories: _own, ...one }: Place) => ({ ...one, app_slug: 'shop-watch' })

/** A page of a list, with the link to the next. */
function paged(
  made: GithubAppServer,
  path: string,
  all: unknown[],
  wrap?: (page: unknown[]) => object,
): Said {
  const query = new URL(path, 'http://x').searchParams
  const [size, number] = [Number(query.get('per_page') ?? 30), Number(query.get('page') ?? 1)]
  const page = all.slice((number - 1) * size, number * size)
  const hasNext = all.length > number * size
  const next = `<${made.url}${path.replace(/([?&])page=\d+/, `$1page=${number + 1}`)}>; rel="next"`
  return { status: 200, value: wrap?.(page) ?? page, headers: hasNext ? { link: next } : {} }
}

const repository = (name: string) => ({
  ...{ full_name: name, default_branch: 'main', private: true, pushed_at: '2026-11-20T10:00:00Z' },
})

function asInstallation(made: GithubAppServer, asked: Asked): Said {
  const { method, path, body, bearer } = asked
  const held = made.tokens.get(bearer)
  if (!held || held.endsAt <= made.now()) return { status: 401, value: { message: 'Bad credentials' } }
  const { repositories } = made.installations.find(({ id }) => id === held.installation)!
  if (path === '/user') return { status: 403, value: { message: 'Resource not accessible by integration' } }
  if (path.startsWith('/installation/repositories'))
    return paged(made, path, repositories.map(repository), (page) => ({
      ...{ total_count: repositories.length, repositories: page },
    }))
  const [, repo = '', rest = ''] = /^\/repos\/([^/]+\/[^/?]+)(.*)$/.exec(path) ?? []
  if (!repositories.includes(repo)) return NOT_FOUND
  if (method !== 'GET') made.sent.push({ path, body })
  if (rest === '') return { status: 200, value: repository(repo) }
  if (rest.startsWith('/commits?')) return { status: 200, value: [commit()] }
  if (rest === `/commits/${SHA}`) return { status: 200, value: { ...commit(), files: [] } }
  if (rest.startsWith('/pulls?')) return { status: 200, value: [] }
  if (rest.startsWith('/contents')) return contents(rest)
  if (rest.includes('/check-runs')) return checkRuns(made, asked, rest)
  return comments(made, asked, rest)
}

const commit = () => ({
  ...{
    sha: SHA,
    parents: [],
    html_url: `https://github.com/${REPO}/commit/${SHA}`,
    author: { login: 'ada' },
  },
  commit: { message: 'Faster carts', author: { name: 'Ada', date: '2026-11-20T10:00:00Z' } },
})

function contents(rest: string): Said {
  const path = decodeURIComponent(new URL(rest.replace(/^\/contents\/?/, '/'), 'http://x').pathname.slice(1))
  const entry = (name: string, type: string, size = 0) => ({
    ...{ name, type, size, path: path === '' ? name : `${path}/${name}`, sha: SHA },
  })
  if (path === '') return { status: 200, value: [entry('README.md', 'file', 12), entry('src', 'dir')] }
  if (path === 'src')
    return { status: 200, value: [entry('a b.ts', 'file', 3), entry('vendor', 'submodule')] }
  return NOT_FOUND
}

/** docs.github.com, REST, Check runs. */
function checkRuns(made: GithubAppServer, { method, body }: Asked, rest: string): Said {
  if (method === 'GET') {
    const name = new URL(rest, 'http://x').searchParams.get('check_name')
    const [, sha] = /^\/commits\/([0-9a-f]+)\/check-runs/.exec(rest) ?? []
    const found = [...made.checkRuns.values()].filter((one) => one.head_sha === sha && one.name === name)
    return { status: 200, value: { total_count: found.length, check_runs: found } }
  }
  if (!/^[0-9a-f]{40}$/.test(String(body.head_sha)) && method === 'POST')
    return { status: 422, value: { message: `No commit found for SHA: ${String(body.head_sha)}` } }
  const id = method === 'POST' ? 100 + made.checkRuns.size : Number(/(\d+)$/.exec(rest)?.[1])
  const run = { ...made.checkRuns.get(id), ...body, id, html_url: `${made.url}/runs/${id}` }
  made.checkRuns.set(id, run)
  return { status: method === 'POST' ? 201 : 200, value: run }
}

/** docs.github.com, REST, Issue comments; a pull request is an issue. */
function comments(made: GithubAppServer, { method, path, body }: Asked, rest: string): Said {
  const [, number] = /^\/issues\/(\d+)\/comments/.exec(rest) ?? []
  const [, id] = /^\/issues\/comments\/(\d+)$/.exec(rest) ?? []
  const own = ([one, { body: text }]: [number, { body: string }]) => ({
    ...{ id: one, body: text, performed_via_github_app: { id: Number(APP_ID) } },
  })
  if (method === 'GET' && number !== undefined) {
    const of = [...made.comments].filter(([, one]) => one.number === Number(number))
    return paged(made, path, of.map(own))
  }
  if (number === undefined && id === undefined) return NOT_FOUND
  const key = id === undefined ? 500 + made.comments.size : Number(id)
  made.comments.set(key, {
    number: Number(number ?? made.comments.get(key)!.number),
    body: String(body.body),
  })
  return { status: id === undefined ? 201 : 200, value: own([key, made.comments.get(key)!]) }
}
