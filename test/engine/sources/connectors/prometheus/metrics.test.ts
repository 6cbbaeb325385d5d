/** The prometheus connector against a server that speaks the wire format; metrics-real.test.ts has the real one. */
import { describe, expect, it } from 'vitest'
import { validateConfig } from '../../../../../engine/sources/connectors/index.ts'
import { prometheus } from '../../../../../engine/sources/upstreams/prometheus.ts'
import { mapped, prepared, reach } from '../reach.ts'
import { failure, type Said, success, upstreamServer, vector } from '../upstream-server.ts'

const UP = { promql: 'up' }

async function world(answer: Said | ((query: string) => Said)) {
  const server = await upstreamServer(({ body }) =>
    typeof answer === 'function' ? answer(new URLSearchParams(body).get('query') ?? '') : answer,
  )
  const out = reach()
  const config = (more: Record<string, unknown> = {}) =>
    validateConfig('prometheus', { url: server.url, queries: [UP], ...more })
  return {
    server,
    out,
    config,
    poll: (more: Record<string, unknown> = {}, cursor: string | null = null) =>
      prometheus.poll(config(more), cursor, out),
  }
}

const refused = (poll: Promise<unknown>) =>
  poll.then(
    () => null,
    (error: Error & { retryAfterMs: number | null }) => error,
  )

describe('a config of prometheus', () => {
  it.each<[string, Record<string, unknown>, string]>([
    [
      'a token beside a name',
      { bearer_token: 't', username: 'u' },
      'bearer_token and username exclude each other',
    ],
    ['a password in the URL', { url: 'http://u:p@prom' }, 'url must not hold a user name or a password'],
    [
      'a rate of what is no counter',
      { queries: [{ promql: 'sum(x_total)', rate_over: '5m' }] },
      'queries[0].promql must be one counter, with labels in braces where some are meant, for the rate that rate_over asks for',
    ],
    [
      'a rate of what may be several',
      { queries: [{ promql: '{__name__=~"a_total|b_total"}', rate_over: '5m' }] },
      'queries[0].promql must be one counter, with labels in braces where some are meant, for the rate that rate_over asks for',
    ],
    ['one query twice', { queries: [UP, UP] }, 'queries[1].promql repeats a query before it'],
    [
      'a reserved entity label',
      { queries: [{ ...UP, key_label: 'key_value' }] },
      'queries[0].key_label key_value is reserved',
    ],
    ['no query', { queries: [] }, 'queries'],
    ['an address of another kind', { url: 'ftp://prom' }, 'url'],
  ])('is refused with %s', (_what, more, message) => {
    const write = () => validateConfig('prometheus', { url: 'http://prom', queries: [UP], ...more })
    expect(write).toThrow(message)
    expect(write).not.toThrow(/:p@|"p"/)
  })
})

