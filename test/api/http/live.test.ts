import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { SYSLOG_OFF } from '../../../api/http/syslog-state.ts'
import { openDoor, ROOT } from './door.ts'

/** The words that a cell of a table has in ticks. */
const ticked = (cell: string): string[] => [...cell.matchAll(/`(\w+)`/g)].map(([, word]) => word!)

/** Reads server-sent events as they come. */
async function* eventsOf(answer: Response): AsyncGenerator<{ id?: string; event?: string; data?: string }> {
  let text = ''
  for await (const chunk of answer.body!.pipeThrough(
    new TextDecoderStream(),
  ) as unknown as AsyncIterable<string>) {
    text += chunk
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const block = text.slice(0, end)
      text = text.slice(end + 2)
      const fields = Object.fromEntries(
        block
          .split('\n')
          .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      )
      if (fields.event) yield fields
    }
  }
}

describe('a live tail', () => {
  it('sends what fits as it is stored, goes on after the last id, and ends when its key is revoked', async () => {
    const door = await openDoor({ secured: true })
    const base = await door.app.listen({ port: 0, host: '127.0.0.1' })
    const { url, key } = await door.source('app', {
      labels: [{ name: 'service', field: 'service', primary: true }],
    })
    const reader = await door.key(['read'])
    const send = (body: string) => door.call('POST', url, body, door.as(key!.secret))
    await send('[{"service":"a","n":1},{"service":"b"},{"service":"a","n":9007199254740993}]')
    const answer = await fetch(`${base}/api/tail?label=service%3Da&source=app`, {
      headers: { ...door.as(reader.secret), 'last-event-id': 'evt_1' },
    })
    expect(answer.headers.get('content-type')).toContain('text/event-stream')
    const stream = eventsOf(answer)
    expect((await stream.next()).value).toMatchObject({ id: 'evt_3', event: 'event' })
    await send('[{"service":"b"},{"service":"a"}]')
    const next = (await stream.next()).value as { id: string; data: string }
    expect(next.id).toBe('evt_5')
    expect(JSON.parse(next.data)).toMatchObject({
      source: 'app',
      entity: { label: 'service', value: 'a' },
      labels: { service: 'a' },
    })
    await door.call('DELETE', `/api/keys/${reader.id}`, undefined, door.as(ROOT))
    expect((await stream.next()).done).toBe(true)
    await door.close()
  })

  it('F: begins with a notice where no event has the label, and refuses a source that is not there', async () => {
    const door = await openDoor()
    const base = await door.app.listen({ port: 0, host: '127.0.0.1' })
    const { url } = await door.source('app', {
      labels: [{ name: 'service', field: 'service', primary: true }],
    })
    const stream = eventsOf(await fetch(`${base}/api/tail?label=servce%3Da`))
    expect((await stream.next()).value).toEqual({
      event: 'notice',
      data: '{"notice":"no event has the label servce"}',
    })
    await door.call('POST', url, '{"service":"a"}')
    const known = eventsOf(await fetch(`${base}/api/tail?label=service%3Da`))
    await door.call('POST', url, '{"service":"a"}')
    expect((await known.next()).value).toMatchObject({ event: 'event' })
    const refused = await door.call('GET', '/api/tail?source=nosuch')
    expect([refused.status, refused.json().detail]).toEqual([404, 'no source is named nosuch'])
    const strip = (body: object) => door.call('POST', '/api/histogram', body)
    expect((await strip({ selector: { servce: 'a' }, window: '1h' })).json()).toMatchObject({
      total: 0,
      notice: 'no event has the label servce (did you mean service?)',
    })
    expect((await strip({ selector: { service: 'b' }, window: '1h' })).json().notice).toBeUndefined()
    await Promise.all([stream.return(undefined), known.return(undefined)])
    await door.close()
  })

  it('answers HEAD with its headers alone, and holds no stream for it', async () => {
    const door = await openDoor({ secured: true })
    const base = await door.app.listen({ port: 0, host: '127.0.0.1' })
    await door.source('app', {})
    const headers = door.as((await door.key(['read'])).secret)
    // More than a credential may have streams open.
    for (let n = 0; n < 21; n++) {
      const answer = await fetch(`${base}/api/tail?source=app`, { method: 'HEAD', headers })
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        200,
        'text/event-stream; charset=utf-8',
      ])
    }
    const refused = await fetch(`${base}/api/tail?source=nosuch`, { method: 'HEAD', headers })
    expect(refused.status).toBe(404)
    const stream = await fetch(`${base}/api/tail?source=app`, { headers })
    expect(stream.status).toBe(200)
    await stream.body!.cancel()
    await door.close()
  })

  it('refuses a label that is no pair', async () => {
    const door = await openDoor()
    expect((await door.call('GET', '/api/tail?label=service')).json().detail).toBe('label must be name=value')
    await door.close()
  })
})

