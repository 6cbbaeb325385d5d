/**
 * Amazon SNS (issue 21, 6): what is signed is taken, and a subscription confirmed. Amazon's side is a stand-in: a
 * certificate of our own, which answers at the addresses of sns.<region>.amazonaws.com in place of the network.
 */
import { sign, X509Certificate } from 'node:crypto'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type SnsCalls, snsCalls } from '../../../../engine/sources/connectors/preset.ts'
import { openDoor, ROOT } from '../../../api/http/door.ts'
import { makeCertificate } from '../../../certificate.ts'

const TOPIC = 'arn:aws:sns:us-west-2:123456789012:MyTopic'
const CERTIFICATE = 'https://sns.us-west-2.amazonaws.com/SimpleNotificationService-f3ecfb.pem'
const SUBSCRIBE = `https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=2336412f`

let key: string
let certificate: string
beforeAll(() => {
  ;({ key, cert: certificate } = makeCertificate('sns.amazonaws.com'))
})

type Message = Record<string, string>
/** In the form of Amazon's documentation, signed by the stand-in. */
function message(given: Message, version: '1' | '2' = '2'): Message {
  const plain: Message = {
    Type: 'Notification',
    MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
    TopicArn: TOPIC,
    Message: 'Hello world!',
    Timestamp: '2026-11-20T11:59:00.000Z',
    ...given,
  }
  const names =
    plain.Type === 'Notification'
      ? ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
      : ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
  const text = names
    .flatMap((name) => (plain[name] === undefined ? [] : [`${name}\n${plain[name]}\n`]))
    .join('')
  const signature = sign(version === '1' ? 'RSA-SHA1' : 'RSA-SHA256', Buffer.from(text), key).toString(
    'base64',
  )
  return { ...plain, SignatureVersion: version, Signature: signature, SigningCertURL: CERTIFICATE }
}
const confirmation = (more: Message = {}): Message =>
  message({
    Type: 'SubscriptionConfirmation',
    MessageId: '165545c9-2a5c-472c-8df2-7ff2be2b3b1b',
    Token: '2336412f',
    Message: 'You have chosen to subscribe to the topic.',
    SubscribeURL: SUBSCRIBE,
    ...more,
  })

/** Amazon's side: what it was asked, and what it answers. */
function amazon(statusOf: (url: string) => number = () => 200) {
  const asked: string[] = []
  const calls: SnsCalls = snsCalls({
    egress: {
      send: async ({ url }) => {
        asked.push(url)
        return {
          ok: true,
          status: statusOf(url),
          headers: {},
          body: Buffer.from(url.endsWith('.pem') ? certificate : ''),
        }
      },
    },
  })
  return { asked, calls }
}

/** A secured door with a source of the topic, whose way out leads to the stand-in. */
async function opened(
  config: Record<string, unknown> = { signature_secret: TOPIC },
  statusOf?: () => number,
) {
  const { asked, calls } = amazon(statusOf)
  const door = await openDoor({ secured: true })
  onTestFinished(() => door.close())
  door.clock.at = Date.parse(new X509Certificate(certificate).validFrom) + 60_000
  Object.assign(door.engine, calls)
  const { url, key: minted } = await door.source('alarms', { preset: 'amazon_sns', ...config })
  const headers = { 'content-type': 'text/plain; charset=UTF-8', ...(minted ? door.as(minted.secret) : {}) }
  const post = (body: object) => door.call('POST', url, JSON.stringify(body), headers)
  return { door, asked, post, minted }
}

