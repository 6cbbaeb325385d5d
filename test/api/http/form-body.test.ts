/** GitHub's other content type: the payload in a field of a form, signed as it came. */
import { sign } from '@octokit/webhooks-methods'
import { describe, expect, it } from 'vitest'
import { openDoor, ROOT } from './door.ts'

const FORM = 'application/x-www-form-urlencoded'
const PAYLOAD = {
  action: 'opened',
  repository: { full_name: 'a/b & é+c' },
  issue: { number: 7, title: 'x=y' },
}
const form = `payload=${encodeURIComponent(JSON.stringify(PAYLOAD))}`

describe('a form-encoded delivery of GitHub', () => {
  it('is the payload in it, with the signature over the form as it came', async () => {
    const secret = 'shared with GitHub'
    const door = await openDoor({ secured: true })
    const labels = [{ name: 'repo', field: 'repository.full_name', primary: true }]
    const { url } = await door.source('github', {
      signature_scheme: 'github',
      signature_secret: secret,
      labels,
    })
    const headers = {
      'content-type': `${FORM}; charset=utf-8`,
      'x-github-event': 'issues',
      'x-github-delivery': 'form-1',
      'x-hub-signature-256': await sign(secret, form),
    }
    expect((await door.call('POST', url, form, headers)).json()).toMatchObject({ ingested: 1 })
    expect((await door.call('POST', url, form, headers)).json()).toEqual({ ingested: 0, duplicates: 1 })
    expect((await door.call('POST', url, `${form}&x=1`, headers)).status).toBe(401)
    const request = { selector: { repo: 'a/b & é+c' }, include_payload: true }
    expect((await door.call('POST', '/read', request, door.as(ROOT))).json()).toMatchObject({
      rows: [
        { event_type: 'issues.opened', text: expect.stringContaining('Issue #7 opened: x=y'), raw: PAYLOAD },
      ],
    })
    await door.close()
  })

  it('without a payload says what to send, and JSON under this type stays JSON', async () => {
    const door = await openDoor()
    const { url } = await door.source('app')
    const empty = await door.call('POST', url, 'payload=', { 'content-type': FORM })
    expect([empty.status, (empty.json() as { detail: string }).detail]).toEqual([
      400,
      'the form field payload is empty; send it as application/json',
    ])
    expect((await door.call('POST', url, '{"a":1}', { 'content-type': FORM })).json()).toMatchObject({
      ingested: 1,
    })
    await door.close()
  })
})
