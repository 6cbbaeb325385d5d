import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scopeOf, scopes } from '../../../api/http/scopes.ts'
import { openDoor, ROOT } from './door.ts'
import { exceptionRoutes, type Needed, neededBySpec, ofProjectKeys } from './spec-access.ts'

type Who = 'none' | 'revoked' | 'read' | 'ingest' | 'admin' | 'root' | 'project' | 'reader' | 'other'
const WHO: Who[] = ['none', 'revoked', 'read', 'ingest', 'admin', 'root', 'project', 'reader', 'other']
type Answer = 401 | 'scope' | 'project' | 'person' | 'in'

/** What only a person does, by the beginning of its path. */
const PERSONS = [
  ['/api/logins', 'approve a login'],
  ['/api/oauth/', 'sign a client in'],
] as const

/** What general credentials are answered on a route of a scope; project keys have a list of their own. */
const EXPECTED: Record<Needed, Record<'read' | 'ingest' | 'admin' | 'root', Answer>> = {
  public: { read: 'in', ingest: 'in', admin: 'in', root: 'in' },
  any: { read: 'in', ingest: 'in', admin: 'in', root: 'in' },
  read: { read: 'in', ingest: 'scope', admin: 'in', root: 'in' },
  ingest: { read: 'scope', ingest: 'in', admin: 'in', root: 'in' },
  findings: { read: 'scope', ingest: 'scope', admin: 'in', root: 'in' },
  respond: { read: 'scope', ingest: 'scope', admin: 'in', root: 'in' },
  admin: { read: 'scope', ingest: 'scope', admin: 'in', root: 'in' },
  person: { read: 'scope', ingest: 'scope', admin: 'person', root: 'in' },
}

/** SPEC.md, Authentication 4: `project` reads and records, `reader` only reads, `other` is elsewhere. */
function expectedOf(route: string, scope: Needed, who: Who): Answer {
  if (scope === 'public') return 'in'
  if (who === 'none' || who === 'revoked') return 401
  if (who !== 'project' && who !== 'reader' && who !== 'other') return EXPECTED[scope][who]
  if (!ofProjectKeys.has(route)) return 'project'
  if (who === 'other' && route.includes(':id')) return 'project'
  return scope === 'findings' && who === 'reader' ? 'scope' : 'in'
}

