/**
 * Slack as callers of the engine see it. Settings and what waits to be posted are the writer's; Slack is called on the
 * main thread, with a token that passes over a port that is no part of `Engine`.
 */

import type {
  SlackChannelsResult,
  SlackManifest,
  SlackPeople,
  SlackPeopleWrite,
  SlackSecret,
  SlackTeamBound,
  SlackTeamRead,
  SlackTested,
} from '../../schemas/types.ts'
import type { AskTurnCalls } from '../agents/ask/calls.ts'
import type { Access } from '../calls.ts'
import type { Clock, Timers } from '../clock.ts'
import { isoOrNull } from '../model/units.ts'
import type { Egress } from '../net/fetch.ts'
import {
  createSlackChannels,
  type SlackAccess,
  type SlackApi,
  type SlackSecretName,
  type SlackSettings,
  type SlackTeam,
} from '../outbox/slack-api.ts'
import {
  createSlackAnswers,
  type FindByEmail,
  lookedUp,
  type SlackAnswers,
  type SlackAskPort,
  type SlackPeopleSettings,
  type SlackRight,
} from './answers.ts'
import { type ActCalls, createSlackRequests, type SlackRequest } from './requests.ts'
import type { SlackThreadPort } from './threads.ts'

export interface SlackCalls {
  slackSecret(which: SlackSecretName): Promise<SlackSecret>
  /** @throws SvcError invalid */
  storeSlackSecret(which: SlackSecretName, value: string): Promise<SlackSecret>
  forgetSlackSecret(which: SlackSecretName): Promise<SlackSecret>
  /** Asks Slack whose the bot token is, and what it lacks; people who were not found are looked up again. */
  testSlack(): Promise<SlackTested>
  slackChannels(): Promise<SlackChannelsResult>
  /** A request of Slack's, with its signature. @throws SvcError unavailable; bad_signature */
  slackRequest(request: SlackRequest): Promise<Record<string, unknown>>
  /** The list is read anew. */
  dropSlackChannels(): Promise<{ ok: true }>
  slackPeople(): Promise<SlackPeople>
  /** @throws SvcError invalid, naming the entry */
  saveSlackPeople(people: SlackPeopleWrite): Promise<SlackPeople>
  /** The workspace that requests are taken of. */
  slackTeam(): Promise<SlackTeamRead>
  bindSlackTeam(team: SlackTeamBound | null): Promise<SlackTeamRead>
  /** The app that svc needs, for Slack to make. */
  slackManifest(): Promise<SlackManifest>
}

/** What calling Slack needs of the store; not for doors: the token is in it. */
export interface SlackPort extends SlackAskPort, SlackThreadPort {
  slackAccess(): Promise<SlackAccess>
  slackSigningSecret(): Promise<string | null>
  noteSlackTeam(token: string, team: SlackTeam): Promise<void>
  putSlackPeople(people: SlackPeople): Promise<SlackPeople>
  /** What somebody may, what they are called in the mapping, and the workspace that requests are taken of. */
  slackPerson(
    user: string,
    asks: boolean,
  ): Promise<{ scopes: SlackRight[]; name: string | null; bound: SlackTeamBound | null }>
}

/** Those of the store. */
export type SlackWrites = Pick<
  SlackCalls,
  'slackSecret' | 'storeSlackSecret' | 'forgetSlackSecret' | 'slackPeople' | 'slackTeam' | 'bindSlackTeam'
>

/** Those on the settings alone; questions and threads are the writer's. */
type SettingsPort = Omit<SlackPort, keyof SlackAskPort | keyof SlackThreadPort>

export function slackWrites(
  settings: SlackSettings,
  people: SlackPeopleSettings,
): SlackWrites & SettingsPort {
  const teamRead = (): SlackTeamRead => people.team() ?? { team_id: '', team_name: '' }
  return {
    slackSecret: async (which) => settings.describe(which),
    storeSlackSecret: async (which, value) => settings.store(which, value),
    forgetSlackSecret: async (which) => settings.forget(which),
    slackAccess: async () => settings.access(),
    slackSigningSecret: async () => settings.signingSecret(),
    noteSlackTeam: async (token, team) => settings.noteTeam(token, team),
    slackPeople: async () => people.get(),
    putSlackPeople: async (given) => people.put(given),
    slackPerson: async (user, asks) => ({
      scopes: people.scopesOf(user, asks),
      name: people.nameOf(user),
      bound: people.team(),
    }),
    slackTeam: async () => teamRead(),
    bindSlackTeam: async (team) => {
      people.bindTeam(team)
      return teamRead()
    },
  }
}

