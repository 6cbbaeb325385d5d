/**
 * A small server that speaks the wire format of Slack's Web API: forms in, `{ok}` out, cursors, 429. It is no
 * Slack. It knows one workspace.
 */

import type { Received } from '../../net/egress/receiver.ts'
import { type Said, type UpstreamServer, upstreamServer } from '../../sources/connectors/upstream-server.ts'

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
  /** Calls of a method so far. */
  calls(method: string): number
}

/** Ends with its test. */
export async function slackServer(): Promise<SlackServer> {
  const server = await upstreamServer((received) => answer(slack, received))
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
    calls: (method: string) => server.received.filter(({ path }) => path === `/${method}`).length,
  })
  return slack
}

function answer(slack: SlackServer, { path, headers, body }: Received): Said {
  const method = path.slice(1)
  const form = Object.fromEntries(new URLSearchParams(body))
  if (headers.authorization !== `Bearer ${TOKEN}`) return { body: { ok: false, error: 'invalid_auth' } }
  const said = slack.says(method, form)
  if (said) return said
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
    return { body: { ok: true, channel, ts: `1700000000.00000${slack.posted.length}` } }
  }
  if (method === 'chat.update') {
    const { channel = '', ts = '', text = '', blocks = '[]' } = form
    slack.updated.push({ channel, ts, text, blocks: JSON.parse(blocks) as Json[] })
    return { body: { ok: true, channel, ts } }
  }
  return { body: { ok: false, error: 'unknown_method' } }
}
