/** Settings of Slack and its channels, before a server that speaks Slack's wire format. */
import { expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../../engine/local.ts'
import { emptySlackEnvironment } from '../../../../engine/outbox/slack-api.ts'
import { slackServer, TOKEN } from './slack-server.ts'

async function open(env = {}) {
  const slack = await slackServer()
  const clock = { at: Date.parse('2026-11-20T12:00:00Z'), now: () => clock.at }
  const engine = createEngine({
    dataFile: null,
    clock,
    slack: { ...emptySlackEnvironment, apiUrl: slack.url, ...env },
  })
  onTestFinished(() => engine.close())
  return { slack, clock, engine }
}

it('the bot token of the console is used until the environment sets one', async () => {
  const { engine } = await open()
  expect(await engine.testSlack()).toEqual({
    ok: false,
    error: 'no bot token of Slack is set; add one under Settings, Slack',
  })
  expect(await engine.storeSlackSecret('bot_token', ` ${TOKEN}\n`)).toEqual({
    ...{ configured: true, source: 'console', stored: true, env_overrides: false, team: null },
  })
  expect(await engine.testSlack()).toMatchObject({ ok: true, team: 'Acme', bot: 'svc', team_id: 'T1' })
  expect(await engine.slackSecret('bot_token')).toMatchObject({ team: 'Acme' })
  await engine.storeSlackSecret('bot_token', 'xoxb-another')
  expect(await engine.slackSecret('bot_token')).toMatchObject({ team: null })
  expect((await engine.testSlack()).error).toContain('does not take the bot token')
  expect(await engine.forgetSlackSecret('bot_token')).toMatchObject({ configured: false, source: '' })
  await expect(engine.storeSlackSecret('bot_token', 'abc')).rejects.toThrow('it begins with xoxb-')
  await expect(engine.storeSlackSecret('signing_secret', TOKEN)).rejects.toThrow('this is a token')

  const { engine: other } = await open({ botToken: TOKEN })
  await other.storeSlackSecret('bot_token', 'xoxb-stored')
  expect(await other.slackSecret('bot_token')).toMatchObject({
    ...{ configured: true, source: 'env:SVC_SLACK_BOT_TOKEN', stored: true, env_overrides: true },
  })
  expect(await other.testSlack()).toMatchObject({ ok: true })
})

it('channels are read once for all who ask, kept for a minute, and read anew when told', async () => {
  const { engine, slack, clock } = await open({ botToken: TOKEN })
  const lists = await Promise.all([engine.slackChannels(), engine.slackChannels(), engine.slackChannels()])
  expect(slack.calls('conversations.list')).toBe(2)
  expect(new Set(lists.map((list) => JSON.stringify(list))).size).toBe(1)
  expect(lists[0]).toEqual({
    channels: [
      { id: 'C0ALERTS', name: 'alerts', is_private: false, is_member: true },
      { id: 'C0GENERAL', name: 'general', is_private: false, is_member: false },
      { id: 'G0SECRET', name: 'secret', is_private: true, is_member: true },
    ],
    reason: null,
  })
  slack.channels = [{ id: 'C0NEW', name: 'new' }]
  clock.at += 59_000
  expect((await engine.slackChannels()).channels).toHaveLength(3)
  await engine.dropSlackChannels()
  expect((await engine.slackChannels()).channels).toEqual([
    { id: 'C0NEW', name: 'new', is_private: false, is_member: false },
  ])
})

it('channels that cannot be read again are those of before, with the reason', async () => {
  const { engine, slack, clock } = await open({ botToken: TOKEN })
  await engine.slackChannels()
  slack.says = () => ({ body: { ok: false, error: 'missing_scope', needed: 'groups:read' } })
  clock.at += 61_000
  expect(await engine.slackChannels()).toMatchObject({
    channels: [{ name: 'alerts' }, { name: 'general' }, { name: 'secret' }],
    ...{ stale: true, reason: 'missing_scope', detail: expect.stringContaining('(groups:read)') },
  })
  const calls = slack.calls('conversations.list')
  await engine.slackChannels()
  expect(slack.calls('conversations.list')).toBe(calls)
  slack.says = () => ({ status: 429, headers: { 'retry-after': '30' }, body: '' })
  clock.at += 6_000
  expect(await engine.slackChannels()).toMatchObject({ reason: 'error', stale: true })
  clock.at += 29_000
  await engine.slackChannels()
  expect(slack.calls('conversations.list')).toBe(calls + 1)
})

it('a read under way when the list is dropped does not fill the cache', async () => {
  const { engine, slack } = await open({ botToken: TOKEN })
  const early = engine.slackChannels()
  await engine.dropSlackChannels()
  slack.channels = [{ id: 'C0NEW', name: 'new' }]
  await early
  expect((await engine.slackChannels()).channels.map(({ name }) => name)).toEqual(['new'])
})

it('without a token there are no channels, and the reason says what to do', async () => {
  const { engine } = await open()
  expect(await engine.slackChannels()).toEqual({
    ...{ channels: [], reason: 'no_token' },
    detail: 'no bot token of Slack is set; add one under Settings, Slack',
  })
})
