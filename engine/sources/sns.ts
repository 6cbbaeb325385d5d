/**
 * Amazon SNS: the certificate that a message is signed with, and the subscription that svc confirms. Both are asked for
 * by the address in the message, so only Amazon's own hosts are asked, over https, by the guarded way out.
 */
import { fail } from '../errors.ts'
import type { Egress } from '../net/fetch.ts'
import { objectOf } from './connectors/connector.ts'

export interface SnsCalls {
  /**
   * The certificate that a message names, as PEM; kept for the next ones.
   * @returns null where the body is no message that is signed.
   * @throws SvcError bad_signature: not an address of Amazon's; upstream: it cannot be had
   */
  snsCertificate(body: Uint8Array): Promise<string | null>
  /**
   * Confirms a subscription, as its confirmation asks; any other message is let be.
   * @throws SvcError invalid: not an address of Amazon's; upstream: Amazon did not take it, so that SNS asks again
   */
  confirmSns(body: Uint8Array): Promise<void>
}

const TIMEOUT_MS = 10_000
const ANSWER_BYTES = 65_536
const CERTIFICATES_MAX = 32
const MESSAGE_BYTES_MAX = 1_048_576
/** docs.aws.amazon.com, Verifying the signatures of Amazon SNS messages: the host of a region, in China's partition too. */
const HOST = /^sns\.[a-z0-9-]{1,40}\.amazonaws\.com(\.cn)?$/

export function snsCalls({ egress }: { egress: Pick<Egress, 'send'> }): SnsCalls {
  const certificates = new Map<string, string>()
  const get = (url: string) =>
    egress.send({
      ...{ url, method: 'GET', audience: 'caller', timeoutMs: TIMEOUT_MS, maxResponseBytes: ANSWER_BYTES },
    })
  return {
    async snsCertificate(body) {
      const given = messageOf(body).SigningCertURL
      if (typeof given !== 'string') return null
      const url = addressOfAmazon(given)
      if (!url?.pathname.endsWith('.pem'))
        fail('bad_signature', 'SigningCertURL is not https://sns.<region>.amazonaws.com/….pem')
      const known = certificates.get(url.href)
      if (known !== undefined) return known
      const answer = await get(url.href)
      if (!answer.ok) return fail('upstream', `the certificate of Amazon SNS: ${answer.message}`)
      if (answer.status !== 200) fail('upstream', `the certificate of Amazon SNS: HTTP ${answer.status}`)
      if (certificates.size >= CERTIFICATES_MAX) certificates.clear()
      certificates.set(url.href, answer.body.toString())
      return answer.body.toString()
    },
    async confirmSns(body) {
      const { Type: type, SubscribeURL: given } = messageOf(body)
      if (type !== 'SubscriptionConfirmation') return
      const url = typeof given === 'string' ? addressOfAmazon(given) : null
      if (!url) return fail('invalid', 'SubscribeURL is not https://sns.<region>.amazonaws.com/…')
      const answer = await get(url.href)
      if (!answer.ok) fail('upstream', `Amazon SNS did not confirm the subscription: ${answer.message}`)
      else if (answer.status !== 200)
        fail('upstream', `Amazon SNS did not confirm the subscription: HTTP ${answer.status}`)
    },
  }
}

/** Null for every address that is not one of SNS itself, over https, at its own port. */
function addressOfAmazon(given: string): URL | null {
  if (!URL.canParse(given)) return null
  const url = new URL(given)
  const isPlain = url.protocol === 'https:' && url.port === '' && url.username === '' && url.password === ''
  return isPlain && HOST.test(url.hostname) ? url : null
}

function messageOf(body: Uint8Array): Record<string, unknown> {
  if (body.length > MESSAGE_BYTES_MAX) return {}
  try {
    return objectOf(JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()))
  } catch {
    // Lines, or no JSON: no message of SNS; storing it says what is wrong.
    return {}
  }
}
