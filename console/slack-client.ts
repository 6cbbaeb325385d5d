/** Calls about Slack: what it is called with, and the channels findings can go to. */
import type { SlackChannelsResult, SlackSecret, SlackTested } from '../schemas/types.ts'
import { call } from './client.ts'

const send = async <T>(method: string, path: string, body?: unknown): Promise<T> =>
  (await call(method, path, body)).json() as Promise<T>

/** What is kept of Slack: where it is, and the name its field has. */
const PLACES = {
  token: '/api/settings/slack-bot-token',
  secret: '/api/settings/slack-signing-secret',
} as const
export type SlackField = keyof typeof PLACES

export const slack = {
  get: (field: SlackField) => send<SlackSecret>('GET', PLACES[field]),
  save: (field: SlackField, value: string) => send<SlackSecret>('PUT', PLACES[field], { [field]: value }),
  forget: (field: SlackField) => send<SlackSecret>('DELETE', PLACES[field]),
  test: () => send<SlackTested>('POST', `${PLACES.token}/test`),
  channels: () => send<SlackChannelsResult>('GET', '/api/slack/channels'),
  changed: () => send<{ ok: true }>('POST', '/api/slack/channels/changed', {}),
}

/** Query keys. */
export const slackKeys = {
  secret: (field: SlackField) => ['declared', 'slack', field],
  channels: ['declared', 'slack', 'channels'],
} as const
