/** Calls about Slack: what it is called with, and the channels findings can go to. */
import * as calls from '../api/client/calls.ts'
import type { SlackPeopleWrite, SlackTeamBound } from '../schemas/types.ts'
import { ask } from './client.ts'

/** What is kept of Slack, by the name its field has. */
const SECRETS = {
  token: {
    get: calls.getSlackBotToken,
    save: (token: string) => ask(calls.saveSlackBotToken, { body: { token } }),
    forget: calls.forgetSlackBotToken,
  },
  secret: {
    get: calls.getSlackSigningSecret,
    save: (secret: string) => ask(calls.saveSlackSigningSecret, { body: { secret } }),
    forget: calls.forgetSlackSigningSecret,
  },
} as const
export type SlackField = keyof typeof SECRETS

export const slack = {
  get: (field: SlackField) => ask(SECRETS[field].get),
  save: (field: SlackField, value: string) => SECRETS[field].save(value),
  forget: (field: SlackField) => ask(SECRETS[field].forget),
  test: () => ask(calls.testSlack),
  channels: () => ask(calls.listSlackChannels),
  people: () => ask(calls.getSlackPeople),
  savePeople: (body: SlackPeopleWrite) => ask(calls.saveSlackPeople, { body }),
  team: () => ask(calls.getSlackTeam),
  bindTeam: (body: SlackTeamBound) => ask(calls.saveSlackTeam, { body }),
  forgetTeam: () => ask(calls.forgetSlackTeam),
  manifest: () => ask(calls.getSlackManifest),
  changed: () => ask(calls.dropSlackChannels, { body: {} }),
}

/** Query keys. */
export const slackKeys = {
  secret: (field: SlackField) => ['declared', 'slack', field],
  channels: ['declared', 'slack', 'channels'],
  people: ['declared', 'slack', 'people'],
  team: ['declared', 'slack', 'team'],
  manifest: ['declared', 'slack', 'manifest'],
} as const