describe('a poll of prometheus', () => {
  it('sends the query in a form, with the credentials', async () => {
    const { server, poll } = await world(vector([{}, '1']))
    await poll({ username: 'me', password: 'pass' })
    await poll({ bearer_token: 'tok' })
    await poll()
    expect(server.received.map(({ method, path, headers }) => [method, path, headers.authorization])).toEqual(
      [
        ['POST', '/api/v1/query', `Basic ${Buffer.from('me:pass').toString('base64')}`],
        ['POST', '/api/v1/query', 'Bearer tok'],
        ['POST', '/api/v1/query', undefined],
      ],
    )
    expect(Object.fromEntries(new URLSearchParams(server.received[0]!.body))).toEqual({
      query: 'up',
      timeout: '15s',
    })
  })

  it('leaves out what is no number, and metrics that are excluded by a part of their name', async () => {
    const { poll } = await world(
      vector(
        [{ __name__: 'go_gc' }, '1'],
        [{ __name__: 'up' }, 'NaN'],
        [{ __name__: 'up' }, '+Inf'],
        [{ __name__: 'up', job: 'a' }, '-0.5'],
        [{ __name__: 'process_cpu' }, '2'],
      ),
    )
    const { items } = await poll({ queries: [{ ...UP, exclude: ' go_, process' }] })
    expect(items.map((item) => JSON.parse(item))).toMatchObject([{ metric: { job: 'a' }, value: -0.5 }])
  })

  it('tells native histograms and warnings', async () => {
    const { poll } = await world(
      success(
        {
          resultType: 'vector',
          result: [
            { metric: {}, histogram: [1, {}] },
            { metric: {}, value: [1, '3'] },
          ],
        },
        { warnings: ['one store did not answer'] },
      ),
    )
    expect(await poll()).toMatchObject({
      items: [expect.stringContaining('"value":3')],
      notice:
        'one store did not answer. 1 series is a native histogram, which has no single value. Use histogram_quantile.',
    })
  })

  it('stores a thousand series and says how many there were', async () => {
    const series = Array.from({ length: 1_200 }, (_, i): [Record<string, string>, string] => [
      { i: `${i}` },
      '1',
    ])
    const { poll } = await world(vector(...series))
    const { items, notice, more } = await poll()
    expect(items).toHaveLength(1_000)
    expect(notice).toContain('1200 series; the first 1000 are stored')
    expect(more).toBeUndefined()
  })

  it('stores changes only where it is told to, and every series again after five minutes', async () => {
    let value = '1'
    const { poll, out } = await world(() => vector([{ job: 'a', env: 'x' }, '5'], [{ job: 'b' }, value]))
    const steps: number[] = []
    let cursor: string | null = null
    const step = async () => {
      const polled = await poll({ changes_only: true }, cursor)
      cursor = polled.cursor
      steps.push(polled.items.length)
    }
    await step()
    await step()
    value = '2'
    await step()
    out.now += 300_000
    await step()
    expect(steps).toEqual([2, 0, 1, 2])
  })

  it('has the texts, types and entities of its queries', async () => {
    const { config, poll } = await world((query) =>
      query === 'up'
        ? vector(
            [{ __name__: 'up', service: 'pay', zone: 'a' }, '0.00012345'],
            [{ __name__: 'up', zone: 'b' }, '2.34567'],
          )
        : vector([{ service: 'pay' }, '1e3']),
    )
    const more = {
      default_key: 'other',
      queries: [
        { ...UP, by_name: true, key_label: 'service', text: '{key} in {zone}: {event_type} {val}' },
        { promql: 'rate', event_type: '5xx_rate', field: 'rate', text: 'of {nothing}' },
      ],
    }
    const events = mapped(prometheus, config(more), await poll(more))
    expect(events).toMatchObject([
      { eventType: 'up', text: 'pay in a: up 0.000123', stamped: { service: 'pay' }, entityLabel: 'service' },
      { eventType: 'up', text: 'other in b: up 2.346', stamped: { service: 'other' } },
      { eventType: '5xx_rate', text: 'other rate=1000', stamped: { key: 'other' }, entityLabel: 'key' },
    ])
    const plain = { queries: [{ promql: 'rate' }] }
    const [event] = mapped(prometheus, config(plain), await poll(plain))
    expect(event).toMatchObject({ eventType: 'metric', text: '{service="pay"} rate=1000' })
    expect(event!.entityLabel).toBeUndefined()
  })

  it.each([
    ['its metric', { promql: 'up' }, 'pay up=1'],
    ['its metric as the event type', { promql: 'up', by_name: true, event_type: 'other' }, 'pay up=1'],
    ['the event type it is given', { promql: 'up', event_type: 'is_up' }, 'pay is_up=1'],
    [
      'its expression',
      { promql: 'sum by (service)\n  (up{job="x"})' },
      'pay sum by (service) (up{job="x"})=1',
    ],
    ['its counter and that it is a rate', { promql: 'up', rate_over: '5m' }, 'pay up per_second=1'],
    ['what the query says', { promql: 'up', field: 'alive' }, 'pay alive=1'],
    ['a text of its own, too', { promql: 'up', text: '{field} of {key}: {val}' }, 'up of pay: 1'],
    [
      'its labels, where it is of no entity',
      { promql: 'up', key_label: 'none' },
      'up{service="pay"} value=1',
    ],
  ])('a text names what was measured: %s', async (_, query, text) => {
    const { config, poll } = await world((asked) =>
      vector([{ ...(asked === 'up' ? { __name__: 'up' } : {}), service: 'pay' }, '1']),
    )
    const more = { queries: [{ key_label: 'service', ...query }] }
    expect(mapped(prometheus, config(more), await poll(more))).toMatchObject([{ text }])
  })

  it('lets labels read series labels bare and below metric, and a declared one wins over the query', async () => {
    const { config, poll } = await world(vector([{ service: 'pay', value: 'odd', zone: 'a' }, '4']))
    const more = {
      queries: [{ ...UP, key_label: 'service' }],
      labels: [
        { name: 'service', const: 'shop', primary: true },
        { name: 'zone', field: 'zone' },
        { name: 'odd', field: 'metric.value' },
        { name: 'value', field: 'value', type: 'number' },
      ],
    }
    const [event] = prepared(prometheus, config(more), await poll(more))
    expect(event).toMatchObject({
      strings: [
        ['service', 'shop'],
        ['zone', 'a'],
        ['odd', 'odd'],
      ],
      numbers: { value: 4 },
    })
  })
})

