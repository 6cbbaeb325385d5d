import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { openDoor, ROOT } from './door.ts'

const secret = 'a secret of the signature'

describe('signed webhooks', () => {
  it('do not bypass a cooldown, nor does a credential that may not write there', async () => {
    const door = await openDoor({ secured: true })
    const root = door.as(ROOT)
    const { url } = await door.source('signed', {
      signature_scheme: 'github',
      signature_secret: secret,
      labels: [{ name: 'n', field: 'n', primary: true }],
    })
    const other = await door.source('other')
    const made = await door.call(
      'POST',
      '/api/triggers',
      { name: 't', sources: ['signed'], condition: { event: 'any' }, cooldown: '1h' },
      root,
    )
    expect([made.status, made.json().detail]).toEqual([201, undefined])
    const body = JSON.stringify({ n: 1 })
    const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
    const post = async (credential: Record<string, string>) => {
      const answer = await door.call('POST', url, body, {
        'x-hub-signature-256': signature,
        'x-svc-bypass-cooldown': 'true',
        ...credential,
      })
      expect(answer.status).toBe(202)
      const { firings } = (await door.call('GET', '/api/firings', undefined, root)).json()
      return (firings as unknown as unknown[]).length
    }
    expect(await post({})).toBe(1)
    expect(await post({})).toBe(1)
    expect(await post(door.as('wrong'))).toBe(1)
    expect(await post(door.as((await door.key(['read'])).secret))).toBe(1)
    expect(await post(door.as(other.key!.secret))).toBe(1)
    expect(await post(door.as((await door.key(['ingest'])).secret))).toBe(2)
    expect(await post(root)).toBe(3)
    await door.close()
  })
})
