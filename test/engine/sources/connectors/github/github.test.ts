/** The github connector against a server that speaks GitHub's wire format (github-server.ts). */
import { describe, expect, it } from 'vitest'
import { validateConfig } from '../../../../../engine/sources/connectors/index.ts'
import { github } from '../../../../../engine/sources/upstreams/github.ts'
import { receiver } from '../../../net/egress/setup.ts'
import { NOW, prepared, reach } from '../reach.ts'
import type { Said } from '../upstream-server.ts'
import { chain, commit, githubServer, pull, REPO, shaOf } from './github-server.ts'

async function world(more: Record<string, unknown> = {}) {
  const server = await githubServer()
  const out = reach()
  const config = validateConfig('github', { repo: REPO, api_url: server.url, prs: false, ...more })
  let cursor: string | null = null
  /** Polls on from where it was. */
  const poll = async () => {
    const polled = await github.poll(config, cursor, out)
    cursor = polled.cursor
    const items = polled.items.map((item) => JSON.parse(item))
    const said = items.map((item) =>
      item.number ? `#${item.number} ${item._action}` : (item.commit.message as string).split('\n')[0]!,
    )
    return { ...polled, all: items, said }
  }
  return { server, out, config, poll }
}

const TOKEN = { token: 'ghp_secret' }

describe('commits of a repository', () => {
  it('begin with the newest few, oldest first, and then are all that are new', async () => {
    const { server, poll } = await world({ limit: 2 })
    expect(await poll()).toMatchObject({ said: ['c2', 'c3'] })
    server.branches.main = chain(5, 1)
    expect((await poll()).said).toEqual(['c4', 'c5'])
    expect((await poll()).said).toEqual([])
  })

  it('are what GitHub says of them, with the branch', async () => {
    const { server, poll } = await world()
    const [newest] = server.branches.main!
    expect((await poll()).all.at(-1)).toEqual({ ...newest, _branch: 'main' })
    expect(server.received[0]!.headers).toMatchObject({
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
    })
  })

  it('cost nothing of the limit while there is nothing new', async () => {
    const { server, poll } = await world({ ...TOKEN, prs: true })
    await poll()
    const { left } = server
    server.asked()
    expect(await poll()).toMatchObject({ said: [] })
    expect(server.left).toBe(left)
    expect(server.asked()).toHaveLength(2)
  })

  it('are paged until what was read last is met, stored in turns, and none is lost', async () => {
    const { server, poll } = await world()
    await poll()
    server.branches.main = chain(343, 1)
    const said: string[] = []
    for (let more = true; more; ) {
      const polled = await poll()
      said.push(...polled.said)
      more = polled.more ?? false
      expect(polled.notice).toBeUndefined()
    }
    expect(said).toEqual(Array.from({ length: 340 }, (_, i) => `c${i + 4}`))
  })

  it('have those a merge brings that are older than what was read', async () => {
    const { server, poll } = await world({ limit: 1 })
    await poll()
    server.branches.main = [
      commit('merge', ['c3', 'old2']),
      commit('c3', ['c2']),
      commit('old2', ['old1']),
      commit('c2', ['c1']),
      commit('old1', ['c1']),
      commit('c1', []),
    ]
    const { said, notice } = await poll()
    expect(said).toEqual(['old1', 'old2', 'merge'])
    expect(notice).toBeUndefined()
  })

  it('go on after the history was rewritten, which is told', async () => {
    const { server, poll } = await world()
    await poll()
    server.branches.main = [commit('amended', ['c2']), ...chain(2, 1)]
    expect(await poll()).toMatchObject({
      said: ['amended'],
      notice: 'The history of main was rewritten; what is new in it was read.',
    })
    server.branches.main = [commit('next', ['amended']), ...server.branches.main]
    const { said, notice } = await poll()
    expect([said, notice]).toEqual([['next'], undefined])
  })

  it('are read ten pages back at most, which is told until all of them are stored', async () => {
    const { server, poll } = await world({ limit: 1 })
    await poll()
    server.branches.main = chain(1_103, 1)
    server.asked()
    const first = await poll()
    expect(server.asked()).toHaveLength(11)
    expect(first.said[0]).toBe('c104')
    expect(first).toMatchObject({ more: true, notice: expect.stringContaining('More than 1000 commits') })
    expect(await poll()).toMatchObject({ more: true, notice: first.notice })
  })

  it('are none in an empty repository, and the first ones are met', async () => {
    const { server, poll } = await world()
    server.branches.main = []
    expect((await poll()).said).toEqual([])
    server.branches.main = [commit('c1', [])]
    expect((await poll()).said).toEqual(['c1'])
  })

  it('are those of the default branch, also when it gets another name', async () => {
    const { server, poll } = await world()
    await poll()
    server.branches = { trunk: chain(4, 1) }
    server.defaultBranch = 'trunk'
    expect((await poll()).all).toMatchObject([{ sha: shaOf('c4'), _branch: 'trunk' }])
  })

  it('have their files with a token, cut, unless few requests are left', async () => {
    const { server, poll } = await world({ ...TOKEN, limit: 1 })
    server.files = Array.from({ length: 21 }, (_, i) => ({
      ...{ filename: `f${i}`, status: 'modified', additions: 1, deletions: 0 },
      ...{ sha: 'x', patch: 'p'.repeat(5_000) },
    }))
    const [first] = (await poll()).all
    expect(first.files).toHaveLength(20)
    expect(first.files[0]).toEqual({
      ...{ filename: 'f0', status: 'modified', additions: 1, deletions: 0 },
      patch: 'p'.repeat(4_000),
    })
    expect(first.files_truncated).toBe(true)
    server.left = 400
    server.resetAt = NOW + 600_000
    server.branches.main = chain(4, 1)
    const { all, notice } = await poll()
    expect(all[0]).not.toHaveProperty('files')
    expect(notice).toBe(
      'Fewer than 500 requests are left until 12:10 UTC: 1 commit is stored without changed files.',
    )
  })
})

