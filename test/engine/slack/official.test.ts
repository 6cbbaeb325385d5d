/**
 * Slack's own packages as witnesses: the verifier of @slack/bolt judges requests as svc does, and @slack/web-api reads
 * the stand-in as it reads Slack, and takes svc's messages.
 */
import { isValidSlackRequest } from '@slack/bolt'
import { ErrorCode, type KnownBlock, LogLevel, WebClient } from '@slack/web-api'
import { expect, it } from 'vitest'
import {
  findingMessage,
  incidentActs,
  proposalMessage,
  withIncident,
} from '../../../engine/outbox/slack-messages.ts'
import { missingScopes, slackManifest } from '../../../engine/slack/calls.ts'
import { brokenLimit } from '../outbox/slack/slack-limits.ts'
import { slackServer, TOKEN } from '../outbox/slack/slack-server.ts'
import { openSlackWorld, SECRET } from './slack-world.ts'

it('the verifier of @slack/bolt and svc take and refuse the same requests', async () => {
  const { calls, signed, clock, command } = await openSlackWorld()
  const good = signed(command('help'))
  const cases = [
    good,
    { ...good, raw: Buffer.from(`${good.raw}x`) },
    { ...good, signature: good.signature.replace(/.$/, (last) => (last === '0' ? '1' : '0')) },
    { ...good, timestamp: String(Number(good.timestamp) + 1) },
    signed(command('help'), clock.at - 301_000),
    signed(command('help'), clock.at - 299_000),
  ]
  const verdicts = []
  for (const { raw, signature, timestamp } of cases) {
    const theirs = isValidSlackRequest({
      ...{ signingSecret: SECRET, body: raw.toString(), nowMilliseconds: clock.at },
      headers: { 'x-slack-signature': signature, 'x-slack-request-timestamp': Number(timestamp) },
    })
    const ours = await calls.slackRequest({ raw, signature, timestamp }).then(
      () => true,
      () => false,
    )
    verdicts.push([theirs, ours])
  }
  expect(verdicts).toEqual([true, false, false, false, false, true].map((verdict) => [verdict, verdict]))
})

const WIDE = 'w'.repeat(5_000)
const FOUND = {
  ...{ runId: 'run_1', agent: WIDE, trigger: WIDE, verdict: WIDE, model: WIDE, label: WIDE, entity: WIDE },
  ...{ headline: WIDE, nextStep: WIDE, note: `${WIDE}\n\n${'- line\n'.repeat(5_000)}`, at: 1 },
}
const CARD = {
  ...{
    id: 'inc_999999999999',
    version: 999_999,
    severity: 'critical',
    state: WIDE,
    firings: 1e9,
    openedAt: 1,
  },
  ...{ accepts: ['acknowledge', 'handle', 'snooze', 'reopen'], run: `run_${'0'.repeat(32)}` },
}

it('messages of the largest things stay within what Slack documents', () => {
  const { first, thread } = findingMessage(FOUND, 'https://svc.example', {
    ...{ firstSeen: 1, runs: 1e6, findings: 1e6, verdicts: [WIDE, 'b'], before: FOUND },
  })
  const proposal = {
    ...{
      id: `prop_${'0'.repeat(16)}`,
      summary: WIDE,
      why: WIDE,
      proposer: WIDE,
      decidedBy: WIDE,
      reason: WIDE,
    },
    madeAt: 1,
  }
  const messages = [
    withIncident(first, CARD),
    ...thread,
    ...(['open', 'declined'] as const).map((state) =>
      proposalMessage({ ...proposal, state }, 'https://svc.example'),
    ),
    { text: 'x', blocks: [{ type: 'actions', elements: incidentActs(CARD) }] },
  ]
  for (const { text, blocks } of messages) expect(brokenLimit(text, blocks)).toBeNull()
  // The check bites.
  expect(brokenLimit('x', [{ type: 'header', text: { type: 'plain_text', text: WIDE } }])).toContain('150')
})

it('the official client posts a message of svc, finds it by its metadata, and reads refusals', async () => {
  const slack = await slackServer()
  slack.scopes.push('channels:history')
  const client = new WebClient(TOKEN, {
    ...{ slackApiUrl: `${slack.url}/`, logLevel: LogLevel.ERROR, retryConfig: { retries: 0 } },
    rejectRateLimitedCalls: true,
  })
  const { text, blocks } = withIncident(findingMessage(FOUND, 'https://svc.example').first, CARD)
  const posted = await client.chat.postMessage({
    ...{ channel: 'C0ALERTS', text, blocks: blocks as unknown as KnownBlock[] },
    metadata: { event_type: 'svc_finding', event_payload: { run_id: 'run_1', part: '0' } },
  })
  expect(posted).toMatchObject({ ok: true, channel: 'C0ALERTS', ts: '1700000000.000001' })
  expect(posted.response_metadata?.scopes).toContain('chat:write')
  const { messages } = await client.conversations.history({ channel: 'C0ALERTS', include_all_metadata: true })
  expect(messages![0]!.metadata).toMatchObject({ event_type: 'svc_finding', event_payload: { part: '0' } })
  await client.chat.postMessage({ channel: 'C0ALERTS', text: 'more', thread_ts: posted.ts! })
  const replies = await client.conversations.replies({ channel: 'C0ALERTS', ts: posted.ts! })
  expect(replies.messages!.map(({ text: said }) => said)).toEqual([text, 'more'])
  const { permalink } = await client.chat.getPermalink({ channel: 'C0ALERTS', message_ts: posted.ts! })
  expect(permalink).toBe('https://acme.slack.com/archives/C0ALERTS/p1700000000000001')
  slack.says = () => ({ body: { ok: false, error: 'not_in_channel' } })
  await expect(client.chat.update({ channel: 'C0ALERTS', ts: posted.ts!, text: 'x' })).rejects.toMatchObject({
    ...{ code: ErrorCode.PlatformError, data: { ok: false, error: 'not_in_channel' } },
  })
  slack.says = () => ({ status: 429, headers: { 'retry-after': '7' }, body: '' })
  await expect(client.auth.test()).rejects.toMatchObject({ code: ErrorCode.RateLimitedError, retryAfter: 7 })
})

it('the manifest has the scopes of the specification, the address of this instance, and events that its scopes cover', () => {
  const { manifest, request_url } = slackManifest('https://svc.example/')
  expect(request_url).toBe('https://svc.example/api/slack/events')
  const text = JSON.stringify(manifest)
  expect(text.match(/https:[^"]+/g)).toEqual(Array(3).fill('https://svc.example/api/slack/events'))
  const { bot } = (manifest as { oauth_config: { scopes: { bot: string[] } } }).oauth_config.scopes
  expect(bot).toEqual(
    expect.arrayContaining(['chat:write', 'chat:write.public', 'channels:read', 'groups:read', 'commands']),
  )
  expect(missingScopes(bot)).toEqual([])
  expect(missingScopes(['chat:write']).map(({ scope }) => scope)).toContain('app_mentions:read')
  expect(slackManifest(null)).toMatchObject({ request_url: null })
})
