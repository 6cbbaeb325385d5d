/** Findings of real runs posted before a server that speaks Slack's wire format. */
import { expect, it, onTestFinished } from 'vitest'
import { emptySlackEnvironment } from '../../../../engine/outbox/slack-api.ts'
import type { AgentWrite, Delivery } from '../../../../schemas/types.ts'
import { openRunWorld } from '../../agents/runs/run-world.ts'
import { BY } from '../../triggers/trigger-world.ts'
import { sendFindings } from '../sent-findings.ts'
import { type SlackServer, slackServer, TOKEN } from './slack-server.ts'

const LONG = `Summary: the deploy broke it.\n\n${'- evidence\n'.repeat(500)}`

async function open(
  options: { token?: string | null; publicUrl?: string; env?: Record<string, string> } = {},
) {
  const slack = await slackServer()
  const { token = TOKEN, publicUrl = null, env = {} } = options
  const settings = { ...emptySlackEnvironment, botToken: token, apiUrl: slack.url, publicUrl }
  const world = await openRunWorld({ slack: settings, env })
  const sent = sendFindings(world, { publicUrl })
  onTestFinished(async () => {
    await sent.stop()
    await world.close()
  })
  await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
  return {
    ...world,
    slack,
    /** Resolves with what the next try came to. */
    tried: sent.tried,
    /** A finding of an agent. @returns id of its run */
    async found(agent: Partial<AgentWrite>, summary = 'Found.'): Promise<string> {
      await world.agent({ name: 'first-look', trigger: 't', model: 'm1', concludes: true, ...agent })
      world.models.reply('m1', [
        { calls: [{ name: 'conclude', arguments: { outcome: 'finding', summary, headline: 'It broke' } }] },
      ])
      await world.post({ service: 'checkout', type: 'error', msg: '<!channel> cannot pay' })
      return (await world.settled()).at(-1)!.id
    },
  }
}

const textOf = (slack: SlackServer, n = 0) => JSON.stringify(slack.posted[n]!.blocks)