/** For what passes them on to the store. */
export const slackPortAccess: Record<keyof (SlackWrites & SlackPort), Access> = {
  slackSecret: 'reads',
  storeSlackSecret: 'writes',
  forgetSlackSecret: 'writes',
  slackAccess: 'reads',
  slackSigningSecret: 'reads',
  noteSlackTeam: 'writes',
  slackPeople: 'reads',
  putSlackPeople: 'writes',
  slackPerson: 'reads',
  slackTeam: 'reads',
  bindSlackTeam: 'writes',
  beginSlackRequest: 'writes',
  endSlackRequest: 'writes',
  // Right after another one was written.
  slackAsked: 'writes',
  beginSlackAnswer: 'writes',
  placeSlackAnswer: 'writes',
  endSlackAnswer: 'writes',
  openSlackAnswers: 'writes',
  earlierSlackAnswers: 'writes',
  claimSlackWork: 'writes',
  settleSlackWork: 'writes',
  nextSlackWork: 'writes',
  slackThreadOf: 'writes',
}

interface SlackParts {
  port: SlackPort & SlackWrites
  calls: ActCalls
  api: SlackApi
  ask: AskTurnCalls
  egress: Egress
  clock: Clock
  timers: Timers
  /** Address of this instance; null: not known. */
  publicUrl: string | null
  onError(error: Error): void
}

/** @param port with the writer's calls, which change what is known of channels */
export function slackCalls(parts: SlackParts): { calls: SlackCalls; answers: SlackAnswers } {
  const { port, api, clock, publicUrl } = parts
  const access = () => port.slackAccess()
  const channels = createSlackChannels({ api, clock, access })
  const answers = createSlackAnswers({
    ...{ ...parts, access },
    scopesOf: async (person) => (await port.slackPerson(person.split(':').at(-1)!, true)).scopes,
  })
  const requests = createSlackRequests({
    ...{ ...parts, access, answers },
    secret: () => port.slackSigningSecret(),
    threadOf: (channel, ts) => port.slackThreadOf(channel, ts),
    onChannels: channels.drop,
    person: async ({ team, id, name }, asks) => {
      const { scopes, name: mapped, bound } = await port.slackPerson(id, asks)
      return { who: { id: `slack:${team}:${id}`, name: mapped ?? name, scopes }, bound }
    },
  })
  const changing = async (change: Promise<SlackSecret>): Promise<SlackSecret> => {
    const changed = await change
    channels.drop()
    return changed
  }
  const save = async (people: SlackPeopleWrite) =>
    port.putSlackPeople(await lookedUp(people, byEmail(api, access)))
  return {
    answers,
    calls: {
      slackSecret: (which) => port.slackSecret(which),
      storeSlackSecret: (which, value) => changing(port.storeSlackSecret(which, value)),
      forgetSlackSecret: (which) => changing(port.forgetSlackSecret(which)),
      testSlack: () => tested(parts, requests.heardAt(), save),
      slackChannels: () => channels.list(),
      slackRequest: requests.take,
      dropSlackChannels: async () => {
        channels.drop()
        return { ok: true }
      },
      slackPeople: () => port.slackPeople(),
      saveSlackPeople: save,
      slackTeam: () => port.slackTeam(),
      bindSlackTeam: (team) => port.bindSlackTeam(team),
      slackManifest: async () => slackManifest(publicUrl),
    },
  }
}

async function tested(
  { port, api, publicUrl }: SlackParts,
  heardAt: number | null,
  save: (people: SlackPeopleWrite) => Promise<SlackPeople>,
): Promise<SlackTested> {
  const access = await port.slackAccess()
  const said = await api('auth.test', {}, access)
  if (!said.ok) return { ok: false, error: said.error }
  const { team, user, url, team_id } = said.body
  if (typeof team !== 'string') return { ok: false, error: 'what answers is not the API of Slack' }
  await port.noteSlackTeam(access.token!, { team, url: typeof url === 'string' ? url : '' })
  const known = await port.slackPeople()
  const people = known.people.some(({ problem }) => problem) ? await save(asEntered(known)) : known
  return {
    ...{ ok: true, team, bot: typeof user === 'string' ? user : null },
    ...(typeof team_id === 'string' ? { team_id } : {}),
    missing_scopes: missingScopes(said.scopes),
    request_url: requestUrl(publicUrl),
    signing_secret: (await port.slackSigningSecret()) !== null,
    heard_at: isoOrNull(heardAt),
    people_not_found: people.people.filter(({ problem }) => problem).map(({ email }) => email),
  }
}

