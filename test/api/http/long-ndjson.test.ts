/** NDJSON that is stored while it comes, over the door and a real engine. */
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LIMITS } from '../../../api/http/ndjson.ts'
import { gzipOfZeros } from '../zeros.ts'
import { openDoor, ROOT } from './door.ts'

/** Three pieces: two by their bytes, and a rest. */
const PAD = 'x'.repeat(1_000)
const PER_PIECE = 4_000
const lineOf = (n: number) => `${JSON.stringify({ n, service: `s${n % 7}`, pad: PAD })}\n`
const linesOf = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => lineOf(from + i)).join('')

let door: Awaited<ReturnType<typeof openDoor>>
let url: string
beforeEach(async () => {
  door = await openDoor()
  url = (await door.source('app', { labels: [{ name: 'service', field: 'service', primary: true }] })).url
})
afterEach(() => door.close())

async function send(body: Iterable<string | Buffer> | Readable, headers: Record<string, string> = {}) {
  const answer = await door.app.inject({
    method: 'POST',
    url,
    headers: { host: '127.0.0.1:8787', 'content-type': 'application/x-ndjson', ...headers },
    payload: body instanceof Readable ? body : Readable.from(body, { objectMode: false }),
  })
  return { status: answer.statusCode, json: JSON.parse(answer.body) as Record<string, unknown> }
}

const stored = async () => (await door.engine.status()).counters.events

