import { describe, expect, it, onTestFinished } from 'vitest'
import { say, startReceiver } from '../engine/net/egress/receiver.ts'
import { githubServer, REPO } from '../engine/sources/connectors/github/github-server.ts'
import { type Fields, type Instance, startBeforeEach, startInstance } from './instance.ts'

let svc: Instance
startBeforeEach(async () => {
  svc = await startInstance({ secured: true })
  return svc
})

const source = (more: Fields = {}) =>
  svc.post('/api/sources', { name: 'gw', connector: 'webhook', config: {}, ...more })

describe('the endpoints of sources', () => {
  it('make it in a project, read it, list it, change it and delete it', async () => {
    const { id } = await svc.post<{ id: string }>('/api/projects', { template: 'custom', name: 'Shop' })
    const made = await svc.call('POST', '/api/sources', { name: 'gw', connector: 'webhook', project: 'Shop' })
    expect([made.status, made.body]).toMatchObject([
      201,
      { ok: true, name: 'gw', project: id, ingest_key: expect.stringMatching(/^webhook-[0-9a-f]{32}$/) },
    ])
    const read = await svc.call('GET', '/api/sources/gw')
    expect(read.body).toMatchObject({ owned_by: id, customized: false, projects: [id], state: 'active' })
    expect(read.headers.get('etag')).toBe(`"${read.body.version}"`)
    expect(await svc.get('/api/sources')).toEqual([read.body])
    expect(
      await svc.put('/api/sources/gw', { name: 'gw', connector: 'webhook', config: { event_type: 'x' } }),
    ).toMatchObject({ ok: true, relabeled: false })
    expect(await svc.get('/api/sources/gw')).toMatchObject({
      config: { event_type: 'x' },
      ingest_key: made.body.ingest_key,
    })
    expect(await svc.del('/api/sources/gw')).toMatchObject({ ok: true, deleted: [], purged_events: 0 })
    expect(await svc.refused('GET', '/api/sources/gw')).toEqual([404, 'no source is named gw'])
  })

  it('mint an ingest key for a push source on a secured instance, shown once', async () => {
    const made = await source()
    const { secret } = made.key as { secret: string }
    const producer = svc.as(secret)
    expect((await producer.call('POST', `/ingest/${made.ingest_key}`, { a: 1 })).status).toBe(202)
    expect((await producer.refused('GET', '/api/sources'))[0]).toBe(403)
    for (const path of ['/api/sources/gw', '/api/keys', '/api/resources'])
      expect((await svc.call('GET', path)).text, path).not.toContain(secret)
    expect(await svc.get('/api/keys')).toMatchObject({ keys: [{ name: 'ingest gw', scopes: ['ingest'] }] })
  })

  it('mint none for one that checks signatures, which needs no key', async () => {
    const made = await source({ config: { signature_scheme: 'github', signature_secret: 's' } })
    expect(made).not.toHaveProperty('key')
    expect((await svc.as('').refused('POST', `/ingest/${made.ingest_key}`, { a: 1 }))[0]).toBe(401)
  })

  it('with a scheme and no secret refuses everything', async () => {
    const { ingest_key } = await source({ config: { signature_scheme: 'github' } })
    expect((await svc.refused('POST', `/ingest/${ingest_key}`, { a: 1 }))[0]).toBe(401)
  })

  it.each<[string, Fields, number, string]>([
    ['a name that is taken', {}, 409, 'a source named gw exists'],
    ['a connector that is none', { name: 'x', connector: 'pigeon' }, 400, 'connector pigeon is not known'],
    ['a connector of the service’s own', { name: 'x', connector: 'finding' }, 400, 'finding'],
    ['a field its connector has not', { name: 'x', config: { colour: 'red' } }, 400, 'colour'],
    ['a field of another type', { name: 'x', config: { event_type: 5 } }, 400, 'event_type'],
    [
      'a label that is both',
      { name: 'x', config: { labels: [{ name: 'a', const: 'b', field: 'c' }] } },
      400,
      'labels[0]',
    ],
    ['a label that is neither', { name: 'x', config: { labels: [{ name: 'a' }] } }, 400, 'labels[0]'],
    ['a poll that is none', { name: 'x', poll: 'often' }, 400, 'poll'],
    ['a name with a slash', { name: 'a/b' }, 400, 'name'],
    ['a project that is not there', { name: 'x', project: 'Nope' }, 400, 'project: no project is named Nope'],
  ])('refuse %s', async (_case, more, status, message) => {
    await source()
    const [answered, detail] = await svc.refused('POST', '/api/sources', {
      name: 'gw',
      connector: 'webhook',
      config: {},
      ...more,
    })
    expect([answered, detail]).toEqual([status, expect.stringContaining(message)])
    expect(await svc.get<Fields[]>('/api/sources')).toHaveLength(1)
  })

  it('delete with purge_events takes the events, and without leaves them', async () => {
    const labels = [{ name: 'service', const: 'shop', primary: true }]
    const count = async () => (await svc.post('/read', { selector: { service: 'shop' }, window: '1h' })).count
    for (const [purge, left] of [
      [false, 1],
      [true, 1],
    ] as const) {
      const { ingest_key } = await source({ name: `gw-${purge}`, config: { labels } })
      await svc.post(`/ingest/${ingest_key}`, { a: 1 })
      expect(await svc.del(`/api/sources/gw-${purge}?purge_events=${purge}`)).toMatchObject({
        purged_events: purge ? 1 : 0,
      })
      expect(await count()).toBe(left)
    }
  })

  it('begin without what a deleted one of their name took in', async () => {
    const before = await source()
    await svc.post(`/ingest/${before.ingest_key}`, { of: 'before' })
    await svc.del('/api/sources/gw')
    const now = await source()
    expect(await svc.get('/api/sources/gw/events')).toEqual([])
    await svc.post(`/ingest/${now.ingest_key}`, { of: 'now' })
    expect(await svc.get('/api/sources/gw/events')).toMatchObject([{ text: '{"of":"now"}' }])
  })

  it('an undone delete has its ingest URL and its events again', async () => {
    const labels = [{ name: 'service', const: 'shop', primary: true }]
    const { ingest_key } = await source({ config: { labels } })
    await svc.post(`/ingest/${ingest_key}`, { a: 1 })
    const { change_set } = await svc.del<{ change_set: number }>('/api/sources/gw')
    expect((await svc.call('POST', `/ingest/${ingest_key}`, { a: 1 })).status).toBe(404)
    await svc.post(`/api/change-sets/${change_set}/undo`, {})
    await svc.post(`/ingest/${ingest_key}`, { a: 2 })
    expect((await svc.post('/read', { selector: { service: 'shop' }, window: '1h' })).count).toBe(2)
  })
})