describe('a secured instance', () => {
  let door: Awaited<ReturnType<typeof openDoor>>
  let own = ''
  const tokens: Partial<Record<Who, string>> = {}

  beforeAll(async () => {
    door = await openDoor({ secured: true })
    const root = door.as(ROOT)
    const make = async (name: string) =>
      (
        (await door.call('POST', '/api/projects', { template: 'custom', name }, root)).json() as unknown as {
          id: string
        }
      ).id
    own = await make('Own')
    const elsewhere = await make('Elsewhere')
    const keyOf = async (project: string, scopes?: string[]) =>
      (
        (
          await door.call('POST', '/api/keys', { name: 'p', project, ...(scopes ? { scopes } : {}) }, root)
        ).json() as unknown as { secret: string }
      ).secret
    for (const scope of ['read', 'ingest', 'admin'] as const) tokens[scope] = (await door.key([scope])).secret
    const gone = await door.key(['admin'])
    await door.call('DELETE', `/api/keys/${gone.id}`, undefined, root)
    tokens.revoked = gone.secret
    tokens.root = ROOT
    tokens.project = await keyOf('Own')
    tokens.reader = await keyOf(own, ['read'])
    tokens.other = await keyOf(elsewhere)
  })
  afterAll(() => door.close())

  const cases = Object.keys(scopes).flatMap((route) =>
    WHO.map((who) => [route, neededBySpec(route), who] as const),
  )

  it('has an expectation by hand for routes that are served, and for no other', () => {
    expect([...exceptionRoutes, ...ofProjectKeys].filter((route) => scopes[route] === undefined)).toEqual([])
  })

  it.each(cases)('%s (%s by SPEC.md) asked by %s', async (route, scope, who) => {
    door.clock.at += 61_000
    const [method, pattern] = route.split(' ') as [string, string]
    // Its refusals are its own: test/api/telemetry.
    if (pattern === '/api/tail' || pattern === '/telemetry/mcp') return
    const expected = expectedOf(route, scope, who)
    // A path that names nothing: whoever gets in is told so, and nothing is changed. A project key
    // must name its own project to get in.
    const ofProject = /^\/api\/(projects|usecases)\//.test(pattern)
    const isKeyOfProject = who === 'project' || who === 'reader' || who === 'other'
    const path = pattern
      .replace(':id', ofProject && isKeyOfProject ? own : 'nothing-has-this-name')
      .replaceAll(/:\w+/g, 'nothing-has-this-name')
    const token = tokens[who]
    const answer = await door.call(
      method,
      path,
      method === 'POST' || method === 'PUT' ? {} : undefined,
      token ? door.as(token) : {},
    )
    const refusals: Record<Exclude<Answer, 'in'>, [number, string]> = {
      401: [401, 'authentication required'],
      scope: [403, `this credential lacks the '${scope === 'person' ? 'admin' : scope}' scope`],
      project: [
        403,
        `this key only reads project ${who === 'other' ? 'Elsewhere' : 'Own'} and records findings in it`,
      ],
      person: [
        403,
        `only a person's session can ${PERSONS.find(([path]) => pattern.startsWith(path))?.[1] ?? 'take a project over'}`,
      ],
    }
    if (expected !== 'in') expect([answer.status, answer.json().detail]).toEqual(refusals[expected])
    else if (route !== 'POST /api/session') expect([401, 403]).not.toContain(answer.status)
  })

  it('lists findings of all projects, and to a project key those of its own', async () => {
    const find = async (project: string, as: string) => {
      const body = { entity: 'e', finding: 'It.' }
      return (await door.call('POST', `/api/projects/${project}/findings`, body, door.as(as))).json().run_id
    }
    const mine = await find('Own', tokens.project!)
    await find('Elsewhere', tokens.other!)
    const listed = async (as: string, query = '') => {
      const { status, json } = await door.call('GET', `/api/findings${query}`, undefined, door.as(as))
      const { findings } = json() as unknown as { findings?: { project: { name: string } }[] }
      return findings?.map(({ project }) => project.name).sort() ?? status
    }
    expect(await listed(tokens.read!)).toEqual(['Elsewhere', 'Own'])
    expect(await listed(tokens.read!, '?project=Own')).toEqual(['Own'])
    expect(await listed(tokens.read!, '?project=Nowhere')).toBe(404)
    for (const query of ['', '?project=Own', `?project=${own}`])
      expect(await listed(tokens.reader!, query)).toEqual(['Own'])
    expect(await listed(tokens.other!)).toEqual(['Elsewhere'])
    expect(await listed(tokens.reader!, '?project=Elsewhere')).toBe(403)
    const one = (as: string) => door.call('GET', `/api/findings/${mine}`, undefined, door.as(as))
    expect([(await one(tokens.reader!)).status, (await one(tokens.other!)).status]).toEqual([200, 404])
  })

  it('lists incidents to a project key of its own project alone, and refuses it any other', async () => {
    const asked = async (query: string) => {
      const { status, json } = await door.call(
        'GET',
        `/api/incidents${query}`,
        undefined,
        door.as(tokens.reader!),
      )
      return [status, json().detail]
    }
    for (const query of ['', '?project=Own', `?project=${own}`])
      expect(await asked(query)).toEqual([200, undefined])
    for (const query of ['?project=Elsewhere', '?project=Nowhere'])
      expect(await asked(query)).toEqual([403, 'this key only reads project Own and records findings in it'])
  })

  it('declares a scope for every route it serves', () => {
    const table = door.app.printRoutes({ commonPrefix: false })
    expect(table).toContain('api/sources')
    // buildServer throws on a route that is not listed; here the list names no route that is gone.
    for (const route of Object.keys(scopes)) {
      const [method, pattern] = route.split(' ') as [string, string]
      expect(door.app.hasRoute({ method: method as 'GET', url: pattern }), route).toBe(true)
      expect(scopeOf(method, pattern)).toBe(scopes[route])
    }
  })

  it('answers a JSON 404 on an unknown path only to whoever may ask', async () => {
    expect((await door.call('GET', '/api/nope')).status).toBe(401)
    const answer = await door.call('GET', '/api/nope', undefined, door.as(ROOT))
    expect([answer.status, answer.json().detail]).toEqual([404, 'unknown API path /api/nope'])
    const nothing = async (path: string) => {
      const { status, json } = await door.call('GET', path, undefined, door.as(ROOT))
      return [status, json().detail]
    }
    for (const [path, other] of [
      ['/api/sources/', '/api/sources'],
      ['/api//sources', '/api/sources'],
      ['/api/v1/runs/', '/api/runs'],
      ['/api/READ', undefined],
      ['/api/read', '/read'],
    ] as const)
      expect(await nothing(path)).toEqual([
        404,
        `unknown API path ${path}${other ? `; did you mean ${other}?` : ''}`,
      ])
    expect(await nothing('/triggers')).toEqual([404, 'nothing is at /triggers; did you mean /api/triggers?'])
    expect((await nothing('/mcp'))[1]).toMatch(/^nothing is at \/mcp: svc mcp serves it/)
    for (const path of ['/query', '/derive'])
      expect((await door.call('POST', path, {}, door.as(ROOT))).json().detail).toContain('views were removed')
    expect((await door.call('GET', '/api/views/x', undefined, door.as(ROOT))).status).toBe(404)
  })

  it('refuses a query that a call does not take, and does nothing', async () => {
    await door.call('POST', '/api/sources', { name: 'kept', connector: 'webhook' }, door.as(ROOT))
    const answer = await door.call('DELETE', '/api/sources/kept?dry_run=true', undefined, door.as(ROOT))
    expect([answer.status, answer.json().detail]).toEqual([400, 'dry_run is not a known field'])
    const listed = await door.call('GET', '/api/sources?limit=1', undefined, door.as(ROOT))
    expect([listed.status, listed.json().detail]).toEqual([400, 'limit is not a known field'])
    expect((await door.call('DELETE', '/api/sources/kept', undefined, door.as(ROOT))).status).toBe(200)
  })

  it.each(['/api/%6beys', '//api/keys', '/api/keys/', '/API/keys', '/api/keys;a=b', '/mcp/../api/keys'])(
    'does not let a read key reach the keys through %s',
    async (path) => {
      expect([403, 404]).toContain((await door.call('GET', path, undefined, door.as(tokens.read!))).status)
    },
  )

  it('takes a token only from its headers, whatever the case of the scheme', async () => {
    expect((await door.call('GET', `/api/sources?token=${ROOT}`)).status).toBe(401)
    expect(
      (await door.call('GET', '/api/sources', undefined, { authorization: `bearer  ${ROOT}` })).status,
    ).toBe(200)
    expect((await door.call('GET', '/api/sources', undefined, { 'x-svc-token': ROOT })).status).toBe(200)
    expect((await door.call('GET', '/api/sources', undefined, { authorization: 'Bearer ' })).status).toBe(401)
  })

  it('slows down guessing, and never locks a right token out', async () => {
    door.clock.at += 61_000
    const statuses = []
    for (let i = 0; i < 12; i++)
      statuses.push((await door.call('GET', '/api/sources', undefined, door.as('wrong'))).status)
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429])
    expect((await door.call('GET', '/api/sources', undefined, door.as(ROOT))).status).toBe(200)
    door.clock.at += 61_000
    expect((await door.call('GET', '/api/sources', undefined, door.as('wrong'))).status).toBe(401)
  })

  it('never answers /health with 429, however many wrong credentials came before', async () => {
    door.clock.at += 61_000
    for (let i = 0; i < 15; i++) {
      const answer = await door.call('GET', '/health', undefined, door.as('wrong'))
      expect([answer.status, answer.json()]).toEqual([200, { status: 'ok', auth_required: true }])
    }
    // They count all the same.
    expect((await door.call('GET', '/api/sources', undefined, door.as('wrong'))).status).toBe(429)
    expect((await door.call('GET', '/health', undefined, door.as('wrong'))).status).toBe(200)
    expect((await door.call('GET', '/health', undefined, door.as(ROOT))).json()).toHaveProperty('version')
    door.clock.at += 61_000
  })

  it('shows a key once, lets it in until it is revoked, and never lists its secret', async () => {
    const made = await door.key(['read'])
    expect(made.secret).toMatch(/^svc_[0-9a-f]{8}_[\w-]{32}$/)
    expect((await door.call('GET', '/api/whoami', undefined, door.as(made.secret))).json()).toEqual({
      id: `key:${made.id}`,
      name: 'read',
      scopes: ['read'],
      workspace: { id: 'local', name: 'This machine', url: null },
    })
    const listed = await door.call('GET', '/api/keys', undefined, door.as(ROOT))
    expect(listed.text).not.toContain(made.secret)
    expect(listed.json().scopes).toEqual(['admin', 'ingest', 'read', 'respond'])
    expect(
      (listed.json() as unknown as { keys: { id: string; last_used_at: string }[] }).keys.find(
        (k) => k.id === made.id,
      )?.last_used_at,
    ).toBe(new Date(door.clock.at).toISOString())
    expect((await door.call('DELETE', `/api/keys/${made.id}`, undefined, door.as(ROOT))).status).toBe(200)
    expect((await door.call('GET', '/api/whoami', undefined, door.as(made.secret))).status).toBe(401)
    expect((await door.call('DELETE', `/api/keys/${made.id}`, undefined, door.as(ROOT))).status).toBe(404)
  })

  it.each([
    [{ scopes: ['findings'] }, 'findings is a scope of project keys only'],
    [{ scopes: [] }, 'scopes must not be empty'],
    [{ scopes: ['READ'] }, 'scopes[0] must be one of'],
    [{ scopes: ['read'], project: 'x' }, 'no project has the id or name x'],
    [{ scopes: ['admin'], source: 'nothing' }, 'no source is named nothing'],
  ])('refuses to make the key %j', async (body, message) => {
    const answer = await door.call('POST', '/api/keys', { name: 'k', ...body }, door.as(ROOT))
    expect([400, 404]).toContain(answer.status)
    expect(answer.json().detail).toContain(message)
  })

  it('lists keys whole, or in pages', async () => {
    const page = async (query: string) =>
      (await door.call('GET', `/api/keys${query}`, undefined, door.as(ROOT))).json() as unknown as {
        keys: { id: string }[]
        next_before: string | null
      }
    const { keys: all, next_before } = await page('')
    expect([all.length > 3, next_before]).toEqual([true, null])
    const first = await page('?limit=2')
    const rest = await page(`?before=${first.next_before}&limit=500`)
    expect([...first.keys, ...rest.keys]).toEqual(all)
    expect(rest.next_before).toBeNull()
    const { status } = await door.call('GET', '/api/keys?before=none', undefined, door.as(ROOT))
    expect(status).toBe(400)
  })

  it('mints a key for a push source that opens that source alone, and goes with it', async () => {
    const first = await door.source('first')
    const second = await door.source('second')
    const mine = door.as(first.key!.secret)
    expect((await door.call('POST', first.url, '{}', mine)).status).toBe(202)
    expect((await door.call('POST', second.url, '{}', mine)).json().detail).toBe(
      'this key only writes to the source it was made for',
    )
    expect((await door.call('POST', '/remember', { key: 'a', content: 'b' }, mine)).status).toBe(403)
    await door.call('DELETE', '/api/sources/first', undefined, door.as(ROOT))
    expect((await door.call('POST', second.url, '{}', mine)).status).toBe(401)
  })

  it('exchanges a token for a cookie that holds no token, and drops it with the key', async () => {
    const made = await door.key(['read'])
    const wrong = await door.call('POST', '/api/session', { token: 'wrong' })
    expect([wrong.status, wrong.json().detail]).toEqual([
      401,
      'this is neither the root token nor a key; check that all of it was pasted',
    ])
    const login = await door.call('POST', '/api/session', { token: made.secret })
    const cookie = String(login.headers['set-cookie'])
    expect(cookie).toMatch(/^svc_session=[\w-]{43}; .*HttpOnly; SameSite=Strict/)
    expect(cookie).not.toContain(made.secret)
    const session = { cookie: cookie.split(';')[0]! }
    expect((await door.call('GET', '/api/sources', undefined, session)).status).toBe(200)
    expect(
      (await door.call('GET', '/api/sources', undefined, { ...session, origin: 'http://evil.example' }))
        .status,
    ).toBe(403)
    await door.call('DELETE', `/api/keys/${made.id}`, undefined, door.as(ROOT))
    expect((await door.call('GET', '/api/sources', undefined, session)).status).toBe(401)
    const revoked = await door.call('POST', '/api/session', { token: made.secret })
    expect(revoked.status).toBe(401)
    expect(revoked.json().detail).toMatch(/^the key \S+ was revoked on 20\S+Z; log in with another$/)
  })

  it('counts a session as a person only when the root token or an approved login opened it', async () => {
    const sessionOf = async (token: string) => {
      const login = await door.call('POST', '/api/session', { token })
      return { cookie: String(login.headers['set-cookie']).split(';')[0]! }
    }
    const take = async (headers: Record<string, string>) => {
      const answer = await door.call('POST', `/api/projects/${own}/takeover`, {}, headers)
      const detail = answer.json().detail
      if (answer.status === 200) await door.call('POST', `/api/projects/${own}/release`, {}, headers)
      return [answer.status, detail]
    }
    const refused = [403, "only a person's session can take a project over"]
    // Named like a login, as an admin key could name another.
    const made = await door.call(
      'POST',
      '/api/keys',
      { name: 'svc login, laptop', scopes: ['admin'] },
      door.as(ROOT),
    )
    const admin = (made.json() as unknown as { secret: string }).secret
    expect(await take(door.as(admin))).toEqual(refused)
    expect(await take(await sessionOf(admin))).toEqual(refused)
    const login = await door.engine.createKey(
      { name: 'svc login, desk', scopes: ['admin'] },
      { id: 'env:auth', name: 'root' },
      true,
    )
    await door.call('POST', '/api/keys', { name: 'x', scopes: ['read'] }, door.as(ROOT))
    expect(await take(await sessionOf(login.secret))).toEqual([200, undefined])
    expect(await take(door.as(login.secret))).toEqual(refused)
    expect(await take(await sessionOf(ROOT))).toEqual([200, undefined])
  })

  it('tells whoever has no credential only that it is there, and who only sends no names', async () => {
    expect((await door.call('GET', '/health')).json()).toEqual({ status: 'ok', auth_required: true })
    const sends = await door.key(['ingest'])
    const told = (await door.call('GET', '/health', undefined, door.as(sends.secret))).json()
    expect(told).toMatchObject({ version: '1.0.0', ingest_paused: false })
    expect(told).not.toHaveProperty('sources')
    expect((await door.call('GET', '/health', undefined, door.as(ROOT))).json()).toMatchObject({
      version: '1.0.0',
      pct_used: expect.any(Number),
      sources: expect.any(Array),
    })
  })
})

