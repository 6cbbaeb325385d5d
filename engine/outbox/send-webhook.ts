/** Posts a firing to a subscribed address: signed in svc's own form, or as a message that a chat or a pager takes. */

import { createHash, createHmac, randomBytes } from 'node:crypto'
import { RETRY_SECONDS, type RetryKind } from '../../machines/delivery.ts'
import { ownField } from '../../schemas/fields-of.ts'
import { readRetryAfter } from '../../schemas/retry-after.ts'
import type { FiringMessage, Subscription } from '../../schemas/types.ts'
import { addressSecrets } from '../net/address-secrets.ts'
import type { Audience, Egress, EgressAnswer, EgressFault, FaultCode } from '../net/fetch.ts'
import { storedFault } from '../net/redact.ts'

/** Where it goes. */
export interface Target {
  url: string
  /** What to sign with; null: it goes unsigned. */
  secret: string | null
  audience: Audience
  /** Null: as its host says. */
  format: PostFormat | null
}

/** What every sender needs. */
export interface Out {
  egress: Egress
  situation(): Situation
  /** The daemon stops, and what is under way is cut off. */
  signal: AbortSignal
}

const TIMEOUT_MS = 10_000

/** @param message the body of the delivery, JSON */
export async function sendWebhook(
  { id, message, url, secret, audience, format }: Target & { id: string; message: string },
  { egress, situation, signal }: Out,
): Promise<Outcome> {
  const form = format ?? formatOf(url)
  const body = form === 'svc' ? message : postOf(form, JSON.parse(message) as FiringMessage, url)
  const answer = await egress.send({
    url: form === 'pagerduty' ? withoutRoutingKey(url) : url,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(form === 'svc' ? signatureHeaders(id, situation().now, message, secret) : {}),
    },
    body,
    audience,
    timeoutMs: TIMEOUT_MS,
    // What a recipient writes is shown to nobody, so it is not read.
    maxResponseBytes: 0,
    // Recipients know a delivery by its id.
    repeatable: true,
    signal,
  })
  return outcomeOf(answer, situation())
}

/* Messages of others: chats and pagers take no other body than their own, and check no signature. */

export type PostFormat = Subscription['format']

/** Hosts that take a form of their own, and no other. */
const HOSTS: readonly (readonly [RegExp, PostFormat])[] = [
  [/^hooks\.slack(-gov)?\.com$/, 'slack'],
  [/(^|\.)webhook\.office\.com$/, 'teams'],
  [/(^|\.)discord(app)?\.com$/, 'discord'],
  [/^chat\.googleapis\.com$/, 'google_chat'],
  [/^events\.(eu\.)?pagerduty\.com$/, 'pagerduty'],
]

/** The form that the host of an address takes. */
export function formatOf(url: string): PostFormat {
  const host = URL.canParse(url) ? new URL(url).hostname : ''
  return HOSTS.find(([pattern]) => pattern.test(host))?.[1] ?? 'svc'
}

