/**
 * Calls of Slack's Web API over the one way out. Slack answers most refusals with status 200 and a word;
 * here each is a sentence that says what to do, and whether trying again could help.
 */

import { ownField } from '../../schemas/fields-of.ts'
import { readRetryAfter } from '../../schemas/retry-after.ts'
import type { SlackChannel, SlackChannelsResult, SlackSecret } from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import { fail } from '../errors.ts'
import { oneLine } from '../log/ingest/label.ts'
import { firstOf, openSettings, openStored } from '../log/settings.ts'
import type { StoreHandle } from '../log/store/handle.ts'
import type { Egress } from '../net/fetch.ts'
import { storedFault } from '../net/redact.ts'
import type { Secrets } from '../net/secrets.ts'

/** @param scopes of the bot token, as Slack says with each answer; absent: it did not say */
export type SlackAnswer = { ok: true; body: Record<string, unknown>; scopes?: string[] } | SlackRefusal

export interface SlackRefusal {
  ok: false
  /** Slack's word, or none where there was no answer of Slack's. */
  code: string
  /** A sentence, without the token. */
  error: string
  /** Sent again it would end the same. */
  isFinal: boolean
  retryAfterMs: number | null
}

/** @param signal what is under way is cut off by it, and answered with the code `INTERRUPTED` */
export type SlackApi = (
  method: string,
  body: Record<string, unknown>,
  access: SlackAccess,
  signal?: AbortSignal,
) => Promise<SlackAnswer>

/** The code of a call that was cut off: whether Slack took it is not known. */
export const INTERRUPTED = 'interrupted'

const TIMEOUT_MS = 10_000
const ANSWER_BYTES = 4 * 1024 * 1024
const WORD_MAX = 80

const NO_TOKEN: SlackRefusal = {
  ok: false,
  code: 'no_token',
  error: 'no bot token of Slack is set; add one under Settings, Slack',
  isFinal: true,
  retryAfterMs: null,
}

export function createSlackApi({ egress, clock }: { egress: Egress; clock: Clock }): SlackApi {
  return async (method, body, { token, apiUrl }, signal) => {
    if (token === null) return NO_TOKEN
    const answer = await egress.send({
      url: `${apiUrl}/${method}`,
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: `Bearer ${token}` },
      body: form(body),
      audience: 'operator',
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: ANSWER_BYTES,
      ...(signal ? { signal } : {}),
    })
    if (!answer.ok) {
      if (answer.fault === 'aborted') return refused(INTERRUPTED, answer.message, false)
      const isFinal = answer.fault === 'not_allowed' || answer.fault === 'invalid'
      return refused('', `Slack cannot be reached: ${answer.message}`, isFinal)
    }
    const wait = readRetryAfter(answer.headers['retry-after'], clock.now())
    if (answer.status === 429)
      return refused('ratelimited', 'Slack asks to be called less often', false, wait)
    const said = parsed(answer.body)
    if (answer.status < 200 || answer.status >= 300 || said === null)
      return refused('', `Slack answered ${answer.status}`, false, wait)
    if (said.ok === true) {
      const scopes = answer.headers['x-oauth-scopes']
      return { ok: true, body: said, ...(typeof scopes === 'string' ? { scopes: listed(scopes) } : {}) }
    }
    return refusal(said, wait, token)
  }
}

const listed = (text: string): string[] =>
  text
    .split(',')
    .map((scope) => scope.trim())
    .filter(Boolean)

/** What Slack refuses with as a sentence. @param needed the scope it says is missing */
function refusal(
  { error, needed }: Record<string, unknown>,
  wait: number | null,
  token: string,
): SlackRefusal {
  const code = typeof error === 'string' ? oneLine(storedFault(error, [token]), WORD_MAX) : 'unknown_error'
  const told = ownField(SENTENCES, code)
  const scope =
    code === 'missing_scope' && typeof needed === 'string' ? ` (${oneLine(needed, WORD_MAX)})` : ''
  return refused(
    code,
    told ? `${told}${scope}` : `Slack refuses it: ${code}`,
    told !== undefined || FINAL.has(code),
    wait,
  )
}

const refused = (
  code: string,
  error: string,
  isFinal: boolean,
  retryAfterMs: number | null = null,
): SlackRefusal => ({ ok: false, code, error, isFinal, retryAfterMs })

