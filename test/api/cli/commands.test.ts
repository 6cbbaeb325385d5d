import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { version } from '../../../api/version.ts'
import { makeCertificate } from '../../certificate.ts'
import { answer, type Stub, startStub, svc } from './cli-harness.ts'

let stub: Stub
afterEach(() => stub.close())

/** A daemon that answers by "METHOD path"; anything else is 404. */
const daemon = async (answers: Record<string, [number, unknown]>) => {
  stub = await startStub((seen, response) => {
    const [status, body] = answers[`${seen.method} ${seen.url}`] ?? [404, { detail: 'unknown path' }]
    answer(response, status, body)
  })
  return ['--svcd', stub.url, '--token', 't']
}
const source = {
  name: 'logs',
  connector: 'webhook',
  poll: '5s',
  mode: 'push',
  state: 'active',
  paused: false,
  config: { a: 1 },
  health: { status: 'push', events_total: 3, last_ingest: null, reason: null },
}

describe('svc sources', () => {
  it('lists sources as a table, also without a subcommand', async () => {
    const at = await daemon({ 'GET /api/sources': [200, [source]] })
    expect((await svc(['sources', 'list', ...at])).out).toMatch(
      /NAME +CONNECTOR[^\n]*\nlogs +webhook +push +3/,
    )
    expect((await svc(['sources', ...at])).out).toContain('logs')
    expect(stub.requests[0]!.headers.authorization).toBe('Bearer t')
  })

  it('says what to do when there is none', async () => {
    expect(
      (await svc(['sources', 'list', ...(await daemon({ 'GET /api/sources': [200, []] }))])).out,
    ).toContain('svc sources add')
  })

  it('scans the containers beside the daemon, and says how to make a source of one', async () => {
    const scan = {
      provider: 'docker',
      summary: { containers: 2, proposed: 1 },
      containers: [],
      proposed_sources: [
        {
          connector: 'docker_logs',
          name: 'api_logs',
          config: { container: 'api' },
          summary: 'Logs of service api',
          preselect: true,
          from: 'api',
        },
      ],
      skipped: [{ service: 'job', image: 'job:1', reason: 'it is not running' }],
    }
    const at = await daemon({ 'GET /api/discover/environment?provider=docker': [200, scan] })
    const { out } = await svc(['sources', 'scan', ...at])
    expect(out).toMatch(/api_logs +docker_logs +yes +Logs of service api\n/)
    expect(out).toMatch(/job +job:1 +it is not running\n/)
    expect(out).toContain('svc sources add api_logs --connector docker_logs --config -')
    expect(JSON.parse((await svc(['sources', 'scan', '--json', ...at])).out)).toEqual(scan)
  })

  it('adds one with labels and config from options, and shows its URL and key', async () => {
    const at = await daemon({
      'POST /api/sources': [
        201,
        {
          ok: true,
          name: 'logs',
          ingest_key: 'webhook-1',
          key: { id: '1', name: 'x', scopes: ['ingest'], secret: 'svc_once' },
        },
      ],
    })
    const options = [
      '--label',
      'service=svc.name',
      '--label',
      'ms=took',
      '--const',
      'env=prod',
      '--number',
      'ms',
      '--primary',
      'service',
      '--set',
      'event_type_field=kind',
      '--set-json',
      'n=5',
      '--set',
      'secret=123456',
      '--set',
      'poll_after=5s',
    ]
    const ran = await svc(
      ['sources', 'add', 'logs', '--connector', 'webhook', ...options, '--config', '-', ...at],
      { stdin: '{"text_template":"{msg}"}' },
    )
    expect(JSON.parse(stub.requests[0]!.body)).toEqual({
      name: 'logs',
      connector: 'webhook',
      config: {
        text_template: '{msg}',
        event_type_field: 'kind',
        n: 5,
        secret: '123456',
        poll_after: '5s',
        labels: [
          { name: 'service', field: 'svc.name', primary: true },
          { name: 'ms', field: 'took', type: 'number' },
          { name: 'env', const: 'prod' },
        ],
      },
    })
    expect(ran.out).toContain(`${stub.url}/ingest/webhook-1`)
    expect(ran.out).toContain('svc_once')
  })

  it('only checks with --dry-run', async () => {
    const at = await daemon({ 'POST /api/sources/test': [200, { ok: false, error: 'cannot connect' }] })
    const ran = await svc(['sources', 'add', 'x', '--connector', 'webhook', '--dry-run', ...at])
    expect(ran.code).toBe(1)
    expect(ran.err).toContain('cannot connect')
  })

  it.each([
    ['pause', 'POST /api/sources/a%20b/pause', { ok: true, state: 'paused' }, 'a b is paused'],
    ['resume', 'POST /api/sources/a%20b/resume', { ok: true, state: 'active' }, 'a b is active'],
    ['rm', 'DELETE /api/sources/a%20b', { ok: true, purged_events: 0, deleted: [] }, 'its events stay'],
  ])('%s calls %s', async (command, call, body, out) => {
    const ran = await svc(['sources', command, 'a b', ...(await daemon({ [call]: [200, body] }))])
    expect(ran.code).toBe(0)
    expect(ran.out).toContain(out)
  })

  it('purges and cascades only when asked', async () => {
    const at = await daemon({
      'DELETE /api/sources/x?cascade=true&purge_events=true': [
        200,
        { ok: true, purged_events: 9, deleted: [] },
      ],
    })
    expect((await svc(['sources', 'rm', 'x', '--cascade', '--purge-events', ...at])).out).toContain(
      '9 events are being removed',
    )
  })

  it('discovers an upstream: the proposal alone is on standard output', async () => {
    const proposed_config = { url: 'https://a.example/', labels: [] }
    const at = await daemon({
      'POST /api/sources/discover': [
        200,
        { connector: 'http_poll', summary: 'Two entries.', proposed_config },
      ],
    })
    const known = ['--set', 'url=https://a.example/', '--set-json', 'body={"a":1}', '--source', 'mine']
    const ran = await svc(['sources', 'discover', 'http_poll', ...known, ...at])
    expect(JSON.parse(stub.requests[0]!.body)).toEqual({
      connector: 'http_poll',
      config: { url: 'https://a.example/', body: { a: 1 } },
      name: 'mine',
    })
    expect([ran.code, ran.err]).toEqual([0, 'Two entries.\n'])
    expect(JSON.parse(ran.out)).toEqual(proposed_config)
    const json = await svc(['sources', 'discover', 'http_poll', '--json', ...at])
    expect(JSON.parse(json.out)).toMatchObject({ summary: 'Two entries.' })
  })

  it('tests a source with its stored config', async () => {
    const at = await daemon({
      'GET /api/sources/logs': [200, source],
      'POST /api/sources/test': [200, { ok: true, events: 2, sample: ['a\u001b'] }],
    })
    const ran = await svc(['sources', 'test', 'logs', ...at])
    expect(JSON.parse(stub.requests[1]!.body)).toEqual({
      name: 'logs',
      connector: 'webhook',
      poll: '5s',
      config: { a: 1 },
    })
    expect(ran.out).toBe('logs is good: 2 events\n  a\\u001b\n')
  })

  it('shows one source', async () => {
    const ran = await svc([
      'sources',
      'show',
      'logs',
      ...(await daemon({ 'GET /api/sources/logs': [200, source] })),
    ])
    expect(JSON.parse(ran.out)).toEqual(source)
  })
})

