/**
 * Answers that senders of webhooks want in a form of their own: to a first look whether the address is meant for them, and
 * to what they send.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { IngestRoute } from '../../../engine/index.ts'
import type { IngestResult } from '../../../schemas/types.ts'
import type { Authenticator } from '../auth.ts'
import { asGet } from '../head.ts'
import { DATADOG_KEY, TO_DATADOG_V1, withoutIntake } from '../senders/datadog.ts'
import { withoutPath } from '../senders/elasticsearch.ts'
import { TO_LOKI } from '../senders/loki.ts'
import { addressByKey } from '../senders/pathless.ts'
import { lookWithoutKey, TO_SPLUNK } from '../senders/splunk.ts'

type Body = Uint8Array | readonly Uint8Array[]

/** Header by which Azure Event Grid says what a post is. */
export const EVENT_GRID = 'aeg-event-type'
/** Header by which Amazon Data Firehose numbers a post; its answer is to repeat that. */
export const FIREHOSE_REQUEST = 'x-amz-firehose-request-id'

/** Prometheus, vmalert and the rulers of Loki and Mimir put the path of an Alertmanager behind the ingest URL they are given. */
const TO_ALERTMANAGER = /^(\/ingest\/[^/?]+)\/+api\/v[12]\/alerts(?=\?|$)/

/** The address of a request without such a path; where it has nothing else, behind the ingest URL of the key it has. */
export function ingestUrlOf(
  request: IncomingMessage & { originalUrl?: string },
  auth: Authenticator,
): string {
  const given = asGet(request)
  const look = lookWithoutKey(request, given)
  if (look !== null) return look
  const url = addressByKey(given, request, auth, keyOfSender) ?? given
  if (!url.startsWith('/ingest/')) return url
  // From here on it is as if it had been sent there.
  if (url !== given) request.originalUrl = url
  const found = [TO_ALERTMANAGER, TO_SPLUNK, TO_LOKI].find((path) => path.test(url))
  if (found) return url.replace(found, '$1')
  return withoutIntake(withoutPath(url, request))
}

const CHALLENGE_MAX = 4_096
/** What is shown again in a header. */
const SHOWN = /^[\x21-\x7e]{1,256}$/

/** What is shown again in a body: a sentence, as Microsoft Graph sends. */
const TOLD = /^[\x20-\x7e]{1,1024}$/
/** Fields of an address by which senders look whether it is meant for them, and want their value as the answer. */
const LOOKS = {
  /** developers.dropbox.com, Webhooks; Nylas and Adobe I/O ask in the same way. W3C WebSub, section 5.3: `hub.challenge`. */
  GET: ['challenge', 'hub.challenge'],
  /** learn.microsoft.com, Receive change notifications through webhooks: without a body. */
  POST: ['validationToken'],
} as const
/** developer.okta.com, Event hooks, One-time verification request. */
const OKTA = 'x-okta-verification-challenge'

/** The answer to such a look; null: the request is none. */
export function lookAnswer({ method, headers, originalUrl }: FastifyRequest): string | object | null {
  const shown = headers[OKTA]
  if (method === 'GET' && typeof shown === 'string' && SHOWN.test(shown)) return { verification: shown }
  const query = new URLSearchParams(originalUrl.split('?')[1])
  const fields = method === 'GET' || method === 'POST' ? LOOKS[method] : []
  return fields.map((field) => query.get(field)).find((value) => value !== null && TOLD.test(value)) ?? null
}

/** Answers a look: a text as it is, else JSON. */
export const sendLook = (reply: FastifyReply, answer: string | object): FastifyReply =>
  typeof answer === 'string'
    ? reply
        .code(200)
        .type('text/plain; charset=utf-8')
        .serializer((text: string) => text)
        .send(answer)
    : sendPlain(reply, answer)

export const sizeOf = (body: Body): number =>
  body instanceof Uint8Array ? body.length : body.reduce((sum, part) => sum + part.length, 0)

/** Vercel asks for a value it showed to whoever made the drain; what it sends along is returned otherwise. */
export function answerVerification(
  request: FastifyRequest,
  reply: FastifyReply,
  route: IngestRoute | undefined,
): void {
  const echo = route?.verifyCode ?? request.headers['x-vercel-verify']
  if (typeof echo === 'string' && SHOWN.test(echo)) reply.header('x-vercel-verify', echo)
}

/**
 * What the sender of a body wants to see in the answer; null: nothing. Looked for before the body is stored, which gives it
 * away.
 */
