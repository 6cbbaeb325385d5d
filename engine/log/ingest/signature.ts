/**
 * Webhook signatures, checked over the raw body as it was sent (SPEC.md, Webhook connector config:
 * signature_scheme). A table has how each sender signs; here a claim is checked.
 */
import { createHash, createHmac, timingSafeEqual, verify, X509Certificate } from 'node:crypto'
import { ownField } from '../../../schemas/fields-of.ts'
import type { WebhookConfig } from '../../../schemas/types.ts'

/**
 * @param keys `secrets`: the current one and, while senders move to it, the one before; any may match.
 *   `header`: for hmac_sha256, hmac_sha512 and stripe only; when absent X-Signature, and that of Stripe.
 * @param wireBody the bytes on the wire, before any inflating.
 * @param headers lower-case names. @param nowMs epoch ms. @param certificate PEM, for sns only.
 * @returns null when the signature holds, else the reason, which holds neither secret nor content.
 */
export function verifySignature(
  scheme: SignatureScheme,
  keys: { secrets: readonly string[]; header?: string },
  wireBody: Uint8Array,
  headers: Record<string, string>,
  nowMs: number,
  certificate?: string | null,
): string | null {
  // An empty secret would be one that everybody knows.
  const secrets = keys.secrets.filter((secret) => secret !== '')
  if (secrets.length === 0) return 'no signing secret configured'
  if (scheme === 'sns') return snsFault(secrets, wireBody, certificate ?? null, nowMs)
  const claim = SCHEMES[scheme]({ headers, header: keys.header, secrets })
  if (typeof claim === 'string') return claim
  const expected = 'token' in claim ? claim.secrets.map(fingerprint) : digestsOf(claim, wireBody, secrets)
  if (expected.length === 0)
    return 'the signing secret is not base64, with or without whsec_; copy it anew from the sender'
  const given = 'token' in claim ? [fingerprint(claim.token)] : claim.digests
  // All are tried, so that the time taken does not tell which one matched.
  const matching = given.flatMap((one) => expected.filter((other) => timingSafeEqual(one, other)))
  if (matching.length === 0) return `${scheme} ${'token' in claim ? 'token' : 'signature'} does not match`
  return 'token' in claim ? null : ageFault(claim, wireBody, nowMs)
}

/** What a right signature would be, for each secret that can be a key. */
function digestsOf(claim: Claim, wireBody: Uint8Array, secrets: readonly string[]): Buffer[] {
  const { algorithm = 'sha256', before = '', keyOf = (secret: string) => Buffer.from(secret) } = claim
  return secrets.flatMap((secret) => {
    const key = keyOf(secret)
    return key ? [createHmac(algorithm, key).update(before).update(wireBody).digest()] : []
  })
}

/** Of one length whatever the text is, so that comparing tells nothing of it. */
const fingerprint = (text: string): Buffer => createHash('sha256').update(text).digest()

/** A true signature that was sent again later, by whoever heard it. */
function ageFault({ sent }: Claim, wireBody: Uint8Array, nowMs: number): string | null {
  if (!sent) return null
  const at = typeof sent.at === 'number' ? sent.at : sent.at(wireBody)
  if (typeof at === 'string') return at
  return Math.abs(nowMs - at) > sent.windowMs
    ? `${sent.name} is more than ${sent.windowMs / 1_000} s away`
    : null
}

/*
 * How senders sign their webhooks, one row each, after the sender's own documentation. A row reads what a
 * request claims; whether the claim holds is decided in signature.ts, in one way for all.
 */

export type SignatureScheme = NonNullable<WebhookConfig['signature_scheme']> | 'vercel'

/** What a request says of itself. */
interface Sent {
  /** Lower-case names. */
  headers: Record<string, string>
  /** The header configured, for hmac_sha256, hmac_sha512 and stripe. */
  header: string | undefined
  /** None is empty. */
  secrets: readonly string[]
}

/** An HMAC over `before` and the body. */
interface Claim {
  /** Any may match: senders that change their secret sign with both. All of the algorithm's length. */
  digests: Buffer[]
  /** sha256 when absent. */
  algorithm?: 'sha1' | 'sha512'
  /** What is signed in front of the body; nothing when absent. */
  before?: string
  /** The key that a secret stands for; its own bytes when absent. Null: the secret stands for none. */
  keyOf?(secret: string): Buffer | null
  /** When it was signed, epoch ms, and how far that may be from now either way; absent: nobody says. */
  sent?: { name: string; at: number | ((body: Uint8Array) => number | string); windowMs: number }
}