describe('a message of Amazon SNS', () => {
  it.each(['1', '2'] as const)(
    'is taken without a key where its signature holds, version %s',
    async (version) => {
      const { asked, post, minted } = await opened()
      expect(minted).toBeUndefined()
      expect((await post(message({}, version))).status).toBe(202)
      // The certificate is kept.
      expect((await post(message({ MessageId: '2', Subject: 'My First Message' }, version))).status).toBe(202)
      expect(asked).toEqual([CERTIFICATE])
    },
  )

  it.each<[string, () => Message, string]>([
    ['changed on its way', () => ({ ...message({}), Message: 'Goodbye' }), 'sns signature does not match'],
    [
      'of another topic',
      () => message({ TopicArn: `${TOPIC}2` }),
      'the topic is not the one that is set as signing secret',
    ],
    [
      'without a signature',
      () => ({ Type: 'Notification', TopicArn: TOPIC }),
      'raw message delivery is not signed',
    ],
    [
      'with a certificate of somebody else’s host',
      () => ({ ...message({}), SigningCertURL: 'https://sns.us-west-2.amazonaws.com.example.org/a.pem' }),
      'SigningCertURL is not https://sns.<region>.amazonaws.com',
    ],
    [
      'with a certificate over http',
      () => ({ ...message({}), SigningCertURL: CERTIFICATE.replace('https', 'http') }),
      'SigningCertURL is not https://sns.<region>.amazonaws.com',
    ],
    [
      'with a certificate of a bucket',
      () => ({ ...message({}), SigningCertURL: 'https://bucket.s3.amazonaws.com/a.pem' }),
      'SigningCertURL is not https://sns.<region>.amazonaws.com',
    ],
  ])('is refused %s, and nothing else is asked', async (_what, made, why) => {
    const { asked, post } = await opened()
    const answer = await post(made())
    expect([answer.status, answer.json().detail]).toEqual([401, expect.stringContaining(why)])
    expect(asked.filter((url) => url !== CERTIFICATE)).toEqual([])
  })

  it('is refused after the certificate has ended', async () => {
    const { door, post } = await opened()
    door.clock.at = Date.parse(new X509Certificate(certificate).validTo) + 1_000
    const answer = await post(message({}))
    expect([answer.status, answer.json().detail]).toEqual([401, expect.stringContaining('is not valid now')])
  })
})

describe('a subscription of Amazon SNS', () => {
  it('is confirmed where its signature holds, and shows on the timeline', async () => {
    const { door, asked, post } = await opened()
    expect((await post(confirmation())).status).toBe(202)
    expect(asked).toEqual([CERTIFICATE, SUBSCRIBE])
    const events = (await door.call('GET', '/api/sources/alarms/events', undefined, door.as(ROOT))).json()
    expect(events).toMatchObject([
      { event_type: 'SubscriptionConfirmation', entity: { label: 'topic', value: 'MyTopic' } },
    ])
  })

  it('is confirmed for whoever has the ingest key, where no topic is set', async () => {
    const { asked, post, minted } = await opened({})
    expect(minted).toBeDefined()
    expect((await post(confirmation())).status).toBe(202)
    expect(asked).toEqual([SUBSCRIBE])
  })

  it.each([
    'https://example.org/?Action=ConfirmSubscription',
    'http://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription',
    'https://sns.us-west-2.amazonaws.com:8443/',
    'https://user:pw@sns.us-west-2.amazonaws.com/',
    'https://sns.us-west-2.amazonaws.com.example.org/',
    'https://169.254.169.254/latest/meta-data/',
  ])('is asked of no address but Amazon’s: %s', async (SubscribeURL) => {
    const { asked, post } = await opened({})
    const answer = await post(confirmation({ SubscribeURL }))
    expect([answer.status, answer.json().detail]).toEqual([
      400,
      'SubscribeURL is not https://sns.<region>.amazonaws.com/…',
    ])
    expect(asked).toEqual([])
  })

  it('is asked for again by SNS where Amazon did not take it, and stored once', async () => {
    let status = 500
    const { door, post } = await opened({}, () => status)
    const failed = await post(confirmation())
    expect([failed.status, failed.json().detail]).toEqual([
      502,
      'Amazon SNS did not confirm the subscription: HTTP 500',
    ])
    status = 200
    expect((await post(confirmation())).json()).toMatchObject({ ingested: 0, duplicates: 1 })
    const events = await door.call('GET', '/api/sources/alarms/events', undefined, door.as(ROOT))
    expect(events.json()).toHaveLength(1)
  })
})