describe('long NDJSON', () => {
  it('is stored in pieces and answered as one', async () => {
    const answer = await send([linesOf(0, 10_000)])
    expect(answer).toEqual({ status: 202, json: { ingested: 10_000, ids: ['evt_1', 'evt_10000'] } })
    expect((await door.engine.status()).counters.commits).toBe(
      Math.ceil((10_000 * lineOf(1_000).length) / LIMITS.piece),
    )
  })

  it('keeps nobody waiting, however many come slowly at once', async () => {
    let end = (): void => {}
    const whole = new Promise<void>((resolve) => (end = resolve))
    async function* slowly(n: number) {
      yield lineOf(n)
      await whole
      yield lineOf(n)
    }
    const slow = Array.from({ length: 40 }, (_, n) => send(Readable.from(slowly(n), { objectMode: false })))
    const answer = await door.app.inject({
      method: 'POST',
      url,
      headers: { host: '127.0.0.1:8787' },
      payload: '{"n":1}',
    })
    expect(answer.statusCode).toBe(202)
    end()
    for (const { status, json } of await Promise.all(slow))
      expect({ status, ingested: json.ingested }).toEqual({ status: 202, ingested: 2 })
  })

  it('is stored no further once its key is revoked', async () => {
    const secured = await openDoor({ secured: true })
    const { url: address, key } = await secured.source('app')
    async function* body() {
      yield linesOf(0, 5_000)
      await expect.poll(async () => (await secured.engine.status()).counters.events).toBeGreaterThan(0)
      await secured.call('DELETE', `/api/keys/${key!.id}`, undefined, secured.as(ROOT))
      yield linesOf(5_000, 15_000)
    }
    const answer = await secured.app.inject({
      method: 'POST',
      url: address,
      headers: {
        host: '127.0.0.1:8787',
        'content-type': 'application/x-ndjson',
        ...secured.as(key!.secret),
      },
      payload: Readable.from(body(), { objectMode: false }),
    })
    const { events } = (await secured.engine.status()).counters
    expect(answer.statusCode).toBe(401)
    expect(JSON.parse(answer.body).detail).toBe(
      `the credential was revoked meanwhile; ${events} items before that are stored`,
    )
    expect(events).toBeLessThan(5_000)
    await secured.close()
  })

  it('names refused items by their place in the whole, a piece of nothing else included', async () => {
    const bad = `${'{'.padEnd(1_010, 'y')}\n`.repeat(PER_PIECE + 300)
    const answer = await send([
      linesOf(0, 10),
      '\n \n',
      'no\n',
      linesOf(10, PER_PIECE),
      bad,
      linesOf(0, 5),
      '{',
    ])
    expect(answer.status).toBe(202)
    expect(answer.json.ingested).toBe(PER_PIECE + 5)
    const rejected = answer.json.rejected as { index: number; line: number }[]
    expect(rejected).toHaveLength(100)
    expect(rejected.slice(0, 3).map(({ index }) => index)).toEqual([10, PER_PIECE + 1, PER_PIECE + 2])
    // Lines as they were sent: from 1, the two blank ones counted.
    expect(rejected.slice(0, 3).map(({ line }) => line)).toEqual([13, PER_PIECE + 4, PER_PIECE + 5])
    const late = await send([linesOf(0, 9_000), 'no\n', linesOf(0, 5)])
    expect(late.json).toMatchObject({ ingested: 9_005, rejected: [{ index: 9_000, line: 9_001 }] })
    const all = await send([bad, bad])
    expect(all.status).toBe(400)
    expect(all.json).toMatchObject({ detail: expect.stringContaining('no item could be stored; item 0') })
    expect(all.json.rejected).toHaveLength(100)
  })

  it('repeated under its key after it was cut short, is stored once and answered in full', async () => {
    const key = { 'idempotency-key': 'k1' }
    const whole = linesOf(0, 10_000)
    const broken = Readable.from(
      (async function* () {
        yield whole.slice(0, Math.floor(whole.length / 2))
        throw new Error('the sender is gone')
      })(),
      { objectMode: false },
    )
    await send(broken, key).catch(() => {})
    expect(await send([whole], key)).toEqual({
      status: 202,
      json: { ingested: 10_000, ids: ['evt_1', 'evt_10000'] },
    })
    expect(await send([whole], key)).toMatchObject({ status: 202, json: { ingested: 10_000 } })
    expect(await stored()).toBe(10_000)
    expect(await send(['{"other":1}\n', whole], key)).toMatchObject({ status: 422 })
    expect(await stored()).toBe(10_000)
  })

  it('says what is stored where a later piece is refused', async () => {
    const answer = await send([linesOf(0, PER_PIECE), 'z'.repeat(LIMITS.piece + 1)])
    expect(answer.status).toBe(413)
    expect(answer.json.detail).toMatch(/^a line is longer than 4 MiB; \d+ items before that are stored$/)
    expect(String(answer.json.detail)).toContain(`; ${await stored()} items`)
  })

  it('may be gzip, which is not taken where it is broken, without an end of line or of another kind', async () => {
    const gzip = { 'content-encoding': 'gzip' }
    const random = Array.from({ length: 9_000 }, (_, n) =>
      JSON.stringify({
        n,
        pad: Array.from({ length: 60 }, (_, i) => ((n + 7) * (i + 3) * 2_654_435_761) % 4_294_967_296),
      }),
    ).join('\n')
    const packed = gzipSync(random)
    expect(await send([packed], gzip)).toMatchObject({ status: 202, json: { ingested: 9_000 } })
    expect(await send([packed.subarray(0, 1_000)], gzip)).toMatchObject({
      status: 400,
      json: { detail: 'the body is not valid gzip' },
    })
    expect(await send([gzipOfZeros(1024)], gzip)).toMatchObject({
      status: 413,
      json: { detail: 'a line is longer than 4 MiB' },
    })
    // Blank lines are no items, and cost no commit.
    const { commits } = (await door.engine.status()).counters
    expect(await send([gzipSync('\n'.repeat(20_000_000))], gzip)).toEqual({
      status: 202,
      json: { ingested: 0 },
    })
    expect((await door.engine.status()).counters.commits - commits).toBeLessThanOrEqual(1)
    expect(await send([packed], { 'content-encoding': 'br' })).toMatchObject({ status: 415 })
  })

  it('of more lines than are taken at once is stored in pieces, though it is short enough to be held, packed or not', async () => {
    const many = '{}\n'.repeat(100_001)
    const held = async (payload: string | Buffer, headers: Record<string, string>) => {
      const host = '127.0.0.1:8787'
      const answer = await door.app.inject({ method: 'POST', url, headers: { host, ...headers }, payload })
      return { status: answer.statusCode, json: answer.json() }
    }
    const ndjson = { 'content-type': 'application/x-ndjson' }
    // Over a connection, where a post of a length that is said has a way of its own.
    const address = await door.app.listen({ port: 0, host: '127.0.0.1' })
    const plain = await fetch(address + url, { method: 'POST', headers: ndjson, body: many })
    expect([plain.status, await plain.json()]).toMatchObject([202, { ingested: 100_001 }])
    const gzip = { ...ndjson, 'content-encoding': 'gzip' }
    expect(await held(gzipSync(many), gzip)).toMatchObject({ status: 202, json: { ingested: 100_001 } })
    expect(await held(many, { 'content-type': 'application/json' })).toEqual({
      status: 413,
      json: {
        detail:
          'the body has more than 100000 items; at most 100000 are taken at once; NDJSON sent as application/x-ndjson may have more, where no signature is checked',
      },
    })
    // One value that is spread over as many lines is one item.
    expect(await held(`{\n${'\n'.repeat(100_001)}"a":1}`, ndjson)).toMatchObject({ json: { ingested: 1 } })
  })

  it('counts a delivery that is named in a header once, item by item', async () => {
    const named = { 'webhook-id': 'msg_1' }
    expect(await send([linesOf(0, 10_000)], named)).toMatchObject({ json: { ingested: 10_000 } })
    expect(await send([linesOf(0, 10_000)], named)).toMatchObject({
      json: { ingested: 0, duplicates: 10_000 },
    })
  })

  it('may be empty, and is held as a whole where a signature covers it', async () => {
    expect(await send([])).toEqual({ status: 202, json: { ingested: 0 } })
    const signed = await door.source('signed', {
      signature_scheme: 'hmac_sha256',
      signature_secret: 's3cret-s3cret',
    })
    url = signed.url
    expect(await send([linesOf(0, 10_000)])).toMatchObject({ status: 401 })
    expect(await send([linesOf(0, 20_000)])).toMatchObject({ status: 413 })
    expect(await stored()).toBe(0)
  })
})