it('are posted whole where they fit, and the run says so', async () => {
  const { found, tried, run, slack } = await open({ publicUrl: 'https://svc.example' })
  const id = await found({ slack_channel: 'C0ALERTS' }, 'The deploy broke it. <!channel> said so.')
  expect(await run(id)).toMatchObject({ slack: 'pending', slack_error: null })
  await tried()
  expect(await run(id)).toMatchObject({ slack: 'ok', slack_error: null })
  expect(slack.posted).toHaveLength(1)
  const [{ channel, all }] = slack.posted as [(typeof slack.posted)[0]]
  expect(channel).toBe('C0ALERTS')
  expect(all).toMatchObject({
    unfurl_links: 'false',
    unfurl_media: 'false',
    link_names: 'false',
    parse: 'none',
  })
  expect(JSON.parse(all.metadata!)).toMatchObject({ event_payload: { run_id: id } })
  expect(textOf(slack)).toContain('The deploy broke it. &lt;!channel&gt; said so.')
  expect(textOf(slack)).toContain(`https://svc.example/runs/${id}`)
  for (const { text, blocks } of slack.posted)
    expect(JSON.stringify([text, blocks])).not.toMatch(/<[!@#](?!date)/)
})

it('are an excerpt with the whole note in its thread where they are long', async () => {
  const { found, tried, slack } = await open()
  await found({ slack_channel: 'C0ALERTS' }, LONG)
  await tried()
  expect(slack.posted.map(({ thread_ts }) => thread_ts)).toEqual([undefined, '1700000000.000001'])
  expect(textOf(slack, 1).match(/• evidence/g)).toHaveLength(500)
})

it('that fail half way go on in the thread, and are not posted again', async () => {
  const { found, tried, slack, clock, run } = await open()
  const id = await found({ slack_channel: 'C0ALERTS' }, LONG)
  slack.says = (_method, { thread_ts }) =>
    thread_ts ? { status: 429, headers: { 'retry-after': '40' }, body: 'later' } : null
  expect(await tried()).toMatchObject({ event: 'retry', dueAt: clock.at + 40_000 })
  expect(await run(id)).toMatchObject({
    slack: 'pending',
    slack_error: 'Slack asks to be called less often',
  })
  slack.says = () => null
  clock.at += 40_000
  await tried()
  expect(slack.posted.map(({ thread_ts }) => thread_ts)).toEqual([undefined, '1700000000.000001'])
  expect(await run(id)).toMatchObject({ slack: 'ok', slack_error: null })
})

/** The first message is in the channel, its thread is not. */
async function halfPosted(channel: string) {
  const opened = await open()
  const { found, tried, slack, clock } = opened
  const id = await found({ slack_channel: channel }, LONG)
  slack.says = (_method, { thread_ts }) => (thread_ts ? { status: 503, body: 'down' } : null)
  expect(await tried()).toMatchObject({ event: 'retry' })
  clock.at += 10_000
  const inChannels = () =>
    slack.posted.map(({ channel, thread_ts }) => `${channel}${thread_ts ? ` in ${thread_ts}` : ''}`)
  return { ...opened, id, inChannels }
}

it('18.3: half of which were deleted in Slack are posted anew', async () => {
  const { tried, slack, run, id, inChannels } = await halfPosted('C0ALERTS')
  slack.says = (_method, { thread_ts }) =>
    thread_ts === '1700000000.000001' ? { body: { ok: false, error: 'thread_not_found' } } : null
  expect(await tried()).toMatchObject({ event: 'acknowledge' })
  expect(inChannels()).toEqual(['C0ALERTS', 'C0ALERTS', 'C0ALERTS in 1700000000.000002'])
  expect(await run(id)).toMatchObject({ slack: 'ok', slack_error: null })
})

it('18.3: whose thread is gone again and again are refused after one more post of a try', async () => {
  const { tried, slack, run, id, inChannels } = await halfPosted('C0ALERTS')
  slack.says = (_method, { thread_ts }) =>
    thread_ts ? { body: { ok: false, error: 'thread_not_found' } } : null
  expect(await tried()).toMatchObject({ event: 'refuse' })
  expect(inChannels()).toEqual(['C0ALERTS', 'C0ALERTS'])
  expect(await run(id)).toMatchObject({ slack: 'failed', slack_error: 'Slack refuses it: thread_not_found' })
})

it('18.3: begun in a channel that is gone are posted anew where the agent posts now', async () => {
  const { tried, slack, engine, inChannels } = await halfPosted('C0ALERTS')
  slack.says = (_method, { channel }) =>
    channel === 'C0ALERTS' ? { body: { ok: false, error: 'is_archived' } } : null
  expect(await tried()).toMatchObject({ event: 'refuse' })
  const { agents } = await engine.listAgents()
  const { name, prompt, model } = agents[0]!
  await engine.updateAgent(name, { name, prompt, model, slack_channel: 'C0GENERAL' }, BY)
  const [{ delivery_id }] = (await engine.listDeliveries({ kind: 'slack', limit: 1 })).deliveries as [
    Delivery,
  ]
  await engine.redeliver(delivery_id)
  expect(await tried()).toMatchObject({ event: 'acknowledge' })
  expect(inChannels()).toEqual(['C0ALERTS', 'C0GENERAL', 'C0GENERAL in 1700000000.000002'])
})

it.each([
  ['not_in_channel', 'the bot is not in the channel: invite it'],
  ['invalid_auth', 'Slack does not take the bot token; enter a new one under Settings, Slack'],
])('are tried once where Slack says %s', async (code, sentence) => {
  const { found, tried, slack, run } = await open()
  slack.says = () => ({ body: { ok: false, error: code } })
  const id = await found({ slack_channel: 'C0ALERTS' })
  await tried()
  expect(await run(id)).toMatchObject({ slack: 'failed', slack_error: sentence })
})

it('are tried again while that may help, then given up', async () => {
  const { found, tried, slack, run, clock } = await open()
  slack.says = () => ({ body: { ok: false, error: 'internal_error' } })
  const id = await found({ slack_channel: 'C0ALERTS' })
  for (let n = 0; n < 6; n++) {
    await tried()
    clock.at += 3_600_000
  }
  expect(await run(id)).toMatchObject({ slack: 'failed', slack_error: 'Slack refuses it: internal_error' })
  // After the first it is looked whether the message is there; Slack does not say.
  expect([slack.calls('chat.postMessage'), slack.calls('conversations.history')]).toEqual([1, 5])
})

it('of an agent without a channel are not posted', async () => {
  const { found, run } = await open()
  expect((await run(await found({}))).slack).toBeNull()
})

it('without a bot token say so at once', async () => {
  const { found, tried, run, slack } = await open({ token: null })
  const id = await found({ slack_channel: 'C0ALERTS' })
  await tried()
  expect(await run(id)).toMatchObject({
    slack: 'failed',
    slack_error: 'no bot token of Slack is set; add one under Settings, Slack',
  })
  expect(slack.received).toEqual([])
})

it('A11: that failed are told by the health of the project', async () => {
  const { found, tried, engine, project } = await open({ token: null })
  await found({ slack_channel: 'C0ALERTS' })
  const told = expect.objectContaining({
    severity: 'error',
    message:
      'The last finding of agent first-look was not posted to Slack: no bot token of Slack is set; add one under Settings, Slack',
    view: '/agents/first-look',
  })
  expect((await engine.projectHealth(project)).issues).not.toContainEqual(told)
  await tried()
  expect((await engine.projectHealth(project)).issues).toContainEqual(told)
})

it('A11: go to the webhook that a variable names; one that is not set is told by the run and by health', async () => {
  const env: Record<string, string> = {}
  const { found, tried, run, engine, project, models, settled } = await open({ token: null, env })
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference as it is written.
  const slack_webhook = '${SVC_SECRET_HOOK}'
  const first = await found({ slack_webhook })
  await tried()
  expect(await run(first)).toMatchObject({
    slack: 'failed',
    slack_error: 'slack_webhook: the variable SVC_SECRET_HOOK is not set',
  })
  const unset = expect.objectContaining({
    severity: 'error',
    message: 'Agent first-look refers to the variable SVC_SECRET_HOOK, which is not set',
  })
  expect((await engine.projectHealth(project)).issues).toContainEqual(unset)
  env.SVC_SECRET_HOOK = 'https://127.0.0.1:9/services/canary'
  expect((await engine.projectHealth(project)).issues).not.toContainEqual(unset)
  models.reply('m1', [
    {
      calls: [
        { name: 'conclude', arguments: { outcome: 'finding', summary: 'Found.', headline: 'It broke' } },
      ],
    },
  ])
  const { run_id: second } = await engine.rerun(first, { asOf: 'same', practice: false })
  await settled()
  await tried()
  expect((await run(second)).slack_error).toContain('the Slack webhook cannot be reached')
})

it('go to an incoming webhook where the agent names no channel', async () => {
  const { found, tried, run, slack } = await open({ token: null })
  slack.answer = () => ({ body: 'ok' })
  const hook = `${slack.url}/services/T/B/canary`
  const id = await found({ slack_webhook: hook.replace('http:', 'https:') })
  // An https address in a test is not there: it is refused as one that cannot be reached.
  await tried()
  const { slack: outcome, slack_error } = await run(id)
  expect(outcome).toBe('pending')
  expect(slack_error).toContain('the Slack webhook cannot be reached')
  expect(slack_error).not.toContain('canary')
})
