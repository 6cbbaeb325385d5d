/**
 * Slack as callers of the engine see it. Settings and what waits to be posted are the writer's; Slack is
 * called on the main thread, with a token that passes over a port that is no part of `Engine`.
 */
import type { SlackChannelsResult, SlackSecret, SlackTested } from '../../schemas/types.ts'
import type { AskTurnCalls } from '../ask/calls.ts'
import type { Clock, Timers } from '../clock.ts'
import type { Egress } from '../egress/index.ts'
import type { SlackApi } from './api.ts'
import { createSlackChannels } from './channels.ts'
import { createSlackInbound, type SlackRequest } from './inbound.ts'
import type { SlackAccess, SlackSecretName, SlackSettings, SlackTeam } from './settings.ts'

export interface SlackCalls {
  slackSecret(which: SlackSecretName): Promise<SlackSecret>
  /** @throws SvcError invalid */
  storeSlackSecret(which: SlackSecretName, value: string): Promise<SlackSecret>
  forgetSlackSecret(which: SlackSecretName): Promise<SlackSecret>
  /** Asks Slack whose the bot token is. */
  testSlack(): Promise<SlackTested>
  slackChannels(): Promise<SlackChannelsResult>
  /** A request of Slack's, with its signature. @throws SvcError unavailable; bad_signature */
  slackRequest(request: SlackRequest): Promise<Record<string, unknown>>
  /** The list is read anew. */
  dropSlackChannels(): Promise<{ ok: true }>
}

/** What calling Slack needs of the store; not for doors: the token is in it. */
export interface SlackPort {
  slackAccess(): Promise<SlackAccess>
  slackSigningSecret(): Promise<string | null>
  noteSlackTeam(token: string, team: SlackTeam): Promise<void>
}

/** Those of the writer. */
export type SlackWrites = Pick<SlackCalls, 'slackSecret' | 'storeSlackSecret' | 'forgetSlackSecret'>

export function slackWrites(settings: SlackSettings): SlackWrites & SlackPort {
  return {
    slackSecret: async (which) => settings.describe(which),
    storeSlackSecret: async (which, value) => settings.store(which, value),
    forgetSlackSecret: async (which) => settings.forget(which),
    slackAccess: async () => settings.access(),
    slackSigningSecret: async () => settings.signingSecret(),
    noteSlackTeam: async (token, team) => settings.noteTeam(token, team),
  }
}

/** @param port with the writer's calls, which change what is known of channels */
export function slackCalls(parts: {
  port: SlackPort & SlackWrites
  api: SlackApi
  ask: AskTurnCalls
  egress: Egress
  clock: Clock
  timers: Timers
  onError(error: Error): void
}): SlackCalls {
  const { port, api, clock } = parts
  const channels = createSlackChannels({ api, clock, access: () => port.slackAccess() })
  const inbound = createSlackInbound({
    ...parts,
    secret: () => port.slackSigningSecret(),
    onChannels: channels.drop,
  })
  const changing = async (change: Promise<SlackSecret>): Promise<SlackSecret> => {
    const changed = await change
    channels.drop()
    return changed
  }
  return {
    slackSecret: (which) => port.slackSecret(which),
    storeSlackSecret: (which, value) => changing(port.storeSlackSecret(which, value)),
    forgetSlackSecret: (which) => changing(port.forgetSlackSecret(which)),
    async testSlack() {
      const access = await port.slackAccess()
      const said = await api('auth.test', {}, access)
      if (!said.ok) return { ok: false, error: said.error }
      const { team, user, url } = said.body
      if (typeof team !== 'string') return { ok: false, error: 'what answers is not the API of Slack' }
      await port.noteSlackTeam(access.token!, { team, url: typeof url === 'string' ? url : '' })
      return { ok: true, team, bot: typeof user === 'string' ? user : null }
    },
    slackChannels: () => channels.list(),
    slackRequest: inbound.take,
    dropSlackChannels: async () => {
      channels.drop()
      return { ok: true }
    },
  }
}