/** Not a signature: the secret itself, sent along. */
interface TokenClaim {
  token: string
  secrets: readonly string[]
}

/** @returns what is claimed, or a sentence on what is missing or malformed. */
type Read = (sent: Sent) => Claim | TokenClaim | string

/** Linear's documentation: a webhookTimestamp further off is a replay. */
const LINEAR_WINDOW_MS = 60_000
/** Stripe's and Slack's documentation and Standard Webhooks have the same five minutes. */
const WINDOW_MS = 300_000
const DIGEST_BYTES = 32
const SIGNING_TOKEN = 'whsec_'

/** Every scheme, with the header or headers it reads. */
const SCHEMES: Record<Exclude<SignatureScheme, 'sns'>, Read> = {
  github: (sent) => ofHeader(sent, 'X-Hub-Signature-256', githubDigest),
  linear: (sent) => {
    const claim = ofHeader(sent, 'Linear-Signature', (given) => plainDigest(given))
    if (typeof claim === 'string') return claim
    return { ...claim, sent: { name: 'webhookTimestamp', at: linearTime, windowMs: LINEAR_WINDOW_MS } }
  },
  hmac_sha256: (sent) => plainHmac(sent, 'sha256', 32),
  hmac_sha512: (sent) => plainHmac(sent, 'sha512', 64),
  vercel: (sent) => {
    const claim = ofHeader(sent, 'x-vercel-signature', (given) =>
      /^[0-9a-f]{40}$/i.test(given) ? Buffer.from(given, 'hex') : 'signature is not 40 hexadecimal digits',
    )
    return typeof claim === 'string' ? claim : { ...claim, algorithm: 'sha1' }
  },
  pagerduty,
  stripe,
  slack,
  standard_webhooks: (sent) => standardWebhooks(sent),
  shopify: (sent) => ofHeader(sent, 'X-Shopify-Hmac-Sha256', base64Digest),
  gitlab,
}

/** The header's one digest. */
function ofHeader(sent: Sent, name: string, digestOf: (given: string) => Buffer | string): Claim | string {
  const given = headerOf(sent, name)
  if (given === undefined) return missing(name)
  const digest = digestOf(given)
  return typeof digest === 'string' ? digest : { digests: [digest] }
}

/**
 * Of any sender. Flux names the algorithm before the digest (`sha256=`); CircleCI lists versions of which v1 is the digest
 * (circleci.com, Outbound webhooks, Webhook payload signature), and others do not count. LINE, WooCommerce, Xero and Typeform
 * write it in base64, which is of another length than hex.
 */
function plainHmac(sent: Sent, algorithm: 'sha256' | 'sha512', bytes: number): Claim | string {
  const name = sent.header ?? 'X-Signature'
  const given = headerOf(sent, name)
  if (given === undefined) return missing(name)
  const isHex = new RegExp(`^[0-9a-f]{${2 * bytes}}$`, 'i')
  const digests = given.split(',').flatMap((part) => {
    const digest = part.trim().replace(new RegExp(`^(?:${algorithm}|v1)=`, 'i'), '')
    return isHex.test(digest) ? [Buffer.from(digest, 'hex')] : (fromBase64(digest, bytes) ?? [])
  })
  if (digests.length === 0)
    return `signature is not ${2 * bytes} hexadecimal digits, nor the base64 of ${bytes} bytes`
  return {
    digests,
    ...(algorithm === 'sha256' ? {} : { algorithm }),
  }
}

/** developer.pagerduty.com, Verifying signatures: v1=<hex>, several with commas; other versions do not count. */
function pagerduty(sent: Sent): Claim | string {
  const name = 'X-PagerDuty-Signature'
  const given = headerOf(sent, name)
  if (given === undefined) return missing(name)
  const digests = hexAfter('v1=', given.split(','))
  return digests.length === 0 ? `${name} has no v1=<64 hexadecimal digits>` : { digests }
}

/**
 * docs.stripe.com/webhooks, Verify manually: t=<seconds>,v1=<hex>,…; signed is `<t>.<body>`. Mux, Calendly and others sign so in
 * headers of their own.
 */