const TOKEN = 'Slack does not take the bot token; enter a new one under Settings, Slack'
/** All of them are final. */
const SENTENCES: Readonly<Record<string, string>> = {
  invalid_auth: TOKEN,
  not_authed: TOKEN,
  account_inactive: TOKEN,
  token_revoked: TOKEN,
  token_expired: TOKEN,
  missing_scope: 'the bot token lacks a scope; add it to the Slack app and install the app again',
  channel_not_found: 'Slack has no such channel, or it is private and the bot is not in it: invite the bot',
  not_in_channel: 'the bot is not in the channel: invite it',
  is_archived: 'the channel is archived: choose another',
  msg_too_long: 'Slack finds the message too long',
  invalid_blocks: 'Slack does not take the form of the message',
  restricted_action: 'the workspace does not let the bot post there',
}
const FINAL = new Set([
  ...['no_text', 'invalid_arguments', 'invalid_blocks_format', 'invalid_array_arg', 'too_many_attachments'],
  ...['no_permission', 'org_login_required', 'ekm_access_denied', 'team_access_not_granted'],
  ...['access_denied', 'not_allowed_token_type', 'messages_tab_disabled', 'cannot_reply_to_message'],
  ...['restricted_action_read_only_channel', 'restricted_action_thread_only_channel', 'thread_not_found'],
])

function form(body: Record<string, unknown>): string {
  const fields = Object.entries(body).filter(([, value]) => value !== undefined)
  return new URLSearchParams(
    fields.map(([name, value]): [string, string] => [
      name,
      typeof value === 'object' ? JSON.stringify(value) : String(value),
    ]),
  ).toString()
}

function parsed(body: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : null
  } catch {
    // A page of a proxy: the status is what is told.
    return null
  }
}

/*
 * The channels of the workspace, read through Slack and kept for a minute: every public one, and private
 * ones the bot is in. One read is under way at a time, however many ask; a list that could not be read
 * again is shown as stale.
 */

export interface SlackChannels {
  /** Never rejects for a refusal of Slack's: that is a reason. */
  list(): Promise<SlackChannelsResult>
  /** The next list is read anew; a read under way does not fill the cache. */
  drop(): void
}

const KEPT_MS = 60_000
const REFUSED_MS = 5_000
const PAGE = 200
/** Slack lets some 20 pages a minute be read. */
const PAGES = 20

interface Known {
  result: SlackChannelsResult
  /** Epoch ms. */
  until: number
}

/** @param access what to ask with, as it is set now */
export function createSlackChannels(parts: {
  api: SlackApi
  clock: Clock
  access(): Promise<SlackAccess>
}): SlackChannels {
  const { api, clock, access } = parts
  let known: Known | null = null
  /** The last list that was whole. */
  let last: SlackChannel[] | null = null
  let reading: Promise<SlackChannelsResult> | null = null
  let generation = 0

  async function read(began: number): Promise<SlackChannelsResult> {
    const found = await pages(await access(), api)
    const isFresh = began === generation
    if (Array.isArray(found)) {
      const result: SlackChannelsResult = { channels: found, reason: null }
      if (isFresh) {
        last = found
        known = { result, until: clock.now() + KEPT_MS }
      }
      return result
    }
    if (found.code === 'no_token') last = null
    const result = refusedWith(found, last)
    if (isFresh) known = { result, until: clock.now() + Math.max(REFUSED_MS, found.retryAfterMs ?? 0) }
    return result
  }

  return {
    list() {
      if (known && clock.now() < known.until) return Promise.resolve(known.result)
      if (reading) return reading
      const mine = read(generation).finally(() => {
        if (reading === mine) reading = null
      })
      reading = mine
      return mine
    },
    drop() {
      generation++
      known = null
      reading = null
    },
  }
}

async function pages(access: SlackAccess, api: SlackApi): Promise<SlackChannel[] | SlackRefusal> {
  const found: SlackChannel[] = []
  let cursor = ''
  for (let n = 0; n < PAGES; n++) {
    const said = await api(
      'conversations.list',
      {
        types: 'public_channel,private_channel',
        exclude_archived: true,
        limit: PAGE,
        ...(cursor ? { cursor } : {}),
      },
      access,
    )
    if (!said.ok) return said
    const { channels, response_metadata: more } = said.body as Page
    found.push(...(channels ?? []).flatMap(listedChannels))
    cursor = more?.next_cursor ?? ''
    if (cursor === '') break
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1))
}

interface Page {
  channels?: { id?: unknown; name?: unknown; is_private?: unknown; is_member?: unknown }[]
  response_metadata?: { next_cursor?: string }
}

function listedChannels({
  id,
  name,
  is_private,
  is_member,
}: NonNullable<Page['channels']>[number]): SlackChannel[] {
  if (typeof id !== 'string' || typeof name !== 'string') return []
  return [{ id, name, is_private: is_private === true, is_member: is_member === true }]
}

function refusedWith({ code, error }: SlackRefusal, last: SlackChannel[] | null): SlackChannelsResult {
  const reason = code === 'no_token' || code === 'missing_scope' ? code : 'error'
  return { channels: last ?? [], reason, detail: error, ...(last ? { stale: true } : {}) }
}

