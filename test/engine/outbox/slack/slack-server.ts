/**
 * A small server that speaks the wire format of Slack's Web API: forms in, `{ok}` out, cursors, 429, threads with their
 * metadata. It is no Slack. It knows one workspace. What messages may hold is checked by `slack-limits.ts`.
 */

import type { Received } from '../../net/egress/receiver.ts'
import { type Said, type UpstreamServer, upstreamServer } from '../../sources/connectors/upstream-server.ts'
import { brokenLimit } from './slack-limits.ts'

type Json = Record<string, unknown>

export const TOKEN = 'xoxb-canary-token'

export interface SlackServer extends UpstreamServer {
  channels: Json[]
  pageSize: number
  /** Answers this to a call, where it is not null. */
  says: (method: string, body: Record<string, string>) => Said | null
  /** Messages that were taken, in order. */
  posted: { channel: string; text: string; blocks: Json[]; thread_ts?: string; all: Record<string, string> }[]
  /** Messages that were changed, in order. */
  updated: { channel: string; ts: string; text: string; blocks: Json[] }[]
  /** Shown to one person alone, in order. */
  whispered: Record<string, string>[]
  /** People, by e-mail address. */
  people: Record<string, Json>
  /** Of the bot token, as each answer says. */
  scopes: string[]
  /** Messages of a channel, those of threads included, as they are now. */
  messages(channel: string): Message[]
  /** Calls of a method so far. */
  calls(method: string): number
  /** Resolves once something holds; looked at after each call. */
  until(holds: () => boolean): Promise<void>
}

interface Message {
  channel: string
  ts: string
  thread_ts?: string
  text: string
  blocks: Json[]
  metadata?: { event_type: string; event_payload: Json }
}

/** Ends with its test. */
export async function slackServer(): Promise<SlackServer> {
  const all: Message[] = []
  const waiting: { holds: () => boolean; go: () => void }[] = []
  const server = await upstreamServer((received) => {
    const said = answer(slack, all, received)
    for (const { holds, go } of waiting) if (holds()) go()
    return said.headers ? said : { ...said, headers: { 'x-oauth-scopes': slack.scopes.join(',') } }
  })
  const slack: SlackServer = Object.assign(server, {
    url: server.url.replace(/\/$/, ''),
    channels: [
      { id: 'C0GENERAL', name: 'general', is_private: false, is_member: false },
      { id: 'C0ALERTS', name: 'alerts', is_private: false, is_member: true },
      { id: 'G0SECRET', name: 'secret', is_private: true, is_member: true },
    ],
    pageSize: 2,
    says: () => null,
    posted: [],
    updated: [],
    whispered: [],
    people: { 'mara@example.com': { id: 'U0MARA', name: 'mara', real_name: 'Mara Example' } },
    scopes: ['chat:write', 'chat:write.public', 'channels:read', 'groups:read', 'commands'],
    messages: (channel: string) => all.filter((one) => one.channel === channel),
    until: (holds: () => boolean) =>
      new Promise<void>((go) => (holds() ? go() : waiting.push({ holds, go }))),
    calls: (method: string) => server.received.filter(({ path }) => path === `/${method}`).length,
  })
  return slack
}

/** Id of a channel that is named. */
const idOf = (slack: SlackServer, channel: string): string =>
  (slack.channels.find(({ name }) => channel === `#${name}`)?.id as string | undefined) ?? channel

function answer(slack: SlackServer, all: Message[], { path, headers, body }: Received): Said {
  const method = path.slice(1)
  const form = Object.fromEntries(new URLSearchParams(body))
  if (headers.authorization !== `Bearer ${TOKEN}`) return { body: { ok: false, error: 'invalid_auth' } }
  const said = slack.says(method, form)
  if (said) return said
  const broken = method.startsWith('chat.')
    ? brokenLimit(form.text ?? '', JSON.parse(form.blocks ?? '[]') as Json[])
    : null
  if (broken !== null) return { body: { ok: false, error: 'invalid_blocks', errors: [broken] } }
  if (method === 'auth.test')
    return { body: { ok: true, team: 'Acme', user: 'svc', url: 'https://acme.slack.com/', team_id: 'T1' } }
  if (method === 'conversations.list') {
    const from = Number(form.cursor ?? 0)
    const next = from + slack.pageSize
    const channels = slack.channels.slice(from, next)
    const cursor = next < slack.channels.length ? String(next) : ''
    return { body: { ok: true, channels, response_metadata: { next_cursor: cursor } } }
  }
  if (method === 'chat.postMessage') {
    const { channel = '', text = '', blocks = '[]', thread_ts } = form
    const thread = thread_ts === undefined ? {} : { thread_ts }
    slack.posted.push({ channel, text, blocks: JSON.parse(blocks) as Json[], ...thread, all: form })
    const ts = `1700000000.${String(slack.posted.length).padStart(6, '0')}`
    const metadata = form.metadata ? { metadata: JSON.parse(form.metadata) as Message['metadata'] & {} } : {}
    const id = idOf(slack, channel)
    const message = { channel: id, ts, ...thread, text, blocks: JSON.parse(blocks) as Json[], ...metadata }
    all.push(message)
    return { body: { ok: true, channel: id, ts, message } }
  }
  return answerAbout(slack, all, method, form)
}

function answerAbout(slack: SlackServer, all: Message[], method: string, form: Record<string, string>): Said {
  if (method === 'chat.update') {
    const { channel = '', ts = '', text = '', blocks = '[]' } = form
    slack.updated.push({ channel, ts, text, blocks: JSON.parse(blocks) as Json[] })
    const known = all.find((one) => one.channel === channel && one.ts === ts)
    if (known) Object.assign(known, { text, blocks: JSON.parse(blocks) as Json[] })
    return { body: { ok: true, channel, ts } }
  }
  if (method === 'chat.postEphemeral') {
    slack.whispered.push(form)
    return { body: { ok: true, message_ts: '1700000001.000001' } }
  }
  if (method === 'chat.getPermalink') {
    const { channel = '', message_ts = '' } = form
    const permalink = `https://acme.slack.com/archives/${channel}/p${message_ts.replace('.', '')}`
    return { body: { ok: true, channel, permalink } }
  }
  if (method === 'users.lookupByEmail') {
    const user = slack.people[form.email ?? '']
    return { body: user ? { ok: true, user } : { ok: false, error: 'users_not_found' } }
  }
  if (method === 'conversations.history' || method === 'conversations.replies') {
    const scope = 'channels:history'
    if (!slack.scopes.includes(scope)) return { body: { ok: false, error: 'missing_scope', needed: scope } }
    const messages = all.filter(
      ({ channel, ts, thread_ts }) =>
        channel === form.channel &&
        (method === 'conversations.history' ? thread_ts === undefined : [ts, thread_ts].includes(form.ts)),
    )
    return { body: { ok: true, messages, has_more: false, response_metadata: { next_cursor: '' } } }
  }
  return { body: { ok: false, error: 'unknown_method' } }
}