describe('svc keys', () => {
  it('prints the new secret alone on standard output', async () => {
    const at = await daemon({
      'POST /api/keys': [201, { id: 'k1', name: 'ci', scopes: ['read', 'ingest'], secret: 'svc_k1_x' }],
    })
    const ran = await svc([
      'keys',
      'create',
      'ci',
      '--scope',
      'read',
      '--scope',
      'ingest',
      '--source',
      'logs',
      ...at,
    ])
    expect(ran.out).toBe('svc_k1_x\n')
    expect(JSON.parse(stub.requests[0]!.body)).toEqual({
      name: 'ci',
      scopes: ['read', 'ingest'],
      source: 'logs',
    })
  })

  it('takes scopes separated by commas', async () => {
    await svc(['keys', 'create', 'ci', '--scope', 'read,admin', ...(await daemon({}))])
    expect(JSON.parse(stub.requests[0]!.body)).toEqual({ name: 'ci', scopes: ['read', 'admin'] })
  })

  it('lists keys and says when they are not enforced', async () => {
    const key = {
      id: 'k1',
      name: 'ci',
      prefix: 'svc_k1',
      scopes: ['ingest'],
      source: 'logs',
      state: 'active',
      created_at: '2026-01-01T00:00:00Z',
      last_used_at: null,
    }
    const ofProject = {
      ...key,
      id: 'k2',
      scopes: ['read'],
      source: null,
      project: 'p1',
      project_name: 'Alpha',
    }
    const ofAll = { ...key, id: 'k3', scopes: ['read'], source: null, project: null, project_name: null }
    const listed = { keys: [key, ofProject, ofAll], next_before: null, enforced: false, scopes: [] }
    const ran = await svc(['keys', ...(await daemon({ 'GET /api/keys': [200, listed] }))])
    expect(ran.out).toMatch(/k1 +ci +ingest \(source logs\) +active +2026-01-01T00:00:00Z +never/)
    expect(ran.out).toMatch(/k2 +ci +read \(project Alpha\) +active/)
    expect(ran.out).toMatch(/k3 +ci +read +active/)
    expect(ran.err).toContain('not checked')
  })

  it('revokes a key', async () => {
    const ran = await svc([
      'keys',
      'revoke',
      'k1',
      ...(await daemon({ 'DELETE /api/keys/k1': [200, { ok: true, note: '' }] })),
    ])
    expect(ran.out).toBe('revoked k1\n')
  })
})

