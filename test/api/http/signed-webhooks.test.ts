/** Webhooks that are signed: what their senders sign is taken, once, and nothing else. */
import { createHmac } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import examples from '@octokit/webhooks-examples'
import { sign } from '@octokit/webhooks-methods'
import { describe, expect, it } from 'vitest'
import { openDoor, ROOT, T0 } from './door.ts'

describe('signed webhooks', () => {
  const secret = 'It is a secret to everybody'

  it('take what GitHub signs, refuse one changed byte, and store a delivery once', async () => {
    const door = await openDoor({ secured: true })
    const { url, key } = await door.source('github', {
      signature_scheme: 'github',
      signature_secret: secret,
      text_template: '{action} {repository.full_name}',
      labels: [{ name: 'repo', field: 'repository.full_name', primary: true }],
    })
    expect(key).toBeUndefined()
    const payloads = examples.flatMap((event) =>
      event.examples.map((example) => [event.name, JSON.stringify(example)] as const),
    )
    expect(payloads.length).toBeGreaterThan(100)
    for (const [i, [name, body]] of payloads.entries()) {
      const headers = {
        'content-type': 'application/json',
        'x-github-event': name,
        'x-github-delivery': `d-${i}`,
        'x-hub-signature-256': await sign(secret, body),
      }
      expect((await door.call('POST', url, body, headers)).json()).toMatchObject({ ingested: 1 })
      if (i % 20 !== 0) continue
      expect((await door.call('POST', url, body, headers)).json()).toEqual({ ingested: 0, duplicates: 1 })
      const tampered = await door.call('POST', url, body.replace('"', "'"), headers)
      expect([tampered.status, tampered.json().detail]).toEqual([
        401,
        'signature check failed (github): github signature does not match',
      ])
    }
    const read = await door.call(
      'POST',
      '/read',
      { selector: { repo: 'Codertocat/Hello-World' }, from: '2018-01-01T00:00:00Z', limit: 2_000 },
      door.as(ROOT),
    )
    const rows = (read.json() as unknown as { rows: { event_type: string; text: string }[] }).rows
    expect(rows.map((row) => row.event_type)).toEqual(
      expect.arrayContaining(['pull_request.opened', 'push', 'issues.opened']),
    )
    expect((await door.call('POST', url, '{}')).json().detail).toBe(
      'signature check failed (github): missing X-Hub-Signature-256 header',
    )
    expect(
      (await door.call('POST', url, '{}', { 'x-hub-signature-256': `sha256=${'0'.repeat(63)}` })).json()
        .detail,
    ).toContain('signature is not sha256=<hex>')
    expect((await door.call('GET', '/api/sources/github', undefined, door.as(ROOT))).text).not.toContain(
      secret,
    )
    await door.close()
  })

  it('check Linear signatures with their age, and plain HMAC-SHA256 in a header of choice, both secrets while they rotate', async () => {
    const door = await openDoor()
    const hmac = (body: string, by = secret) => createHmac('sha256', by).update(body).digest('hex')
    const linear = await door.source('linear', { signature_scheme: 'linear', signature_secret: secret })
    const fresh = JSON.stringify({ webhookTimestamp: T0 - 59_000 })
    const stale = JSON.stringify({ webhookTimestamp: T0 - 61_000 })
    expect((await door.call('POST', linear.url, fresh, { 'linear-signature': hmac(fresh) })).status).toBe(202)
    expect(
      (await door.call('POST', linear.url, stale, { 'linear-signature': hmac(stale) })).json().detail,
    ).toBe('signature check failed (linear): webhookTimestamp is more than 60 s away')
    const plain = await door.source('plain', {
      signature_scheme: 'hmac_sha256',
      signature_secret: 'new',
      signature_secret_previous: 'old',
      signature_header: 'X-Mine',
    })
    for (const by of ['new', 'old'])
      expect(
        (await door.call('POST', plain.url, '{}', { 'x-mine': `sha256=${hmac('{}', by).toUpperCase()}` }))
          .status,
      ).toBe(202)
    expect((await door.call('POST', plain.url, '{}', { 'x-mine': hmac('{}', 'other') })).status).toBe(401)
    expect((await door.call('POST', plain.url, '{}', { 'x-mine': `${hmac('{}', 'new')}zz` })).status).toBe(
      401,
    )
    const packed = gzipSync('{}')
    const overWire = createHmac('sha256', 'new').update(packed).digest('hex')
    expect(
      (await door.call('POST', plain.url, packed, { 'x-mine': overWire, 'content-encoding': 'gzip' })).status,
    ).toBe(202)
    const none = await door.source('none', { signature_scheme: 'github' })
    expect(
      (await door.call('POST', none.url, '{}', { 'x-hub-signature-256': `sha256=${hmac('{}')}` })).json()
        .detail,
    ).toContain('no signing secret configured')
    expect((await door.call('GET', '/api/sources/none')).json()).toMatchObject({
      health: { status: 'error', rejected: 1 },
    })
    await door.close()
  })
})