function stripe(sent: Sent): Claim | string {
  const own = 'Stripe-Signature'
  const name = sent.header !== undefined && headerOf(sent, own) === undefined ? sent.header : own
  const given = headerOf(sent, name)
  if (given === undefined) return missing(name)
  const parts = given.split(',').map((part) => part.trim())
  const time = parts.find((part) => part.startsWith('t='))?.slice(2) ?? ''
  const at = secondsOf(time)
  if (at === null) return `${name} has no t=<seconds since 1970>`
  const digests = hexAfter('v1=', parts)
  if (digests.length === 0) return `${name} has no v1=<64 hexadecimal digits>`
  return { digests, before: `${time}.`, sent: { name: `t of ${name}`, at, windowMs: WINDOW_MS } }
}

/** docs.slack.dev/authentication/verifying-requests-from-slack: signed is `v0:<timestamp>:<body>`. */
function slack(sent: Sent): Claim | string {
  const [name, timeName] = ['X-Slack-Signature', 'X-Slack-Request-Timestamp']
  const given = headerOf(sent, name)
  const time = headerOf(sent, timeName)
  if (given === undefined) return missing(name)
  if (time === undefined) return missing(timeName)
  const at = secondsOf(time)
  if (at === null) return `${timeName} is not seconds since 1970`
  const digests = hexAfter('v0=', [given])
  if (digests.length === 0) return `${name} is not v0=<64 hexadecimal digits>`
  return { digests, before: `v0:${time}:`, sent: { name: timeName, at, windowMs: WINDOW_MS } }
}

/**
 * standardwebhooks.com, specification: `v1,<base64>`, several with spaces; signed is `<id>.<timestamp>.<body>`.
 * Svix, where it comes from, has the same under headers of its own.
 */
function standardWebhooks(sent: Sent): Claim | string {
  const prefix = sent.headers['svix-signature'] && !sent.headers['webhook-signature'] ? 'svix' : 'webhook'
  const names = ['signature', 'id', 'timestamp'].map((part) => `${prefix}-${part}`)
  const [given, id, time] = names.map((name) => headerOf(sent, name))
  const absent = names.find((name) => headerOf(sent, name) === undefined)
  if (given === undefined || id === undefined || time === undefined) return missing(absent!)
  const at = secondsOf(time)
  if (at === null) return `${names[2]} is not seconds since 1970`
  const digests = given
    .split(' ')
    .filter((one) => one.startsWith('v1,'))
    .map((one) => base64Digest(one.slice(3)))
    .filter((digest) => typeof digest !== 'string')
  if (digests.length === 0) return `${names[0]} has no v1,<base64 of 32 bytes>`
  return {
    digests,
    before: `${id}.${time}.`,
    keyOf: signingKey,
    sent: { name: names[2]!, at, windowMs: WINDOW_MS },
  }
}

/**
 * docs.gitlab.com, Webhooks: a secret token comes back as X-Gitlab-Token; a signing token, which begins with
 * whsec_, signs as Standard Webhooks has it. A signing token is never taken for a token that is sent along.
 */
function gitlab(sent: Sent): Claim | TokenClaim | string {
  const signing = sent.secrets.filter((secret) => secret.startsWith(SIGNING_TOKEN))
  const tokens = sent.secrets.filter((secret) => !secret.startsWith(SIGNING_TOKEN))
  const token = headerOf(sent, 'X-Gitlab-Token')
  // While senders move from a token to signing, the header says which of the two a sender has.
  if (signing.length > 0 && (tokens.length === 0 || headerOf(sent, 'webhook-signature') !== undefined)) {
    const claim = standardWebhooks(sent)
    return typeof claim === 'string'
      ? claim
      : { ...claim, keyOf: (s) => (signing.includes(s) ? signingKey(s) : null) }
  }
  return token === undefined ? missing('X-Gitlab-Token') : { token, secrets: tokens }
}

const headerOf = ({ headers }: Sent, name: string): string | undefined =>
  headers[name.toLowerCase()]?.trim() || undefined

const missing = (name: string): string => `missing ${name} header`

/** Checked before decoding: the decoder drops a bad tail, so it would accept a forged longer text. */
const plainDigest = (hex: string): Buffer | string =>
  /^[0-9a-f]{64}$/i.test(hex) ? Buffer.from(hex, 'hex') : 'signature is not 64 hexadecimal digits'

function githubDigest(given: string): Buffer | string {
  const digest = given.startsWith('sha256=') ? plainDigest(given.slice(7)) : ''
  return typeof digest === 'string' ? 'signature is not sha256=<hex>' : digest
}