describe('an open instance', () => {
  let door: Awaited<ReturnType<typeof openDoor>>
  beforeAll(async () => {
    door = await openDoor({ publicUrl: 'https://svc.example.com', allowedHosts: ['box.lan'] })
  })
  afterAll(() => door.close())

  it('lets everybody do everything and ignores a bad token', async () => {
    expect((await door.call('GET', '/api/whoami', undefined, door.as('anything'))).json()).toEqual({
      id: 'open',
      name: 'no auth configured',
      scopes: ['admin', 'ingest', 'read'],
      workspace: { id: 'svc.example.com', name: 'svc.example.com', url: 'https://svc.example.com' },
    })
  })

  it('takes the name of a key that is sent all the same: whose finding it is, and when it was used', async () => {
    const project = (
      await door.call('POST', '/api/projects', { template: 'custom', name: 'Shop', objects: [] })
    ).json()
    const of = `/api/projects/${project.id}`
    const { secret } = (await door.call('POST', `${of}/keys`, { name: 'my-agent' })).json() as unknown as {
      secret: string
    }
    const finding = { entity: 'pay', label: 'service', finding: 'It fails.' }
    const record = async (body: object, headers = {}) =>
      (await door.call('POST', `${of}/findings`, body, headers)).json().agent
    expect(await record({ ...finding, agent: 'a-client' }, door.as(secret))).toBe('my-agent')
    expect(await record({ ...finding, agent: 'a-client' })).toBe('a-client')
    expect(await record(finding)).toBe('open instance')
    const { keys } = (await door.call('GET', `${of}/keys`)).json() as unknown as { keys: object[] }
    expect(keys).toMatchObject([{ name: 'my-agent', last_used_at: expect.any(String) }])
    // It bounds nothing.
    expect((await door.call('GET', '/api/whoami', undefined, door.as(secret))).json()).toMatchObject({
      name: 'my-agent',
      scopes: ['admin', 'ingest', 'read'],
    })
  })

  const own = [
    '127.0.0.1:8787',
    'localhost',
    'localhost:8787',
    '[::1]:8787',
    '192.168.1.5:8787',
    'svc.example.com',
    'box.lan:1234',
  ]
  const foreign = [
    'evil.example',
    'localhost.',
    '127.0.0.1.nip.io',
    '127.0.0.1:8787@evil',
    'evil.example:8787',
    'localhost.evil',
    '127.0.0.1:8787:80',
    'svc.example.com.evil',
  ]
  const routes: [string, string][] = [
    ['GET', '/api/sources'],
    ['POST', '/ingest/x'],
    ['POST', '/read'],
    ['GET', '/api/tail'],
    ['GET', '/metrics'],
  ]

  it.each(foreign.flatMap((host) => routes.map(([method, path]) => [host, method, path] as const)))(
    'refuses the host %s on %s %s',
    async (host, method, path) => {
      const answer = await door.call(method, path, method === 'POST' ? {} : undefined, { host })
      expect(answer.status).toBe(403)
      expect(answer.json().detail).toContain(
        'is not one this daemon answers to; set SVC_PUBLIC_URL or SVC_ALLOWED_HOSTS',
      )
    },
  )

  it.each(own)('answers to the host %s', async (host) => {
    expect((await door.call('GET', '/api/sources', undefined, { host })).status).toBe(200)
  })

  it.each(
    ['http://evil.example', 'null', 'http://127.0.0.1:9999', 'https://127.0.0.1.evil'].flatMap((origin) =>
      routes.map(([method, path]) => [origin, method, path] as const),
    ),
  )('refuses the origin %s on %s %s, and nothing happens', async (origin, method, path) => {
    const answer = await door.call(method, path, method === 'POST' ? {} : undefined, { origin })
    expect(answer.status).toBe(403)
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
  })

  it('refuses a fetch of another site, answers its own pages, and no preflight', async () => {
    expect(
      (
        await door.call('GET', '/api/sources', undefined, {
          'sec-fetch-site': 'cross-site',
          'sec-fetch-mode': 'no-cors',
        })
      ).status,
    ).toBe(403)
    expect(
      (
        await door.call('GET', '/api/sources', undefined, {
          origin: 'http://127.0.0.1:8787',
          'sec-fetch-site': 'same-origin',
        })
      ).status,
    ).toBe(200)
    expect(
      (await door.call('GET', '/api/sources', undefined, { origin: 'https://svc.example.com' })).status,
    ).toBe(200)
    expect(
      (
        await door.call('OPTIONS', '/api/sources', undefined, {
          origin: 'http://evil.example',
          'access-control-request-method': 'POST',
        })
      ).status,
    ).toBe(403)
  })
})