describe('svc status', () => {
  const health = { status: 'ok', auth_required: false, version: '1.0.0', uptime_seconds: 90 }

  it('exits with 0 when the daemon answers', async () => {
    const usage = {
      events: 5,
      sources: [{}],
      db_bytes: 1_500_000,
      free_bytes: 500_000,
      wal_bytes: 3_000_000,
      max_bytes: 20e9,
      pct_used: 0.01,
    }
    const ran = await svc([
      'status',
      ...(await daemon({ 'GET /health': [200, health], 'GET /api/usage': [200, usage] })),
    ])
    expect(ran.code).toBe(0)
    expect(ran.out).toBe(
      `ok  ${stub.url}  svc 1.0.0, up 90 s, auth off\n5 events from 1 source, 1.0 MB stored, 0.01 % of 20.0 GB; the log beside it has 3.0 MB\n`,
    )
  })

  it('says of a credential that is not known that it is not, and of none to give one', async () => {
    const [, url] = await daemon({
      'GET /health': [200, { ...health, auth_required: true }],
      'GET /api/usage': [401, { detail: 'authentication required' }],
    })
    const said = async (...args: string[]) => (await svc(['status', '--svcd', url!, ...args])).out
    expect(await said()).toContain('\nno credential: pass --token, or set SVC_AUTH_TOKEN, to see more\n')
    expect(await said('--token', 'other')).toContain(
      '\nthe token that was sent is not known there: pass another with --token, or set SVC_AUTH_TOKEN, to see more\n',
    )
  })

  it.each(['down', 'stopping'])('exits with 1 when the daemon is %s', async (status) => {
    const ran = await svc([
      'status',
      '--json',
      ...(await daemon({ 'GET /health': [503, { ...health, status }] })),
    ])
    expect(ran.code).toBe(1)
    expect(JSON.parse(ran.out)).toMatchObject({ status })
  })

  it('says of a certificate that is not trusted what to set, and nothing of svc up', async () => {
    const server = createServer(makeCertificate('svc'), (_request, response) => void response.end('{}'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { code, err } = await svc(['status', '--svcd', url])
    await new Promise((resolve) => server.close(resolve))
    expect(code).toBe(69)
    expect(err).toBe(
      `svc: the certificate of ${url} is not trusted here; name the file of its authority, or of itself where it signed itself, in NODE_EXTRA_CA_CERTS (DEPTH_ZERO_SELF_SIGNED_CERT)\n`,
    )
  })

  it('says of https where http is spoken that it is not, and nothing of svc up', async () => {
    const [, http] = await daemon({})
    const url = http!.replace('http:', 'https:')
    const { code, err } = await svc(['sources', 'list', '--svcd', url])
    expect(code).toBe(69)
    expect(err).toBe(
      `svc: ${url} does not answer by https (ERR_SSL_WRONG_VERSION_NUMBER); name the daemon by http, or its proxy that has a certificate\n`,
    )
  })

  it('exits with 1 when another program answers', async () => {
    const ran = await svc(['status', ...(await daemon({ 'GET /health': [200, '<html>'] }))])
    expect(ran.code).toBe(1)
    expect(ran.err).toContain('not one of svc')
    const page = [200, '<html>'] as [number, string]
    const at = await daemon({
      'GET /api/whoami': page,
      'GET /api/firings?limit=20': page,
      'GET /api/deliveries?limit=20': page,
      'GET /api/subscriptions': page,
    })
    for (const words of [
      'whoami',
      'firings list --limit 20',
      'deliveries list --limit 20',
      'subscriptions',
    ]) {
      const asked = await svc([...words.split(' '), ...at])
      expect([words, asked.code]).toEqual([words, 1])
      expect(asked.err).toMatch(/^svc: the answer is not one of svc \(HTTP 200 from http:\/\/[^\s]+\)\n$/)
    }
  })

  it.each([
    'catalog export',
    'catalog forget shop',
    'skills download roll-back --project Default',
    'unsubscribe 7',
    'proposals list --json',
  ])('takes no page of a proxy for what "%s" asked for', async (words) => {
    stub = await startStub((_seen, response) =>
      answer(response, 200, '<html>Sign in', { 'content-type': 'text/html; charset=utf-8' }),
    )
    const ran = await svc([...words.split(' '), '--svcd', stub.url])
    expect([ran.code, ran.out]).toEqual([1, ''])
    expect(ran.err).toContain(`the answer is not one of svc (HTTP 200 from ${stub.url})`)
  })
})

describe('a proxy between the command and the daemon', () => {
  const pause = ['sources', 'pause', 'logs']

  it.each([
    [404, 1, 'is the address whole, with the path that a proxy has for svc? It is --svcd, or SVCD_URL'],
    [413, 1, 'takes no body as large as this one: raise its bound, such as client_max_body_size of nginx'],
    [502, 69, 'has no answer of the daemon: does it run?'],
    [504, 69, 'proxy_read_timeout of nginx (HTTP 504 from URL); the daemon may have done it all the same: '],
  ])('says of its page with %i what is in the way', async (status, code, why) => {
    const ran = await svc([
      ...pause,
      ...(await daemon({ 'POST /api/sources/logs/pause': [status, '<html>'] })),
    ])
    expect([ran.code, ran.err.replace(stub.url, 'URL')]).toEqual([code, expect.stringContaining(why)])
  })

  it('says of what was cut off, or interrupted, that it may have been done, where it changes something', async () => {
    stub = await startStub((_seen, response) => void response.socket?.destroy())
    const at = ['--svcd', stub.url, '--token', 't']
    const cut = await svc([...pause, ...at])
    expect(cut.code).toBe(69)
    expect(cut.err).toMatch(
      /^svc: the connection to \S+ was cut off before it answered \(\w+\); the daemon may have done it all the same: look first, then repeat it\n$/,
    )
    expect((await svc(['sources', 'list', ...at])).err).not.toContain('may have done')
    const interrupt = new AbortController()
    await stub.close()
    stub = await startStub(() => interrupt.abort())
    const stopped = await svc([...pause, '--svcd', stub.url], { interrupted: interrupt.signal })
    expect([stopped.code, stopped.err]).toEqual([
      130,
      'svc: interrupted; the daemon may have done it all the same: look first, then repeat it\n',
    ])
    const none = await svc([...pause, '--svcd', 'http://127.0.0.1:1'])
    expect(none.err).not.toContain('may have done')
  })
})

it.each([
  ['/api', 'unknown API path /api/api/sources; did you mean /api/sources?'],
  ['/mcp/', 'nothing is at /mcp/api/sources'],
])('names the address of the daemon where %s was put behind it', async (path, detail) => {
  stub = await startStub((_seen, response) => answer(response, 404, { detail }))
  const ran = await svc(['sources', 'list', '--svcd', `${stub.url}${path}`])
  expect(ran.code).toBe(1)
  expect(ran.err).toContain(`nothing of svc is below ${path.replace(/\/$/, '')} of ${stub.url}`)
  expect(ran.err).toContain(`name it as ${stub.url}, with --svcd or SVCD_URL`)
  expect(ran.err).not.toContain('did you mean')
})

it.each(['{}', 'null', '[]', '{"incidents": 3}'])(
  'another program that answers every path with %s is not taken for svc',
  async (body) => {
    stub = await startStub((_seen, response) => answer(response, 200, JSON.parse(body)))
    expect(await svc(['incidents', 'list'], { env: { SVCD_URL: stub.url } })).toMatchObject({
      code: 1,
      err: `svc: the answer is not one of svc (HTTP 200 from ${stub.url})\n`,
    })
  },
)

describe('a daemon of another version', () => {
  const refusals: [string, number, unknown, number][] = [
    ['a path that it does not know', 404, { detail: 'unknown API path /api/incidents' }, 1],
    ['a field that it does not know', 400, { detail: 'file is not a known field' }, 1],
    ['an answer of another form', 200, {}, 70],
  ]
  it.each(refusals)('is told beside %s', async (_of, status, body, code) => {
    stub = await startStub((seen, response) =>
      seen.url === '/health'
        ? answer(response, 200, { status: 'ok', version: '1.2.3' })
        : answer(response, status, body),
    )
    const ran = await svc(['incidents', 'list'], { env: { SVCD_URL: stub.url } })
    expect(ran.code).toBe(code)
    expect(ran.err).toContain(
      `the daemon at ${stub.url} is svc 1.2.3 and this command svc ${version}: use the command of the daemon's version`,
    )
  })

  it('is not asked for where a refusal is of what was asked', async () => {
    stub = await startStub((_seen, response) => answer(response, 404, { detail: 'no trigger is named x' }))
    const ran = await svc(['triggers', 'show', 'x'], { env: { SVCD_URL: stub.url } })
    expect(ran.err).toContain('no trigger is named x')
    expect(stub.requests.map(({ url }) => url)).not.toContain('/health')
  })
})