describe('the metrics', () => {
  it('count, begin at zero, name no entity, and pass promtool where it is installed', async () => {
    const door = await openDoor()
    const { url } = await door.source('app', {
      labels: [{ name: 'service', field: 'service', primary: true }],
    })
    const before = (await door.call('GET', '/metrics')).text
    expect(before).toContain('svc_events_ingested_total{source="app"} 0')
    await door.call('POST', url, '[{"service":"secret-entity"},{"service":"secret-entity"}]')
    await door.call('POST', '/api/triggers', { name: 'any', sources: ['app'], condition: { event: 'any' } })
    await door.call('POST', url, '{"service":"secret-entity"}')
    const after = (await door.call('GET', '/metrics')).text
    expect(after).toContain('svc_events_ingested_total{source="app"} 3')
    expect(after).toContain('svc_trigger_firings_total{trigger="any"} 1')
    expect(after).toContain('svc_source_state{source="app",state="active"} 1')
    expect(after).toContain('svc_http_requests_total{route="/ingest/:key",method="POST",status="202"} 2')
    expect(after).not.toContain('secret-entity')
    const documented = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8')
    expect(documented.match(/(?<=^\| `)svc_\w+/gm)!.toSorted()).toEqual(
      after.match(/(?<=^# TYPE )\w+/gm)!.toSorted(),
    )
    const rows = new Map(
      [...documented.matchAll(/^\| `(svc_\w+)` +\| ([^|]*)\| (.*)$/gm)].map(([, name, labels, what]) => [
        name!,
        { labels: ticked(labels!), what: ticked(what!) },
      ]),
    )
    for (const [, name, labels] of after.matchAll(/^(svc_\w+)\{(.*)\} /gm))
      expect([name, rows.get(name!)?.labels]).toEqual([
        name,
        [...labels!.matchAll(/(\w+)="/g)].map(([, label]) => label),
      ])
    const { received, dropped } = SYSLOG_OFF.counts
    expect(rows.get('svc_syslog_messages_total')!.what).toEqual(Object.keys(received))
    expect(rows.get('svc_syslog_dropped_total')!.what).toEqual(Object.keys(dropped))
    for (const [, result] of after.matchAll(/^svc_trace_spans_total\{result="(\w+)"/gm))
      expect(rows.get('svc_trace_spans_total')!.what).toContain(result)
    const check = spawnSync('promtool', ['check', 'metrics'], { input: after, encoding: 'utf8' })
    if (!check.error) expect(`${check.stdout}${check.stderr}`).toBe('')
    await door.close()
  })
})

describe('the counters of a source', () => {
  it('go with it, and never on with what another of that name had counted', async () => {
    const door = await openDoor()
    const labels = [{ name: 'service', field: 'service', primary: true }]
    const send = async (url: string, n: number) => {
      const { status } = await door.call(
        'POST',
        url,
        Array.from({ length: n }, () => ({ service: 'a' })),
      )
      expect(status).toBe(202)
    }
    const counts = async () => {
      const { text } = await door.call('GET', '/metrics')
      const found = text.matchAll(/^svc_events_ingested_total\{source="(.*)"\} (\d+)$/gm)
      return Object.fromEntries([...found].map(([, source, n]) => [source!, Number(n)]))
    }
    const remove = async (name: string) =>
      expect((await door.call('DELETE', `/api/sources/${name}?cascade=true`)).status).toBeLessThan(300)
    const first = await door.source('app', { labels })
    await send(first.url, 9)
    expect(await counts()).toMatchObject({ app: 9 })
    await remove('app')
    const again = await door.source('app', { labels })
    await send(again.url, 2)
    // A reset: less than before, and all that the new one has.
    expect(await counts()).toMatchObject({ app: 2 })
    const renamed = await door.call('POST', '/api/sources/app/rename', { to: 'web' })
    expect(renamed.status).toBe(200)
    await send(again.url, 3)
    expect(await counts()).toEqual(expect.not.objectContaining({ app: expect.anything() }))
    await send(again.url, 1)
    const other = await door.source('app', { labels })
    await send(other.url, 1)
    expect(await counts()).toMatchObject({ web: 4, app: 1 })
    await remove('web')
    expect(await counts()).toEqual(expect.not.objectContaining({ web: expect.anything() }))
    await door.close()
  })
})

it('polls are counted by source as events are: what one counted does not go on under another name', async () => {
  const door = await openDoor()
  await door.source('api')
  const [source] = (await door.engine.status()).bySource
  const status = door.engine.status
  let polls = 0
  door.engine.status = async () => ({
    ...(await status()),
    tallies: [{ name: 'polls', labels: { source_id: String(source!.id), outcome: 'ok' }, value: polls }],
  })
  const counts = async () =>
    [...(await door.call('GET', '/metrics')).text.matchAll(/^svc_polls_total(.*)$/gm)].map(([, of]) => of)
  polls = 3
  expect(await counts()).toEqual(['{source="api",outcome="ok"} 3'])
  await door.call('POST', '/api/sources/api/rename', { to: 'web' })
  polls = 5
  expect(await counts()).toEqual(['{source="web",outcome="ok"} 2'])
  await door.close()
})

describe('the API document', () => {
  it('is OpenAPI 3.1 and describes every operation, with the scope it needs', async () => {
    const door = await openDoor()
    const document = (await door.call('GET', '/openapi.json')).json() as unknown as {
      openapi: string
      paths: Record<
        string,
        Record<string, { operationId?: string; summary?: string; tags?: string[]; description?: string }>
      >
    }
    expect(document.openapi).toBe('3.1.0')
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
    )
    expect(operations.length).toBeGreaterThan(30)
    for (const operation of operations)
      expect([
        operation.path,
        operation.method,
        typeof operation.operationId,
        typeof operation.summary,
        operation.tags?.length,
        /Scope: \S+\.$/.test(operation.description ?? ''),
      ]).toEqual([operation.path, operation.method, 'string', 'string', 1, true])
    expect(new Set(operations.map((operation) => operation.operationId)).size).toBe(operations.length)
    expect((await door.call('GET', '/docs/')).text).toContain('swagger')
    await door.close()
  })
})