describe('what a source can be', () => {
  it('GET /api/connectors has every connector’s fields and whether it discovers', async () => {
    const connectors =
      await svc.get<Record<string, { mode: string; fields: { name: string }[] }>>('/api/connectors')
    expect(Object.keys(connectors)).toEqual(expect.arrayContaining(['webhook', 'memory', 'reference']))
    expect(connectors.webhook!.mode).toBe('push')
    expect(connectors.webhook!.fields.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'event_type',
        'event_type_field',
        'text_template',
        'event_time_field',
        'signature_scheme',
        'labels',
      ]),
    )
  })

  it('discover is POST only: a GET says so, an unknown connector is 404, one without discovery 400', async () => {
    const [status, detail] = await svc.refused('GET', '/api/sources/discover')
    expect([status, detail]).toEqual([405, expect.stringContaining('POST')])
    const discover = (connector: string) =>
      svc.refused('POST', '/api/sources/discover', { connector, config: {} })
    expect((await discover('pigeon'))[0]).toBe(404)
    expect((await discover('webhook'))[0]).toBe(400)
  })

  it('a source that is polled is discovered, tested and made, and nothing of its secret comes back', async () => {
    const world = { answer: say(200, {}, '{"items":[{"id":1,"host":"a"},{"id":2,"host":"b"}]}') }
    const api = await startReceiver((received, response) => world.answer(received, response))
    onTestFinished(() => api.close())
    const known = { url: api.url, credential: 'Bearer s3cret' }
    const { proposed_config: proposed } = await svc.post<{ proposed_config: Fields }>(
      '/api/sources/discover',
      { connector: 'http_poll', config: known },
    )
    expect(proposed).toMatchObject({ url: api.url, payload_key: 'items', id_field: 'id' })
    const body = {
      name: 'api',
      connector: 'http_poll',
      config: { ...proposed, credential: known.credential },
    }
    expect(await svc.post('/api/sources/test', body)).toEqual({
      ok: true,
      events: 2,
      sample: ['a', 'b'],
    })
    expect(await svc.post('/api/sources', body)).toMatchObject({ ok: true, ingest_key: null })
    const made = await svc.get<Fields>('/api/sources/api')
    expect(made).toMatchObject({
      mode: 'poll',
      poll: '1m',
      ingest_key: null,
      config: { credential: '••••••••' },
    })
    world.answer = say(403)
    const masked = { connector: 'http_poll', config: made.config, name: 'api' }
    expect(await svc.refused('POST', '/api/sources/discover', masked)).toEqual([
      400,
      'the API refused the request (403); check Credential and what it may read',
    ])
    expect(await svc.post('/api/sources/test', { ...body, config: made.config })).toEqual({
      ok: false,
      error: 'the API refused the request (403); check Credential and what it may read',
    })
    const credentials = api.received.map(({ headers }) => headers.authorization)
    expect(new Set(credentials)).toEqual(new Set(['Bearer s3cret']))
    expect((await svc.refused('POST', '/api/sources', { ...body, name: 'fast', poll: '5s' }))[0]).toBe(400)
  })

  it('a repository is discovered, and what is wrong with it or with the token is said', async () => {
    const upstream = await githubServer()
    const discover = (config: Fields) => ({
      connector: 'github',
      config: { repo: `https://github.com/${REPO}.git`, api_url: upstream.url, ...config },
    })
    const path = '/api/sources/discover'
    const found = await svc.post<Fields>(path, discover({ token: 'ghp_secret' }))
    expect(found).toMatchObject({
      summary: 'acme/shop, private: branch main, last commit 2026-11-20.',
      recent_authors: ['Codertocat'],
      proposed_config: { repo: REPO, branch: 'main', api_url: upstream.url },
    })
    expect(JSON.stringify(found)).not.toContain('ghp_secret')
    const body = { ...discover({}), name: 'code', config: found.proposed_config }
    expect(await svc.post('/api/sources/test', body)).toMatchObject({ ok: true, events: 3 })
    const none = await svc.refused('POST', path, discover({ repo: 'acme/none' }))
    expect(none).toEqual([
      400,
      'GitHub has no public repository acme/none (404); check repo, and set a token if it is private',
    ])
    const [, hidden] = await svc.refused('POST', path, discover({ repo: 'acme/none', token: 'x' }))
    expect(hidden).toContain('GitHub has no acme/none that the token may read (404)')
    upstream.says = () => ({ status: 401, body: { message: 'Bad credentials' } })
    const [, refused] = await svc.refused('POST', path, discover({ token: 'x' }))
    expect(refused).toContain('GitHub does not take the token (401)')
    expect((await svc.refused('POST', path, discover({ repo: 'shop' })))[1]).toContain('config.repo must be')
    expect((await svc.refused('POST', path, discover({ branch: 'x', repo: '' })))[0]).toBe(400)
  })

  it('the event type is webhook_event unless the source says another', async () => {
    const labels = [{ name: 'service', const: 'shop', primary: true }]
    const plain = await source({ config: { labels } })
    const typed = await source({ name: 'typed', config: { labels, event_type_field: 'kind' } })
    await svc.post(`/ingest/${plain.ingest_key}`, { a: 1 })
    await svc.post(`/ingest/${typed.ingest_key}`, { kind: 'order' })
    const { rows } = await svc.post<{ rows: Fields[] }>('/read', {
      selector: { service: 'shop' },
      window: '1h',
    })
    expect(rows.map(({ event_type }) => event_type).sort()).toEqual(['order', 'webhook_event'])
  })

  it('of a label that documents alone have, a read shows them and does not say that nothing has it', async () => {
    const attachments = [{ name: 'runbook', format: 'md', content: 'Look.', labels: { team: 'pay' } }]
    await svc.post('/api/sources', { name: 'docs', connector: 'reference', config: { attachments } })
    const read = (selector: Fields) =>
      svc.post<{ rows: Fields[]; payload: string }>('/read', { selector, window: '1h' })
    const found = await read({ team: 'pay' })
    expect(found.rows).toMatchObject([{ reference: true, text: expect.stringContaining('runbook') }])
    expect([found, found.payload.includes('no event')]).toEqual([
      expect.not.objectContaining({ notice: expect.anything() }),
      false,
    ])
    expect(await read({ taem: 'pay' })).toMatchObject({
      notice: 'no event has the label taem',
    })
  })
})
