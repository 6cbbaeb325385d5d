/**
 * Slack at work in process: a real engine with Ask over a scripted model, the real outbox and follower, before a server
 * that speaks Slack's wire format. Requests are signed as Slack signs them.
 */

import { createHmac } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { createEgress } from '../../../engine/net/fetch.ts'
import { type OutboxPort, outboxPort, startOutboxWorker } from '../../../engine/outbox/queue.ts'
import type { SlackAccounts } from '../../../engine/outbox/send-slack.ts'
import { createSlackApi, emptySlackEnvironment } from '../../../engine/outbox/slack-api.ts'
import { type SlackCalls, slackCalls } from '../../../engine/slack/calls.ts'
import { startFollower } from '../../../engine/slack/follower.ts'
import { openAskWorld } from '../agents/ask/ask-world.ts'
import { say, startReceiver } from '../net/egress/receiver.ts'
import { turn } from '../net/egress/setup.ts'
import { noApps } from '../net/no-apps.ts'
import { slackServer, TOKEN } from '../outbox/slack/slack-server.ts'
import { BY } from '../triggers/trigger-world.ts'

export const SECRET = 'signing-secret-of-the-app'
export const CHANNEL = 'C0ALERTS'

export type SlackWorld = Awaited<ReturnType<typeof openSlackWorld>>

/** Ends with the test. */
export async function openSlackWorld({
  token = TOKEN,
  secret = SECRET,
  publicUrl = 'https://svc.example',
  ...more
}: {
  token?: string | null
  secret?: string | null
  publicUrl?: string | null
} & Parameters<typeof openAskWorld>[0] = {}) {
  const slack = await slackServer()
  slack.scopes.push('channels:history', 'users:read.email')
  let nudge = () => {}
  const world = await openAskWorld({
    ...more,
    slack: {
      ...emptySlackEnvironment,
      ...{ botToken: token, signingSecret: secret, apiUrl: slack.url, publicUrl },
    },
    onPending: () => nudge(),
  })
  const { engine, clock, ask, time } = world
  const hooks = await startReceiver(say(200))
  const egress = createEgress({ allowPrivate: true, timers: time })
  const api = createSlackApi({ egress, clock })
  const accounts: SlackAccounts = { api, access: () => engine.slackAccess(), publicUrl }
  const errors: Error[] = []
  const onError = (error: Error) => void errors.push(error)
  const open = () =>
    slackCalls({
      ...{
        port: engine,
        calls: engine,
        api,
        ask: ask.calls,
        egress,
        clock,
        timers: time,
        publicUrl,
        onError,
      },
    })
  const opened = open()
  const startThreads = () => startFollower({ port: engine, accounts, clock, timers: time, onError })
  const follower = startThreads()
  const settledBy: (() => void)[] = []
  const startSending = (port: Partial<OutboxPort> = {}) => {
    const stored = outboxPort(engine)
    return startOutboxWorker({
      port: {
        ...stored,
        settle: async (id, result) => {
          await stored.settle(id, result)
          for (const go of settledBy.splice(0)) go()
        },
        ...port,
      },
      ...{ egress, tokens: noApps, slack: accounts, clock, timers: time, random: () => 0.5, onError },
    })
  }
  const outbox = startSending()
  nudge = () => {
    outbox.nudge()
    follower.nudge()
  }
  onTestFinished(async () => {
    await Promise.all([outbox.stop(), follower.stop(), opened.answers.stop()])
    egress.close()
    await hooks.close()
  })
  return {
    ...world,
    ...{ slack, hooks, errors, opened, open, outbox, follower, startSending, startThreads, accounts },
    calls: opened.calls,
    ...requesting(opened.calls.slackRequest, clock, `${hooks.url}response`),
    /** A trigger whose firings are told to the channel. */
    subscribed: async (url = `slack://channel/${CHANNEL}`) => {
      await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
      await engine.subscribe({ trigger: 't' }, { url, audience: 'operator' }, BY.caller)
    },
    /** Resolves once the next try of a delivery has come to something. */
    sent: () => new Promise<void>((go) => void settledBy.push(go)),
    /** Resolves once no question is being answered. */
    answered: async () => {
      while ((await engine.openSlackAnswers()).length > 0) await turn()
    },
    /** Gives somebody a right. */
    allow: (user: string, rights: 'read' | 'respond' | 'admin', name = '') =>
      opened.calls.saveSlackPeople({ people: [{ user, rights, name }], everyone: 'read' }),
  }
}

/** Requests as Slack makes them. */
function requesting(take: SlackCalls['slackRequest'], clock: { at: number }, hook: string) {
  let n = 0
  const signed = (body: string, at = clock.at) => {
    const timestamp = String(Math.floor(at / 1_000))
    const made = createHmac('sha256', SECRET).update(`v0:${timestamp}:${body}`).digest('hex')
    return { raw: Buffer.from(body), timestamp, signature: `v0=${made}` }
  }
  const command = (text: string, more = {}) =>
    new URLSearchParams({
      ...{ command: '/svc', text, team_id: 'T1', user_id: 'U1', user_name: 'maria' },
      ...{ channel_id: CHANNEL, trigger_id: `trigger.${n++}`, response_url: hook },
      ...more,
    }).toString()
  /** A press, as docs.slack.dev/reference/interaction-payloads/block_actions-payload has it. */
  const press = (action: Record<string, unknown>, more: Record<string, unknown> = {}) =>
    new URLSearchParams({
      payload: JSON.stringify({
        type: 'block_actions',
        team: { id: 'T1', domain: 'acme' },
        user: { id: 'U1', username: 'maria', name: 'maria', team_id: 'T1' },
        api_app_id: 'A1',
        container: { type: 'message', channel_id: CHANNEL, is_ephemeral: false },
        trigger_id: `press.${n++}`,
        channel: { id: CHANNEL, name: 'alerts' },
        response_url: hook,
        actions: [{ block_id: 'b', action_ts: '1700000000.1', ...action }],
        ...more,
      }),
    }).toString()
  /** A mention, as docs.slack.dev/reference/events/app_mention has it. */
  const mention = (text: string, more: Record<string, unknown> = {}, id = `Ev${n++}`) =>
    JSON.stringify({
      ...{ token: 'x', team_id: 'T1', api_app_id: 'A1', type: 'event_callback', event_id: id, event_time: 1 },
      event: {
        ...{ type: 'app_mention', user: 'U1', text: `<@U0BOT> ${text}`, ts: `1700000100.00000${n}` },
        ...{ channel: CHANNEL, event_ts: '1', ...more },
      },
    })
  return { signed, command, press, mention, request: (body: string) => take(signed(body)) }
}

type Block = { type: string; elements?: Button[] }
interface Button {
  type: string
  action_id: string
  text?: { text: string }
  value?: string
  options?: { value: string }[]
}

/** The buttons of a message, by what they do. */
export const buttonsOf = ({ blocks }: { blocks: object[] }): Button[] =>
  (blocks as Block[]).flatMap(({ type, elements }) => (type === 'actions' ? (elements ?? []) : []))

/** The action that Slack sends where a button of a message is pressed. */
export function pressOf(message: { blocks: object[] }, does: string, option = 0): Record<string, unknown> {
  const button = buttonsOf(message).find(({ action_id }) => action_id === `svc_do_${does}`)
  if (!button)
    throw new Error(`no button does ${does}: ${buttonsOf(message).map(({ action_id }) => action_id)}`)
  const { type, action_id, value, options } = button
  return { type, action_id, ...(options ? { selected_option: options[option] } : { value }) }
}
