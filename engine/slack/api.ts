/**
 * Calls of Slack's Web API over the one way out. Slack answers most refusals with status 200 and a word;
 * here each is a sentence that says what to do, and whether trying again could help.
 */
import type { Clock } from '../clock.ts'
import type { Egress } from '../egress/index.ts'
import { readRetryAfter } from '../egress/retry-after.ts'
import { oneLine } from '../ingest/template.ts'
import { storedFault } from '../stored-fault.ts'
import type { SlackAccess } from './settings.ts'

export type SlackAnswer = { ok: true; body: Record<string, unknown> } | SlackRefusal

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

export const NO_TOKEN: SlackRefusal = {
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
    if (said.ok === true) return { ok: true, body: said }
    return refusal(said, wait, token)
  }
}

/** What Slack refuses with as a sentence. @param needed the scope it says is missing */
function refusal(
  { error, needed }: Record<string, unknown>,
  wait: number | null,
  token: string,
): SlackRefusal {
  const code = typeof error === 'string' ? oneLine(storedFault(error, [token]), WORD_MAX) : 'unknown_error'
  const told = SENTENCES[code]
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