describe('a Prometheus that cannot be asked', () => {
  it.each<[string, Said, string]>([
    [
      'asks for credentials',
      { status: 401, body: '<html>' },
      'Prometheus asks for credentials (401). Set bearer_token, or username and password.',
    ],
    [
      'forbids it',
      failure(403, 'forbidden', 'no\nway'),
      'Prometheus forbids the request (403): no way. The credentials need the right to read.',
    ],
    [
      'is somewhere else',
      { status: 404, body: 'nothing here' },
      'Prometheus has no API at this address (404). url is the base address, with the prefix of a proxy and without /api/v1.',
    ],
    [
      'refuses the query',
      failure(422, 'execution', 'many-to-many'),
      'Prometheus refuses the request (422): many-to-many.',
    ],
    [
      'is overloaded',
      failure(503, 'unavailable', 'x'.repeat(900)),
      `Prometheus answered 503: ${'x'.repeat(300)}.`,
    ],
    [
      'is a page of a proxy',
      { body: '<html>login</html>' },
      'What answers at this address is not Prometheus. Check url.',
    ],
    ['is another API', { body: { ok: true } }, 'What answers at this address is not Prometheus. Check url.'],
    [
      'has another envelope',
      { body: { status: 'success' } },
      'What answers at this address is not Prometheus. Check url.',
    ],
  ])('is told what to do: it %s', async (_what, said, sentence) => {
    const { poll } = await world(said)
    const error = await refused(poll())
    expect(error?.message.replace('Query 1 (up): ', '')).toBe(sentence)
    expect(error?.name).toBe('UpstreamError')
  })

  it('passes on how long it wants to be left alone', async () => {
    const { poll } = await world({ status: 429, headers: { 'retry-after': '17' }, body: '' })
    expect(await refused(poll())).toMatchObject({
      retryAfterMs: 17_000,
      message: expect.stringContaining('less often (429)'),
    })
  })

  it('never shows the credentials, even where it echoes them', async () => {
    const { poll } = await world(failure(401, 'unauthorized', 'no such token s3cr3t'))
    const error = await refused(poll({ bearer_token: 's3cr3t' }))
    expect(error?.message).toBe(
      'Prometheus does not take the credentials (401): no such token ***. Check bearer_token, or username and password.',
    )
  })

  it('is told why where nobody listens, and discovery says the same', async () => {
    const { server, config, out } = await world(vector())
    await server.close()
    const sentence = 'Prometheus cannot be reached: connection refused. Check url, and that it runs.'
    await expect(prometheus.poll(config(), null, out)).rejects.toThrow(sentence)
    await expect(prometheus.discover!({ url: server.url }, out)).rejects.toThrow(sentence)
  })
})