describe('pull requests', () => {
  const prs = (token = {}) => world({ prs: true, limit: 1, ...token })
  const at = (minute: number) => new Date(NOW + minute * 60_000).toISOString().replace('.000', '')

  it('are told when they are opened, merged, closed or reopened, each once', async () => {
    const { server, poll } = await prs()
    const closed = { created_at: at(-90), state: 'closed', closed_at: at(-10) }
    server.pulls = [pull(1, at(-20)), pull(2, at(-10), closed)]
    expect((await poll()).said).toEqual(['c3'])
    server.pulls = [
      pull(1, at(5), { created_at: at(-20), state: 'closed', closed_at: at(4), merged_at: at(4) }),
      pull(2, at(3), { created_at: at(-90) }),
      pull(3, at(2), { created_at: at(1), state: 'closed', closed_at: at(2) }),
    ]
    expect((await poll()).said).toEqual(['#3 opened', '#3 closed', '#2 reopened', '#1 merged'])
    // A comment moves them up, and is none of these.
    server.pulls = server.pulls.map((one) => ({ ...one, updated_at: at(9) }))
    expect((await poll()).said).toEqual([])
  })

  it('of one and the same second are neither lost nor told twice', async () => {
    const { server, poll } = await prs()
    await poll()
    server.pulls = [pull(1, at(1))]
    expect((await poll()).said).toEqual(['#1 opened'])
    server.pulls.push(pull(2, at(1)), pull(3, at(0.5)))
    expect((await poll()).said).toEqual(['#3 opened', '#2 opened'])
    server.pulls.push(pull(4, at(1)))
    expect((await poll()).said).toEqual(['#4 opened'])
  })

  it('are read page after page, ten at most, which is told', async () => {
    const { server, poll } = await prs()
    server.pulls = [pull(1, at(-5))]
    await poll()
    const many = (count: number) => Array.from({ length: count }, (_, i) => pull(i + 2, at(i + 1)))
    server.pulls.push(...many(120))
    expect((await poll()).said).toHaveLength(120)

    const other = await prs()
    other.server.pulls = [pull(1, at(-5))]
    await other.poll()
    other.server.pulls.push(...many(510))
    const { said, notice } = await other.poll()
    expect(said).toHaveLength(500)
    expect(said.at(-1)).toBe('#511 opened')
    expect(notice).toContain('More than 500 pull requests changed')
  })

  it('that may not be read are a notice, and commits are read', async () => {
    const { server, poll } = await prs()
    server.says = (path) =>
      path.includes('/pulls') ? { status: 403, body: { message: 'Resource not accessible' } } : null
    expect(await poll()).toMatchObject({
      said: ['c3'],
      notice: expect.stringContaining('Pull requests cannot be read (403); commits are.'),
    })
    server.says = () => null
    expect((await poll()).said).toEqual([])
  })
})

describe('commits and pull requests as events', () => {
  it('have their facts as labels, an entity, a text and a time, whatever is declared', async () => {
    const { server, config, poll } = await world({ prs: true, limit: 1 })
    server.branches.main = [commit('Fix\u2028stock', [], { author: null })]
    const first = prepared(github, config, await poll())
    server.pulls = [pull(7, '2026-11-20T12:01:00Z')]
    const [opened] = prepared(github, config, await poll())
    expect(first).toMatchObject([
      {
        eventType: 'commit',
        text: `${shaOf('Fix\u2028stock').slice(0, 7)} Mona: Fix stock`,
        ts: NOW - 7_200_000,
        hasEntity: true,
      },
    ])
    expect(Object.fromEntries(first[0]!.strings)).toEqual({
      ...{ key: REPO, repo: REPO, author: 'Mona', branch: 'main', title: 'Fix stock' },
      sha: shaOf('Fix\u2028stock'),
      url: `https://github.com/${REPO}/commit/${shaOf('Fix\u2028stock')}`,
    })
    expect(opened).toMatchObject({
      eventType: 'pull_request',
      text: 'PR #7 opened: Change 7 (Codertocat)',
      ts: NOW + 60_000,
      hasEntity: true,
    })
    expect(opened!.strings[0]).toEqual(['key', `${REPO}#7`])
    expect(Object.fromEntries(opened!.strings)).toEqual({
      ...{ key: `${REPO}#7`, repo: REPO, action: 'opened', number: '7', author: 'Codertocat' },
      ...{ branch: 'changes', base: 'master', state: 'open', draft: 'false', title: 'Change 7' },
      sha: 'ec26c3e57ca3a959ca5aad62de7213c562f8c821',
      url: 'https://github.com/Codertocat/Hello-World/pull/2',
    })
  })

  it('give way to a declared label, and say where a merge went', async () => {
    const labels = [
      { name: 'team', const: 'pay', primary: true },
      { name: 'author', field: 'base.repo.full_name' },
      { name: 'into', field: 'base' },
    ]
    const { server, config, poll } = await world({ prs: true, limit: 1, labels })
    await poll()
    const merged = { state: 'closed', closed_at: '2026-11-20T12:01:00Z', merged_at: '2026-11-20T12:01:00Z' }
    server.pulls = [pull(7, '2026-11-20T12:01:00Z', { created_at: '2000-01-01T00:00:00Z', ...merged })]
    const events = prepared(github, config, await poll())
    expect(events.map(({ text }) => text)).toContain('PR #7 merged into master: Change 7')
    expect(events.at(-1)!.strings.slice(0, 3)).toEqual([
      ['team', 'pay'],
      ['author', 'Codertocat/Hello-World'],
      ['into', 'master'],
    ])
  })
})