const asEntered = ({ people, ...more }: SlackPeople): SlackPeopleWrite => ({
  ...more,
  people: people.map(({ user, email, name, rights }) => ({
    ...(email === '' ? { user } : { email }),
    ...{ name, rights },
  })),
})

const byEmail =
  (api: SlackApi, access: () => Promise<SlackAccess>): FindByEmail =>
  async (email) => {
    const said = await api('users.lookupByEmail', { email }, await access())
    if (!said.ok) return { error: said.error, isNobody: said.code === 'users_not_found' }
    const { user } = said.body as {
      user?: { id?: unknown; name?: unknown; real_name?: unknown; deleted?: unknown; is_bot?: unknown }
    }
    if (typeof user?.id !== 'string' || user.deleted === true || user.is_bot === true)
      return { error: 'nobody in the workspace has it', isNobody: true }
    const name = [user.real_name, user.name].find((one) => typeof one === 'string' && one !== '')
    return { user: { id: user.id, name: String(name ?? '') } }
  }

/* The Slack app that svc needs, as the manifest that Slack makes one of, and why it asks for each scope. */

/** A scope of the bot, and what is not there without it. */
interface ScopeWhy {
  scope: string
  why: string
}

/** Those of SPEC.md (Settings, Slack) first; the others are what threads, mentions and rights take. */
const BOT_SCOPES: readonly ScopeWhy[] = [
  { scope: 'chat:write', why: 'posts and changes its messages' },
  { scope: 'chat:write.public', why: 'posts to public channels it is not in' },
  { scope: 'channels:read', why: 'lists public channels' },
  { scope: 'groups:read', why: 'lists private channels it is in' },
  { scope: 'commands', why: 'the command /svc' },
  { scope: 'app_mentions:read', why: 'hears questions that mention it' },
  {
    scope: 'channels:history',
    why: 'looks whether a message is there before it posts it again after a stop, in public channels',
  },
  { scope: 'groups:history', why: 'the same in private channels it is in' },
  { scope: 'users:read', why: 'needed by users:read.email' },
  { scope: 'users:read.email', why: 'finds people who are mapped to rights by e-mail address' },
]

const EVENTS = [
  ...['app_mention', 'channel_archive', 'channel_created', 'channel_deleted', 'channel_rename'],
  ...['channel_unarchive', 'group_archive', 'group_rename', 'group_unarchive', 'member_joined_channel'],
]
const EVENTS_PATH = '/api/slack/events'

/** Where Slack sends what happens there; null: the address of this instance is not known. */
const requestUrl = (publicUrl: string | null): string | null =>
  publicUrl === null ? null : `${publicUrl.replace(/\/+$/, '')}${EVENTS_PATH}`

/** @param publicUrl address of this instance; null: the manifest has a placeholder */
export function slackManifest(publicUrl: string | null): SlackManifest {
  const url = requestUrl(publicUrl) ?? `https://svc.example.com${EVENTS_PATH}`
  return {
    request_url: requestUrl(publicUrl),
    scopes: BOT_SCOPES.map((one) => ({ ...one })),
    manifest: {
      display_information: {
        name: 'svc',
        description: 'Incidents, findings and questions about what happens',
      },
      features: {
        bot_user: { display_name: 'svc', always_online: true },
        slash_commands: [
          {
            command: '/svc',
            url,
            description: 'Ask what happened',
            usage_hint: 'what changed for checkout since noon?',
            should_escape: false,
          },
        ],
      },
      oauth_config: { scopes: { bot: BOT_SCOPES.map(({ scope }) => scope) } },
      settings: {
        event_subscriptions: { request_url: url, bot_events: EVENTS },
        interactivity: { is_enabled: true, request_url: url },
        org_deploy_enabled: false,
        socket_mode_enabled: false,
        token_rotation_enabled: false,
      },
    },
  }
}

/** @param granted as Slack says with an answer; absent: it did not say, so none is missed */
export const missingScopes = (granted: readonly string[] | undefined): ScopeWhy[] =>
  granted === undefined ? [] : BOT_SCOPES.filter(({ scope }) => !granted.includes(scope))
