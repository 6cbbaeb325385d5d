/** A small server that speaks the wire format of GitHub's REST API for one repository. It is no GitHub. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const SHA = '6dcb09b5b57875f334f61aebed695e2e4193db5e'

export async function startGithub() {
  /** Accounts by token; others are refused. */
  const accounts: Record<string, string> = {}
  const server = createServer((request, response) => {
    const account = accounts[(request.headers.authorization ?? '').replace('Bearer ', '')]
    const said = account === undefined ? null : contentOf(new URL(request.url!, 'http://x').pathname, account)
    response.writeHead(account === undefined ? 401 : said === null ? 404 : 200, {
      'content-type': 'application/json',
      'github-authentication-token-expiration': '2031-01-31 10:00:00 UTC',
    })
    response.end(JSON.stringify(said ?? { message: 'Bad credentials' }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accounts,
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

function contentOf(path: string, account: string): unknown {
  const author = { name: 'Mona', email: 'mona@example.com', date: '2026-11-20T10:00:00Z' }
  switch (path) {
    case '/user':
      return { login: account, id: 1, type: 'User' }
    case '/repos/acme/shop':
      return { full_name: 'acme/shop', default_branch: 'main', private: true }
    case '/repos/acme/shop/commits':
      return [{ sha: SHA, parents: [], author: { login: 'mona' }, commit: { author, message: 'First' } }]
    case `/repos/acme/shop/commits/${SHA}`:
      return { sha: SHA, files: [] }
    case '/repos/acme/shop/pulls':
      return []
    default:
      return null
  }
}