describe('discovery of prometheus', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['no address', {}, 'config.url must be'],
    [
      'two kinds of credentials',
      { url: 'http://prom', bearer_token: 't', username: 'u' },
      'exclude each other',
    ],
    ['a label that is none', { url: 'http://prom', for_label: 'a"} or up' }, 'config.for_label must be'],
    [
      'an entity that is no label',
      { url: 'http://prom', selected: ['up'], key: 'a b' },
      'config.key must be the name of a label',
    ],
    ['no names', { url: 'http://prom', selected: [] }, 'config.selected must name 1 to 40'],
    [
      'too many names',
      { url: 'http://prom', selected: Array.from({ length: 41 }, (_, i) => `m${i}`) },
      '1 to 40',
    ],
  ])('refuses %s', async (_what, config, message) => {
    await expect(prometheus.discover!(config, reach())).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining(message),
    })
  })

  it('proposes a config without the secrets, and one that asks whatever the names are', async () => {
    const { server, out } = await world((query) =>
      query.startsWith('topk')
        ? vector([{ __name__: 'a.b', instance: 'one:9090', job: 'j', region: 'eu' }, '1'])
        : vector(),
    )
    const found = await prometheus.discover!(
      { url: server.url, username: 'me', password: 'pass', selected: ['a.b', 'c'] },
      out,
    )
    expect(JSON.stringify(found)).not.toContain('"pass"')
    expect(found.proposed_config).toEqual({
      url: server.url,
      username: 'me',
      queries: [
        {
          promql: '{__name__=~"a\\\\.b|c"}',
          by_name: true,
          key_label: 'instance',
          text: '{key} {event_type}={val}',
        },
      ],
      labels: [
        { name: 'instance', field: 'metric.instance', primary: true },
        { name: 'region', field: 'metric.region' },
        { name: 'value', field: 'value', type: 'number' },
      ],
    })
  })

  it('proposes the rate of counters, which metadata of the targets or else the name tells', async () => {
    const types: Record<string, string[]> = {
      ticks: ['counter'],
      size_total: ['gauge'],
      mixed_total: ['counter', 'gauge'],
      unsure_total: ['unknown'],
    }
    const { server, out } = await world(vector())
    server.answer = ({ path }) => {
      const name = new URL(path, server.url).searchParams.get('metric')
      if (name === null) return vector([{ __name__: 'ticks', service: 'pay' }, '7'])
      return success({ [name]: (types[name] ?? []).map((type) => ({ type, help: '', unit: '' })) })
    }
    const selected = ['ticks', 'size_total', 'mixed_total', 'unsure_total', 'other_total', 'depth']
    const found = await prometheus.discover!({ url: server.url, selected }, out)
    const rate = (name: string) => ({
      promql: `{__name__="${name}"}`,
      rate_over: '5m',
      by_name: true,
      key_label: 'service',
      text: '{key} {event_type}={val}/s',
    })
    expect(found.proposed_config).toMatchObject({
      queries: [
        {
          promql: '{__name__=~"size_total|depth"}',
          by_name: true,
          key_label: 'service',
          text: '{key} {event_type}={val}',
        },
        ...['ticks', 'mixed_total', 'unsure_total', 'other_total'].map(rate),
      ],
    })
    expect(found.preview).toMatchObject([
      { name: 'ticks', type: 'counter', rate_over: '5m', sample: 7 },
      { name: 'size_total', type: 'gauge' },
      ...[{ rate_over: '5m' }, { rate_over: '5m' }, { rate_over: '5m' }],
      { name: 'depth', type: 'gauge' },
    ])
    expect(() => validateConfig('prometheus', found.proposed_config as Record<string, unknown>)).not.toThrow()
    // What has no such data, as behind a federation, is told by its name.
    server.answer = ({ path }) =>
      path.includes('metadata')
        ? { status: 404, body: 'not found' }
        : vector([{ __name__: 'a_total', service: 'pay' }, '7'])
    expect(await prometheus.discover!({ url: server.url, selected: ['a_total'] }, out)).toMatchObject({
      proposed_config: { queries: [rate('a_total')] },
    })
  })

  it('takes the label that is wanted as the entity, and says which others can be it', async () => {
    const { server, out } = await world(
      vector(
        [{ __name__: 'q', service: 'cart', zone: 'a', le: '1', key_value: 'x' }, '1'],
        [{ __name__: 'q', service: 'pay', zone: 'a', le: '2', key_value: 'x' }, '2'],
      ),
    )
    const ask = (more = {}) => prometheus.discover!({ url: server.url, selected: ['q'], ...more }, out)
    const choices = [
      { name: 'service', cardinality: 2, values_preview: ['cart', 'pay'] },
      { name: 'zone', cardinality: 1, values_preview: ['a'] },
    ]
    expect(await ask()).toMatchObject({ key: 'service', key_choices: choices })
    expect(await ask({ key: 'zone' })).toMatchObject({
      summary: '1 metric; the entity is zone, which is on 2 of the 2 series looked at.',
      key: 'zone',
      key_choices: choices,
      suggested_key: { name: 'service' },
      proposed_config: {
        queries: [{ key_label: 'zone' }],
        labels: [
          { name: 'zone', field: 'metric.zone', primary: true },
          { name: 'service', field: 'metric.service' },
          { name: 'value' },
        ],
      },
    })
    for (const key of ['pod', 'le'])
      await expect(ask({ key })).rejects.toThrow(
        `config.key must be a label these metrics have, and ${key} is none; they have service, zone`,
      )
  })

  it('A8: proposes the label that enough series carry, and says on how many it is', async () => {
    const series = (
      service: boolean,
      n: number,
      more: Record<string, string> = {},
    ): [Record<string, string>, string] => [
      { __name__: 'q', ...(service ? { service: `s${n}` } : {}), ...more },
      '1',
    ]
    const { server, out } = await world(vector())
    const ask = async (...found: [Record<string, string>, string][]) => {
      server.answer = () => vector(...found)
      return await prometheus.discover!({ url: server.url, selected: ['q'] }, out)
    }
    const some = [1, 2, 3, 4, 5].map((n) => series(n > 2, n, { pod: `p${n}`, job: 'j' }))
    expect(await ask(...some)).toMatchObject({
      summary: '1 metric; the entity is pod, which is on 5 of the 5 series looked at.',
      coverage: [
        { label: 'pod', series: 5, of: 5 },
        { label: 'service', series: 3, of: 5 },
        { label: 'job', series: 5, of: 5 },
      ],
      proposed_config: { labels: [{ name: 'pod' }, { name: 'service' }, { name: 'value' }] },
    })
    // Where none is on four of five, the one that is on most is proposed, and what it covers said.
    expect(await ask(...[1, 2, 3, 4, 5].map((n) => series(n > 2, n)))).toMatchObject({
      summary: '1 metric; the entity is service, which is on 3 of the 5 series looked at.',
      key: 'service',
    })
    server.answer = ({ path }) => (path.endsWith('/query') ? vector(...some) : success(['q']))
    expect((await prometheus.discover!({ url: server.url }, out)).summary).toBe(
      '1 metric, 1 label. Of q, the entity is pod, which is on 5 of the 5 series looked at.',
    )
    expect((await prometheus.discover!({ url: server.url, for_label: 'job' }, out)).summary).toBe(
      '5 metrics with the label job; the entity is job, which is on 25 of the 25 series looked at.',
    )
  })

  it('begins with a metric that has a value, and not with those of the alerts', async () => {
    const { server, out } = await world(vector())
    server.answer = ({ path, body }) => {
      if (path.endsWith('/labels')) return success(['__name__', 'job'])
      if (path.endsWith('/values')) return success(['ALERTS', 'gone', 'queue'])
      const query = new URLSearchParams(body).get('query') ?? ''
      return query.includes('queue') ? vector([{ __name__: 'queue', job: 'j' }, '1']) : vector()
    }
    expect(await prometheus.discover!({ url: server.url }, out)).toMatchObject({
      catalog: { metrics: ['ALERTS', 'gone', 'queue'], labels: ['job'] },
      selected_max: 40,
      proposed_config: { queries: [{ promql: '{__name__="queue"}', key_label: 'job' }] },
    })
  })

  it('says that chosen metrics have no values, and that there is nothing yet', async () => {
    const { server, out } = await world(vector())
    await expect(prometheus.discover!({ url: server.url, selected: ['gone'] }, out)).rejects.toThrow(
      'None of these metrics has a value at present',
    )
    server.answer = () => success([])
    await expect(prometheus.discover!({ url: server.url }, out)).rejects.toThrow('has no metrics yet')
  })
})