export function wantedBy(
  { headers, originalUrl }: FastifyRequest,
  route: IngestRoute,
  body: Body,
): Record<string, string | number> | null {
  // docs.splunk.com, HTTP Event Collector: what its clients look for, beside a status of 200.
  if (TO_SPLUNK.test(originalUrl)) return { text: 'Success', code: 0 }
  // vmalert takes no other answer of an Alertmanager than 200.
  if (TO_ALERTMANAGER.test(originalUrl) || TO_DATADOG_V1.test(originalUrl) || route.wantsOk) return {}
  const delivery = headers[FIREHOSE_REQUEST]
  // docs.aws.amazon.com, HTTP endpoint delivery request and response specifications: without it a post is sent again.
  if (typeof delivery === 'string' && SHOWN.test(delivery)) return { requestId: delivery }
  // learn.microsoft.com, Endpoint validation with Event Grid event schema: 202 is not taken for an answer.
  const code = headers[EVENT_GRID] === 'SubscriptionValidation' ? validationCodeOf(body) : null
  if (code !== null) return { validationResponse: code }
  const challenge = route.isChallenged ? challengeOf(body) : null
  return challenge === null ? null : { challenge }
}

/** Answers a post that is stored: 202, unless its sender wants something else. @param at now, epoch ms */
export function answerSender(
  reply: FastifyReply,
  result: IngestResult,
  wanted: ReturnType<typeof wantedBy>,
  at: number,
): FastifyReply {
  if (wanted === null) return reply.code(202).send(result)
  return sendPlain(reply, wanted.requestId ? { ...wanted, timestamp: at } : { ...result, ...wanted })
}

/** Fields that the schema of an ingest's answer does not have, because they are the sender's. */
const sendPlain = (reply: FastifyReply, answer: object): FastifyReply =>
  reply
    .code(200)
    .type('application/json; charset=utf-8')
    .serializer((text: string) => text)
    .send(JSON.stringify(answer))

/** What Slack wants to see again before it sends events to an address (Events API, url_verification). */
function challengeOf(body: Body): string | null {
  const sent = smallOf(body) as { type?: unknown; challenge?: unknown } | null
  const isAsked = sent?.type === 'url_verification' && typeof sent.challenge === 'string'
  return isAsked ? (sent.challenge as string) : null
}

/** What Azure Event Grid wants to see again before it sends events to an address. */
function validationCodeOf(body: Body): string | null {
  const sent = smallOf(body)
  const [first] = (Array.isArray(sent) ? sent : [sent]) as ({ data?: { validationCode?: unknown } } | null)[]
  const code = first?.data?.validationCode
  return typeof code === 'string' ? code : null
}

function smallOf(body: Body): unknown {
  if (sizeOf(body) > CHALLENGE_MAX) return null
  try {
    return JSON.parse(Buffer.from(body instanceof Uint8Array ? body : Buffer.concat(body)).toString())
  } catch {
    // Lines, not one object: nothing is asked for.
    return null
  }
}

/**
 * What answers the look of a sender of CloudEvents, such as Azure Event Grid, whether it may send (HTTP 1.1 Web Hooks for
 * Event Delivery 1.0.2, section 4.2). @returns null where it is no such look
 */
export function handshakeOf(headers: IncomingHttpHeaders): Record<string, string> | null {
  const origin = headers['webhook-request-origin']
  if (typeof origin !== 'string' || !SHOWN.test(origin)) return null
  return {
    'webhook-allowed-origin': origin,
    ...(headers['webhook-request-rate'] === undefined ? {} : { 'webhook-allowed-rate': '*' }),
  }
}

/** Whether a request is one that is answered by `handshakeOf`: it comes before any credential. */
export const isHandshake = (method: string, pattern: string): boolean =>
  method === 'OPTIONS' && pattern === '/ingest/:key'

/** What keys begin with. */
const OURS = 'svc_'
const AUTHORIZATION = /^(basic|apikey) +(\S+)\s*$/i

/**
 * The key as senders give it that know no bearer token: `?key=…` of the address, the password of Basic, the key of ApiKey,
 * as it is or with an id before it, and Datadog's header. @returns null: it has none
 */
export function keyOfSender({ url, headers }: { url: string; headers: IncomingHttpHeaders }): string | null {
  const query = url.includes('?') ? new URLSearchParams(url.split('?')[1]) : null
  const inAddress = query?.get('key') ?? query?.get(DATADOG_KEY)
  if (inAddress !== undefined && inAddress !== null) return inAddress
  const own = headers[DATADOG_KEY]
  if (typeof own === 'string') return own
  const [, scheme, given] = AUTHORIZATION.exec(headers.authorization ?? '') ?? []
  if (given === undefined) return null
  const [, secret] = /:(.*)$/s.exec(Buffer.from(given, 'base64').toString()) ?? []
  if (scheme!.toLowerCase() === 'basic') return secret ?? null
  // One of ours, read as base64, has a colon by chance: one in nine.
  return given.startsWith(OURS) ? given : (secret ?? given)
}
