import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { answer, chunks, type Handler, type Stub, startStub, svc } from './cli-harness.ts'

const KEY = `webhook-${'a'.repeat(32)}`
let folder: string
let stub: Stub
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-send-'))
})
afterEach(async () => {
  rmSync(folder, { recursive: true })
  await stub.close()
})

const accept: Handler = (seen, response) =>
  answer(response, 202, { ingested: seen.body.split('\n').filter(Boolean).length })
const start = async (handler: Handler = accept) => {
  stub = await startStub((seen, response, index) => {
    if (seen.url === '/api/sources/logs')
      answer(response, 200, { name: 'logs', mode: 'push', ingest_key: KEY })
    else if (seen.url === '/api/sources/docs')
      answer(response, 200, { name: 'docs', mode: 'reference', ingest_key: null })
    else if (seen.url.startsWith('/api/')) answer(response, 404, { detail: 'no source has that name' })
    else handler(seen, response, index)
  })
  return ['--svcd', stub.url]
}
const posts = () => stub.requests.filter((seen) => seen.url.startsWith('/ingest/'))

describe('svc send', () => {
  it('finds the ingest key of a source by its name', async () => {
    const ran = await svc(['send', 'logs', ...(await start())], { stdin: '{"a":1}' })
    expect(ran).toMatchObject({ code: 0, out: 'stored 1\n' })
    expect(posts()).toMatchObject([{ method: 'POST', url: `/ingest/${KEY}`, body: '{"a":1}' }])
  })

  it('uses an ingest key without asking for its source', async () => {
    await svc(['send', KEY, ...(await start())], { stdin: '{"a":1}' })
    expect(stub.requests).toHaveLength(1)
  })

  it('sends the bytes of a document over several lines as they are', async () => {
    const text = '{\n  "id": 9007199254740993\n}\n'
    await svc(['send', 'logs', ...(await start())], { stdin: text })
    expect(posts()[0]).toMatchObject({ body: text, headers: { 'content-type': 'application/json' } })
  })

  it('reads a file, and knows NDJSON by its name', async () => {
    const file = join(folder, 'x.ndjson')
    writeFileSync(file, '{"a":1}\n\nnot json\n')
    await svc(['send', 'logs', file, ...(await start())])
    expect(posts()[0]).toMatchObject({
      body: '{"a":1}\n\nnot json\n',
      headers: { 'content-type': 'application/x-ndjson' },
    })
  })

  it('sends lines that have arrived without waiting for the end of the stream', async () => {
    let arrived = () => {}
    const firstIsThere = new Promise<void>((resolve) => {
      arrived = resolve
    })
    const at = await start((seen, response, index) => {
      accept(seen, response, index)
      arrived()
    })
    async function* slow() {
      yield Buffer.from('{"a":1}\n{"a"')
      await firstIsThere
      yield Buffer.from(':2}\n')
    }
    const ran = await svc(['send', 'logs', ...at], { stdin: slow() })
    expect(posts().map((seen) => seen.body)).toEqual(['{"a":1}\n', '{"a":2}\n'])
    expect(ran.out).toBe('stored 2\n')
  })

  it('cuts many lines into batches of 1,000, each with its own idempotency key', async () => {
    const lines = Array.from({ length: 2_500 }, (_, i) => `{"n":${i}}`).join('\n')
    const ran = await svc(
      ['send', 'logs', '--type', 'ndjson', '--idempotency-key', 'k', ...(await start())],
      { stdin: chunks(lines.slice(0, 7_001), lines.slice(7_001)) },
    )
    expect(posts().map((seen) => seen.body.split('\n').filter(Boolean).length)).toEqual([1000, 1000, 500])
    expect(posts().map((seen) => seen.headers['idempotency-key'])).toEqual(['k', 'k-1', 'k-2'])
    expect(
      posts()
        .map((seen) => seen.body)
        .join(''),
    ).toBe(lines)
    expect(ran.out).toBe('stored 2500\n')
  })

  it('compresses a large body, however well it can be', async () => {
    const varied = `[${Array.from({ length: 9_000 }, (_, i) => `{"n":${(i * 7_919) % 65_537}}`).join(',')}]`
    await svc(['send', 'logs', ...(await start())], { stdin: varied })
    expect(posts()[0]!.headers['content-encoding']).toBe('gzip')
    expect(posts()[0]!.body).toBe(varied)
    await stub.close()
    const repeated = `["${'a'.repeat(500_000)}"]`
    await svc(['send', 'logs', ...(await start())], { stdin: repeated })
    expect(posts()[0]!.headers['content-encoding']).toBe('gzip')
  })

  it('tells what the answers to its batches say should be known, each kind once', async () => {
    const notices = ['times such as "a" were odd.', 'no label x.', 'times such as "b" were odd.']
    const at = await start((_seen, response) =>
      answer(response, 202, { ingested: 1_000, notice: notices[posts().length - 1] }),
    )
    const ran = await svc(['send', 'logs', ...at], { stdin: '{"a":1}\n'.repeat(3_000) })
    expect(ran).toMatchObject({
      code: 0,
      out: 'stored 3000\n',
      err: 'svc: times such as "a" were odd. no label x.\n',
    })
  })

  it('tries again with the same key after 429 and 503, as long as asked', async () => {
    const at = await start((seen, response) => {
      const n = posts().length
      if (n === 1) answer(response, 429, { detail: 'busy' }, { 'retry-after': '3' })
      else if (n === 2) answer(response, 503, { detail: 'starting' })
      else accept(seen, response, n)
    })
    const ran = await svc(['send', 'logs', ...at], { stdin: '{"a":1}' })
    expect(ran.code).toBe(0)
    expect(ran.waits).toEqual([3000, 1000])
    expect(new Set(posts().map((seen) => seen.headers['idempotency-key'])).size).toBe(1)
  })

  it('gives up after six tries', async () => {
    const ran = await svc(
      ['send', 'logs', ...(await start((_seen, response) => answer(response, 503, { detail: 'starting' })))],
      { stdin: '{"a":1}' },
    )
    expect(ran.code).toBe(69)
    expect(posts()).toHaveLength(6)
    expect(ran.err).toContain('starting (HTTP 503')
  })

  it('reports rejected items, goes on with the next batch, and exits with 65', async () => {
    const lines = Array.from({ length: 1_001 }, (_, i) => `{"n":${i}}`).join('\n')
    const at = await start((_seen, response) =>
      posts().length === 1
        ? answer(response, 400, {
            detail: 'every item was rejected',
            rejected: [{ index: 4, error: 'nests deeper than 100\u001b[31m' }],
          })
        : answer(response, 202, { ingested: 1, duplicates: 1 }),
    )
    const ran = await svc(['send', 'logs', '--type', 'ndjson', ...at], { stdin: lines })
    expect(ran.code).toBe(65)
    expect(ran.out).toBe('stored 1, 1 seen before, 1 rejected\n')
    expect(ran.err).toContain('line 5 was rejected: nests deeper than 100\\u001b[31m')
  })

  it('names the line of the file that a rejected item is on, over batches and blank lines', async () => {
    const lines = Array.from({ length: 1_200 }, (_, i) => `{"n":${i}}`)
    lines.splice(3, 0, '', '  ')
    const file = join(folder, 'log.ndjson')
    writeFileSync(file, lines.join('\n'))
    // Each batch refuses its fifth item.
    const at = await start((_seen, response) =>
      answer(response, 202, { ingested: 9, rejected: [{ index: 4, error: 'is larger than 1 MiB' }] }),
    )
    const ran = await svc(['send', 'logs', file, ...at])
    expect(posts()).toHaveLength(2)
    const places = [...ran.err.matchAll(/(\S+) was rejected/g)].map(([, place]) => place)
    expect(places).toEqual([`${file}:7`, `${file}:1005`])
    expect([lines[7 - 1], lines[1005 - 1]]).toEqual(['{"n":4}', '{"n":1002}'])
    const json = await svc(['send', 'logs', file, '--json', ...at])
    expect(JSON.parse(json.err)).toEqual({
      error: '2 items were rejected',
      exit_code: 65,
      rejected: [
        { line: 7, error: 'is larger than 1 MiB' },
        { line: 1005, error: 'is larger than 1 MiB' },
      ],
    })
  })

  describe('of several batches, a later one of which is refused', () => {
    const lines = ['', ...Array.from({ length: 2_500 }, (_, i) => `{"n":${i}}`)]
    const full: Handler = (_seen, response) =>
      posts().length < 3
        ? answer(response, 202, { ingested: 999, duplicates: 1 })
        : answer(response, 507, { detail: 'storage is at 76.76 %' })

    it('says how many of a file were stored, and the line to go on from', async () => {
      const file = join(folder, 'log.ndjson')
      writeFileSync(file, lines.join('\n'))
      const at = await start(full)
      const ran = await svc(['send', 'logs', file, ...at])
      expect(ran).toMatchObject({ code: 1, out: 'stored 1998 of 2500, 2 seen before\n' })
      expect(ran.err).toContain(`storage is at 76.76 % (HTTP 507 from ${stub.url}); go on from line 2001\n`)
      const first = posts()
        .slice(0, 2)
        .map(({ body }) => body)
      expect(first.join('')).toBe(`${lines.slice(0, 2000).join('\n')}\n`)
    })

    it('says the same with --json, in the error', async () => {
      const file = join(folder, 'log.ndjson')
      writeFileSync(file, lines.join('\n'))
      const ran = await svc(['send', 'logs', file, '--json', ...(await start(full))])
      expect(ran.out.match(/"ingested":999/g)).toHaveLength(2)
      expect(JSON.parse(ran.err)).toMatchObject({ status: 507, stored: 1998, total: 2500, next_line: 2001 })
    })

    it('counts no further on standard input, and says where it is not known what arrived', async () => {
      const at = await start((seen, response) =>
        posts().length < 2 ? accept(seen, response, 0) : response.destroy(),
      )
      const ran = await svc(['send', 'logs', '--type', 'ndjson', '--json', ...at], {
        stdin: lines.slice(1).join('\n'),
      })
      expect(ran).toMatchObject({ code: 69, out: '{"ingested":1000}\n' })
      const told = JSON.parse(ran.err)
      expect(told).toMatchObject({ stored: 1000, next_line: 1001, unsure_to_line: 2000 })
      expect(told).not.toHaveProperty('total')
      expect(told.error).toContain('whether lines 1001 to 2000 were stored is not known')
    })

    it('names the line that is too long, of which nothing was sent', async () => {
      const at = await start()
      const stdin = chunks(`${lines.slice(1, 1_001).join('\n')}\n"${'x'.repeat(3_000_000)}`, '"\n{}\n')
      const ran = await svc(['send', 'logs', '--type', 'ndjson', ...at], { stdin })
      expect(ran).toMatchObject({ code: 65, out: 'stored 1000\n' })
      expect(ran.err).toBe(
        'svc: a line is longer than 1 MiB, the most one item may have; go on from line 1001\n',
      )
    })
  })

  it.each([
    ['docs', 'takes no events: it is a reference source'],
    ['nope', 'no source has that name (HTTP 404'],
  ])('refuses %s', async (name, message) => {
    const ran = await svc(['send', name, ...(await start())], { stdin: '{}' })
    expect(ran.code).toBe(1)
    expect(ran.err).toContain(message)
  })

  it('D: exits with 0 and says so when there is nothing to send', async () => {
    const ran = await svc(['send', 'logs', ...(await start())], { stdin: ' \n' })
    expect(ran).toMatchObject({ code: 0, out: '', err: 'there was nothing to send\n' })
  })

  it("prints each answer's JSON with --json", async () => {
    const ran = await svc(
      [
        'send',
        'logs',
        '--json',
        ...(await start((_seen, response) => answer(response, 202, '{"ingested": 1}'))),
      ],
      { stdin: '{"a":1}' },
    )
    expect(ran.out).toBe('{"ingested": 1}\n')
  })
})
