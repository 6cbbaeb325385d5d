/** A host of repositories on loopback: git over smart HTTP by git's own http-backend, and what GitHub's API is asked here. */
import { spawn, spawnSync } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

export interface GitServer {
  url: string
  /** Tokens that are taken; of none anybody is. */
  tokens: Set<string> | null
  /** What the API was asked, in order: method, path without its base, body. */
  asked: [method: string, path: string, body: unknown][]
  /** Comments of pull request 7, by id. */
  comments: Map<number, string>
  /** Answers to a status are held until this resolves. */
  hold: Promise<void> | null
  /** Pull requests, by number from 41; one that is closed is no longer listed as open. */
  pulls: Map<number, Pull>
  /** What is answered to the making of a pull request in place of it. */
  refusal: { status: number; body: object } | null
  close(): Promise<void>
}

export interface Pull {
  title: string
  body: string
  head: string
  base: string
  state: 'open' | 'closed'
}

/** @param root folder of bare repositories. */
export async function gitServer(root: string): Promise<GitServer> {
  const made: GitServer = {
    ...{ url: '', tokens: null, asked: [], comments: new Map(), hold: null },
    ...{ pulls: new Map<number, Pull>(), refusal: null },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  const server = createServer((request, response) => {
    void (request.url!.startsWith('/api/v3/')
      ? api(made, root, request, response)
      : backend(made, root, request, response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  made.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return made
}

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

/** The wire format of GitHub's REST API (2022-11-28): statuses of commits, comments of issues, pulls of a commit. */
async function api(
  made: GitServer,
  root: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const text = (await bodyOf(request)).toString('utf8')
  const path = request.url!.slice('/api/v3'.length)
  const body = text === '' ? null : (JSON.parse(text) as { body?: string })
  const answer = (status: number, value: unknown) => {
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
    response.end(JSON.stringify(value))
  }
  const token = request.headers.authorization?.replace('Bearer ', '')
  if (made.tokens && !made.tokens.has(token ?? '')) return answer(401, { message: 'Bad credentials' })
  if (path === '/user') return answer(200, { login: 'octocat' })
  made.asked.push([request.method!, path, body])
  if (path.includes('/statuses/')) {
    await made.hold
    return answer(201, { id: 1, state: 'success' })
  }
  const [, repo, number] = /^\/repos\/([^/]+\/[^/]+)\/pulls(?:\/(\d+))?(?:\?|$)/.exec(path) ?? []
  if (repo !== undefined) {
    const { status, value } = pulls(made, join(root, `${repo}.git`), {
      ...{ method: request.method!, repo, number, body },
      query: new URL(path, 'http://x').searchParams,
    })
    return answer(status, value)
  }
  if (path.endsWith('/pulls')) return answer(200, [{ number: 7, state: 'closed' }])
  const of = [...made.comments].map(([id, one]) => ({ id, body: one }))
  if (request.method === 'GET') return answer(200, of)
  const id = Number(/comments\/(\d+)$/.exec(path)?.[1] ?? made.comments.size + 1)
  made.comments.set(id, body!.body!)
  return answer(request.method === 'POST' ? 201 : 200, { id, body: body!.body })
}

interface PullsAsked {
  method: string
  repo: string
  number: string | undefined
  query: URLSearchParams
  body: unknown
}

/** Pull requests (docs.github.com, REST, pulls): listed by head and base, made of a branch that is there, changed. */
function pulls(made: GitServer, bare: string, asked: PullsAsked): { status: number; value: unknown } {
  const { method, repo, query } = asked
  const shown = (id: number) => {
    const { head, base, ...pull } = made.pulls.get(id)!
    const html_url = `${made.url}/${repo}/pull/${id}`
    return { number: id, html_url, ...pull, head: { ref: head }, base: { ref: base } }
  }
  if (method === 'GET') {
    const isAsked = (pull: Pull) =>
      pull.state === query.get('state') &&
      `${repo.split('/')[0]}:${pull.head}` === query.get('head') &&
      pull.base === query.get('base')
    return { status: 200, value: [...made.pulls].flatMap(([id, pull]) => (isAsked(pull) ? shown(id) : [])) }
  }
  if (made.refusal) return { status: made.refusal.status, value: made.refusal.body }
  const given = asked.body as Pull
  if (method === 'PATCH') {
    const id = Number(asked.number)
    made.pulls.set(id, { ...made.pulls.get(id)!, title: given.title, body: given.body })
    return { status: 200, value: shown(id) }
  }
  const known = spawnSync('git', ['--git-dir', bare, 'rev-parse', '--verify', '--quiet', given.head])
  if (known.status !== 0)
    return {
      status: 422,
      value: {
        message: 'Validation Failed',
        errors: [{ resource: 'PullRequest', field: 'head', code: 'invalid' }],
      },
    }
  const id = 41 + made.pulls.size
  made.pulls.set(id, {
    title: given.title,
    body: given.body,
    head: given.head,
    base: given.base,
    state: 'open',
  })
  return { status: 201, value: shown(id) }
}

/** CGI of git-http-backend (git-http-backend(1)). */
async function backend(
  made: GitServer,
  root: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await bodyOf(request)
  const given = Buffer.from((request.headers.authorization ?? '').replace('Basic ', ''), 'base64').toString()
  if (made.tokens && !made.tokens.has(given.split(':')[1] ?? '')) {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' })
    response.end('who are you?')
    return
  }
  const { pathname, searchParams } = new URL(request.url!, 'http://x')
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env.PATH ?? '',
      ...{ GIT_PROJECT_ROOT: root, GIT_HTTP_EXPORT_ALL: '1', GIT_CONFIG_NOSYSTEM: '1' },
      ...{ PATH_INFO: pathname, QUERY_STRING: searchParams.toString(), REQUEST_METHOD: request.method! },
      // Who may push: git-http-backend(1) takes one from whoever is known.
      ...(made.tokens ? { REMOTE_USER: 'octocat' } : {}),
      ...{ CONTENT_TYPE: request.headers['content-type'] ?? '', CONTENT_LENGTH: String(body.length) },
      ...(request.headers['content-encoding']
        ? { HTTP_CONTENT_ENCODING: request.headers['content-encoding'] }
        : {}),
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
  })
  child.stdin.on('error', () => {})
  child.stdin.end(body)
  const parts: Buffer[] = []
  for await (const part of child.stdout) parts.push(part as Buffer)
  const all = Buffer.concat(parts)
  const end = all.indexOf('\r\n\r\n')
  let status = 200
  for (const line of all.subarray(0, Math.max(0, end)).toString('latin1').split('\r\n')) {
    const [name, value] = [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]
    if (name === 'Status') status = Number(value.split(' ')[0])
    else if (name) response.setHeader(name, value)
  }
  response.statusCode = status
  response.end(all.subarray(end + 4))
}
