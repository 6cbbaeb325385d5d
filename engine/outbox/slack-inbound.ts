/**
 * Requests of Slack: signed with the signing secret, answered at once. A question of the slash command is
 * answered by Ask, with what a credential of scope read may see, and posted to the address that came with it.
 */
import type { AskTurnCalls } from '../agents/ask/calls.ts'
import type { Clock, Timers } from '../clock.ts'
import { fail, SvcError } from '../errors.ts'
import { verifySignature } from '../log/ingest/signature.ts'
import { type Egress, within } from '../net/fetch.ts'
import { escaped, mrkdwn, sections } from './slack-messages.ts'

/** A request as it came. */
export interface SlackRequest {
  /** The body, byte for byte: it is what is signed. */
  raw: Uint8Array
  signature: string | undefined
  /** Seconds since 1970, as text. */
  timestamp: string | undefined
}

export interface SlackInbound {
  /**
   * @returns what to answer with; empty: nothing but 200.
   * @throws SvcError unavailable: no signing secret is set; bad_signature
   */
  take(request: SlackRequest): Promise<Record<string, unknown>>
}

/** Questions of one person in 24 hours. */
const DAILY_CAP = 50
const DAY_MS = 86_400_000
const ANSWER_MS = 120_000
const POST_MS = 10_000
const BLOCKS_MAX = 40
const QUESTION_MAX = 2_000
/** Of Slack's events: what changes which channels there are, or which the bot is in. */
const OF_CHANNELS = /^(channel|group|member)_/

export function createSlackInbound(parts: {
  /** Null: none is set. */
  secret(): Promise<string | null>
  ask: AskTurnCalls
  /** The channels are others than before. */
  onChannels(): void
  egress: Egress
  clock: Clock
  timers: Timers
  onError(error: Error): void
}): SlackInbound {
  const { secret, clock, onChannels, onError } = parts
  /** Epoch ms of questions, by person; and of requests, by their id. Slack's own retries are minutes apart. */
  const asked = new Map<string, number[]>()
  const seen = new Map<string, number>()

  function isNew(id: string): boolean {
    const now = clock.now()
    for (const [known, at] of seen) if (at < now - DAY_MS) seen.delete(known)
    const isKnown = id !== '' && seen.has(id)
    if (id !== '') seen.set(id, now)
    return !isKnown
  }

  /** @returns whether the person may ask once more */
  function count(person: string): boolean {
    const now = clock.now()
    const recent = (asked.get(person) ?? []).filter((at) => at > now - DAY_MS)
    if (recent.length < DAILY_CAP) recent.push(now)
    else return false
    asked.set(person, recent)
    return true
  }

  function command(form: URLSearchParams): Record<string, unknown> {
    const field = (name: string) => form.get(name) ?? ''
    const question = field('text')
      .trim()
      .replace(/^ask(\s+|$)/i, '')
    if (question === '' || question.toLowerCase() === 'help')
      return whisper(`Ask what happened: ${field('command')} what changed for checkout since noon?`)
    if (!isNew(field('trigger_id'))) return {}
    const person = `${field('team_id')}:${field('user_id')}`
    if (!count(person)) return whisper(`You have asked ${DAILY_CAP} questions in 24 hours; ask again later.`)
    const { url, who } = { url: field('response_url'), who: field('user_name') || field('user_id') }
    void answer({ question: question.slice(0, QUESTION_MAX), person, who, url }, parts).catch(onError)
    return whisper('Looking into it…')
  }

  return {
    async take({ raw, signature, timestamp }) {
      const key = await secret()
      if (key === null)
        fail('unavailable', 'no signing secret of Slack is set; add one under Settings, Slack')
      const headers = {
        ...(signature === undefined ? {} : { 'x-slack-signature': signature }),
        ...(timestamp === undefined ? {} : { 'x-slack-request-timestamp': timestamp }),
      }
      const reason = verifySignature('slack', { secrets: [key] }, raw, headers, clock.now())
      if (reason !== null) fail('bad_signature', `invalid Slack signature: ${reason}`)
      const text = Buffer.from(raw).toString('utf8')
      if (text.trimStart().startsWith('{')) return event(text, onChannels)
      const form = new URLSearchParams(text)
      // A button that opens a page needs no answer.
      return form.has('command') ? command(form) : {}
    },
  }
}

function event(text: string, onChannels: () => void): Record<string, unknown> {
  let body: { type?: unknown; challenge?: unknown; event?: { type?: unknown } }
  try {
    body = JSON.parse(text) as typeof body
  } catch {
    return fail('invalid', 'the body must be JSON or a form')
  }
  if (body.type === 'url_verification') return { challenge: String(body.challenge ?? '') }
  if (typeof body.event?.type === 'string' && OF_CHANNELS.test(body.event.type)) onChannels()
  return {}
}

interface Question {
  question: string
  /** Team and user. */
  person: string
  who: string
  /** Where the answer goes. */
  url: string
}

type Parts = Parameters<typeof createSlackInbound>[0]

async function answer({ question, person, who, url }: Question, parts: Parts): Promise<void> {
  const { egress } = parts
  const said = await answerOf(question, { id: `slack:${person}`, name: `${who} in Slack` }, parts)
  const body =
    'error' in said
      ? { ...whisper(`That could not be answered: ${said.error}`), replace_original: true }
      : {
          response_type: 'in_channel',
          replace_original: true,
          text: escaped(question),
          blocks: [
            section(`*${escaped(question.replace(/\s+/g, ' '))}*`),
            ...sections(mrkdwn(said.text)).slice(0, BLOCKS_MAX).map(section),
            {
              type: 'context',
              elements: [{ type: 'mrkdwn', text: escaped(`Asked by ${who}`), verbatim: true }],
            },
          ],
        }
  // It came in a request that Slack signed, and may still lead to public addresses alone.
  await egress.send({
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    audience: 'caller',
    timeoutMs: POST_MS,
    maxResponseBytes: 0,
  })
}

async function answerOf(
  question: string,
  person: { id: string; name: string },
  { ask, timers }: Parts,
): Promise<{ text: string } | { error: string }> {
  const caller = { ...person, scopes: ['read'] }
  try {
    const { turn } = await ask.ask({ messages: [{ role: 'user', content: question }] }, caller)
    let text = ''
    // Told nothing else at its end, as by a stop of the daemon.
    let error: string | null = 'the service stopped while this was answered; ask again'
    const over = new Promise<void>((resolve, reject) => {
      const reader = {
        frame: (_n: number, frame: { type: string; text?: string; detail?: string }) => {
          if (frame.type === 'start') text = ''
          if (frame.type === 'text') text += frame.text ?? ''
          if (frame.type === 'done') error = null
          if (frame.type === 'error') error = frame.detail ?? 'no reason was given'
        },
        end: resolve,
      }
      ask.followAsk(turn, 0, caller, reader).catch(reject)
    })
    if ((await within(timers, ANSWER_MS, undefined, over)) === 'timeout') {
      await ask.cancelAsk(turn, caller).catch(() => {})
      return { error: `there was no answer within ${ANSWER_MS / 1_000} seconds` }
    }
    if (error !== null) return { error }
    return text.trim() === '' ? { error: 'the model said nothing' } : { text }
  } catch (error) {
    if (error instanceof SvcError) return { error: error.message }
    throw error
  }
}

/** Shown to whoever asked alone. */
const whisper = (text: string) => ({ response_type: 'ephemeral', text: escaped(text) })
const section = (text: string) => ({
  type: 'section',
  text: { type: 'mrkdwn', text, verbatim: true },
})