/** Slack as the environment says it. */
export interface SlackEnvironment {
  /** Null: unset, as with the others. */
  botToken: string | null
  signingSecret: string | null
  /** Base address of the Web API, without a slash at its end. */
  apiUrl: string
  /** Address people reach the daemon at; without it messages have no buttons. */
  publicUrl: string | null
}

export const emptySlackEnvironment: SlackEnvironment = {
  botToken: null,
  signingSecret: null,
  apiUrl: 'https://slack.com/api',
  publicUrl: null,
}

const BOT_TOKEN_VARIABLE = 'SVC_SLACK_BOT_TOKEN'
const SIGNING_SECRET_VARIABLE = 'SVC_SLACK_SIGNING_SECRET'

/*
 * The bot token and the signing secret of Slack (SPEC.md, Settings: Slack). They go in and never out. The
 * environment wins over what the console stores: a deployment that sets them means them.
 */

/** What Slack is called with: not for doors. */
export interface SlackAccess {
  /** Null: none is set. */
  token: string | null
  apiUrl: string
}

/** A workspace, as Slack named it for the bot token. */
export interface SlackTeam {
  team: string
  /** Its address, such as https://acme.slack.com/. */
  url: string
}

export type SlackSecretName = 'bot_token' | 'signing_secret'

export interface SlackSettings {
  access(): SlackAccess
  signingSecret(): string | null
  describe(which: SlackSecretName): SlackSecret
  /** @throws SvcError invalid */
  store(which: SlackSecretName, value: string): SlackSecret
  forget(which: SlackSecretName): SlackSecret
  /** What Slack said of the token that is in use. */
  noteTeam(token: string, team: SlackTeam): void
  team(): SlackTeam | null
}

interface StoredTeam extends SlackTeam {
  /** Of which token, by its last characters. */
  of: string
}

const VARIABLES = { bot_token: BOT_TOKEN_VARIABLE, signing_secret: SIGNING_SECRET_VARIABLE }
const TEAM = 'slack_team'
const keyOf = (which: SlackSecretName) => `slack_${which}`
const placeOf = (which: SlackSecretName) => `settings/slack_${which}/value`
const PLAIN = /^[\x21-\x7e]+$/
const TAIL = 4

export function openSlackSettings(parts: {
  store: StoreHandle
  secrets: Secrets
  clock: Clock
  env: SlackEnvironment
}): SlackSettings {
  const { secrets, env } = parts
  const settings = openSettings(parts.store, parts.clock)
  const given = { bot_token: env.botToken, signing_secret: env.signingSecret }
  const sealedOf = (which: SlackSecretName) => settings.get<string>(keyOf(which))

  const found = (which: SlackSecretName) =>
    firstOf([
      [`env:${VARIABLES[which]}`, given[which]],
      ['console', openStored(secrets, sealedOf(which), placeOf(which))],
    ])
  const value = (which: SlackSecretName) => found(which)?.value ?? null

  function teamNow(): SlackTeam | null {
    const known = settings.get<StoredTeam>(TEAM)
    return known && known.of === value('bot_token')?.slice(-TAIL)
      ? { team: known.team, url: known.url }
      : null
  }

  function describe(which: SlackSecretName): SlackSecret {
    const isStored = sealedOf(which) !== undefined
    const isEnv = given[which] !== null
    const now = found(which)
    return {
      configured: now !== null,
      source: now?.source ?? '',
      stored: isStored,
      env_overrides: isEnv && isStored,
      ...(which === 'bot_token' ? { team: teamNow()?.team ?? null } : {}),
      ...(isStored && now === null ? { problem: 'what is stored cannot be read here; enter it again' } : {}),
    }
  }

  return {
    access: () => ({ token: value('bot_token'), apiUrl: env.apiUrl }),
    signingSecret: () => value('signing_secret'),
    describe,
    store: (which, text) => {
      settings.put(keyOf(which), secrets.seal(checked(which, text), placeOf(which)))
      return describe(which)
    },
    forget: (which) => {
      settings.put(keyOf(which), undefined)
      return describe(which)
    },
    noteTeam: (token, team) => {
      if (value('bot_token') === token)
        settings.put(TEAM, { ...team, of: token.slice(-TAIL) } satisfies StoredTeam)
    },
    team: teamNow,
  }
}

/** @throws SvcError invalid, without the value */
function checked(which: SlackSecretName, given: string): string {
  const text = given.trim()
  const field = which === 'bot_token' ? 'token' : 'secret'
  if (!PLAIN.test(text)) fail('invalid', `${field} must be without blanks`, { field })
  if (which === 'bot_token' && !/^xox[a-z.]*-./.test(text))
    fail('invalid', 'token must be a bot token: it begins with xoxb-', { field })
  if (which === 'signing_secret' && text.startsWith('xox'))
    fail('invalid', 'secret must be the signing secret; this is a token', { field })
  return text
}