describe('a GitHub that refuses', () => {
  const said = (status: number, message: string, headers = {}): Said => ({
    status,
    headers,
    body: { message },
  })
  const used = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW / 1_000 + 900) }
  it.each<[string, Record<string, unknown>, Said, string, number | null]>([
    ['does not take the token', TOKEN, said(401, 'Bad credentials'), 'does not take the token (401)', null],
    ['asks for one', {}, said(401, 'Requires authentication'), 'asks for a token (401); set token', null],
    ['hides the repository', TOKEN, said(404, 'Not Found'), 'no acme/shop that the token may read', null],
    ['has no such repository', {}, said(404, 'Not Found'), 'set a token if it is private', null],
    ['forbids it', TOKEN, said(403, 'No ghp_secret SSO.'), 'acme/shop (403): No ••• SSO; the token', null],
    ['has answered enough', {}, said(403, 'x', used), 'asked again after 12:15 UTC; with a token', 900_000],
    ['asks to wait', TOKEN, said(429, 'x', { 'retry-after': '30' }), 'are used up (429)', 30_000],
    ['has a second limit', TOKEN, said(403, 'You have exceeded a secondary rate limit'), '(403)', 60_000],
    ['is down', TOKEN, said(502, 'x', { 'retry-after': '7' }), 'GitHub failed (502)', 7_000],
    ['is something else', TOKEN, { body: { hello: 1 } }, 'not the API of GitHub; for GitHub Ent', null],
    ['is a page', TOKEN, { body: '<html>' }, 'GitHub did not answer with JSON but with text/html', null],
  ])('is told with what to do: it %s', async (_what, more, answer, sentence, retryAfterMs) => {
    const { server, poll } = await world(more)
    server.left = null
    server.says = () => answer
    const error = await poll().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'UpstreamError', retryAfterMs })
    expect((error as Error).message).toContain(sentence)
    expect((error as Error).message).not.toContain('ghp_secret')
  })

  it('names a branch that is not there', async () => {
    const { poll } = await world({ branch: 'gone' })
    await expect(poll()).rejects.toThrow('acme/shop has no branch gone (404); check branch')
  })

  it('never has the token sent to another origin', async () => {
    const elsewhere = await receiver((_received, response) => void response.writeHead(200).end('[]'))
    const { server, poll } = await world({ ...TOKEN, branch: 'main' })
    server.says = () => ({ status: 302, headers: { location: elsewhere.url }, body: '' })
    await poll()
    expect(server.received[0]!.headers.authorization).toBe('Bearer ghp_secret')
    expect(elsewhere.received).toHaveLength(1)
    expect(elsewhere.received[0]!.headers).not.toHaveProperty('authorization')
  })
})

describe('a config of github', () => {
  it.each([
    'acme/shop',
    'https://github.com/acme/shop',
    'https://github.com/acme/shop.git',
    'git@github.com:acme/shop.git',
    'github.com/acme/shop/tree/main?x#y',
  ])('takes the repository as %s', async (repo) => {
    const { server, poll } = await world({ repo })
    await poll()
    expect(server.asked()[0]).toBe('')
  })

  it.each<[Record<string, unknown>, string]>([
    [{ repo: 'shop' }, 'config.repo must be owner/name'],
    [{ repo: 'acme/..' }, 'config.repo must be owner/name'],
    [{ api_url: 'https://me:pass@host/api/v3' }, 'config.api_url must be an address without a user name'],
    [{ limit: 101 }, 'limit'],
    [{ credential: 'team', token: 'x' }, 'token and config.credential exclude each other'],
    [{ credential: 'a team' }, 'credential'],
  ])('is refused with %j', (more, message) => {
    expect(() => validateConfig('github', { repo: 'acme/shop', ...more })).toThrow(message)
  })
})