/** Addresses that most likely take a form: workflows of Teams, which may lead elsewhere, Mattermost and Rocket.Chat. */
const LIKELY: readonly (readonly [RegExp, PostFormat])[] = [
  [/^https:\/\/[^/]+\.(logic\.azure|api\.powerplatform)\.com(:443)?\/(.*\/)?workflows\//, 'teams'],
  [/^https?:\/\/[^/]+(\/[^?#]*)?\/hooks\/[a-z0-9]{26}$/, 'slack'],
  [/^https?:\/\/[^/]+(\/[^?#]*)?\/hooks\/[A-Za-z0-9]{17,24}\/[A-Za-z0-9]{30,64}$/, 'slack'],
]

/** The form for an address that is new, where none is named: one that was subscribed before is posted as ever. */
export function formatOfNew(url: string): PostFormat {
  const form = formatOf(url)
  return form === 'svc' ? (LIKELY.find(([pattern]) => pattern.test(url))?.[1] ?? 'svc') : form
}

/** The parameter by which an address of PagerDuty has the integration's key: it belongs in the body. */
const ROUTING_KEY = 'routing_key'

/** What is wrong with an address of PagerDuty that lacks it; null: nothing, or it is another's. */
export const lacksRoutingKey = (url: string): string | null =>
  formatOf(url) === 'pagerduty' && !new URL(url).searchParams.get(ROUTING_KEY)
    ? `an address of PagerDuty needs the integration key: https://events.pagerduty.com/v2/enqueue?${ROUTING_KEY}=…`
    : null

function withoutRoutingKey(url: string): string {
  const address = new URL(url)
  address.searchParams.delete(ROUTING_KEY)
  return address.href
}

/** What a message says, for people; of whoever wrote the events. */
interface Post {
  /** How bad it is, or that it is over: one or two words. */
  head: string
  title: string
  /** Short facts. */
  facts: string[]
  /** More of it, in lines. */
  text: string
  url: string | undefined
}

const TITLE_MAX = 300
const TEXT_MAX = 1_200
const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text

const SEVERITY = { critical: 'Critical', warning: 'Warning', info: 'Info' } as const

function firingPost(firing: FiringMessage): Post {
  const { title, entity, trigger, reason, severity, resolves, practice, url } = firing
  const how = resolves ? 'Resolved' : severity ? SEVERITY[severity] : 'Fired'
  return {
    head: practice ? `Practice: ${how}` : how,
    title: cut(title, TITLE_MAX),
    facts: [...(entity ? [`${entity.label}=${entity.value}`] : []), trigger],
    text: cut(reason, TEXT_MAX),
    url,
  }
}

/** A finding as it is posted to the receiver of its agent. */
interface FindingBody {
  agent: string
  key: string
  finding: string
  verdict: string | null
  headline: string | null
  next_step: string | null
}

/** The body of a finding as the chat of its address takes it; as it is where that is none. */
function findingBody(body: string, url: string): string {
  const chat = ownField(CHATS, formatOf(url))
  if (!chat) return body
  const { agent, key, finding, verdict, headline, next_step: next } = JSON.parse(body) as FindingBody
  const [first = ''] = finding.split('\n')
  const post = {
    ...{
      head: verdict ?? 'Finding',
      title: cut(headline ?? first, TITLE_MAX),
      facts: [key, agent],
      url: undefined,
    },
    text: cut(next ? `Next step: ${next}\n${finding}` : finding, TEXT_MAX),
  }
  return JSON.stringify(chat(post))
}

/** The body in a form of others. @param url where it goes */
function postOf(form: PostFormat, firing: FiringMessage, url: string): string {
  if (form === 'pagerduty') return JSON.stringify(pagerDutyEvent(firing, url))
  return JSON.stringify(ownField(CHATS, form)!(firingPost(firing)))
}

/**
 * api.slack.com, Formatting text: three characters are escaped. Mattermost and Rocket.Chat take the same, and also mentions and
 * links of Markdown, which a character without a width takes apart.
 */
const slackText = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/@(?=\w)/g, '@\u200b')
    .replaceAll('](', ']\u200b(')
/** Google Chat knows no escape; a bracket would begin a link or a mention. */
const plainText = (text: string): string => text.replaceAll('<', '‹').replaceAll('>', '›')
const markdownText = (text: string): string => text.replaceAll(/[\\`*_~|[\]()<>#]/g, '\\$&')

const linesOf = (title: string, facts: string, text: string): string =>
  [title, facts, text].filter((line) => line !== '').join('\n')

const CHATS = {
  slack: ({ head, title, facts, text, url }: Post) => ({
    text: linesOf(
      `*${head}* · ${url ? `<${url}|${slackText(title)}>` : slackText(title)}`,
      slackText(facts.join(' · ')),
      slackText(text),
    ),
  }),
  google_chat: ({ head, title, facts, text, url }: Post) => ({
    text: linesOf(
      `*${head}* · ${url ? `<${url}|${plainText(title)}>` : plainText(title)}`,
      plainText(facts.join(' · ')),
      plainText(text),
    ),
  }),
  /** discord.com/developers, Execute Webhook: 2,000 characters; nobody is mentioned. */
  discord: ({ head, title, facts, text, url }: Post) => ({
    content: cut(
      linesOf(
        `**${head}** · ${url ? `[${markdownText(title)}](<${url}>)` : markdownText(title)}`,
        markdownText(facts.join(' · ')),
        markdownText(text),
      ),
      2_000,
    ),
    allowed_mentions: { parse: [] },
  }),
  /** learn.microsoft.com, Create and send messages with incoming webhooks: an adaptive card. */
  teams: ({ head, title, facts, text, url }: Post) => ({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            { type: 'TextBlock', text: `${head} · ${markdownText(title)}`, weight: 'Bolder', wrap: true },
            { type: 'TextBlock', text: markdownText(facts.join(' · ')), isSubtle: true, wrap: true },
            { type: 'TextBlock', text: markdownText(text).replaceAll('\n', '\n\n'), wrap: true },
          ],
          ...(url ? { actions: [{ type: 'Action.OpenUrl', title: 'Open in svc', url }] } : {}),
        },
      },
    ],
  }),
}

/**
 * developer.pagerduty.com, Events API v2. What fires again while its alert is open is of that alert, and its end ends it: the
 * key is of the trigger and what it fired for.
 */
function pagerDutyEvent(firing: FiringMessage, url: string): object {
  const { trigger, project, key, entity, severity, resolves, fired_at, reason, labels, events } = firing
  const about = createHash('sha256')
    .update(JSON.stringify([project, trigger, key]))
    .digest('hex')
  return {
    routing_key: new URL(url).searchParams.get(ROUTING_KEY) ?? '',
    event_action: resolves ? 'resolve' : 'trigger',
    dedup_key: `svc-${about.slice(0, 32)}`,
    payload: {
      summary: cut(firing.practice ? `Practice: ${firing.title}` : firing.title, 1_024),
      source: entity ? `${entity.label}=${entity.value}` : trigger,
      severity: severity ?? 'warning',
      timestamp: fired_at,
      group: trigger,
      custom_details: { reason, labels, events },
    },
    client: 'svc',
    ...(firing.url ? { client_url: firing.url, links: [{ href: firing.url, text: 'Open in svc' }] } : {}),
  }
}

/*
 * Signatures of what is posted, by Standard Webhooks: recipients can check them with a library they
 * already have, and an old message sent again by somebody else is known by its timestamp.
 */

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** A secret to sign with, as recipients' libraries take it. It is shown once, to who subscribes. */
export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/**
 * The headers that identify and sign one try. The id stays the same over all tries, the timestamp does
 * not: recipients refuse what is older than a few minutes.
 * @param body exactly what is sent.
 * @param secret null: the message goes unsigned.
 */
export function signatureHeaders(
  id: string,
  atMs: number,
  body: string,
  secret: string | null,
): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1000))
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp }
  if (secret === null) return headers
  const key = Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { ...headers, 'webhook-signature': `v1,${signature}` }
}

/* What an answer, or its lack, means for a delivery. */

/** What came of a try, as an event of the delivery's lifecycle. */
export interface Outcome {
  event: 'acknowledge' | 'retry' | 'refuse' | 'gone' | 'interrupted'
  /** HTTP status; null: none came. */
  status: number | null
  /** Why it was not taken; null: it was. Nothing that the recipient wrote. */
  reason: string | null
  /** Epoch ms, of retry alone: no try before it. */
  dueAt?: number
}

export interface Situation {
  /** Its row of the retry table. */
  retry: RetryKind
  /** Number of this try, from 1. */
  tries: number
  /** Epoch ms of the answer. */
  now: number
  /** From 0 to below 1. */
  random(): number
}

/** Either way from the wait of the table, so that many that failed together do not come back together. */
const JITTER = 0.2
/** The longest wait that a recipient can ask for. */
const MAX_ASKED_MS = 3_600_000
/** Request timeout, too early, too many requests; besides 5xx. */
const PASSING = new Set([408, 425, 429])
/** Sent again they would end the same. */
const FINAL_FAULTS: ReadonlySet<FaultCode> = new Set(['not_allowed', 'invalid', 'redirect'])

/** A redirect is never followed: where it leads was not checked as an address that may be reached. */
const NOT_FOLLOWED = 'redirects are not followed; give the address it leads to'
const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status)

/**
 * Only 2xx takes a delivery. What may pass is tried again: no answer, 5xx, 408, 425 and 429. How many
 * tries there are is the lifecycle's to say: `retry` after the last one fails the delivery.
 */
export function outcomeOf(answer: EgressAnswer | EgressFault, situation: Situation): Outcome {
  if (!answer.ok) {
    const { fault, message: reason, status } = answer
    if (fault === 'aborted') return { event: 'interrupted', status, reason: INTERRUPTED }
    if (FINAL_FAULTS.has(fault)) return { event: 'refuse', status, reason }
    return { event: 'retry', status, reason, dueAt: dueAt(situation, null) }
  }
  const { status, headers } = answer
  if (status >= 200 && status < 300) return { event: 'acknowledge', status, reason: null }
  const reason = `HTTP ${status}${isRedirect(status) ? `: ${NOT_FOLLOWED}` : ''}`
  if (status === 410) return { event: 'gone', status, reason }
  if (status < 500 && !PASSING.has(status)) return { event: 'refuse', status, reason }
  return {
    event: 'retry',
    status,
    reason,
    dueAt: dueAt(situation, readRetryAfter(headers['retry-after'], situation.now)),
  }
}

/** Why a recipient did not take a message, where its answer is no plain status: Slack, or an address that is not there. */
interface Refusal {
  reason: string
  /** Sent again it would end the same. */
  isFinal: boolean
  status?: number | null
  /** How long it asks to be left alone; null: it does not say. */
  retryAfterMs?: number | null
}

/** @param refusal null: it was taken. */
export function outcomeOfRefusal(refusal: Refusal | null, situation: Situation): Outcome {
  if (refusal === null) return { event: 'acknowledge', status: 200, reason: null }
  const { reason, isFinal, status = null, retryAfterMs = null } = refusal
  if (isFinal) return { event: 'refuse', status, reason }
  return { event: 'retry', status, reason, dueAt: dueAt(situation, retryAfterMs) }
}

const INTERRUPTED = 'the service stopped before it was answered'

/** What was cut off, or not begun, when the service stopped: it is no failure of the recipient's. */
export const interrupted: Outcome = { event: 'interrupted', status: null, reason: INTERRUPTED }

/** A try that failed on our side, before anything was sent. */
export function faultOfOurs(reason: string, situation: Situation): Outcome {
  return { event: 'retry', status: null, reason, dueAt: dueAt(situation, null) }
}

/**
 * A recipient can ask for a longer wait than the table has, not for a shorter one: one that always asks
 * for a second would spend all tries within seconds, and lose what a night's tries would deliver.
 */
function dueAt({ retry, tries, now, random }: Situation, askedMs: number | null): number {
  const waits = RETRY_SECONDS[retry]
  // After the last wait's try there is none: the machine fails the delivery, whatever is said here.
  const seconds = waits[Math.min(Math.max(tries, 1), waits.length) - 1] ?? 0
  const own = seconds * 1000 * (1 - JITTER + 2 * JITTER * random())
  return Math.round(now + Math.max(own, Math.min(askedMs ?? 0, MAX_ASKED_MS)))
}

/* Posts a finding to the receiver of its agent (SPEC.md, Outbound 5). */

export interface WriteBack {
  kind: 'write_back'
  runId: string
  url: string
  /** Sent as a bearer token. */
  token: string | null
  /** Why the address or the token cannot be had, so that nothing is sent; null: they can, or there is no token. */
  fault: string | null
  /** JSON. */
  body: string
}

const WRITE_BACK_TIMEOUT_MS = 15_000
const MAX_ANSWER_BYTES = 64 * 1024
const BODY_SHOWN = 200

/** Posts a finding. @returns what came of it; a receiver that says 410 is refused like any other: there is no subscription to switch off */
export async function sendWriteBack(
  { runId, url, token, fault, body }: WriteBack,
  { egress, situation, signal }: Out,
): Promise<Outcome> {
  if (fault !== null) return outcomeOfRefusal({ reason: fault, isFinal: true }, situation())
  const answer = await egress.send({
    url,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      // The same in every try: a receiver takes each run once.
      'idempotency-key': runId,
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    body: findingBody(body, url),
    audience: 'operator',
    timeoutMs: WRITE_BACK_TIMEOUT_MS,
    maxResponseBytes: MAX_ANSWER_BYTES,
    repeatable: true,
    signal,
  })
  const outcome = outcomeOf(answer, situation())
  const event = outcome.event === 'gone' ? 'refuse' : outcome.event
  if (event === 'acknowledge' || event === 'interrupted') return outcome
  // A receiver may repeat what it was sent; what it wrote is cut after the secrets are out of it.
  const sent = [token, ...addressSecrets(url)]
  if (!answer.ok) return { ...outcome, event, reason: storedFault(answer.message, sent) }
  const said = storedFault(answer.body.toString(), sent).slice(0, BODY_SHOWN).trim()
  const isTold = isRedirect(answer.status) || said === ''
  return { ...outcome, event, reason: isTold ? outcome.reason : `HTTP ${answer.status}: ${said}` }
}