/** Of what begins with `prefix`, the digests; the rest is another version's, or none. */
function hexAfter(prefix: string, parts: readonly string[]): Buffer[] {
  return parts
    .map((part) => part.trim())
    .filter((part) => part.startsWith(prefix))
    .map((part) => plainDigest(part.slice(prefix.length)))
    .filter((digest) => typeof digest !== 'string')
}

const base64Digest = (given: string): Buffer | string =>
  fromBase64(given, DIGEST_BYTES) ?? `signature is not the base64 of ${DIGEST_BYTES} bytes`

/** With all its signs of filling: no other text stands for the same bytes. Null for what is of another length, or no base64. */
function fromBase64(given: string, bytes: number): Buffer | null {
  const digest = Buffer.from(given, 'base64')
  return digest.length === bytes && digest.toString('base64') === given ? digest : null
}

/** Null for what is not base64, or of nothing. */
function signingKey(secret: string): Buffer | null {
  const text = secret.startsWith(SIGNING_TOKEN) ? secret.slice(SIGNING_TOKEN.length) : secret
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : null
}

/** Epoch ms of whole seconds in text; null: it is none. */
const secondsOf = (text: string): number | null => (/^\d{1,11}$/.test(text) ? Number(text) * 1_000 : null)

function linearTime(body: Uint8Array): number | string {
  let parsed: unknown
  try {
    parsed = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString())
  } catch {
    return 'the body is not JSON with a webhookTimestamp'
  }
  const sent = (parsed as { webhookTimestamp?: unknown } | null)?.webhookTimestamp
  return typeof sent === 'number' ? sent : 'the body has no webhookTimestamp'
}

/* Amazon SNS: signed with the key of a certificate that anybody can fetch, so the topic says whose message it is. */

const SNS_FIELDS: Readonly<Record<string, readonly string[]>> = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: [
    'Message',
    'MessageId',
    'SubscribeURL',
    'Timestamp',
    'Token',
    'TopicArn',
    'Type',
  ],
}
/** By SignatureVersion. */
const SNS_ALGORITHMS: Readonly<Record<string, string>> = { '1': 'RSA-SHA1', '2': 'RSA-SHA256' }

/**
 * docs.aws.amazon.com, Verifying the signatures of Amazon SNS messages: name and value of some fields, a line each.
 * @param topics ARNs whose messages are taken. @returns why it is refused; null: it holds.
 */
function snsFault(
  topics: readonly string[],
  body: Uint8Array,
  certificate: string | null,
  nowMs: number,
): string | null {
  const message = snsMessage(body)
  if (!message) return 'the body is not one JSON object'
  const { Type: type = '', TopicArn: topic = '', Signature: given, SignatureVersion: version = '' } = message
  const fields = ownField(SNS_FIELDS, type === 'UnsubscribeConfirmation' ? 'SubscriptionConfirmation' : type)
  if (!fields || given === undefined)
    return 'the body has no Type and Signature of Amazon SNS; raw message delivery is not signed'
  const algorithm = ownField(SNS_ALGORITHMS, version)
  if (algorithm === undefined) return 'SignatureVersion is neither 1 nor 2'
  if (certificate === null) return 'the body has no SigningCertURL'
  const signed = fields.flatMap((name) =>
    message[name] === undefined ? [] : [`${name}\n${message[name]}\n`],
  )
  const key = certificateKey(certificate, nowMs)
  if (typeof key === 'string') return key
  if (!verify(algorithm, Buffer.from(signed.join('')), key, Buffer.from(given, 'base64')))
    return 'sns signature does not match'
  return topics.includes(topic) ? null : 'the topic is not the one that is set as signing secret'
}

function certificateKey(pem: string, nowMs: number): X509Certificate['publicKey'] | string {
  let certificate: X509Certificate
  try {
    certificate = new X509Certificate(pem)
  } catch {
    return 'SigningCertURL does not lead to a certificate'
  }
  const isValid = nowMs >= Date.parse(certificate.validFrom) && nowMs <= Date.parse(certificate.validTo)
  return isValid ? certificate.publicKey : 'the certificate of SigningCertURL is not valid now'
}

/** Its fields that are text; null where it is no object. */
function snsMessage(body: Uint8Array): Record<string, string> | null {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString())
    if (parsed === null || typeof parsed !== 'object' || Array.isArray(parsed)) return null
    const texts = Object.entries(parsed).filter(([, value]) => typeof value === 'string')
    return Object.fromEntries(texts) as Record<string, string>
  } catch {
    return null
  }
}
